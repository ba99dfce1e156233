"""Graphs in flat arrays, against the definitions."""

from __future__ import annotations

import random
from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog import _core
from planlog.ragged import Segments
from planlog.statespace.graph import NOT_REACHED, Graph
from support.profiles import examples

FAR = 2**62


def as_graph(size: int, arcs: list[tuple[int, int]]) -> Graph:
    """Return a graph in which trailing nodes without arcs have no segment."""
    targets = [target for _, target in sorted(arcs)]
    given_nodes = max((source for source, _ in arcs), default=-1) + 1
    counts = [sum(source == node for source, _ in arcs) for node in range(given_nodes)]
    return Graph.of(size, Segments.of_lengths(counts), np.array(targets, dtype=np.uint32))


def reached(start: int, arcs: list[tuple[int, int]]) -> dict[int, int]:
    """Return each reachable node with its distance."""
    distances = {start: 0}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for source, target in arcs:
            if source == node and target not in distances:
                distances[target] = distances[node] + 1
                queue.append(target)
    return distances


def cheapest(sources: list[int], arcs: list[tuple[int, int]], costs: list[int]) -> dict[int, int]:
    """Return each reachable node with its least cost (Bellman and Ford)."""
    found = dict.fromkeys(sources, 0)
    for _ in range(len(arcs) + 1):
        for (source, target), cost in zip(arcs, costs, strict=True):
            if source in found:
                found[target] = min(found[source] + cost, found.get(target, FAR))
    return found


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    size = draw(st.integers(1, 12))
    nodes = st.integers(0, size - 1)
    return size, sorted(draw(st.lists(st.tuples(nodes, nodes), max_size=30)))


@examples(200)
@given(graphs(), st.randoms(use_true_random=False))
def test_graphs_by_definition(drawn: tuple[int, list[tuple[int, int]]], rng: random.Random) -> None:
    size, arcs = drawn
    graph = as_graph(size, arcs)
    ways = [reached(node, arcs) for node in range(size)]
    assert graph.sources.tolist() == [source for source, _ in arcs]
    sources = rng.sample(range(size), rng.randint(0, size))
    assert graph.distances(sources).tolist() == [
        min((ways[s][node] for s in sources if node in ways[s]), default=NOT_REACHED)
        for node in range(size)
    ]
    costs = np.array([rng.choice([0, 0, 1, 2, 7, 2**40]) for _ in arcs], dtype=np.int64)
    least = cheapest(sources, arcs, costs.tolist())
    assert graph.least_costs(costs, sources).tolist() == [
        least.get(node, NOT_REACHED) for node in range(size)
    ]
    back = graph.reverse
    turned_round = cheapest(sources, [(y, x) for x, y in arcs], costs.tolist())
    assert back.least_costs(costs, sources).tolist() == [
        turned_round.get(node, NOT_REACHED) for node in range(size)
    ]
    assert sorted(zip(back.sources.tolist(), back.targets.tolist(), strict=True)) == sorted(
        (target, source) for source, target in arcs
    )
    components = graph.components
    for one in range(size):
        for other in ways[one]:
            assert (components[one] == components[other]) == (one in ways[other])
    mask = np.array([rng.random() < 0.5 for _ in arcs], dtype=bool)
    kept = graph.keep(mask)
    assert [
        (int(source), int(target), int(arc))
        for source, target, arc in zip(kept.sources, kept.targets, kept.arcs, strict=True)
    ] == [(*arcs[arc], arc) for arc in range(len(arcs)) if mask[arc]]
    for turned in (back, kept.reverse):  # arcs keep their numbers
        for source, target, arc in zip(turned.sources, turned.targets, turned.arcs, strict=True):
            assert arcs[arc] == (target, source)


def test_costs_that_are_too_large() -> None:
    """They matter only where there is no cheaper path."""
    largest = 2**63 - 1
    graph = as_graph(4, [(0, 1), (1, 2), (2, 3)])

    def least(*costs: int, graph: Graph = graph) -> list[int]:
        return graph.least_costs(np.array(costs, dtype=np.int64), [0]).tolist()

    assert least(largest - 1, 1, 0) == [0, largest - 1, largest, largest]
    with pytest.raises(OverflowError, match="too large"):
        least(largest, 1, 0)
    both = as_graph(3, [(0, 1), (0, 2), (1, 2)])
    assert least(largest, 5, 1, graph=both) == [0, largest, 5]


def test_costs_that_do_not_fit() -> None:
    graph = as_graph(2, [(0, 1)])
    with pytest.raises(ValueError, match="negative"):
        graph.least_costs(np.array([-1]), [0])
    with pytest.raises(IndexError):
        graph.least_costs(np.array([], dtype=np.int64), [0])
    with pytest.raises(ValueError, match="every arc"):
        _core.least_costs(
            graph.segments.offsets, graph.targets, 2, np.zeros(2, np.int64), np.zeros(1, np.uint32)
        )
