"""Directed graphs as flat arrays: the arcs of node v are `offsets[v]` to `offsets[v + 1]`, and arc
a leads to `targets[a]`. Nodes after the end of `offsets` have no arcs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from planlog import _core

Ids = npt.NDArray[np.uint32]
NOT_REACHED = -1


@dataclass(frozen=True)
class Graph:
    """A directed graph; `arcs` (arcs,) are the numbers its arcs have in the one it is made from."""

    size: int
    offsets: Ids
    targets: Ids
    arcs: Ids

    @classmethod
    def of(cls, size: int, offsets: Ids, targets: Ids) -> Graph:
        return cls(size, offsets, targets, np.arange(len(targets), dtype=np.uint32))

    @cached_property
    def sources(self) -> Ids:
        """The node that each arc leaves: (arcs,)."""
        nodes = np.arange(len(self.offsets) - 1, dtype=np.uint32)
        return np.repeat(nodes, np.diff(self.offsets))

    @cached_property
    def reverse(self) -> Graph:
        """All arcs turned round."""
        offsets, targets, arcs = _core.reverse(self.offsets, self.targets, self.size)
        return Graph(self.size, offsets, targets, self.arcs[arcs])

    def keep(self, mask: npt.NDArray[np.bool_]) -> Graph:
        """The graph of those arcs whose entry in the mask (arcs,) is true."""
        kept = np.concatenate(([0], np.cumsum(mask, dtype=np.uint32)))
        offsets = kept[self.offsets].astype(np.uint32)
        return Graph(self.size, offsets, self.targets[mask], self.arcs[mask])

    def distances(self, sources: npt.ArrayLike) -> npt.NDArray[np.int32]:
        """The least number of arcs from any of the sources: (nodes,); NOT_REACHED if there is no
        way."""
        nodes = np.asarray(sources, dtype=np.uint32)
        return _core.distances(self.offsets, self.targets, self.size, nodes)

    @cached_property
    def components(self) -> Ids:
        """The strongly connected component of each node: (nodes,)."""
        return _core.components(self.offsets, self.targets, self.size)
