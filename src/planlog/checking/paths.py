"""Shortest ways through a graph of states, as actions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from planlog.pddl.task import Action
from planlog.statespace.graph import NOT_REACHED, Graph
from planlog.statespace.space import StateSpace

# The graphs have states of the space as nodes and some of its transitions as arcs.


def way(space: StateSpace, graph: Graph, start: int, end: int) -> tuple[Action, ...]:
    """A shortest way from one state to another, which must be reachable."""
    return _back(space, graph, graph.distances([start]), end)


def cycle(space: StateSpace, graph: Graph, state: int) -> tuple[Action, ...]:
    """A shortest way from a state on a cycle back to it, of one action or more."""
    distances = graph.distances([state])
    sources, transitions = _into(graph, state)
    last = np.argmin(np.where(distances[sources] == NOT_REACHED, np.inf, distances[sources]))
    before = _back(space, graph, distances, int(sources[last]))
    return (*before, _action(space, int(transitions[last])))


def states_on_cycles(graph: Graph) -> npt.NDArray[np.bool_]:
    """The states (nodes,) from which a way leads back to them."""
    # A component with an arc inside has a cycle through each of its states.
    components = graph.components
    inside = components[graph.sources] == components[graph.targets]
    cyclic = np.zeros(graph.size, dtype=bool)
    cyclic[components[graph.targets[inside]]] = True
    return cyclic[components]


def _back(
    space: StateSpace, graph: Graph, distances: npt.NDArray[np.int32], end: int
) -> tuple[Action, ...]:
    """From the end back to where the distance is 0, one less at each step."""
    actions = []
    while distances[end] > 0:
        sources, transitions = _into(graph, end)
        arc = np.flatnonzero(distances[sources] == distances[end] - 1)[0]
        actions.append(_action(space, int(transitions[arc])))
        end = int(sources[arc])
    return tuple(reversed(actions))


def _into(graph: Graph, state: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Where the arcs to a state come from, and which transitions they are: (arcs,) each."""
    backwards = graph.reverse
    entries = backwards.segments[state]
    return backwards.targets[entries], backwards.arcs[entries]


def _action(space: StateSpace, transition: int) -> Action:
    return space.action(int(space.actions[transition]))
