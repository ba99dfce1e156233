"""Segment operations: circuits in a form that torch computes fast, by sums and maxima of rows.

Networks spend their time here. The gradient of torch's indexing is slow. Sums over segments of rows
(`embedding_bag`) are ten times as fast, and the gradient of such a sum is another one. All results
are computed in a fixed order, so they are reproducible to the last bit.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from planlog.network.circuit import Circuit, Layer, RuleMessages
from planlog.ragged import Ids, Segments

_SUM, _MAX = 0, 2  # modes of embedding_bag
_FEW = 300  # rows below which torch's slow gradient beats a call of Python


class PreparedCircuit:
    """A circuit in the form in which networks compute it, prepared once."""

    def __init__(self, circuit: Circuit) -> None:
        self.structure = circuit.structure
        self.features = {
            relation: torch.from_numpy(vectors) for relation, vectors in circuit.features.items()
        }
        self.inputs = {
            relation: numbers.astype(np.int64) for relation, numbers in circuit.inputs.items()
        }
        last = {layer.relation: i for i, layer in enumerate(circuit.layers)}
        self.layers = [
            PreparedLayer(circuit, layer, last[layer.relation] == i)
            for i, layer in enumerate(circuit.layers)
        ]


class PreparedLayer:
    """A layer; `is_last` if no later one computes nodes of its relation."""

    def __init__(self, circuit: Circuit, layer: Layer, is_last: bool) -> None:
        self.relation = layer.relation
        self.is_last = is_last
        size = layer.last - layer.first
        self.rules = [
            PreparedMessages(circuit, rule, size) for rule in layer.rules if len(rule.nodes)
        ]


class PreparedMessages:
    """The messages of a rule: `literals` are their sources, `taken` gathers those of each node that
    the rule derives, and `place` gathers these nodes for all nodes of the layer."""

    def __init__(self, circuit: Circuit, part: RuleMessages, size: int) -> None:
        self.rule = part.rule
        self.messages = len(part.children)
        body = circuit.structure.rules[part.rule].body
        self.literals = [
            PreparedLiteral(relation, part.children[:, i]) for i, relation in enumerate(body)
        ]
        self.taken = RowSegments(part.messages, self.messages, part.segments)
        segments, order = Segments.grouped(part.nodes, size)
        self.place = RowSegments(order, len(part.nodes), segments)


class PreparedLiteral:
    """A literal in all messages: `nodes` gathers its nodes, numbered from `low`; `low` and `high`
    (exclusive) bound the nodes of the relation that occur."""

    def __init__(self, relation: int, nodes: Ids) -> None:
        self.relation = relation
        self.low, self.high = int(nodes.min()), int(nodes.max()) + 1
        self.project_first = self.high - self.low <= len(nodes)
        self.nodes = RowSegments(nodes - self.low, self.high - self.low)


class RowSegments:
    """Segments of the rows of a tensor: `indices` (entries,) are numbers of rows.

    `rows` is the number of rows of the tensor. Without segments, each entry is a segment.
    """

    def __init__(
        self, indices: npt.NDArray[Any], rows: int, segments: Segments | None = None
    ) -> None:
        self.segments = Segments.singletons(len(indices)) if segments is None else segments
        self.indices = torch.from_numpy(indices.astype(np.int64))
        self._starts = torch.from_numpy(self.segments.offsets[:-1].astype(np.int64))
        self._rows = rows

    def sums(self, rows: Tensor) -> Tensor:
        """Return the sum of each segment's rows: (segments, dimension)."""
        if self._is_identity:
            return rows
        if self.has_singletons and self._rows == 1:
            return rows.expand(len(self.segments), -1)
        if self.has_singletons and len(self.segments) < _FEW:
            return rows.index_select(0, self.indices)
        summed: Tensor = _Sum.apply(rows, self)  # type: ignore[no-untyped-call]
        return summed

    def maxima(self, rows: Tensor) -> Tensor:
        """Return the maximum of each segment's rows in each component: (segments, dimension)."""
        if self.has_singletons:
            return self.sums(rows)
        maxima: Tensor = _Maximum.apply(rows, self)  # type: ignore[no-untyped-call]
        return maxima

    @cached_property
    def lengths(self) -> Tensor:
        """Number of rows of each segment: (segments, 1)."""
        return torch.from_numpy(self.segments.lengths)[:, None]

    @cached_property
    def has_singletons(self) -> bool:
        """Whether every segment has one row."""
        return bool((self.segments.lengths == 1).all())

    @cached_property
    def _is_identity(self) -> bool:
        return self.has_singletons and np.array_equal(self.indices.numpy(), np.arange(self._rows))

    @cached_property
    def transposed(self) -> RowSegments:
        """For each row the segments that it is in."""
        segments, order = Segments.grouped(self.indices.numpy(), self._rows)
        return RowSegments(self.segments.owners[order], len(self.segments), segments)

    def aggregate(self, rows: Tensor, mode: int) -> tuple[Tensor, ...]:
        """Return the results of `embedding_bag`: sums or maxima first, rows of maxima last."""
        return torch.embedding_bag(rows.contiguous(), self.indices, self._starts, False, mode)


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, segments: RowSegments) -> Tensor:
        ctx.segments = segments
        if segments.has_singletons:
            return rows.index_select(0, segments.indices)
        return segments.aggregate(rows, _SUM)[0]

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return ctx.segments.transposed.aggregate(gradient, _SUM)[0], None


class _Maximum(torch.autograd.Function):
    """Maximum of each segment; the gradient goes to the first of equal maxima."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, segments: RowSegments) -> Tensor:
        ctx.shape = rows.shape
        maxima, _, _, where = segments.aggregate(rows, _MAX)
        ctx.save_for_backward(where)
        return maxima

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (where,) = ctx.saved_tensors
        rows, dimension = ctx.shape
        places = where * dimension + torch.arange(dimension)
        result = torch.zeros(rows * dimension, dtype=gradient.dtype)
        result.scatter_add_(0, places.view(-1), gradient.reshape(-1))
        return result.view(rows, dimension), None


class SharedRows:
    """The rows of a tensor of which many slices are taken.

    The gradients of slices are added in place. Torch would make each of them a tensor of all rows,
    which takes longer than everything else.
    """

    def __init__(self, rows: Tensor) -> None:
        self.rows = rows
        self.gradient: Tensor | None = None
        # Depends on the rows, and all slices depend on it: its gradient comes after theirs.
        self._token: Tensor | None = None

    def slice(self, low: int, high: int) -> Tensor:
        """Return the rows from `low` to `high` (exclusive)."""
        if not self.rows.requires_grad or (low == 0 and high == len(self.rows) < _FEW):
            return self.rows[low:high]
        if self._token is None:
            self._token = _Share.apply(self.rows, self)  # type: ignore[no-untyped-call]
        sliced: Tensor = _Slice.apply(  # type: ignore[no-untyped-call]
            self._token, self.rows.detach(), self, low, high
        )
        return sliced


class _Share(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, shared: SharedRows) -> Tensor:
        ctx.shared = shared
        return rows.new_zeros(())

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, _: Tensor) -> tuple[Tensor | None, None]:
        gradient, ctx.shared.gradient = ctx.shared.gradient, None  # the next pass begins anew
        return gradient, None


class _Slice(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, token: Tensor, rows: Tensor, shared: SharedRows, low: int, high: int
    ) -> Tensor:
        ctx.shared, ctx.low, ctx.high = shared, low, high
        return rows[low:high]

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None, None]:
        shared = ctx.shared
        if shared.gradient is None:
            shared.gradient = torch.zeros_like(shared.rows)
        shared.gradient[ctx.low : ctx.high] += gradient
        return gradient.new_zeros(()), None, None, None, None
