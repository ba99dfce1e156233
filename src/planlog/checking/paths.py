"""Shortest paths and cycles in a graph of states, as actions.

The nodes of these graphs are the states of a space, and their arcs are some of its transitions.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from planlog.pddl.task import Action
from planlog.statespace.graph import NOT_REACHED, Graph
from planlog.statespace.space import StateSpace


def shortest_path(space: StateSpace, graph: Graph, start: int, end: int) -> tuple[Action, ...]:
    """Return a shortest path between two states; `end` must be reachable from `start`."""
    return _trace_back(space, graph, graph.distances([start]), end)


def shortest_cycle(space: StateSpace, graph: Graph, state: int) -> tuple[Action, ...]:
    """Return a shortest non-empty path from a state on a cycle back to that state."""
    distances = graph.distances([state])
    sources, transitions = _incoming(graph, state)
    last = np.argmin(np.where(distances[sources] == NOT_REACHED, np.inf, distances[sources]))
    path = _trace_back(space, graph, distances, int(sources[last]))
    return (*path, _action(space, int(transitions[last])))


def states_on_cycles(graph: Graph) -> npt.NDArray[np.bool_]:
    """Return a mask (nodes,) of the states that lie on a cycle."""
    # A strongly connected component with an inner arc has a cycle through each of its states.
    components = graph.components
    inside = components[graph.sources] == components[graph.targets]
    cyclic = np.zeros(graph.size, dtype=bool)
    cyclic[components[graph.targets[inside]]] = True
    return cyclic[components]


def _trace_back(
    space: StateSpace, graph: Graph, distances: npt.NDArray[np.int32], end: int
) -> tuple[Action, ...]:
    """Follow arcs back from `end`, each to a distance one less, until the distance is 0."""
    actions = []
    while distances[end] > 0:
        sources, transitions = _incoming(graph, end)
        arc = np.flatnonzero(distances[sources] == distances[end] - 1)[0]
        actions.append(_action(space, int(transitions[arc])))
        end = int(sources[arc])
    return tuple(reversed(actions))


def _incoming(graph: Graph, state: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Return the sources and the transitions of the arcs into a state: (arcs,) each."""
    backwards = graph.reverse
    entries = backwards.segments[state]
    return backwards.targets[entries], backwards.arcs[entries]


def _action(space: StateSpace, transition: int) -> Action:
    return space.action(int(space.actions[transition]))
