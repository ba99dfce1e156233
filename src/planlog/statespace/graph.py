"""Directed graphs as flat arrays: each node's arcs are a segment, and arc a leads to `targets[a]`.
Nodes after the last segment have no arcs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from planlog import _core
from planlog.ragged import Ids, Mask, Segments

NOT_REACHED = -1


@dataclass(frozen=True)
class Graph:
    """A directed graph; `arcs` (arcs,) numbers its arcs in the graph it was made from."""

    size: int
    segments: Segments
    targets: Ids
    arcs: Ids

    @classmethod
    def of(cls, size: int, segments: Segments, targets: Ids) -> Graph:
        return cls(size, segments, targets, np.arange(len(targets), dtype=np.uint32))

    @cached_property
    def sources(self) -> Ids:
        """The node that each arc leaves: (arcs,)."""
        return self.segments.owners

    @cached_property
    def reverse(self) -> Graph:
        """The graph with all arcs reversed."""
        offsets, targets, arcs = _core.reverse(self.segments.offsets, self.targets, self.size)
        return Graph(self.size, Segments(offsets), targets, self.arcs[arcs])

    def keep(self, mask: Mask) -> Graph:
        """Return the graph of the arcs whose entry in the mask (arcs,) is true."""
        return Graph(self.size, self.segments.filter(mask), self.targets[mask], self.arcs[mask])

    def distances(self, sources: npt.ArrayLike) -> npt.NDArray[np.int32]:
        """Return the least number of arcs from any of the sources to each node: (nodes,).

        Unreachable nodes have NOT_REACHED.
        """
        nodes = np.asarray(sources, dtype=np.uint32)
        return _core.distances(self.segments.offsets, self.targets, self.size, nodes)

    def least_costs(
        self, costs: npt.NDArray[np.int64], sources: npt.ArrayLike
    ) -> npt.NDArray[np.int64]:
        """Return the least cost of a path from any of the sources to each node: (nodes,).

        `costs` (arcs of the graph this one was made from,) are at least 0. Unreachable nodes have
        NOT_REACHED. Raises OverflowError if a cost is too large.
        """
        nodes = np.asarray(sources, dtype=np.uint32)
        own = costs[self.arcs]
        return _core.least_costs(self.segments.offsets, self.targets, self.size, own, nodes)

    @cached_property
    def components(self) -> Ids:
        """The strongly connected component of each node: (nodes,)."""
        return _core.components(self.segments.offsets, self.targets, self.size)
