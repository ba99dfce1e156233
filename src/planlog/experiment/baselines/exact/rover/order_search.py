"""Whether a rover can take some images on a tour of given waypoints in any order: full search.

Waypoints matter only by what can be done there: which cameras can be calibrated, which of the
images can be taken, whether a lander is seen. Waypoints that are alike in this are of one kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from planlog.experiment.baselines.exact.rover.problem import Image, Problem, Rover
from planlog.experiment.baselines.exact.rover.stretches import matching

# States that are looked at before a search is given up.
_STATES = 20_000


@dataclass(frozen=True)
class Kind:
    """What a rover can do at a waypoint."""

    cameras: frozenset[int]  # that can be calibrated
    images: frozenset[Image]  # that are seen
    contact: bool


class TooLarge(Exception):
    """A search that was given up."""


def kind_of(problem: Problem, rover: Rover, waypoint: str, images: Iterable[Image]) -> Kind:
    """What the rover can do at a waypoint as far as these images are concerned."""
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
    """An order of visits on which all images are taken, and at whose end a lander is seen.

    `visits` says how many there are of each kind, None for any number. Those that are not in the
    order can be made before it, which never does harm: what is calibrated stays so. The answer
    is None if there is no such order; raises TooLarge if that is not easily seen.
    """
    search = _Search(rover, visits)
    for calibrated, left in search.after(start, search.calibrated, images):
        order = search.run((search.counts, calibrated, left), start)
        if order is not None:
            return order
    return None


# How many visits there are left of each kind (-1: any number), the cameras that are calibrated,
# the images that are left.
_State = tuple[tuple[int, ...], frozenset[int], frozenset[Image]]


class _Search:
    """Depth first, each state once."""

    def __init__(self, rover: Rover, visits: Mapping[Kind, int | None]) -> None:
        self.modes = [camera.modes for camera in rover.cameras]
        self.calibrated = frozenset(n for n, c in enumerate(rover.cameras) if c.calibrated)
        self.kinds = list(visits)
        self.counts = tuple(-1 if count is None else count for count in visits.values())
        self.seen: set[_State] = set()

    def run(self, state: _State, last: Kind) -> list[Kind] | None:
        """The visits of an order from a state on, which was reached by a visit of some kind."""
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
            for ready, images in self.after(kind, calibrated, left):
                order = self.run((tuple(fewer), ready, images), kind)
                if order is not None:
                    return [kind, *order]
        return None

    def _hopeless(self, state: _State) -> bool:
        """Whether there are too few visits left to take the images, or to calibrate for them."""
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
            # Where a camera can be calibrated, it can take any number of images.
            if not any(n in kind.cameras for n, (kind, _) in there):
                places[image] = list(there)
                chances[image] = [(n, v) for n in fitting for v in visits if n in v[0].cameras]
                chances[image] += [n for n in fitting if n in calibrated]
        return any(len(matching(choices)) < len(choices) for choices in (places, chances))

    def after(
        self, kind: Kind, calibrated: frozenset[int], left: frozenset[Image]
    ) -> Iterator[tuple[frozenset[int], frozenset[Image]]]:
        """All that can be calibrated and left after a visit."""
        here = {mode for n in kind.cameras for mode in self.modes[n]}
        left = frozenset(i for i in left if i not in kind.images or i[1] not in here)
        for used, taken in self._takes(sorted(calibrated - kind.cameras), left & kind.images):
            yield calibrated - used | kind.cameras, left - taken

    def _takes(
        self, cameras: list[int], images: frozenset[Image]
    ) -> Iterator[tuple[frozenset[int], frozenset[Image]]]:
        """All ways in which cameras take at most one image each: the cameras, and the images."""
        if not cameras or not images:
            yield frozenset(), frozenset()
            return
        first, *rest = cameras
        for image in sorted(images):
            if image[1] in self.modes[first]:
                for used, taken in self._takes(rest, images - {image}):
                    yield used | {first}, taken | {image}
        yield from self._takes(rest, images)
