"""Reachability under a policy: the states it reaches, where it gets stuck, its cycles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from planlog.checking.paths import shortest_path, states_on_cycles
from planlog.pddl.task import Action
from planlog.statespace.graph import NOT_REACHED, Graph
from planlog.statespace.space import StateSpace

Mask = npt.NDArray[np.bool_]


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
        return self.states & states_on_cycles(self.graph)

    def nearest(self, mask: Mask) -> int | None:
        """Return the reached state of a mask with the least depth, then the least number."""
        found = np.flatnonzero(mask & self.states)
        return int(found[np.argmin(self.depths[found])]) if len(found) else None

    def trace(self, state: int) -> tuple[Action, ...]:
        """Return a shortest path of derived actions from the start to a reached state."""
        return shortest_path(self.space, self.graph, 0, state)

    def ending(self, state: int) -> tuple[Action, ...] | None:
        """Return a shortest path from a reached state to a stuck one; None if there is none."""
        distances = self.graph.distances([state])
        ends = np.flatnonzero(self.stuck & (distances != NOT_REACHED))
        if len(ends) == 0:
            return None
        return shortest_path(self.space, self.graph, state, int(ends[np.argmin(distances[ends])]))
