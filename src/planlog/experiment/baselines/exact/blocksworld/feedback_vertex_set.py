"""Minimum feedback vertex sets: the fewest nodes of a directed graph that hit all its cycles.

There are too many cycles to list, so cycles are generated as needed. HiGHS finds the fewest nodes
that hit the known cycles, first as a linear program and then in integers. Cycles that its solution
misses are added until there are none. Every solution on the way is a lower bound.

Upper bounds, which hit all cycles, come from these solutions and from a local search. A set that
equals the lower bound is a minimum.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planlog.experiment.baselines.exact.integer_program import TOLERANCE, load_highs, new_solver

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
    hitting = _HittingSet(len(arcs))
    search = _Search(arcs)
    bound = 0
    for first, second in np.argwhere(np.triu(arcs & arcs.T)).tolist():
        hitting.add((first, second))
    while bound < len(search.best) and (seconds := deadline - time.monotonic()) > 0:
        # HiGHS checks its time limit rarely, so it gets only a part of the time.
        answer = hitting.solve(bound, 0.8 * seconds)
        bound = min(max(bound, answer.bound), len(search.best))
        if not answer.finished:
            search.improve(2000, bound, deadline)
            break
        search.complete(answer.values)
        new = [hitting.add(cycle) for cycle in light_cycles(arcs, answer.values)]
        if hitting.integral:
            search.improve(50, bound, deadline)
        elif not any(new):
            hitting.require_integers()
            search.improve(200, bound, deadline)
    return search.best, bound


def light_cycles(arcs: Arcs, weights: Weights) -> list[tuple[int, ...]]:
    """Return a lightest cycle through each node if it weighs less than 1; each cycle once.

    By the algorithm of Floyd and Warshall, without paths of weight 1 or more.
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


@dataclass(frozen=True)
class _Answer:
    finished: bool
    values: Weights  # value of each node, if HiGHS has finished
    bound: int  # lower bound on the number of nodes


class _HittingSet:
    """The fewest nodes that hit all known cycles, as a linear and later an integer program."""

    def __init__(self, nodes: int) -> None:
        self._highspy = load_highs()
        self._solver = new_solver(
            self._highspy,
            mip_abs_gap=1 - 10 * TOLERANCE,  # the answer is an integer
            # Branching needs few nodes; more cuts would cost time without effect.
            mip_allow_restart=False,
            mip_pool_soft_limit=300,
            mip_pool_age_limit=3,
        )
        self._all = np.arange(nodes, dtype=np.int32)
        self._known: set[tuple[int, ...]] = set()
        self.integral = False
        if nodes:
            self._solver.addVars(nodes, np.zeros(nodes), np.ones(nodes))
            self._solver.changeColsCost(nodes, self._all, np.ones(nodes))

    def add(self, cycle: tuple[int, ...]) -> bool:
        """Add a cycle, given by its nodes in ascending order; return whether it is new."""
        if cycle in self._known:
            return False
        self._known.add(cycle)
        row = np.array(cycle, dtype=np.int32)
        self._solver.addRow(1.0, self._highspy.kHighsInf, len(row), row, np.ones(len(row)))
        return True

    def require_integers(self) -> None:
        """Solve integer programs from now on."""
        integer = [self._highspy.HighsVarType.kInteger] * len(self._all)
        self._solver.changeColsIntegrality(len(self._all), self._all, np.array(integer))
        self.integral = True

    def solve(self, bound: int, seconds: float) -> _Answer:
        """Return the fewest nodes; the search ends at a solution as small as a known bound."""
        self._solver.setOptionValue("time_limit", min(seconds, 1e9))
        if self.integral:
            self._solver.setOptionValue("objective_target", bound + 0.5)
        self._solver.run()
        status = self._highspy.HighsModelStatus
        finished = self._solver.getModelStatus() in (status.kOptimal, status.kObjectiveTarget)
        information = self._solver.getInfo()
        if self.integral:
            proved = information.mip_dual_bound
        else:
            proved = information.objective_function_value if finished else 0.0
        bound = math.ceil(proved - 10 * TOLERANCE) if math.isfinite(proved) else 0
        values = np.clip(np.array(self._solver.getSolution().col_value), 0, 1)
        return _Answer(finished, values.round() if self.integral else values, bound)
