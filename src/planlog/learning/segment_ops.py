"""Circuits in the form in which torch computes with them fast: sums and maxima of listed rows.

Networks spend their time here. Torch's indexing has a slow gradient; sums over lists of rows
(`embedding_bag`) are ten times as fast, and the gradient of one is another. All results are
computed in a fixed order, so they can be repeated exactly.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from planlog.network.circuit import Circuit, Layer, RuleMessages

Ids = npt.NDArray[np.uint32]
_SUM, _MAX = 0, 2  # modes of embedding_bag
_FEW = 300  # rows for which a call of Python takes longer than torch's slow gradient


class PreparedCircuit:
    """A circuit that networks can compute again and again without preparing anything."""

    def __init__(self, circuit: Circuit) -> None:
        self.structure = circuit.structure
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
    """What a rule contributes: messages from literals, `taken` by some nodes, and their `place`
    among all nodes of the layer."""

    def __init__(self, circuit: Circuit, part: RuleMessages, size: int) -> None:
        self.rule = part.rule
        self.messages = len(part.children)
        body = circuit.structure.rules[part.rule].body
        self.literals = [
            PreparedLiteral(relation, part.children[:, i]) for i, relation in enumerate(body)
        ]
        self.taken = Lists(part.messages, part.offsets, self.messages)
        counts = np.bincount(part.nodes, minlength=size)
        self.place = Lists(np.argsort(part.nodes, kind="stable"), _offsets(counts), len(part.nodes))


class PreparedLiteral:
    """The nodes of a literal in all messages: `lists` of one each, numbered from `low`; the others
    of the relation lie outside `low` to `high` (exclusive)."""

    def __init__(self, relation: int, nodes: Ids) -> None:
        self.relation = relation
        self.low, self.high = int(nodes.min()), int(nodes.max()) + 1
        self.project_first = self.high - self.low <= len(nodes)
        self.lists = Lists(nodes - self.low, np.arange(len(nodes) + 1), self.high - self.low)


class Lists:
    """Lists of rows of a tensor: list i has the rows `indices[offsets[i] : offsets[i + 1]]`."""

    def __init__(self, indices: npt.NDArray[Any], offsets: npt.NDArray[Any], rows: int) -> None:
        self._indices = indices.astype(np.int64)
        self._lengths = offsets[1:].astype(np.int64) - offsets[:-1].astype(np.int64)
        self._rows = rows
        self.bags = _Bags(self._indices, offsets[:-1].astype(np.int64))
        self.are_single = bool((self._lengths == 1).all())
        self._are_all = self.are_single and np.array_equal(self._indices, np.arange(rows))

    def sums(self, rows: Tensor) -> Tensor:
        """The sum of each list's rows, (lists, dimension)."""
        if self._are_all:
            return rows
        if self.are_single and self._rows == 1:
            return rows.expand(len(self._lengths), -1)
        if self.are_single and len(self._lengths) < _FEW:
            return rows.index_select(0, self.bags.indices)
        summed: Tensor = _Sum.apply(rows, self)  # type: ignore[no-untyped-call]
        return summed

    def maxima(self, rows: Tensor) -> Tensor:
        """The maximum of each list's rows in each component, (lists, dimension)."""
        if self.are_single:
            return self.sums(rows)
        maxima: Tensor = _Maximum.apply(rows, self)  # type: ignore[no-untyped-call]
        return maxima

    @cached_property
    def lengths(self) -> Tensor:
        """(lists, 1)"""
        return torch.from_numpy(self._lengths)[:, None]

    @cached_property
    def transposed(self) -> _Bags:
        """For each row the lists that it is in."""
        owners = np.repeat(np.arange(len(self._lengths)), self._lengths)
        order = np.argsort(self._indices, kind="stable")
        counts = np.bincount(self._indices, minlength=self._rows)
        return _Bags(owners[order], _offsets(counts)[:-1])


class _Bags:
    """Lists as `embedding_bag` knows them: bag i begins at `starts[i]`."""

    def __init__(self, indices: npt.NDArray[np.int64], starts: npt.NDArray[np.int64]) -> None:
        self.indices = torch.from_numpy(indices)
        self.starts = torch.from_numpy(starts)

    def sums(self, rows: Tensor) -> Tensor:
        found = torch.embedding_bag(rows.contiguous(), self.indices, self.starts, False, _SUM)
        return found[0]

    def maxima(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Maxima, and the number of the first row that has them, both (lists, dimension)."""
        found = torch.embedding_bag(rows.contiguous(), self.indices, self.starts, False, _MAX)
        return found[0], found[3]


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, lists: Lists) -> Tensor:
        ctx.lists = lists
        if lists.are_single:
            return rows.index_select(0, lists.bags.indices)
        return lists.bags.sums(rows)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return ctx.lists.transposed.sums(gradient), None


class _Maximum(torch.autograd.Function):
    """Of several equal maxima, the gradient goes to the first."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, lists: Lists) -> Tensor:
        ctx.shape = rows.shape
        maxima, where = lists.bags.maxima(rows)
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

    The gradients of slices are added up in one place. Torch would make each of them a tensor of all
    rows, which takes longer than everything else.
    """

    def __init__(self, rows: Tensor) -> None:
        self.rows = rows
        self.gradient: Tensor | None = None
        # Depends on the rows, and all slices on it: so its gradient is asked for after theirs.
        self._token: Tensor | None = None

    def slice(self, low: int, high: int) -> Tensor:
        """The rows from `low` to `high` (exclusive)."""
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


def _offsets(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts)))
