"""Reachability under a policy: the states it reaches, where it gets stuck, its cycles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from planlog.pddl.task import Action
from planlog.ragged import Ids, Mask
from planlog.statespace.graph import NOT_REACHED, Graph
from planlog.statespace.space import StateSpace


@dataclass(frozen=True)
class Reachability:
    """States that a policy reaches from the start of a space, state 0.

    `graph` has the derived transitions only, and none from goals, where executions end. All arrays
    have one entry for each state of the space: (states,).
    """

    space: StateSpace
    graph: Graph

    @cached_property
    def depths(self) -> npt.NDArray[np.int32]:
        """Least number of derived actions from the start; NOT_REACHED for unreached states."""
        return self.graph.distances([0])

    @cached_property
    def states(self) -> Mask:
        """Reached states."""
        reached: Mask = self.depths != NOT_REACHED
        return reached

    @cached_property
    def open(self) -> Mask:
        """Reached states that are not expanded: they may be goals or lead anywhere."""
        return self.states & (np.arange(len(self.space)) >= self.space.expanded)

    @property
    def complete(self) -> bool:
        """Whether all states that the policy reaches are expanded."""
        return not self.open.any()

    @cached_property
    def goals(self) -> Mask:
        """Reached states that are known to be goals."""
        return self.states & self.space.goal

    @cached_property
    def stuck(self) -> Mask:
        """Reached non-goal states without a derived action."""
        has_action = np.zeros(len(self.space), dtype=bool)
        has_action[self.graph.sources] = True
        return self.states & ~self.goals & ~self.open & ~has_action

    @cached_property
    def failing(self) -> Mask:
        """Reached states from which the policy reaches no goal, whatever the open states are."""
        ends = np.flatnonzero(self.goals | self.open)
        hopeless: Mask = self.graph.reverse.distances(ends) == NOT_REACHED
        return self.states & hopeless

    @cached_property
    def cyclic(self) -> Mask:
        """Reached states on a cycle of expanded states."""
        # A strongly connected component with an inner arc has a cycle through each of its states.
        components = self.graph.components
        inside = components[self.graph.sources] == components[self.graph.targets]
        has_cycle = np.zeros(self.graph.size, dtype=bool)
        has_cycle[components[self.graph.targets[inside]]] = True
        return self.states & has_cycle[components]

    def nearest(self, mask: Mask) -> int | None:
        """Return the reached state of a mask with the least depth, then the least number."""
        found = np.flatnonzero(mask & self.states)
        return int(found[np.argmin(self.depths[found])]) if len(found) else None

    def trace(self, state: int) -> tuple[Action, ...]:
        """Return a shortest path of derived actions from the start to a reached state."""
        return self._path(self.depths, state)

    def cycle(self, state: int) -> tuple[Action, ...]:
        """Return a shortest cycle of derived actions through a state on a cycle."""
        distances = self.graph.distances([state])
        sources, transitions = self._incoming(state)
        last = np.argmin(np.where(distances[sources] == NOT_REACHED, np.inf, distances[sources]))
        path = self._path(distances, int(sources[last]))
        return (*path, self.space.action_of(transitions[last]))

    def ending(self, state: int) -> tuple[Action, ...] | None:
        """Return a shortest path from a reached state to a stuck one; None if there is none."""
        distances = self.graph.distances([state])
        ends = np.flatnonzero(self.stuck & (distances != NOT_REACHED))
        return self._path(distances, int(ends[np.argmin(distances[ends])])) if len(ends) else None

    def _path(self, distances: npt.NDArray[np.int32], end: int) -> tuple[Action, ...]:
        """Follow arcs back from `end`, each to a distance one less, until the distance is 0."""
        actions = []
        while distances[end] > 0:
            sources, transitions = self._incoming(end)
            arc = np.flatnonzero(distances[sources] == distances[end] - 1)[0]
            actions.append(self.space.action_of(transitions[arc]))
            end = int(sources[arc])
        return tuple(reversed(actions))

    def _incoming(self, state: int) -> tuple[Ids, Ids]:
        """Return the sources and the transitions of the arcs into a state: (arcs,) each."""
        backwards = self.graph.reverse
        entries = backwards.segments[state]
        return backwards.targets[entries], backwards.arcs[entries]
