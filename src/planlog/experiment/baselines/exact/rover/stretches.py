"""The order in which a rover visits its waypoints, so that it can take images away from where
it calibrates.

A camera that is calibrated at one visit can take one image at one of the visits before the next
at which it can be calibrated: these visits are a stretch. So what an order is good for is a
matching of images with stretches.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from planlog.experiment.baselines.exact.rover.problem import Image, Problem, Rover

Item = TypeVar("Item", bound=Hashable)
Slot = TypeVar("Slot", bound=Hashable)


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
