"""Optimal and derived actions in a space of all applicable actions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from planlog.ragged import Mask
from planlog.statespace.graph import Graph
from planlog.statespace.space import StateSpace


@dataclass(frozen=True)
class Optimality:
    """States that keep or lose an optimal action under a policy.

    `derived` (transitions,) marks the derived actions, of which goals have none. The other arrays
    have one entry for each state of the space: (states,).
    """

    space: StateSpace
    derived: Mask

    @property
    def graph(self) -> Graph:
        """The graph of the derived transitions."""
        return self.space.graph.keep(self.derived)

    @cached_property
    def states(self) -> Mask:
        """Solvable non-goal states with a known goal distance, so with known optimal actions."""
        solvable: Mask = self.space.goal_distances > 0
        return solvable

    @cached_property
    def failing(self) -> Mask:
        """The `states` without an optimal derived action."""
        lost: Mask = self._derived_optimal == 0
        return self.states & lost

    @cached_property
    def mixed(self) -> Mask:
        """The `states` with both optimal and other derived actions."""
        derived = self._count(self.derived)
        return self.states & (self._derived_optimal > 0) & (self._derived_optimal < derived)

    @cached_property
    def _derived_optimal(self) -> npt.NDArray[np.intp]:
        """Number of optimal derived actions of each state."""
        return self._count(self.derived & self.space.optimal)

    def _count(self, transitions: Mask) -> npt.NDArray[np.intp]:
        """Count the marked transitions that leave each state."""
        return np.bincount(self.space.graph.sources[transitions], minlength=len(self.space))
