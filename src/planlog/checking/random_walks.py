"""Random walks under a policy that look for counterexamples where there are too many states.

A walk keeps its way free of loops: where a state comes again, what lies between is cut out. So
the traces that are reported see no state twice, though shorter ones may exist.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import numpy as np

from planlog.checking.counterexample import Outlook, Probe, counterexample, outlook
from planlog.checking.report import Counterexample, Property, Reason, WalkReport
from planlog.pddl.task import Action, State, Task
from planlog.policy.policy import Policy
from planlog.policy.walk import Walk
from planlog.statespace.space import StateSpace

# Of the states that all probes for one property may see: so many times the limit of one probe.
_PROBING = 20


@dataclass
class _Way:
    """From the initial state to the present one, without loops."""

    actions: list[Action] = field(default_factory=list)
    places: list[int] = field(default_factory=list)  # fingerprints of all states on it
    indexes: dict[int, int] = field(default_factory=dict)  # fingerprint -> index in places

    def arrive(self, place: int) -> tuple[Action, ...]:
        """Note the place that the last action led to; if it is not new, cut the loop out."""
        index = self.indexes.setdefault(place, len(self.places))
        if index == len(self.places):
            self.places.append(place)
            return ()
        loop = tuple(self.actions[index:])
        for left in self.places[index + 1 :]:
            del self.indexes[left]
        del self.places[index + 1 :], self.actions[index:]
        return loop


class WalkSearch:
    """Random walks of a policy on a task that look for counterexamples to some properties.

    What is found is in `found`; properties that are not there remain undecided.
    """

    def __init__(
        self,
        policy: Policy,
        task: Task,
        properties: Collection[Property],
        *,
        seed: int,
        probe: Probe,
    ) -> None:
        """Where a state has to be looked at more closely, the probe does it."""
        self.policy = policy
        self.task = task
        self.found: dict[Property, Counterexample] = {}
        self._wanted = set(properties)
        self._seed = seed
        self._probe = probe
        self._budget = dict.fromkeys(properties, _PROBING * probe.limit)
        self._probes = 0
        self._outlooks: dict[State, Outlook] = {}  # of the states already probed for optimality
        self._seen: set[int] = set()
        self._aside = policy.start(task)  # for looking at states beside the walks
        self._walks = self._steps = self._solved = self._stuck = 0

    def run(self, walks: int, steps: int, on_walk: Callable[[int], None] | None = None) -> None:
        """So many walks of at most so many steps, or fewer if everything is found before."""
        walk = self.policy.start(self.task)
        for number in range(walks):
            if not self._wanted:
                return
            walk.restart(self.task.initial)
            self._run(walk, np.random.default_rng([self._seed, number]), steps)
            self._walks += 1
            if on_walk:
                on_walk(self._walks)

    @property
    def report(self) -> WalkReport:
        return WalkReport(
            seed=self._seed,
            walks=self._walks,
            steps=self._steps,
            states=len(self._seen),
            solved=self._solved,
            stuck=self._stuck,
            probes=self._probes,
        )

    def _run(self, walk: Walk, rng: np.random.Generator, steps: int) -> None:
        way = _Way()
        self._arrive(way, walk)
        for _ in range(steps):
            action = None if walk.is_goal or not self._wanted else walk.sample(rng)
            if action is None:
                break
            walk.apply(action)
            way.actions.append(action)
            self._steps += 1
            self._arrive(way, walk)
        if walk.is_goal:
            self._solved += 1
            self._look_for_lost_optimum(tuple(way.actions))
        else:
            self._stuck += walk.action_count == 0
            self._look_for_trap(tuple(way.actions))

    def _arrive(self, way: _Way, walk: Walk) -> None:
        """Note the present state; if it was on the way before, that is a cycle."""
        self._seen.add(walk.fingerprint)
        cycle = way.arrive(walk.fingerprint)
        if cycle and Property.CYCLE_FREE in self._wanted:
            self._report(Property.CYCLE_FREE, Reason.CYCLE, tuple(way.actions), cycle=cycle)

    def _look_for_trap(self, way: tuple[Action, ...]) -> None:
        """If the policy leads to no goal from the end of the way: the first such state on it."""
        if Property.GOAL_ACHIEVING not in self._wanted:
            return
        states = self._states(way)
        stuck = self._aside.action_count == 0
        if not stuck and not self._is_trap(states[-1]):
            return
        # From a trap on, all states are traps: the first one is found by halving.
        before, first = -1, len(way)
        while first - before > 1:
            middle = (before + first) // 2
            if self._is_trap(states[middle]):
                first = middle
            else:
                before = middle
        self._report(
            Property.GOAL_ACHIEVING,
            Reason.NO_ACTION if stuck and first == len(way) else Reason.TRAP,
            way[:first],
            ending=way[first:] if stuck else None,
        )

    def _is_trap(self, state: State) -> bool:
        """Whether it can be told that the policy leads to no goal from here."""
        space = self._look_around(Property.GOAL_ACHIEVING, state)
        return space is not None and space.complete and not space.goal.any()

    def _look_for_lost_optimum(self, way: tuple[Action, ...]) -> None:
        """Back from the goal, as far as distances to it can be told."""
        if Property.OPTIMALITY_PRESERVING not in self._wanted:
            return
        states = self._states(way)
        for index in reversed(range(len(way))):
            state = states[index]
            if state not in self._outlooks:
                space = self._look_around(Property.OPTIMALITY_PRESERVING, state)
                self._outlooks[state] = outlook(space) if space else Outlook()
            seen = self._outlooks[state]
            if seen.optimal is None:
                return
            self._aside.restart(state)
            if not set(seen.optimal) & set(self._aside.actions()):
                self._report(Property.OPTIMALITY_PRESERVING, Reason.LOST_OPTIMUM, way[:index])
                return

    def _look_around(self, property: Property, state: State) -> StateSpace | None:
        """The states around one: under the policy, or up to the nearest goals for optimality."""
        if self._budget[property] <= 0:
            return None
        if property is Property.OPTIMALITY_PRESERVING:
            space = self._probe.nearest_goals(self.task, state)
        else:
            space = self._probe.reached(self.policy, self.task, state)
        self._budget[property] -= len(space)
        self._probes += 1
        return space

    def _states(self, way: tuple[Action, ...]) -> list[State]:
        """All states on the way, from the initial one to its end, where it leaves `_aside`."""
        self._aside.restart(self.task.initial)
        states = [self.task.initial]
        for action in way:
            self._aside.apply(action)
            states.append(self._aside.state)
        return states

    def _report(
        self,
        property: Property,
        reason: Reason,
        trace: tuple[Action, ...],
        *,
        cycle: tuple[Action, ...] = (),
        ending: tuple[Action, ...] | None = None,
    ) -> None:
        self._wanted.remove(property)
        self.found[property] = counterexample(
            self.policy,
            self.task,
            reason,
            trace,
            probe=self._probe,
            shortest=not trace,
            cycle=cycle,
            ending=ending,
        )
