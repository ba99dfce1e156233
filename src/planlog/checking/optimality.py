"""Where a policy keeps an optimal action, in a space of all applicable actions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from planlog.checking.reachability import Mask
from planlog.statespace.graph import Graph
from planlog.statespace.space import StateSpace


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
        """Solvable states that are no goals, as far as known; then optimal actions are as well."""
        live: Mask = self.space.goal_distances > 0
        return live

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
