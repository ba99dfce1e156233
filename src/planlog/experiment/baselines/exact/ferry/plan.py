"""Ferry, exact: every misplaced car is carried once, and as few sails as possible are empty.

Each of k misplaced cars is boarded, sailed and debarked: 3k actions. Let every such car be an arc
from where it is to its goal, and an arc more lead from where the ferry ends back to where it
starts. Then empty sails are the arcs that are missing for a closed walk over all arcs: at every
location as many have to leave as arrive, and all have to be connected. Some component C lacks

    D(C) = Σ max(0, arriving - leaving)        over its locations

arcs that leave a location; and if there are several components then at least one arc leads away
from each. That many are enough, too: the first arc from each component leads to the next one
(and from the last to the first), the others from anywhere that lacks one to anywhere that lacks
one that arrives. So there are Σ max(D(C), 1 if there is more than one component else 0) of them,
for the best end of the ferry.

Putting a car down on the way to its goal does not pay: it takes two more actions to debark and
board it and one more sail, while an empty sail there and another one back do the same. So a car
that is aboard at the beginning goes to its goal first, and one that has to be aboard at the end
is boarded where it is, when all others are at their goals.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from planlog.experiment.baselines.exact.clock import Clock
from planlog.experiment.baselines.exact.task_shape import (
    InitialFacts,
    check_task,
    goal_atoms,
    ground,
)
from planlog.experiment.baselines.solution import Solution
from planlog.pddl.task import Action, Task

_ABOARD = "(aboard)"  # where a car may be besides at a location; no object has such a name


@dataclass(frozen=True)
class _Initial:
    cars: dict[str, str]  # where each car is
    ferry: str


@dataclass(frozen=True)
class _Goal:
    cars: dict[str, str]  # where some cars have to be
    ferry: str | None
    empty: bool


def solve(task: Task, *, time_limit: float | None = None) -> Solution:
    """Return an optimal plan, in time that is linear in the size of the task."""
    clock = Clock(time_limit)
    check_task(task, "ferry")
    initial = _initial(task)
    goal = _goal(task)
    if goal is None:
        return clock.unsolvable("the goal contradicts itself")
    plan = clock.plan(_plan(initial, goal, _locations(task)))
    return clock.solved(plan, len(plan.actions))


def _plan(initial: _Initial, goal: _Goal, locations: list[str]) -> Iterator[Action]:
    """The steps of an optimal plan."""
    aboard = next((car for car, place in initial.cars.items() if place == _ABOARD), None)
    to_board = next((car for car, place in goal.cars.items() if place == _ABOARD), None)
    wanted = {car: (place, goal.cars.get(car, place)) for car, place in initial.cars.items()}
    trips = _Trips(
        {
            car: (start, end)
            for car, (start, end) in wanted.items()
            if start != end and _ABOARD not in (start, end)
        }
    )
    ferry = initial.ferry
    if aboard is not None and aboard == to_board:
        if trips.arcs:
            # It makes room, and the ferry comes back for it: to any location, as a sail with it
            # may be as good as an empty one.
            def sails(place: str) -> int:
                return (
                    (place != ferry) + trips.extra(place, place) + (goal.ferry not in (None, place))
                )

            place = min([ferry, *locations], key=sails)
            yield from _sail(ferry, place)
            yield ground("debark", aboard, place)
            yield from trips.steps(place, place)
            yield ground("board", aboard, place)
            ferry = place
    else:
        if aboard is not None and (aboard in goal.cars or goal.empty or trips.arcs or to_board):
            place = goal.cars.get(aboard, ferry)
            yield from _sail(ferry, place)
            yield ground("debark", aboard, place)
            ferry = place
        if to_board is not None:
            place = initial.cars[to_board]
            yield from trips.steps(ferry, place)
            yield ground("board", to_board, place)
            ferry = place
        else:
            ends = [ferry, *locations] if goal.ferry is None else [goal.ferry]
            end = min(ends, key=lambda end: trips.extra(ferry, end))
            yield from trips.steps(ferry, end)
            ferry = end
    if goal.ferry is not None:
        yield from _sail(ferry, goal.ferry)


class _Trips:
    """Cars that have to be carried, as arcs from where each of them is to where it has to be."""

    def __init__(self, arcs: dict[str, tuple[str, str]]) -> None:
        self.arcs = arcs
        # How many arcs more arrive at a location than leave it.
        self._excess: Counter[str] = Counter()
        components = _Components()
        for start, end in arcs.values():
            self._excess[end] += 1
            self._excess[start] -= 1
            components.join(start, end)
        self._component = {place: components.of(place) for place in components.places()}
        self._lacking: Counter[str] = Counter(dict.fromkeys(self._component.values(), 0))
        for place, excess in self._excess.items():
            self._lacking[self._component[place]] += max(0, excess)
        self._total = sum(max(1, lacking) for lacking in self._lacking.values())

    def extra(self, start: str, end: str) -> int:
        """The fewest sails without a car, if the ferry starts and ends at these locations.

        Only what the arc from the end to the start changes is computed anew.
        """
        joined = {self._component.get(place, place) for place in (start, end)}
        lacking = sum(self._lacking[component] for component in joined)
        if start != end:
            lacking += self._excess[start] >= 0
            lacking -= self._excess[end] > 0
        known = [component for component in joined if component in self._lacking]
        if len(known) == len(self._lacking):
            return lacking
        others = self._total - sum(max(1, self._lacking[component]) for component in known)
        return others + max(1, lacking)

    def steps(self, start: str, end: str) -> Iterator[Action]:
        """Carry all cars, from a location to another, with as few sails as possible."""
        cars: dict[tuple[str, str], list[str]] = defaultdict(list)
        for car, arc in self.arcs.items():
            cars[arc].append(car)
        arcs = [*self.arcs.values(), *self._empty(start, end)]
        for before, after in _walk(start, arcs):
            waiting = cars[before, after]
            if waiting:
                car = waiting.pop()
                yield ground("board", car, before)
                yield ground("sail", before, after)
                yield ground("debark", car, after)
            else:
                yield ground("sail", before, after)

    def _empty(self, start: str, end: str) -> list[tuple[str, str]]:
        """The sails without a car that make one walk of all arcs, from start to end."""
        components = _Components()
        excess = Counter(self._excess)
        excess[start] += 1
        excess[end] -= 1
        for arc in (*self.arcs.values(), (end, start)):
            components.join(*arc)
        leaving: dict[str, list[str]] = defaultdict(list)
        arriving: dict[str, list[str]] = defaultdict(list)
        for place in components.places():
            leaving[components.of(place)] += [place] * excess[place]
            arriving[components.of(place)] += [place] * -excess[place]
        names = list(leaving)
        arcs = []
        if len(names) > 1:
            for name, following in zip(names, names[1:] + names[:1], strict=True):
                # One that lacks nothing is left from where it is entered.
                before = leaving[name].pop() if leaving[name] else name
                after = arriving[following].pop() if arriving[following] else following
                arcs.append((before, after))
        rest = zip(
            (place for places in leaving.values() for place in places),
            (place for places in arriving.values() for place in places),
            strict=True,
        )
        return [*arcs, *rest]


class _Components:
    """Locations that are connected, as trees: each location has a parent (Tarjan's union-find)."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}

    def of(self, place: str) -> str:
        """The location that stands for the component of this one."""
        parent = self._parent.setdefault(place, place)
        while parent != place:
            self._parent[place] = self._parent[parent]
            place, parent = parent, self._parent[parent]
        return place

    def join(self, one: str, other: str) -> None:
        self._parent[self.of(one)] = self.of(other)

    def places(self) -> list[str]:
        return list(self._parent)


def _walk(start: str, arcs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The arcs in an order in which each begins where the last one ended (Hierholzer's method)."""
    successors: dict[str, list[str]] = defaultdict(list)
    for before, after in arcs:
        successors[before].append(after)
    walk: list[str] = []
    stack = [start]
    while stack:
        if successors[stack[-1]]:
            stack.append(successors[stack[-1]].pop())
        else:
            walk.append(stack.pop())
    walk.reverse()
    return list(pairwise(walk))


def _sail(start: str, end: str) -> Iterator[Action]:
    if start != end:
        yield ground("sail", start, end)


def _locations(task: Task) -> list[str]:
    return [name for name, kind in task.objects.items() if task.domain.is_subtype(kind, "location")]


def _initial(task: Task) -> _Initial:
    """Return the places of cars and ferry in the initial state."""
    facts = InitialFacts(task)
    aboard = facts.objects("on")
    cars = facts.function([*facts["at"], *((car, _ABOARD) for car in aboard)], "is at two places")
    ferry = facts.objects("at-ferry")
    if len(ferry) != 1:
        raise facts.unsuitable(f"the ferry has to be at one location, not at {len(ferry)}")
    for name, kind in task.objects.items():
        if task.domain.is_subtype(kind, "car") and name not in cars:
            raise facts.unsuitable(f"{name} is nowhere")
    if len(aboard) != (not facts["empty-ferry"]):
        raise facts.unsuitable(
            "'empty-ferry' has to say whether a car is aboard, and only one can be"
        )
    return _Initial(cars, ferry[0])


def _goal(task: Task) -> _Goal | None:
    """The goal, or None if no state is one."""
    cars: dict[str, str] = {}
    ferries: set[str] = set()
    empty = False
    for atom in goal_atoms(task, ("at-ferry", "at", "empty-ferry", "on")):
        match atom:
            case ("empty-ferry",):
                empty = True
            case ("at-ferry", place):
                ferries.add(place)
            case (_, car, *places):
                place = places[0] if places else _ABOARD
                if cars.setdefault(car, place) != place:
                    return None
    if len(ferries) > 1 or list(cars.values()).count(_ABOARD) + empty > 1:
        return None
    return _Goal(cars, next(iter(ferries), None), empty)
