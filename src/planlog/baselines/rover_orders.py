"""The order in which a rover visits its waypoints, so that it can take images away from where
it calibrates.

A camera that is calibrated at one visit can take one image at one of the visits before the next
at which it can be calibrated: these visits are a stretch. So what an order is good for is a
matching of images with stretches.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import factorial
from typing import TypeVar

import numpy as np

from planlog.baselines.rover_problem import Image, Problem, Rover

Item = TypeVar("Item", bound=Hashable)
Slot = TypeVar("Slot", bound=Hashable)

# How many orders are looked at.
_TRIES = 3000


@dataclass(frozen=True)
class Stretch:
    """Visits of a rover at one of which a camera can take an image.

    It has been calibrated at the visit before the first, or, for 0, from the start.
    """

    camera: int
    first: int
    end: int


def stretches(rover: Rover, visits: Sequence[str]) -> Iterator[Stretch]:
    """All stretches of a rover's visits; the first visit is where it starts."""
    for number, camera in enumerate(rover.cameras):
        spots = [t for t, w in enumerate(visits) if w in camera.targets]
        begins = [t + 1 for t in spots]
        ends = [*spots, len(visits)]
        if camera.calibrated:
            begins.insert(0, 0)
        else:
            ends.pop(0)
        yield from (Stretch(number, b, e) for b, e in zip(begins, ends, strict=True) if b < e)


def options(
    problem: Problem, rover: Rover, visits: Sequence[str], images: Iterable[Image]
) -> dict[Image, list[Stretch]]:
    """The stretches on which each of the images can be taken."""
    found: dict[Image, list[Stretch]] = {image: [] for image in images}
    for stretch in stretches(rover, visits):
        modes = rover.cameras[stretch.camera].modes
        passed = set(visits[stretch.first : stretch.end])
        for (objective, mode), fitting in found.items():
            if mode in modes and not passed.isdisjoint(problem.seen_from[objective]):
                fitting.append(stretch)
    return found


def matching(choices: Mapping[Item, Iterable[Slot]]) -> dict[Item, Slot]:
    """As many items as can have different slots, with these."""
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


def arrange(
    problem: Problem, rover: Rover, visits: Sequence[str], images: Collection[Image]
) -> list[str]:
    """The visits after the start in an order in which many of the images can be taken.

    The last visit stays in contact with a lander if there is any that is.
    """
    if not images or len(visits) < 2:
        return _last_in_contact(problem, visits)
    best = _last_in_contact(problem, visits)
    most = _count(problem, rover, best, images)
    few = factorial(len(visits)) <= _TRIES
    for order in _all_orders(visits) if few else _moves(best):
        if most == len(images):
            break
        if order[-1] not in problem.contact and best[-1] in problem.contact:
            continue
        count = _count(problem, rover, order, images)
        if count > most or (count == most and not few):
            best[:], most = order, count
    return best


def _count(problem: Problem, rover: Rover, order: Sequence[str], images: Iterable[Image]) -> int:
    """How many images can be taken if the waypoints are visited in this order."""
    return len(matching(options(problem, rover, [rover.start, *order], images)))


def _last_in_contact(problem: Problem, visits: Sequence[str]) -> list[str]:
    order = list(visits)
    for t in reversed(range(len(order))):
        if order[t] in problem.contact:
            return [*order[:t], *order[t + 1 :], order[t]]
    return order


def _all_orders(visits: Sequence[str]) -> Iterator[list[str]]:
    return (list(order) for order in dict.fromkeys(permutations(visits)))


def _moves(order: list[str]) -> Iterator[list[str]]:
    """Random moves of one visit to another place, from the order as it is at that time."""
    rng = np.random.default_rng(0)
    for _ in range(_TRIES):
        source, target = rng.integers(len(order), size=2)
        moved = list(order)
        moved.insert(target, moved.pop(source))
        yield moved
