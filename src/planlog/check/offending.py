"""Counterexamples: what there is to see in a state where a property fails."""

from __future__ import annotations

from dataclasses import dataclass

from planlog.check.report import Counterexample, GoalStatus, Reason
from planlog.policy import Policy
from planlog.statespace import DEAD_END, UNKNOWN, StateSpace, expand
from planlog.task import Action, State, Task


@dataclass(frozen=True)
class Outlook:
    """How far a goal is from a state, by any actions; None for what is not known."""

    distance: int | None = None
    dead_end: bool | None = None
    optimal: tuple[Action, ...] | None = None


def outlook(space: StateSpace, state: int = 0) -> Outlook:
    """What a space of all applicable actions tells about one of its states."""
    distance = int(space.goal_distances[state])
    if distance == UNKNOWN:
        return Outlook()
    if distance == DEAD_END:
        return Outlook(None, True, ())
    optimal = [int(space.actions[t]) for t in space.transitions(state) if space.optimal[t]]
    return Outlook(distance, False, tuple(map(space.action, optimal)))


def probe(task: Task, state: State, limit: int) -> Outlook:
    """As far as the states around one tell, of which at most `limit` are looked at."""
    return outlook(expand(task, start=state, limit=limit, stop_at_goal=True))


def counterexample(
    policy: Policy,
    task: Task,
    reason: Reason,
    trace: tuple[Action, ...],
    *,
    limit: int,
    seen: Outlook | None = None,
    under_policy: bool = True,
    shortest: bool = True,
    cycle: tuple[Action, ...] = (),
    ending: tuple[Action, ...] | None = None,
) -> Counterexample:
    """The trace replayed from the initial state, with all that is to be said of its end.

    What was not seen before is looked up around it, in at most `limit` states.
    """
    assert (reason is Reason.CYCLE) == bool(cycle)
    walk = policy.start(task)
    for action in trace:
        walk.apply(action)
    state = walk.state
    goals = tuple(map(GoalStatus, task.goals, walk.goals_hold))
    derived = tuple(walk.actions())
    for action in cycle:
        walk.apply(action)
    assert walk.state == state
    seen = seen or probe(task, state, limit)
    return Counterexample(
        reason=reason,
        trace=trace,
        under_policy=under_policy,
        shortest=shortest,
        state=state,
        atoms=tuple(task.atoms(state)),
        goals=goals,
        derived=derived,
        optimal=seen.optimal,
        distance=seen.distance,
        dead_end=seen.dead_end,
        cycle=cycle,
        ending=ending,
        cost=walk.cost,
        unit_cost=not task.minimises_cost,
    )
