"""Random walks under a policy, to find counterexamples in state spaces larger than the limit.

A walk removes loops from its path: when a state comes again, the actions since its first visit are
cut out. So reported traces visit no state twice, though shorter traces may exist.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import numpy as np

from planlog.checking.counterexample import GoalDistance, Probe
from planlog.checking.report import Counterexample, Property, Reason, WalkReport
from planlog.pddl.task import Action, State
from planlog.policy.walk import Walk
from planlog.statespace.space import StateSpace

# All probes for one property together may expand this many times the limit of one probe.
_PROBE_BUDGET = 20


@dataclass
class _Path:
    """A loop-free path from the initial state to the current one."""

    actions: list[Action] = field(default_factory=list)
    states: dict[int, int] = field(default_factory=dict)  # fingerprint -> index, in order

    def arrive(self, state: int) -> tuple[Action, ...]:
        """Add the state that the last action led to. Cut out and return the loop it closes."""
        index = self.states.get(state)
        if index is None:
            self.states[state] = len(self.states)
            return ()
        loop = tuple(self.actions[index:])
        del self.actions[index:]
        while len(self.states) > index + 1:
            self.states.popitem()
        return loop


class WalkSearch:
    """Random walks of a policy on a task that look for counterexamples to some properties.

    `found` holds the counterexamples; the other properties remain undecided.
    """

    def __init__(self, probe: Probe, properties: Collection[Property], seed: int) -> None:
        self.found: dict[Property, Counterexample] = {}
        self.report = WalkReport(seed)
        self._probe = probe
        self._wanted = set(properties)
        self._budget = dict.fromkeys(properties, _PROBE_BUDGET * probe.limit)
        self._goal_distances: dict[bytes, GoalDistance] = {}  # by the ids of a state's atoms
        self._seen: set[int] = set()  # fingerprints
        self._replay = probe.policy.start(probe.task)  # looks at states again after a walk

    def run(self, walks: int, steps: int, on_walk: Callable[[int], None] | None = None) -> None:
        """Run up to `walks` walks of up to `steps` actions; stop when everything is found."""
        walk = self._probe.policy.start(self._probe.task)
        for number in range(walks):
            if not self._wanted:
                return
            walk.restart(self._probe.task.initial)
            self._run(walk, np.random.default_rng([self.report.seed, number]), steps)
            self.report.walks += 1
            self.report.states = len(self._seen)
            if on_walk:
                on_walk(self.report.walks)

    def _run(self, walk: Walk, rng: np.random.Generator, steps: int) -> None:
        path = _Path()
        self._arrive(path, walk)
        for _ in range(steps):
            action = None if walk.is_goal or not self._wanted else walk.sample(rng)
            if action is None:
                break
            walk.apply(action)
            path.actions.append(action)
            self.report.steps += 1
            self._arrive(path, walk)
        if walk.is_goal:
            self.report.solved += 1
            self._find_lost_optimum(tuple(path.actions))
        else:
            self.report.stuck += walk.action_count == 0
            self._find_trap(tuple(path.actions))

    def _arrive(self, path: _Path, walk: Walk) -> None:
        """Add the current state to the path, and report the cycle that it closes."""
        self._seen.add(walk.fingerprint)
        cycle = path.arrive(walk.fingerprint)
        if cycle and Property.CYCLE_FREE in self._wanted:
            trace = tuple(path.actions)
            self._found(Property.CYCLE_FREE, Reason.CYCLE, trace, cycle=cycle)

    def _find_trap(self, path: tuple[Action, ...]) -> None:
        """Report the first state of the path from which the policy reaches no goal."""
        if Property.GOAL_ACHIEVING not in self._wanted:
            return
        states = self._states(path)
        stuck = self._replay.action_count == 0
        if not stuck and not self._is_trap(states[-1]):
            return
        # All states after a trap are traps, so binary search finds the first one.
        before, first = -1, len(path)
        while first - before > 1:
            middle = (before + first) // 2
            if self._is_trap(states[middle]):
                first = middle
            else:
                before = middle
        reason = Reason.NO_ACTION if stuck and first == len(path) else Reason.TRAP
        ending = path[first:] if stuck else None
        self._found(Property.GOAL_ACHIEVING, reason, path[:first], ending=ending)

    def _is_trap(self, state: State) -> bool:
        """Return whether a probe proves that the policy reaches no goal from a state."""
        space = self._expand(Property.GOAL_ACHIEVING, state)
        return space is not None and space.complete and not space.goal.any()

    def _find_lost_optimum(self, path: tuple[Action, ...]) -> None:
        """Search the path backwards from its goal, as far as probes find goal distances."""
        if Property.OPTIMALITY_PRESERVING not in self._wanted:
            return
        states = self._states(path)
        for index in reversed(range(len(path))):
            state = states[index]
            key = state.ids.tobytes()  # cheaper than the hash of a state, which goes by names
            if key not in self._goal_distances:
                space = self._expand(Property.OPTIMALITY_PRESERVING, state)
                self._goal_distances[key] = GoalDistance.of(space) if space else GoalDistance()
            cheapest = self._goal_distances[key].cheapest
            if cheapest is None:
                return
            self._replay.restart(state)
            if not set(cheapest) & set(self._replay.actions()):
                self._found(Property.OPTIMALITY_PRESERVING, Reason.LOST_OPTIMUM, path[:index])
                return

    def _expand(self, property: Property, state: State) -> StateSpace | None:
        """Expand the surroundings of a state; None if the budget for the property is spent."""
        if self._budget[property] <= 0:
            return None
        if property is Property.OPTIMALITY_PRESERVING:
            space = self._probe.nearest_goals(state)
        else:
            space = self._probe.reached(state)
        self._budget[property] -= len(space)
        self.report.probes += 1
        return space

    def _states(self, path: tuple[Action, ...]) -> list[State]:
        """Return all states of a path, and leave `_replay` at the last one."""
        states = [self._probe.task.initial]
        self._replay.restart(states[0])
        for action in path:
            self._replay.apply(action)
            states.append(self._replay.state)
        return states

    def _found(
        self,
        property: Property,
        reason: Reason,
        trace: tuple[Action, ...],
        *,
        cycle: tuple[Action, ...] = (),
        ending: tuple[Action, ...] | None = None,
    ) -> None:
        self._wanted.remove(property)
        self.found[property] = self._probe.counterexample(
            reason, trace, shortest=not trace, cycle=cycle, ending=ending
        )
