"""State spaces by definition: breadth-first over sets of atoms, with PDDL by the book.

Nothing here is shared with the core, and nothing is done for speed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from planlog.pddl.task import Action
from planlog.statespace.space import StateSpace
from support.pddl_by_the_book import Atoms, Book

Node = TypeVar("Node", bound=Hashable)
Choice = Callable[[Atoms, list[Action]], list[Action]]  # some of the applicable actions of a state


def predecessors(graph: Mapping[Node, Iterable[Node]]) -> dict[Node, list[Node]]:
    """Turn the arcs of a graph round."""
    found: dict[Node, list[Node]] = {node: [] for node in graph}
    for node, successors in graph.items():
        for successor in successors:
            found.setdefault(successor, []).append(node)
    return found


def goal_distances(graph: Mapping[Node, Iterable[Node]], goals: Iterable[Node]) -> dict[Node, int]:
    """Return the number of steps to the next goal, of all nodes from which one can be reached."""
    before = predecessors(graph)
    distances = dict.fromkeys(goals, 0)
    queue = deque(distances)
    while queue:
        node = queue.popleft()
        for predecessor in before[node]:
            if predecessor not in distances:
                distances[predecessor] = distances[node] + 1
                queue.append(predecessor)
    return distances


@dataclass(frozen=True)
class Reference:
    """A state space as dictionaries, whose keys are in the order of a breadth-first search."""

    goal: dict[Atoms, bool]  # of the expanded states
    transitions: dict[Atoms, dict[Action, Atoms]]  # of the expanded states
    depths: dict[Atoms, int]  # of all states

    @property
    def complete(self) -> bool:
        return len(self.transitions) == len(self.depths)

    @cached_property
    def goal_distances(self) -> dict[Atoms, int]:
        """Of the states from which a goal state can be reached in the explored part."""
        graph = {state: list(found.values()) for state, found in self.transitions.items()}
        return goal_distances(graph, (state for state, reached in self.goal.items() if reached))

    def optimal(self, state: Atoms) -> set[Action]:
        """The actions that lead one step nearer to the goal."""
        distance = self.goal_distances.get(state, 0)
        return {
            action
            for action, successor in self.transitions[state].items()
            if self.goal_distances.get(successor, -1) == distance - 1 >= 0
        }


def explore(
    book: Book,
    start: Atoms | None = None,
    *,
    limit: int | None = None,
    through_goals: bool = True,
    choice: Choice = lambda _, actions: actions,
) -> Reference:
    """All states that chosen actions reach, or the first ones up to the limit."""
    start = book.initial if start is None else start
    schemas = {name: i for i, name in enumerate(book.actions)}
    objects = {name: i for i, name in enumerate(book.objects)}

    def order(action: Action) -> tuple[int, list[int]]:
        return schemas[action.name], [objects[name] for name in action.arguments]

    space = Reference({}, {}, {start: 0})
    queue = deque([start])
    while queue:
        state = queue.popleft()
        reached = book.holds(book.goal, book.closed(state), {})
        found = {}
        if through_goals or not reached:
            actions = choice(state, sorted(book.applicable(state), key=order))
            found = {action: book.successor(state, action)[0] for action in actions}
        new = [s for s in dict.fromkeys(found.values()) if s not in space.depths]
        room = len(new) if limit is None else limit - len(space.depths)
        space.depths.update((successor, space.depths[state] + 1) for successor in new[:room])
        if len(new) > room:
            break
        space.goal[state] = reached
        space.transitions[state] = found
        queue.extend(new)
    return space


def atoms_of(space: StateSpace) -> list[Atoms]:
    """All atoms of each state but the derived ones."""
    static = space.task.static_atoms
    states = [(*space.state(number).atoms, *static) for number in range(len(space))]
    return [frozenset((name, *arguments) for name, arguments in state) for state in states]


def as_dictionaries(space: StateSpace) -> Reference:
    """A space of the core in the reference's form."""
    states = atoms_of(space)
    expanded = states[: space.expanded]
    transitions = {
        state: {space.action_of(t): states[int(space.successors[t])] for t in space.transitions(s)}
        for s, state in enumerate(expanded)
    }
    assert len(set(states)) == len(states)
    assert sum(map(len, transitions.values())) == len(space.successors) == len(space.actions)
    return Reference(
        dict(zip(expanded, space.goal[: space.expanded].tolist(), strict=True)),
        transitions,
        dict(zip(states, space.depths.tolist(), strict=True)),
    )


def same(ours: Reference, other: Reference) -> bool:
    """Equal in content and in order."""
    return (
        list(ours.goal.items()) == list(other.goal.items())
        and list(ours.depths.items()) == list(other.depths.items())
        and [list(found.items()) for found in ours.transitions.values()]
        == [list(found.items()) for found in other.transitions.values()]
    )
