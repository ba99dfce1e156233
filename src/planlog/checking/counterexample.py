"""Build counterexamples: replay a trace and describe the state in which a property fails."""

from __future__ import annotations

from dataclasses import dataclass

from planlog.checking.report import Counterexample, GoalStatus, Reason
from planlog.pddl.plan import Plan
from planlog.pddl.task import Action, State, Task
from planlog.policy.policy import Policy
from planlog.statespace.space import DEAD_END, UNKNOWN, OnProgress, StateSpace, expand


@dataclass(frozen=True)
class GoalDistance:
    """Goal distance of a state and its optimal actions; None for what is unknown."""

    distance: int | None = None  # None in a dead end, too
    dead_end: bool | None = None
    optimal: tuple[Action, ...] | None = None

    @classmethod
    def of(cls, space: StateSpace, state: int = 0) -> GoalDistance:
        """Look up a state in a space of all applicable actions."""
        distance = int(space.goal_distances[state])
        if distance == UNKNOWN:
            return cls()
        if distance == DEAD_END:
            return cls(None, True, ())
        optimal = [int(space.actions[t]) for t in space.transitions(state) if space.optimal[t]]
        return cls(distance, False, tuple(map(space.action, optimal)))


@dataclass(frozen=True)
class Probe:
    """Expands the surroundings of single states, up to `limit` states each time."""

    limit: int
    on_progress: OnProgress | None = None

    def nearest_goals(self, task: Task, state: State) -> StateSpace:
        """Expand all applicable actions from a state up to the nearest goals."""
        return expand(
            task, start=state, limit=self.limit, stop_at_goal=True, on_progress=self.on_progress
        )

    def reached(self, policy: Policy, task: Task, state: State) -> StateSpace:
        """Expand the states that a policy reaches from a state."""
        return expand(task, policy, start=state, limit=self.limit, on_progress=self.on_progress)

    def goal_distance(self, task: Task, state: State) -> GoalDistance:
        """Compute the goal distance of a state if the limit allows."""
        return GoalDistance.of(self.nearest_goals(task, state))


def counterexample(
    policy: Policy,
    task: Task,
    reason: Reason,
    trace: tuple[Action, ...],
    *,
    probe: Probe,
    goal_distance: GoalDistance | None = None,
    under_policy: bool = True,
    shortest: bool = True,
    cycle: tuple[Action, ...] = (),
    ending: tuple[Action, ...] | None = None,
) -> Counterexample:
    """Replay a trace from the initial state and describe the state at its end.

    The probe computes the goal distance of this state unless it is given.
    """
    assert (reason is Reason.CYCLE) == bool(cycle)
    walk = policy.start(task)
    for action in trace:
        walk.apply(action)
    state = walk.state
    goals = tuple(map(GoalStatus, task.goals, walk.goals_hold))
    derived = tuple(walk.actions())
    by_rule: dict[str, tuple[Action, ...]] = {}
    for rule, action in walk.explain():
        by_rule[rule] = (*by_rule.get(rule, ()), action)
    for action in cycle:
        walk.apply(action)
    assert walk.state == state
    for action in ending or ():
        walk.apply(action)
    goal_distance = goal_distance or probe.goal_distance(task, state)
    return Counterexample(
        reason=reason,
        trace=trace,
        under_policy=under_policy,
        shortest=shortest,
        state=state,
        goals=goals,
        derived=derived,
        derived_by_rule=by_rule,
        optimal=goal_distance.optimal,
        distance=goal_distance.distance,
        dead_end=goal_distance.dead_end,
        cycle=cycle,
        ending=ending,
        plan=Plan(trace + cycle + (ending or ()), walk.cost, not task.minimises_cost),
    )
