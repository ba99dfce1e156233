"""Ferry: every misplaced car is carried once, with as few empty sails as possible.

Each of k misplaced cars is boarded, sailed and debarked: 3k actions. Every such car is an arc from
its location to its goal; one more arc leads from the last location of the ferry to its first.
Empty sails are the arcs that are missing for a closed (Eulerian) walk over all arcs: at every
location as many arcs leave as arrive, and the graph is connected. A component C lacks

    D(C) = Σ max(0, arriving - leaving)        over its locations

leaving arcs. With several components, at least one arc leaves each of them. These numbers suffice:
the first new arc of each component leads to the next component (of the last one to the first), the
others connect locations that lack a leaving arc with locations that lack an arriving one. The
number of empty sails is Σ max(D(C), 1 if there are several components else 0), for the best last
location of the ferry.

Putting down a car before its goal does not pay: debarking and boarding it again costs two actions
and a sail, and two empty sails achieve the same. A car that is aboard at the start therefore goes
to its goal first, and a car that has to be aboard at the end is boarded last.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from planlog.experiment.baselines.exact.clock import Clock
from planlog.experiment.baselines.exact.task_shape import Facts, Unsolvable, goal_atoms
from planlog.experiment.baselines.solution import Solution
from planlog.pddl.task import Action, Task

_ABOARD = "(aboard)"  # the place of a car on the ferry; no object has such a name


@dataclass(frozen=True)
class _Goal:
    cars: dict[str, str]  # places of some cars
    ferry: str | None
    empty: bool


def solve(task: Task, clock: Clock) -> Solution:
    """Return an optimal plan, in time linear in the number of cars for each component."""
    cars, ferry = _initial(task)
    plan = clock.plan(_plan(cars, ferry, _goal(task)))
    return clock.solved(plan, len(plan.actions))


def _plan(cars: dict[str, str], ferry: str, goal: _Goal) -> Iterator[Action]:
    """Yield the actions of an optimal plan."""
    aboard = next((car for car, place in cars.items() if place == _ABOARD), None)
    to_board = next((car for car, place in goal.cars.items() if place == _ABOARD), None)
    wanted = {car: (place, goal.cars.get(car, place)) for car, place in cars.items()}
    trips = _Trips(
        {
            car: (start, end)
            for car, (start, end) in wanted.items()
            if start != end and _ABOARD not in (start, end)
        }
    )
    if aboard is not None and aboard == to_board:
        if trips.arcs:
            # The car is put down, and the ferry returns for it. Any component may be best, since
            # a sail with the car may replace an empty one.
            def sails(place: str) -> int:
                empty = len(trips.empty_sails(place, place))
                return (place != ferry) + empty + (goal.ferry not in (None, place))

            place = min([ferry, goal.ferry or ferry, *trips.last_locations()], key=sails)
            yield from _sail(ferry, place)
            yield Action("debark", (aboard, place))
            yield from trips.steps(place, place)
            yield Action("board", (aboard, place))
            ferry = place
    else:
        if aboard is not None and (aboard in goal.cars or goal.empty or trips.arcs or to_board):
            place = goal.cars.get(aboard, ferry)
            yield from _sail(ferry, place)
            yield Action("debark", (aboard, place))
            ferry = place
        if to_board is not None:
            place = cars[to_board]
            yield from trips.steps(ferry, place)
            yield Action("board", (to_board, place))
            ferry = place
        else:
            ends = [goal.ferry] if goal.ferry else [ferry, *trips.last_locations()]
            end = min(ends, key=lambda end: len(trips.empty_sails(ferry, end)))
            yield from trips.steps(ferry, end)
            ferry = end
    if goal.ferry is not None:
        yield from _sail(ferry, goal.ferry)


class _Trips:
    """Misplaced cars as arcs from their locations to their goals."""

    def __init__(self, arcs: dict[str, tuple[str, str]]) -> None:
        self.arcs = arcs
        # Number of arriving arcs minus number of leaving arcs.
        self._excess: Counter[str] = Counter()
        for start, end in arcs.values():
            self._excess[end] += 1
            self._excess[start] -= 1

    def last_locations(self) -> list[str]:
        """Return a location of each component, one with more arriving than leaving arcs if any.

        As the last location of the ferry, it is as good as any other location of the component.
        """
        best: dict[str, str] = {}
        for place, component in _components(self.arcs.values()).items():
            if self._excess[place] >= self._excess[best.setdefault(component, place)]:
                best[component] = place
        return list(best.values())

    def steps(self, start: str, end: str) -> Iterator[Action]:
        """Yield actions that carry all cars with the fewest sails, from start to end."""
        cars: dict[tuple[str, str], list[str]] = defaultdict(list)
        for car, arc in self.arcs.items():
            cars[arc].append(car)
        arcs = [*self.arcs.values(), *self.empty_sails(start, end)]
        for before, after in _walk(start, arcs):
            waiting = cars[before, after]
            if waiting:
                car = waiting.pop()
                yield Action("board", (car, before))
                yield Action("sail", (before, after))
                yield Action("debark", (car, after))
            else:
                yield Action("sail", (before, after))

    def empty_sails(self, start: str, end: str) -> list[tuple[str, str]]:
        """Return the empty sails that make the arcs one walk from start to end."""
        excess = Counter(self._excess)
        excess[start] += 1
        excess[end] -= 1
        leaving: dict[str, list[str]] = defaultdict(list)
        arriving: dict[str, list[str]] = defaultdict(list)
        for place, component in _components([*self.arcs.values(), (end, start)]).items():
            leaving[component] += [place] * excess[place]
            arriving[component] += [place] * -excess[place]
        names = list(leaving)
        arcs = []
        if len(names) > 1:
            for name, following in zip(names, names[1:] + names[:1], strict=True):
                # A balanced component is left where it is entered.
                before = leaving[name].pop() if leaving[name] else name
                after = arriving[following].pop() if arriving[following] else following
                arcs.append((before, after))
        rest = zip(
            (place for places in leaving.values() for place in places),
            (place for places in arriving.values() for place in places),
            strict=True,
        )
        return [*arcs, *rest]


def _components(arcs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return a representative of the connected component of each location."""
    neighbours: dict[str, list[str]] = defaultdict(list)
    for one, other in arcs:
        neighbours[one].append(other)
        neighbours[other].append(one)
    component: dict[str, str] = {}
    for first in neighbours:
        stack = [first]
        while stack:
            place = stack.pop()
            if place not in component:
                component[place] = first
                stack += neighbours[place]
    return component


def _walk(start: str, arcs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the arcs in the order of an Eulerian walk.

    C. Hierholzer: Über die Möglichkeit, einen Linienzug ohne Wiederholung und ohne Unterbrechung zu
    umfahren. Mathematische Annalen 6, 1873.
    """
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
        yield Action("sail", (start, end))


def _initial(task: Task) -> tuple[dict[str, str], str]:
    """Return the places of the cars and of the ferry in the initial state."""
    facts = Facts(task)
    aboard = facts.objects("on")
    cars = facts.function([*facts["at"], *((car, _ABOARD) for car in aboard)], "is at two places")
    ferry = facts.objects("at-ferry")
    if len(ferry) != 1:
        raise facts.unsuitable(f"the ferry must be at one location, not at {len(ferry)}")
    for name, kind in task.objects.items():
        if task.domain.is_subtype(kind, "car") and name not in cars:
            raise facts.unsuitable(f"{name} is nowhere")
    if len(aboard) != (not facts["empty-ferry"]):
        raise facts.unsuitable("either one car is aboard, or 'empty-ferry' holds")
    return cars, ferry[0]


def _goal(task: Task) -> _Goal:
    """Return the goal; raise Unsolvable if no state satisfies it."""
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
                    raise Unsolvable
    if len(ferries) > 1 or list(cars.values()).count(_ABOARD) + empty > 1:
        raise Unsolvable
    return _Goal(cars, next(iter(ferries), None), empty)
