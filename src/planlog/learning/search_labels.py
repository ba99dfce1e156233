"""Search labels: labels of states of larger tasks, found by search around a policy.

The policy makes a plan from a state that the rules reach, and local search improves the plan. Then
the search tries every derived action at some steps of the plan. It labels as optimal those that
lead to a plan of the least cost and, of these plans, to one with the fewest actions. A better
policy gives better labels, and these a better policy (expert iteration; Anthony, Tian and Barber
2017).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planlog import _core
from planlog.costs import Cost
from planlog.errors import MissingValueError
from planlog.network.settings import SearchLabelSettings
from planlog.parallel import CheckCancelled, map_in_order
from planlog.pddl.task import State, Task
from planlog.policy.execution import execute
from planlog.policy.policy import Policy
from planlog.statespace.space import OnProgress

# Limit for policies that run into cycles.
_MAX_STEPS = 10_000


@dataclass(frozen=True)
class SearchLabels:
    """Labelled states of a task in which the policy derives optimal and other actions.

    `optimal[i]` says for each derived action of `states[i]`, ordered by schema and objects, whether
    the best plan found from there begins with it.
    """

    task: Task
    states: tuple[State, ...]
    optimal: tuple[npt.NDArray[np.bool_], ...]
    expansions: int  # of the search
    first_cost: Cost  # cost of the policy's own plan
    last_cost: Cost  # cost of the best plan found

    def __len__(self) -> int:
        return len(self.states)


def label_by_search(
    policy: Policy,
    tasks: Sequence[Task],
    settings: SearchLabelSettings,
    *,
    seed: Sequence[int] = (0,),
    workers: int | None = None,
    on_progress: OnProgress | None = None,
) -> list[SearchLabels]:
    """Label states of tasks until enough are labelled; report their number to `on_progress`.

    The result depends on policy, tasks, settings and seed, not on the number of workers.
    """
    search_labels: list[SearchLabels] = []
    states = expansions = 0

    def run(item: tuple[int, Task], check_cancelled: CheckCancelled) -> SearchLabels | None:
        number, task = item
        rng = np.random.default_rng((*seed, number))
        start = task.initial if number < len(tasks) else _sample_state(policy, task, rng)
        if start is None:
            return None
        try:
            return _label_plan(policy, task, start, settings, rng, check_cancelled)
        except _core.MissingValue as error:
            text = f"task '{task.name}': an action has no cost: {error}"
            raise MissingValueError(text) from None

    items = map_in_order(run, enumerate(_in_turn(tasks, seed, settings.passes)), workers)
    for labels in items:
        if labels is not None:
            search_labels.append(labels)
            states += len(labels)
            expansions += labels.expansions
        if on_progress:
            on_progress(states)
        if states >= settings.states_per_iteration or expansions >= settings.max_expansions:
            break
    items.close()
    return search_labels


def _in_turn(tasks: Sequence[Task], seed: Sequence[int], passes: int) -> Iterator[Task]:
    """Yield all tasks `passes` times, each time in another order."""
    rng = np.random.default_rng((*seed, passes))
    for _ in range(passes):
        for i in rng.permutation(len(tasks)).tolist():
            yield tasks[i]


def _sample_state(policy: Policy, task: Task, rng: np.random.Generator) -> State | None:
    """Return a random state of an execution of the rules."""
    actions = execute(policy.rules, task, rng=rng, max_steps=_MAX_STEPS).actions
    if not actions:
        return None
    walk = policy.rules.start(task)
    for action in actions[: int(rng.integers(len(actions)))]:
        walk.apply(action)
    return walk.state


def _label_plan(
    policy: Policy,
    task: Task,
    start: State,
    settings: SearchLabelSettings,
    rng: np.random.Generator,
    check_cancelled: CheckCancelled,
) -> SearchLabels | None:
    """Label states along a plan from `start`. Return None if no plan is found."""
    plan = execute(policy, task, start=start, rng=rng, max_steps=_MAX_STEPS)
    if not plan.solved:
        plan = execute(policy.rules, task, start=start, rng=rng, max_steps=_MAX_STEPS)
    if not plan.solved:
        return None
    search = _core.ParallelSearch(
        task.core,
        *policy.chooser,
        start.ids,
        task.encode(plan.actions),
        seed=int(rng.integers(2**63)),
        threads=1,
        eliminate=False,  # the labels compare plans that the policy can find
    )
    max_expansions = settings.expansions_per_step * len(plan.actions)
    while search.improve(max_expansions, None):
        check_cancelled()
    states, optimal = [], []
    steps = rng.permutation(len(search.plan()))[: settings.labelled_steps]
    # Backwards, since labelling a step may change the plan from there on.
    for step in np.sort(steps)[::-1].tolist():
        check_cancelled()
        # Pairs of cost and number of actions: a detour that costs nothing is not optimal.
        sizes = [size for _, size in search.action_costs(step)]
        least = min((size for size in sizes if size is not None), default=None)
        best = np.array([size == least for size in sizes])
        if not best.all():
            states.append(State(task, search.state(step)))
            optimal.append(best)
    last_cost = task.decode_cost(search.cost)
    return SearchLabels(
        task, tuple(states), tuple(optimal), search.expansions, plan.cost, last_cost
    )
