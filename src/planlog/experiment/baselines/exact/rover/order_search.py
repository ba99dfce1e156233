"""Exhaustive search for an order of a rover's visits in which it can take all its images.

Waypoints are of the same kind if they agree in the cameras that can be calibrated there, in the
images that can be taken there, and in whether a lander is visible. If no order exists, the reason
is a conflict, from which the integer program learns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from planlog.experiment.baselines.exact.rover.problem import Image, Problem, Rover

Item = TypeVar("Item", bound=Hashable)
Slot = TypeVar("Slot", bound=Hashable)

_STATES = 20_000  # maximum number of states of a search


@dataclass(frozen=True)
class Kind:
    """What a rover can do at a waypoint: cameras to calibrate, images to take, communication."""

    cameras: frozenset[int]
    images: frozenset[Image]
    contact: bool


class TooLarge(Exception):
    """The search exceeds its limit of states."""


def kind_of(problem: Problem, rover: Rover, waypoint: str, images: Iterable[Image]) -> Kind:
    """Return the kind of a waypoint with respect to these images."""
    modes = {mode for _, mode in images}
    return Kind(
        frozenset(
            n
            for n, camera in enumerate(rover.cameras)
            if waypoint in camera.targets and not modes.isdisjoint(camera.modes)
        ),
        frozenset(image for image in images if waypoint in problem.seen_from[image[0]]),
        waypoint in problem.contact,
    )


def find_order(
    rover: Rover, start: Kind, images: frozenset[Image], visits: Mapping[Kind, int | None]
) -> list[Kind] | None:
    """Return an order of visits in which all images are taken, and which ends near a lander.

    `visits` is the number of visits of each kind, None for any number. Visits missing in the
    order can precede it: cameras stay calibrated. Return None if no order exists; raise TooLarge
    if the search exceeds its limit.
    """
    search = _Search(rover, visits)
    calibrated = frozenset(n for n, camera in enumerate(rover.cameras) if camera.calibrated)
    counts = tuple(-1 if count is None else count for count in visits.values())
    return search.visit(start, (counts, calibrated, images))


# Remaining visits of each kind (-1: any number), calibrated cameras, remaining images.
_State = tuple[tuple[int, ...], frozenset[int], frozenset[Image]]


class _Search:
    """Depth-first search that visits each state once."""

    def __init__(self, rover: Rover, visits: Mapping[Kind, int | None]) -> None:
        self.modes = [camera.modes for camera in rover.cameras]
        self.kinds = list(visits)
        self.seen: set[_State] = set()

    def visit(self, kind: Kind, state: _State) -> list[Kind] | None:
        """Return the remaining visits after one of this kind; None if there is no way."""
        counts, calibrated, left = state
        for ready, images in self._after(kind, calibrated, left):
            order = self._continue((counts, ready, images), kind)
            if order is not None:
                return order
        return None

    def _continue(self, state: _State, last: Kind) -> list[Kind] | None:
        """Return the remaining visits from a state that a visit of kind `last` has reached."""
        counts, calibrated, left = state
        contacts = [k for k, count in zip(self.kinds, counts, strict=True) if count and k.contact]
        if not left and last.contact:
            return []
        if not contacts:
            return None
        if not left:
            return contacts[:1]
        if state in self.seen:
            return None
        self.seen.add(state)
        if len(self.seen) > _STATES:
            raise TooLarge
        if self._hopeless(state):
            return None
        for number, kind in enumerate(self.kinds):
            if counts[number] == 0:
                continue
            fewer = list(counts)
            fewer[number] = max(-1, counts[number] - 1)
            order = self.visit(kind, (tuple(fewer), calibrated, left))
            if order is not None:
                return [kind, *order]
        return None

    def _hopeless(self, state: _State) -> bool:
        """Return whether too few visits remain to take the images or to calibrate for them."""
        counts, calibrated, left = state
        visits = [
            (kind, i)
            for kind, count in zip(self.kinds, counts, strict=True)
            for i in range(len(left) if count < 0 else min(count, len(left)))
        ]
        places: dict[Image, list[object]] = {}
        chances: dict[Image, list[object]] = {}
        for image in left:
            fitting = [n for n, modes in enumerate(self.modes) if image[1] in modes]
            there = [(n, v) for n in fitting for v in visits if image in v[0].images]
            # A camera can take any number of images where it can be calibrated.
            if not any(n in kind.cameras for n, (kind, _) in there):
                places[image] = list(there)
                chances[image] = [(n, v) for n in fitting for v in visits if n in v[0].cameras]
                chances[image] += [n for n in fitting if n in calibrated]
        return any(len(matching(choices)) < len(choices) for choices in (places, chances))

    def _after(
        self, kind: Kind, calibrated: frozenset[int], left: frozenset[Image]
    ) -> Iterator[tuple[frozenset[int], frozenset[Image]]]:
        """Yield the possible calibrated cameras and remaining images after a visit."""
        here = {mode for n in kind.cameras for mode in self.modes[n]}
        left = frozenset(i for i in left if i not in kind.images or i[1] not in here)
        for used, taken in self._takes(sorted(calibrated - kind.cameras), left & kind.images):
            yield calibrated - used | kind.cameras, left - taken

    def _takes(
        self, cameras: list[int], images: frozenset[Image]
    ) -> Iterator[tuple[frozenset[int], frozenset[Image]]]:
        """Yield the ways to take at most one image with each camera: cameras and images."""
        if not cameras or not images:
            yield frozenset(), frozenset()
            return
        first, *rest = cameras
        for image in sorted(images):
            if image[1] in self.modes[first]:
                for used, taken in self._takes(rest, images - {image}):
                    yield used | {first}, taken | {image}
        yield from self._takes(rest, images)


def matching(choices: Mapping[Item, Iterable[Slot]]) -> dict[Item, Slot]:
    """Return a maximum matching of items with slots, by augmenting paths.

    C. Berge: Two theorems in graph theory. PNAS 43, 1957.
    """
    owner: dict[Slot, Item] = {}

    def find(item: Item, seen: set[Slot]) -> bool:
        for slot in choices[item]:
            if slot not in seen:
                seen.add(slot)
                if slot not in owner or find(owner[slot], seen):
                    owner[slot] = item
                    return True
        return False

    for item in choices:
        find(item, set())
    return {item: slot for slot, item in owner.items()}


@dataclass(frozen=True)
class Conflict:
    """Images that a rover cannot all take unless it visits some waypoint more often.

    This holds for the numbers of visits in `visits`, and any number at `harmless` waypoints.
    """

    rover: int
    images: frozenset[Image]
    visits: Counter[str]
    harmless: frozenset[str]


def order_or_conflict(
    problem: Problem,
    r: int,
    visits: Sequence[str],
    images: frozenset[Image],
    waypoints: Sequence[str],
) -> list[str] | Conflict:
    """Return the visits in an order in which a rover takes all images, or else a conflict.

    `waypoints` are all possible destinations. Raise TooLarge if a search exceeds its limit.
    """
    if not images:
        return list(visits)
    rover = problem.rovers[r]
    order = _order(problem, rover, visits, images)
    if order is not None:
        return order
    for image in sorted(images):
        if _order(problem, rover, visits, images - {image}) is None:
            images -= {image}
    start = kind_of(problem, rover, rover.start, images)
    kinds = {w: kind_of(problem, rover, w, images) for w in waypoints}
    allowed: dict[Kind, int | None] = dict(Counter(kinds[w] for w in visits))
    harmless: set[Kind] = set()
    # Kinds of many waypoints first: the more are harmless, the stronger the constraint.
    for kind, _ in Counter(kinds.values()).most_common():
        if find_order(rover, start, images, allowed | {kind: None}) is None:
            allowed[kind] = None
            harmless.add(kind)
    return Conflict(
        r, images, Counter(visits), frozenset(w for w, kind in kinds.items() if kind in harmless)
    )


def _order(
    problem: Problem, rover: Rover, visits: Sequence[str], images: frozenset[Image]
) -> list[str] | None:
    kinds = {w: kind_of(problem, rover, w, images) for w in [rover.start, *visits]}
    found = find_order(rover, kinds[rover.start], images, Counter(kinds[w] for w in visits))
    if found is None:
        return None
    left = list(visits)
    order = []
    for kind in found:
        waypoint = next(w for w in left if kinds[w] == kind)
        left.remove(waypoint)
        order.append(waypoint)
    return left + order
