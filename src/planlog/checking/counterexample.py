"""Build counterexamples: replay a trace and describe the state in which a property fails."""

from __future__ import annotations

from dataclasses import dataclass

from planlog.checking.report import Counterexample, GoalStatus, Reason
from planlog.costs import Cost
from planlog.pddl.plan import Plan
from planlog.pddl.task import Action, State, Task
from planlog.policy.policy import Policy
from planlog.statespace.space import DEAD_END, UNKNOWN, OnProgress, StateSpace, expand


@dataclass(frozen=True)
class GoalDistance:
    """Goal distance of a state and its optimal actions; None for what is unknown."""

    distance: Cost | None = None  # None in a dead end, too
    dead_end: bool | None = None
    optimal: tuple[Action, ...] | None = None
    cheapest: tuple[Action, ...] | None = None  # all actions that begin a plan of least cost

    @classmethod
    def of(cls, space: StateSpace, state: int = 0) -> GoalDistance:
        """Look up a state in a space of all applicable actions."""
        distance = int(space.goal_distances[state])
        if distance == UNKNOWN:
            return cls()
        if distance == DEAD_END:
            return cls(None, True, (), ())
        optimal, cheapest = (
            tuple(space.action_of(t) for t in space.transitions(state) if mask[t])
            for mask in (space.optimal, space.cheapest)
        )
        return cls(space.task.decode_cost(distance), False, optimal, cheapest)


@dataclass(frozen=True)
class Probe:
    """Examines single states of a task; it expands up to `limit` states around each of them."""

    policy: Policy
    task: Task
    limit: int
    on_progress: OnProgress | None = None

    def reached(self, state: State) -> StateSpace:
        """Expand the states that the policy reaches from a state."""
        return expand(
            self.task, self.policy, start=state, limit=self.limit, on_progress=self.on_progress
        )

    def nearest_goals(self, state: State) -> StateSpace:
        """Expand all applicable actions from a state until its goal distance is known."""
        return expand(
            self.task,
            start=state,
            limit=self.limit,
            stop_at_goal=True,
            on_progress=self.on_progress,
        )

    def goal_distance(self, state: State) -> GoalDistance:
        """Compute the goal distance of a state if the limit allows."""
        return GoalDistance.of(self.nearest_goals(state))

    def counterexample(
        self,
        reason: Reason,
        trace: tuple[Action, ...],
        *,
        goal_distance: GoalDistance | None = None,
        under_policy: bool = True,
        shortest: bool = True,
        cycle: tuple[Action, ...] = (),
        ending: tuple[Action, ...] | None = None,
    ) -> Counterexample:
        """Replay a trace from the initial state and describe the state at its end.

        Expands the surroundings of this state for its goal distance, unless that is given.
        """
        assert (reason in (Reason.CYCLE, Reason.FREE_CYCLE)) == bool(cycle)
        walk = self.policy.start(self.task)
        for action in trace:
            walk.apply(action)
        state = walk.state
        goals = tuple(map(GoalStatus, self.task.goals, walk.goals_hold))
        derived = tuple(walk.actions())
        by_rule: dict[str, tuple[Action, ...]] = {}
        for rule, action in walk.explain():
            by_rule[rule] = (*by_rule.get(rule, ()), action)
        for action in cycle:
            walk.apply(action)
        assert walk.state == state
        for action in ending or ():
            walk.apply(action)
        known = goal_distance or self.goal_distance(state)
        return Counterexample(
            reason=reason,
            trace=trace,
            under_policy=under_policy,
            shortest=shortest,
            state=state,
            goals=goals,
            distance=known.distance,
            dead_end=known.dead_end,
            derived=derived,
            derived_by_rule=by_rule,
            optimal=known.optimal,
            cycle=cycle,
            ending=ending,
            plan=Plan(trace + cycle + (ending or ()), walk.cost, not self.task.minimises_cost),
        )
