"""Counterexamples: what there is to see in a state where a property fails."""

from __future__ import annotations

from dataclasses import dataclass

from planlog.checking.report import Counterexample, GoalStatus, Reason
from planlog.pddl.task import Action, State, Task
from planlog.policy.policy import Policy
from planlog.statespace.space import DEAD_END, UNKNOWN, OnProgress, StateSpace, expand


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


@dataclass(frozen=True)
class Probe:
    """Looks around single states, at no more than `limit` states each time."""

    limit: int
    on_progress: OnProgress | None = None

    def nearest_goals(self, task: Task, state: State) -> StateSpace:
        """The states around one, by any actions, up to the nearest goals."""
        return expand(
            task, start=state, limit=self.limit, stop_at_goal=True, on_progress=self.on_progress
        )

    def reached(self, policy: Policy, task: Task, state: State) -> StateSpace:
        """The states that the policy reaches from one."""
        return expand(task, policy, start=state, limit=self.limit, on_progress=self.on_progress)

    def outlook(self, task: Task, state: State) -> Outlook:
        """How far the goal is, as far as can be told."""
        return outlook(self.nearest_goals(task, state))


def counterexample(
    policy: Policy,
    task: Task,
    reason: Reason,
    trace: tuple[Action, ...],
    *,
    probe: Probe,
    seen: Outlook | None = None,
    under_policy: bool = True,
    shortest: bool = True,
    cycle: tuple[Action, ...] = (),
    ending: tuple[Action, ...] | None = None,
) -> Counterexample:
    """The trace replayed from the initial state, with all that is to be said of its end.

    What was not seen before is looked up around it by the probe.
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
    for action in ending or ():
        walk.apply(action)
    seen = seen or probe.outlook(task, state)
    return Counterexample(
        reason=reason,
        trace=trace,
        under_policy=under_policy,
        shortest=shortest,
        state=state,
        atoms=tuple(map(str, state.atoms)),
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
