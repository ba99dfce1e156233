"""Best-first search inside the rules: for a plan among the actions that a policy derives.

The search runs in the core (`core/search/best_first_search.hpp`). It is complete: without a limit
it ends with a plan, or with the proof that the rules allow none.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from planlog import _core
from planlog._core import SearchOutcome, resident_memory
from planlog.costs import Cost
from planlog.pddl.task import Action, State, Task
from planlog.policy.execution import Outcome, PlanResult
from planlog.policy.policy import Policy

# Expansions between two looks at the limits; a look costs some microseconds.
_ROUND = 64
MOST_STATES = 2**32 - 2  # their numbers have 32 bits

Progress = Callable[[int], None]  # called with the number of states


@dataclass(frozen=True)
class SearchResult(PlanResult):
    """A result of a search inside the rules; NO_PLAN proves that they allow no plan."""

    expanded: int = 0  # states
    dead: int = 0  # of these, left out by the rules for `dead`
    memory: int = 0  # bytes of the states and of what the search keeps about them


def search_inside_rules(
    policy: Policy,
    task: Task,
    *,
    start: State | None = None,
    path: Sequence[Action] = (),
    time_limit: float | None = None,
    memory_limit: int | None = None,
    max_states: int = MOST_STATES,
    on_progress: Progress | None = None,
) -> SearchResult:
    """Search for a plan among the actions that a policy derives, also behind `prefer`.

    The scores of a learned policy guide the search. It begins at the initial state, or at `start`,
    and with the states of a `path` of derived actions from there, such as that of an execution.
    Limits are as those of `execute`; STEP_LIMIT is the outcome of `max_states`. Ctrl-C ends the
    search with INTERRUPTED.

    >>> search_inside_rules(policy, task).plan.actions
    (Action(name='go', arguments=('a', 'b')), Action(name='go', arguments=('b', 'c')))
    """
    begin = time.monotonic()
    search: _core.BestFirstSearch | None = None
    try:
        policy.check_task(task)
        search = _start(policy, task, start, path, max_states)
        outcome = _run(search, begin, time_limit, memory_limit, on_progress)
    except TimeoutError:
        outcome = Outcome.TIME_LIMIT
    except MemoryError:
        outcome = Outcome.MEMORY_LIMIT
    except KeyboardInterrupt:
        outcome, search = Outcome.INTERRUPTED, None
    actions = [task.decode(*action) for action in search.plan()] if _is(outcome) and search else []
    return SearchResult(
        outcome=outcome,
        actions=tuple(actions),
        cost=_cost(task, start, actions),
        unit_cost=not task.minimises_cost,
        steps=search.expanded if search else 0,
        goals_left=0 if _is(outcome) else None,
        seconds=time.monotonic() - begin,
        searched_states=search.states if search else 0,
        expanded=search.expanded if search else 0,
        dead=search.dead if search else 0,
        memory=search.memory if search else 0,
    )


def _is(outcome: Outcome) -> bool:
    return outcome is Outcome.SOLVED


def _start(
    policy: Policy, task: Task, start: State | None, path: Sequence[Action], max_states: int
) -> _core.BestFirstSearch:
    loose = policy.loose
    program, network = policy.chooser if loose is None else (loose.core, None)
    levels: list[int] = []
    if loose is not None:
        assert loose.program is not None
        levels = [0] * program.rule_count
        for rule, number in zip(loose.program.rules, loose.rule_numbers, strict=True):
            levels[number] = rule.level
    state = task.initial if start is None else start
    return _core.BestFirstSearch(
        task.core,
        program,
        network,
        task.ids(state),
        levels,
        policy.dead_relation(program),
        max_states,
        list(task.encode(path)),
        policy.program is not None,
    )


def _run(
    search: _core.BestFirstSearch,
    begin: float,
    time_limit: float | None,
    memory_limit: int | None,
    on_progress: Progress | None,
) -> Outcome:
    while (found := search.advance(_ROUND)) is SearchOutcome.RUNNING:
        if on_progress is not None:
            on_progress(search.states)
        if time_limit is not None and time.monotonic() - begin >= time_limit:
            return Outcome.TIME_LIMIT
        if memory_limit is not None and resident_memory() > memory_limit:
            return Outcome.MEMORY_LIMIT
    return {
        SearchOutcome.SOLVED: Outcome.SOLVED,
        SearchOutcome.EXHAUSTED: Outcome.NO_PLAN,
        SearchOutcome.FULL: Outcome.STEP_LIMIT,
    }[found]


def _cost(task: Task, start: State | None, actions: Sequence[Action]) -> Cost:
    if not task.minimises_cost:
        return len(actions)
    walk = Policy.applicable(task.domain).start(task, start)
    for action in actions:
        walk.apply(action)
    return walk.cost
