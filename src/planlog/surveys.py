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
from planlog.execution import execute
from planlog.learned import LearnedPolicy
from planlog.parallel import KeepOn, map_in_order
from planlog.settings import SurveySettings
from planlog.statespace import OnProgress
from planlog.task import State, Task

# A policy that goes round in larger and larger circles is given up at some time.
_MOST_STEPS = 10_000


@dataclass(frozen=True)
class Survey:
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


def survey_all(
    policy: LearnedPolicy,
    tasks: Sequence[Task],
    settings: SurveySettings,
    *,
    seed: Sequence[int] = (0,),
    workers: int | None = None,
    on_progress: OnProgress | None = None,
) -> list[Survey]:
    """Surveys of some tasks, until enough states are labelled; `on_progress` is told how many.

    The result depends on policy, tasks, settings and seed, not on the number of workers.
    """
    surveys: list[Survey] = []
    states = expansions = 0

    def run(item: tuple[int, Task], keep_on: KeepOn) -> Survey | None:
        number, task = item
        rng = np.random.default_rng((*seed, number))
        start = task.initial if number < len(tasks) else _somewhere(policy, task, rng)
        return None if start is None else _survey(policy, task, start, settings, rng, keep_on)

    items = map_in_order(run, enumerate(_in_turn(tasks, seed, settings.passes)), workers)
    for survey in items:
        if survey is not None:
            surveys.append(survey)
            states += len(survey)
            expansions += survey.expansions
        if on_progress:
            on_progress(states)
        if states >= settings.states or expansions >= settings.expansions:
            break
    items.close()
    return surveys


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


def _survey(
    policy: LearnedPolicy,
    task: Task,
    start: State,
    settings: SurveySettings,
    rng: np.random.Generator,
    keep_on: KeepOn,
) -> Survey | None:
    """What can be learned on the way from a state; None if there is no plan."""
    way = execute(policy, task, start=start, rng=rng, max_steps=_MOST_STEPS)
    if not way.solved:
        way = execute(policy.rules, task, start=start, rng=rng, max_steps=_MOST_STEPS)
    if not way.solved:
        return None
    improver = _core.Improver(task.core, policy.core, policy.network, int(rng.integers(2**63)))
    improver.start(start.atoms, task.numbered(way.actions))
    most = settings.effort * improver.length
    while improver.expansions < most:
        keep_on()
        improver.improve(most)
    states, optimal = [], []
    steps = rng.permutation(improver.length)[: settings.steps]
    # Backwards: a survey may change the plan, but only from its step on.
    for step in np.sort(steps)[::-1].tolist():
        keep_on()
        costs = np.array([cost for _, cost in improver.survey(step)])
        best = costs == costs.min(initial=np.inf)
        if not best.all():
            states.append(State(improver.state(step)))
            optimal.append(best)
    return Survey(task, tuple(states), tuple(optimal), improver.expansions, way.cost, improver.cost)
