"""State spaces by definition: breadth-first over sets of atoms, with PDDL by the book.

Nothing here is shared with the core, and nothing is done for speed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
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


def best_plans(
    graph: Mapping[Node, Iterable[tuple[Node, Decimal]]], goals: Iterable[Node]
) -> dict[Node, tuple[Decimal, int]]:
    """Return the least cost of a plan, and the fewest actions of such plans, by value iteration."""
    found = dict.fromkeys(goals, (Decimal(0), 0))
    changed = True
    while changed:
        changed = False
        for node in reversed(graph):
            for successor, cost in graph[node]:
                if successor not in found:
                    continue
                rest, actions = found[successor]
                if node not in found or (cost + rest, actions + 1) < found[node]:
                    found[node] = (cost + rest, actions + 1)
                    changed = True
    return found


@dataclass(frozen=True)
class Reference:
    """A state space as dictionaries, whose keys are in the order of a breadth-first search."""

    goal: dict[Atoms, bool]  # of the expanded states
    transitions: dict[Atoms, dict[Action, Atoms]]  # of the expanded states
    costs: dict[Atoms, dict[Action, Decimal]]  # of these transitions
    depths: dict[Atoms, int]  # of all states

    @property
    def complete(self) -> bool:
        return len(self.transitions) == len(self.depths)

    @cached_property
    def best_plans(self) -> dict[Atoms, tuple[Decimal, int]]:
        """Of the states from which a goal state can be reached in the explored part."""
        graph = {
            state: [(successor, self.costs[state][action]) for action, successor in found.items()]
            for state, found in self.transitions.items()
        }
        return best_plans(graph, (state for state, reached in self.goal.items() if reached))

    @cached_property
    def goal_distances(self) -> dict[Atoms, Decimal]:
        """The least costs of plans."""
        return {state: cost for state, (cost, _) in self.best_plans.items()}

    def cheapest(self, state: Atoms) -> set[Action]:
        """The actions that begin a plan of least cost."""
        return {
            action
            for action, successor in self.transitions[state].items()
            if successor in self.best_plans
            and self.costs[state][action] + self.goal_distances[successor]
            == self.goal_distances[state]
        }

    def optimal(self, state: Atoms) -> set[Action]:
        """The actions that begin a shortest plan of least cost."""
        return {
            action
            for action in self.cheapest(state)
            if self.best_plans[self.transitions[state][action]][1] == self.best_plans[state][1] - 1
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

    space = Reference({}, {}, {}, {start: 0})
    queue = deque([start])
    while queue:
        state = queue.popleft()
        reached = book.holds(book.goal, book.closed(state), {})
        found, costs = {}, {}
        if through_goals or not reached:
            for action in choice(state, sorted(book.applicable(state), key=order)):
                found[action], costs[action] = book.successor(state, action)
        new = [s for s in dict.fromkeys(found.values()) if s not in space.depths]
        room = len(new) if limit is None else limit - len(space.depths)
        space.depths.update((successor, space.depths[state] + 1) for successor in new[:room])
        if len(new) > room:
            break
        space.goal[state] = reached
        space.transitions[state] = found
        space.costs[state] = costs
        queue.extend(new)
    return space


def atoms_of(space: StateSpace) -> list[Atoms]:
    """All atoms of each state but the derived ones."""
    static = space.task.static_atoms
    states = [(*space.state(number).atoms, *static) for number in range(len(space))]
    return [frozenset((name, *arguments) for name, arguments in state) for state in states]


def cost_of(space: StateSpace, transition: int) -> Decimal:
    """The cost of a transition, as the task writes it."""
    units = 1 if space.costs is None else int(space.costs[transition])
    return Decimal(space.task.decode_cost(units))


def distances_of(space: StateSpace) -> list[Decimal]:
    """The goal distances as the task writes costs; special values stay."""
    return [
        Decimal(d if d < 0 else space.task.decode_cost(d)) for d in space.goal_distances.tolist()
    ]


def as_dictionaries(space: StateSpace) -> Reference:
    """A space of the core in the reference's form."""
    states = atoms_of(space)
    expanded = states[: space.expanded]
    transitions = {
        state: {space.action_of(t): states[int(space.successors[t])] for t in space.transitions(s)}
        for s, state in enumerate(expanded)
    }
    costs = {
        state: {space.action_of(t): cost_of(space, t) for t in space.transitions(s)}
        for s, state in enumerate(expanded)
    }
    assert len(set(states)) == len(states)
    assert space.costs is None or len(space.costs) == len(space.successors)
    assert sum(map(len, transitions.values())) == len(space.successors) == len(space.actions)
    return Reference(
        dict(zip(expanded, space.goal[: space.expanded].tolist(), strict=True)),
        transitions,
        costs,
        dict(zip(states, space.depths.tolist(), strict=True)),
    )


def same(ours: Reference, other: Reference) -> bool:
    """Equal in content and in order."""
    return (
        list(ours.goal.items()) == list(other.goal.items())
        and list(ours.depths.items()) == list(other.depths.items())
        and [list(found.items()) for found in ours.transitions.values()]
        == [list(found.items()) for found in other.transitions.values()]
        and ours.costs == other.costs
    )
