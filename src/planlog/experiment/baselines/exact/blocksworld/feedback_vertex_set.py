"""Minimum feedback vertex sets: the fewest nodes of a directed graph that are on all its cycles.

A set of nodes is wanted that hits every cycle. There are far too many cycles to write down, so
only some are known at a time, and the fewest nodes that hit those are found by HiGHS: first as
a linear program, then in whole numbers. Cycles that its answer leaves are added until there are
none. As every known cycle has to be hit, the answers before that are lower bounds.

Small sets that hit really all cycles come from these answers, and from a local search. When one
is as small as the bound, it is a minimum.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planlog.experiment.baselines.exact.integer_program import TOLERANCE, load_highs, new_solver

Arcs = npt.NDArray[np.bool_]  # (nodes, nodes): there is an arc from row to column
Nodes = npt.NDArray[np.intp]  # (some nodes,)
Weights = npt.NDArray[np.float64]  # (nodes,)

_STEP = 1e-7  # added to each weight, so that of equally light cycles the shortest is found


@dataclass(frozen=True)
class FeedbackSet:
    """Nodes that are on all cycles, and how many every such set has at the least."""

    nodes: frozenset[int]
    lower_bound: int


def minimum_feedback_set(arcs: Arcs, *, time_limit: float | None = None) -> FeedbackSet:
    """A feedback vertex set; a minimum one if the time (in seconds) is enough to prove that."""
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    loops = arcs.diagonal()
    inner = _on_cycles(arcs, np.flatnonzero(~loops))
    chosen, bound = _without_loops(arcs[np.ix_(inner, inner)], deadline)
    nodes = {*np.flatnonzero(loops).tolist(), *inner[chosen].tolist()}
    return FeedbackSet(frozenset(nodes), int(loops.sum()) + bound)


def _without_loops(arcs: Arcs, deadline: float) -> tuple[Nodes, int]:
    """A feedback vertex set of a graph without loops, and a lower bound."""
    hitting = _HittingSet(len(arcs))
    search = _Search(arcs)
    bound = 0
    for first, second in np.argwhere(np.triu(arcs & arcs.T)).tolist():
        hitting.add((first, second))
    while bound < len(search.best) and (seconds := deadline - time.monotonic()) > 0:
        # HiGHS looks at the clock only now and then, so a part of the time is kept from it.
        answer = hitting.solve(bound, 0.8 * seconds)
        bound = min(max(bound, answer.bound), len(search.best))
        if not answer.finished:
            search.improve(2000, bound, deadline)
            break
        search.complete(answer.values)
        new = [hitting.add(cycle) for cycle in light_cycles(arcs, answer.values)]
        if hitting.whole:
            search.improve(50, bound, deadline)
        elif not any(new):
            hitting.in_whole_numbers()
            search.improve(200, bound, deadline)
    return search.best, bound


def light_cycles(arcs: Arcs, weights: Weights) -> list[tuple[int, ...]]:
    """For each node a lightest cycle through it if that weighs less than 1; each cycle once.

    By the method of Floyd and Warshall, without the paths that already weigh too much.
    """
    count = len(arcs)
    usable = weights < 1 - 10 * TOLERANCE
    arcs = arcs & usable[:, None] & usable
    # distance[i, j]: of a lightest path that has been found from i to j, without the weight of i;
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
    """Looks for small feedback vertex sets; `best` is the smallest so far, and is always one."""

    def __init__(self, arcs: Arcs) -> None:
        self._arcs = arcs
        self._successors = [np.flatnonzero(row).tolist() for row in arcs]
        self._rng = np.random.default_rng(0)
        self.best: Nodes = np.arange(len(arcs))
        self.complete(np.zeros(len(arcs)))

    def complete(self, weights: Weights) -> None:
        """Try the nodes of weight 1, with some others if they are not enough."""
        chosen = weights > 1 - 10 * TOLERANCE
        self._try(chosen, 0.1 + weights, np.argsort(weights, kind="stable"))

    def improve(self, attempts: int, bound: int, deadline: float) -> None:
        """Try to replace some nodes of the best set by fewer others, again and again."""
        for _ in range(attempts):
            if len(self.best) <= bound or time.monotonic() > deadline:
                break
            count = self._rng.integers(1, 2 + len(self.best) // 4)
            chosen = np.zeros(len(self._arcs), dtype=np.bool_)
            chosen[self._rng.permutation(self.best)[count:]] = True
            liking = np.exp(self._rng.normal(0, 0.7, len(chosen)))
            self._try(chosen, liking, self._rng.permutation(len(chosen)))

    def _try(self, nodes: npt.NDArray[np.bool_], liking: Weights, order: Nodes) -> None:
        """Add nodes that many arcs meet in and that are liked, then leave out needless ones.

        All arrays (nodes,); `order` is that of leaving out. Sets as small as the best replace it,
        too, so that the search does not stay where it is.
        """
        left = _on_cycles(self._arcs, np.flatnonzero(~nodes))
        chosen: list[bool] = nodes.tolist()
        while len(left):
            inner = self._arcs[np.ix_(left, left)]
            node = left[np.argmax(inner.sum(0) * inner.sum(1) * liking[left])]
            chosen[node] = True
            left = _on_cycles(self._arcs, left[left != node])
        for node in order.tolist():
            if chosen[node] and not self._is_on_cycle(node, chosen):
                chosen[node] = False
        if sum(chosen) <= len(self.best):
            self.best = np.flatnonzero(chosen)

    def _is_on_cycle(self, node: int, removed: list[bool]) -> bool:
        """Whether a cycle leads through the node, and besides only through nodes not removed."""
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
    """Those of the nodes that are on cycles of these nodes, or on paths between such."""
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
    values: Weights  # how much of each node is taken; only if HiGHS has finished
    bound: int  # on the number of nodes


class _HittingSet:
    """Fewest nodes that hit all cycles known so far; nodes count in parts until told otherwise."""

    def __init__(self, nodes: int) -> None:
        self._highspy = load_highs()
        self._solver = new_solver(
            self._highspy,
            mip_abs_gap=1 - 10 * TOLERANCE,  # the answer is an integer
            # Few nodes are branched on; most time would go into cuts that do not help.
            mip_allow_restart=False,
            mip_pool_soft_limit=300,
            mip_pool_age_limit=3,
        )
        self._all = np.arange(nodes, dtype=np.int32)
        self._known: set[tuple[int, ...]] = set()
        self.whole = False
        if nodes:
            self._solver.addVars(nodes, np.zeros(nodes), np.ones(nodes))
            self._solver.changeColsCost(nodes, self._all, np.ones(nodes))

    def add(self, cycle: tuple[int, ...]) -> bool:
        """Have a cycle hit, given by its nodes in ascending order; False if it was known."""
        if cycle in self._known:
            return False
        self._known.add(cycle)
        row = np.array(cycle, dtype=np.int32)
        self._solver.addRow(1.0, self._highspy.kHighsInf, len(row), row, np.ones(len(row)))
        return True

    def in_whole_numbers(self) -> None:
        """From now on nodes are taken or not."""
        integer = [self._highspy.HighsVarType.kInteger] * len(self._all)
        self._solver.changeColsIntegrality(len(self._all), self._all, np.array(integer))
        self.whole = True

    def solve(self, bound: int, seconds: float) -> _Answer:
        """The fewest nodes; as few as a bound that is known already are not looked for further."""
        self._solver.setOptionValue("time_limit", min(seconds, 1e9))
        if self.whole:
            self._solver.setOptionValue("objective_target", bound + 0.5)
        self._solver.run()
        status = self._highspy.HighsModelStatus
        finished = self._solver.getModelStatus() in (status.kOptimal, status.kObjectiveTarget)
        information = self._solver.getInfo()
        if self.whole:
            proved = information.mip_dual_bound
        else:
            proved = information.objective_function_value if finished else 0.0
        bound = math.ceil(proved - 10 * TOLERANCE) if math.isfinite(proved) else 0
        values = np.clip(np.array(self._solver.getSolution().col_value), 0, 1)
        return _Answer(finished, values.round() if self.whole else values, bound)
