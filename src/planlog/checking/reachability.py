"""The states that a policy reaches in a space, and what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from planlog.checking.paths import states_on_cycles, way
from planlog.pddl.task import Action
from planlog.statespace.graph import NOT_REACHED, Graph
from planlog.statespace.space import StateSpace

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Reached:
    """Where a policy leads from the start of a space, state 0.

    The graph has the transitions that the policy takes; none from goals, where executions end.
    All arrays have an entry for each state of the space: (states,).
    """

    space: StateSpace
    graph: Graph

    @cached_property
    def depths(self) -> npt.NDArray[np.int32]:
        """Least number of derived actions from the start; NOT_REACHED if there is no way."""
        return self.graph.distances([0])

    @cached_property
    def states(self) -> Mask:
        """The states that are reached."""
        reached: Mask = self.depths != NOT_REACHED
        return reached

    @cached_property
    def open(self) -> Mask:
        """Reached states that were only seen: they may be goals or lead anywhere."""
        return self.states & (np.arange(len(self.space)) >= self.space.expanded)

    @property
    def complete(self) -> bool:
        """Whether all is known about the states that the policy reaches."""
        return not self.open.any()

    @cached_property
    def goals(self) -> Mask:
        """Reached states that are known to be goals."""
        return self.states & self.space.goal

    @cached_property
    def stuck(self) -> Mask:
        """Reached states that are no goals and have no derived action."""
        leave = np.zeros(len(self.space), dtype=bool)
        leave[self.graph.sources] = True
        return self.states & ~self.goals & ~self.open & ~leave

    @cached_property
    def failing(self) -> Mask:
        """Reached states from which the policy leads to no goal, whatever the open ones are."""
        ends = np.flatnonzero(self.goals | self.open)
        hopeless: Mask = self.graph.reverse.distances(ends) == NOT_REACHED
        return self.states & hopeless

    @cached_property
    def cyclic(self) -> Mask:
        """Reached states to which the policy can lead back, as far as is known."""
        return self.states & states_on_cycles(self.graph)

    def nearest(self, some: Mask) -> int | None:
        """The first of some reached states, by depth and then by number; None if there is none."""
        found = np.flatnonzero(some & self.states)
        return int(found[np.argmin(self.depths[found])]) if len(found) else None

    def trace(self, state: int) -> tuple[Action, ...]:
        """A shortest way from the start to a reached state."""
        return way(self.space, self.graph, 0, state)

    def ending(self, state: int) -> tuple[Action, ...] | None:
        """A shortest way from a reached state to one without derived actions, if there is one."""
        distances = self.graph.distances([state])
        ends = np.flatnonzero(self.stuck & (distances != NOT_REACHED))
        if len(ends) == 0:
            return None
        return way(self.space, self.graph, state, int(ends[np.argmin(distances[ends])]))
