"""Minimum feedback vertex sets: the fewest nodes of a directed graph that hit all its cycles.

There are too many cycles to list, so cycles are generated as needed. HiGHS finds the fewest nodes
that hit the known cycles, first as a linear program and then in integers. Cycles that its solution
misses are added until there are none. Every solution on the way is a lower bound.

Upper bounds, which hit all cycles, come from these solutions and from a local search. A set whose
size equals the lower bound is a minimum.

E. Moreno-Centeno, R. M. Karp: The implicit hitting set approach to solve combinatorial optimization
problems with an application to multigenome alignment. Operations Research 61, 2013.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planlog.experiment.baselines.exact.integer_program import TOLERANCE, IntegerProgram

Arcs = npt.NDArray[np.bool_]  # (nodes, nodes): there is an arc from row to column
Nodes = npt.NDArray[np.intp]  # (selected nodes,)
Weights = npt.NDArray[np.float64]  # (nodes,)

_STEP = 1e-7  # added to each weight, to prefer the shortest of equally light cycles


@dataclass(frozen=True)
class FeedbackSet:
    """Nodes that hit all cycles, and a lower bound on the number of such nodes."""

    nodes: frozenset[int]
    lower_bound: int


def minimum_feedback_set(arcs: Arcs, *, time_limit: float | None = None) -> FeedbackSet:
    """Return a feedback vertex set, which is a minimum unless the time limit is reached."""
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    loops = arcs.diagonal()
    inner = _on_cycles(arcs, np.flatnonzero(~loops))
    chosen, bound = _without_loops(arcs[np.ix_(inner, inner)], deadline)
    nodes = {*np.flatnonzero(loops).tolist(), *inner[chosen].tolist()}
    return FeedbackSet(frozenset(nodes), int(loops.sum()) + bound)


def _without_loops(arcs: Arcs, deadline: float) -> tuple[Nodes, int]:
    """Return a feedback vertex set of a graph without loops, and a lower bound."""
    # Branching needs few nodes; restarts and more cuts would cost time without effect.
    program = IntegerProgram(mip_allow_restart=False, mip_pool_soft_limit=300, mip_pool_age_limit=3)
    nodes = [program.variable(1) for _ in arcs]
    known: set[tuple[int, ...]] = set()

    def hit(cycles: Iterable[tuple[int, ...]]) -> bool:
        """Require that all cycles are hit; return whether one of them is new."""
        new = [cycle for cycle in cycles if cycle not in known]
        for cycle in new:
            program.at_least(1, [(1, nodes[node]) for node in cycle])
        known.update(new)
        return bool(new)

    search = _Search(arcs)
    bound, relaxed = 0, True
    hit((first, second) for first, second in np.argwhere(np.triu(arcs & arcs.T)).tolist())
    while bound < len(search.best) and (seconds := deadline - time.monotonic()) > 0:
        # HiGHS checks its time limit rarely, so it gets only a part of the time.
        answer = program.solve(0.8 * seconds, target=bound + 0.5, relaxed=relaxed)
        bound = min(max(bound, answer.lower_bound), len(search.best))
        if answer.values is None or not answer.finished:
            search.improve(2000, bound, deadline)
            break
        weights = np.clip(answer.values[nodes], 0, 1)
        search.complete(weights)
        missed = hit(light_cycles(arcs, weights))
        if not relaxed:
            search.improve(50, bound, deadline)
        elif not missed:
            relaxed = False
            search.improve(200, bound, deadline)
    return search.best, bound


def light_cycles(arcs: Arcs, weights: Weights) -> list[tuple[int, ...]]:
    """Return a lightest cycle through each node if it weighs less than 1; each cycle once.

    R. W. Floyd: Algorithm 97: Shortest path. Communications of the ACM 5, 1962; here without paths
    of weight 1 or more.
    """
    count = len(arcs)
    usable = weights < 1 - 10 * TOLERANCE
    arcs = arcs & usable[:, None] & usable
    # distance[i, j]: weight of the lightest path found from i to j, without the weight of i;
    # following[i, j]: the node after i on that path.
    distance = np.where(arcs, weights + _STEP, np.inf)
    following = np.where(arcs, np.arange(count), -1)
    for middle in range(count):
        before = np.flatnonzero(distance[:, middle] < 1)
        after = np.flatnonzero(distance[middle] < 1)
        if not len(before) or not len(after):
            continue
        block = np.ix_(before, after)
        known = distance[block]
        through = distance[before, middle][:, None] + distance[middle, after]
        shorter = through < np.minimum(known, 1)
        distance[block] = np.where(shorter, through, known)
        following[block] = np.where(shorter, following[before, middle][:, None], following[block])
    lengths = distance.diagonal()
    cycles: dict[tuple[int, ...], None] = {}
    for start in np.argsort(lengths, kind="stable").tolist():
        if lengths[start] >= 1 - 10 * TOLERANCE:
            break
        cycle = [start]
        while (node := int(following[cycle[-1], start])) != start:
            cycle.append(node)
        cycles[tuple(sorted(cycle))] = None
    return list(cycles)


class _Search:
    """A local search for small feedback vertex sets; `best` is the smallest one so far."""

    def __init__(self, arcs: Arcs) -> None:
        self._arcs = arcs
        self._successors = [np.flatnonzero(row).tolist() for row in arcs]
        self._rng = np.random.default_rng(0)
        self.best: Nodes = np.arange(len(arcs))
        self.complete(np.zeros(len(arcs)))

    def complete(self, weights: Weights) -> None:
        """Try the nodes of weight 1, with others where needed."""
        chosen = weights > 1 - 10 * TOLERANCE
        self._try(chosen, 0.1 + weights, np.argsort(weights, kind="stable"))

    def improve(self, attempts: int, bound: int, deadline: float) -> None:
        """Try repeatedly to replace nodes of the best set by fewer others."""
        for _ in range(attempts):
            if len(self.best) <= bound or time.monotonic() > deadline:
                break
            count = self._rng.integers(1, 2 + len(self.best) // 4)
            chosen = np.zeros(len(self._arcs), dtype=np.bool_)
            chosen[self._rng.permutation(self.best)[count:]] = True
            preference = np.exp(self._rng.normal(0, 0.7, len(chosen)))
            self._try(chosen, preference, self._rng.permutation(len(chosen)))

    def _try(self, nodes: npt.NDArray[np.bool_], preference: Weights, order: Nodes) -> None:
        """Add nodes of high degree and preference until all cycles are hit; remove redundant ones.

        All arrays: (nodes,). Nodes are removed in the given order. A set of the same size as the
        best one replaces it, to diversify the search.
        """
        left = _on_cycles(self._arcs, np.flatnonzero(~nodes))
        chosen: list[bool] = nodes.tolist()
        while len(left):
            inner = self._arcs[np.ix_(left, left)]
            node = left[np.argmax(inner.sum(0) * inner.sum(1) * preference[left])]
            chosen[node] = True
            left = _on_cycles(self._arcs, left[left != node])
        for node in order.tolist():
            if chosen[node] and not self._is_on_cycle(node, chosen):
                chosen[node] = False
        if sum(chosen) <= len(self.best):
            self.best = np.flatnonzero(chosen)

    def _is_on_cycle(self, node: int, removed: list[bool]) -> bool:
        """Return whether a cycle through the node contains no removed node."""
        seen = removed.copy()
        stack = [node]
        while stack:
            for successor in self._successors[stack.pop()]:
                if successor == node:
                    return True
                if not seen[successor]:
                    seen[successor] = True
                    stack.append(successor)
        return False


def _on_cycles(arcs: Arcs, nodes: Nodes) -> Nodes:
    """Return the nodes that are on cycles of these nodes, or on paths between cycles."""
    while len(nodes):
        inner = arcs[np.ix_(nodes, nodes)]
        stay = inner.any(0) & inner.any(1)
        if stay.all():
            break
        nodes = nodes[stay]
    return nodes
