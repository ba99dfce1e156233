"""Labels beyond small state spaces: what search around a policy finds in larger tasks.

From a state that the rules lead to, the policy makes a plan, and local search improves it. Then, at
steps of this plan, every action that the policy derives is tried: those with which no plan gets
longer are taken for optimal. The better the policy, the better its labels, and so the next policy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planlog import _core
from planlog.network.learned_policy import LearnedPolicy
from planlog.network.settings import SearchLabelSettings
from planlog.parallel import CheckCancelled, map_in_order
from planlog.pddl.task import State, Task
from planlog.policy.execution import execute
from planlog.statespace.space import OnProgress

# A policy that goes round in larger and larger circles is given up at some time.
_MOST_STEPS = 10_000


@dataclass(frozen=True)
class SearchLabels:
    """Some states of a task in which the policy derives optimal and other actions.

    `optimal[i]` tells for each action that it derives in `states[i]`, ordered by schema and
    arguments, whether it begins the best plan that was found from there.
    """

    task: Task
    states: tuple[State, ...]
    optimal: tuple[npt.NDArray[np.bool_], ...]
    expansions: int  # that it took
    first_cost: float  # of the policy's own plan
    last_cost: float  # of the best one that was found

    def __len__(self) -> int:
        return len(self.states)


def label_by_search(
    policy: LearnedPolicy,
    tasks: Sequence[Task],
    settings: SearchLabelSettings,
    *,
    seed: Sequence[int] = (0,),
    workers: int | None = None,
    on_progress: OnProgress | None = None,
) -> list[SearchLabels]:
    """Surveys of some tasks, until enough states are labelled; `on_progress` is told how many.

    The result depends on policy, tasks, settings and seed, not on the number of workers.
    """
    search_labels: list[SearchLabels] = []
    states = expansions = 0

    def run(item: tuple[int, Task], check_cancelled: CheckCancelled) -> SearchLabels | None:
        number, task = item
        rng = np.random.default_rng((*seed, number))
        start = task.initial if number < len(tasks) else _somewhere(policy, task, rng)
        return (
            None
            if start is None
            else _label_by_search(policy, task, start, settings, rng, check_cancelled)
        )

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
    """All tasks, again and again, each time in another order."""
    rng = np.random.default_rng((*seed, passes))
    for _ in range(passes):
        for i in rng.permutation(len(tasks)).tolist():
            yield tasks[i]


def _somewhere(policy: LearnedPolicy, task: Task, rng: np.random.Generator) -> State | None:
    """A state on a way that the rules take to the goal."""
    way = execute(policy.rules, task, rng=rng, max_steps=_MOST_STEPS)
    if not way.actions:
        return None
    walk = policy.rules.start(task)
    for action in way.actions[: int(rng.integers(len(way.actions)))]:
        walk.apply(action)
    return walk.state


def _label_by_search(
    policy: LearnedPolicy,
    task: Task,
    start: State,
    settings: SearchLabelSettings,
    rng: np.random.Generator,
    check_cancelled: CheckCancelled,
) -> SearchLabels | None:
    """What can be learned on the way from a state; None if there is no plan."""
    way = execute(policy, task, start=start, rng=rng, max_steps=_MOST_STEPS)
    if not way.solved:
        way = execute(policy.rules, task, start=start, rng=rng, max_steps=_MOST_STEPS)
    if not way.solved:
        return None
    search = _core.PlanLocalSearch(task.core, policy.core, policy.network, int(rng.integers(2**63)))
    search.start(start.ids, task.encode(way.actions))
    most = settings.expansions_per_step * search.length
    while search.expansions < most:
        check_cancelled()
        search.improve(most)
    states, optimal = [], []
    steps = rng.permutation(search.length)[: settings.labelled_steps]
    # Backwards: labelling may change the plan, but only from its step on.
    for step in np.sort(steps)[::-1].tolist():
        check_cancelled()
        costs = np.array([cost for _, cost in search.action_costs(step)])
        best = costs == costs.min(initial=np.inf)
        if not best.all():
            states.append(State(task, search.state(step)))
            optimal.append(best)
    return SearchLabels(
        task, tuple(states), tuple(optimal), search.expansions, way.cost, search.cost
    )
