"""Graphs in flat arrays, against the definitions."""

from __future__ import annotations

import random
from collections import deque

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from planlog.ragged import Segments
from planlog.statespace.graph import NOT_REACHED, Graph
from support.profiles import examples


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
    back = graph.reverse
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
