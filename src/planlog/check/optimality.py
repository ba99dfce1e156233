"""Where a policy keeps an optimal action, in a space of all applicable actions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from planlog.check.reached import Mask
from planlog.graph import Graph
from planlog.statespace import StateSpace


def settled(space: StateSpace) -> Mask:
    """The solvable states, no goals, of which all optimal actions are known: (states,).

    In a space that is not complete, a state that was only seen may be a goal. From these states
    it is too far away to be among the nearest ones.
    """
    known: Mask = space.goal_distances > 0
    if not space.complete:
        horizon = int(space.depths[space.expanded])
        known &= space.depths.astype(np.int64) + space.goal_distances < horizon
    return known


@dataclass(frozen=True)
class Optimality:
    """Derived and optimal actions in the states of a space of all applicable actions.

    All arrays but `derived` have an entry for each state: (states,).
    """

    space: StateSpace
    derived: Mask  # (transitions,): none in goals

    @property
    def graph(self) -> Graph:
        """The derived transitions."""
        return self.space.graph.keep(self.derived)

    @cached_property
    def states(self) -> Mask:
        """Solvable states that are no goals, as far as their optimal actions are known."""
        return settled(self.space)

    @cached_property
    def failing(self) -> Mask:
        """Those of them without an optimal derived action."""
        lost: Mask = self._count(self.derived & self.space.optimal) == 0
        return self.states & lost

    @cached_property
    def mixed(self) -> Mask:
        """Those of them with both optimal and other derived actions."""
        good = self._count(self.derived & self.space.optimal)
        return self.states & (good > 0) & (good < self._count(self.derived))

    def _count(self, transitions: Mask) -> npt.NDArray[np.intp]:
        """How many of some transitions leave each state."""
        return np.bincount(self.space.graph.sources[transitions], minlength=len(self.space))
