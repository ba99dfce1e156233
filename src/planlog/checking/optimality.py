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
    """States in which a policy keeps or loses the plans of least cost.

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
        return self.space.solvable

    @cached_property
    def kept_transitions(self) -> Mask:
        """The derived transitions that begin a plan of least cost: (transitions,)."""
        kept: Mask = self.derived & self.space.cheapest
        return kept

    @cached_property
    def kept(self) -> Graph:
        """The graph of these transitions."""
        return self.space.graph.keep(self.kept_transitions)

    @cached_property
    def failing(self) -> Mask:
        """The `states` in which the optimum is lost.

        These are the states of those strongly connected components of `kept` that no arc leaves.
        """
        costs = self.space.costs
        if costs is None or costs[self.kept_transitions].all():
            # `kept` has no cycles, so a path ends in a goal unless it comes to a failing state.
            stuck: Mask = self._count(self.kept_transitions) == 0
            return self.states & stuck
        # A path of derived actions is a plan of least cost if and only if it leads to a goal within
        # `kept`. If a state has none, its paths there end in such a component without a goal.
        # Every cycle of `kept` costs nothing.
        components = self.kept.components
        leaves = components[self.kept.sources] != components[self.kept.targets]
        can_leave = np.zeros(self.kept.size, dtype=bool)
        can_leave[components[self.kept.sources[leaves]]] = True
        lost: Mask = ~can_leave[components]
        return self.states & lost

    @cached_property
    def mixed(self) -> Mask:
        """The `states` with both optimal and other derived actions."""
        derived, optimal = (
            self._count(mask) for mask in (self.derived, self.derived & self.space.optimal)
        )
        return self.states & (optimal > 0) & (optimal < derived)

    def _count(self, transitions: Mask) -> npt.NDArray[np.intp]:
        """Count the marked transitions that leave each state."""
        return np.bincount(self.space.graph.sources[transitions], minlength=len(self.space))
