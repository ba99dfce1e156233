"""Tours of rovers: who collects which datum at which visit, with added visits where needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from planlog.experiment.baselines.exact.rover.order_search import matching
from planlog.experiment.baselines.exact.rover.problem import Image, Problem, Rover, Sample

_TRIED = 5  # waypoints tried for each of two added visits


@dataclass(frozen=True)
class Hints:
    """A solution of the integer program."""

    visits: Mapping[int, Sequence[str]] = field(default_factory=dict)  # after the start
    # Images that a rover takes where it cannot calibrate for them.
    away: Mapping[int, frozenset[Image]] = field(default_factory=dict)
    samplers: Mapping[Sample, int] = field(default_factory=dict)
    firsts: Mapping[Image, tuple[int, int]] = field(default_factory=dict)  # rover, camera


@dataclass(frozen=True)
class Take:
    """The rover, camera and visits with which an image is taken."""

    rover: int
    camera: int
    calibrated: int  # visit
    taken: int  # visit


@dataclass
class Tours:
    """The visits of each rover, beginning with its start, and its actions there."""

    visits: list[list[str]]
    samplers: dict[Sample, int] = field(default_factory=dict)
    takes: dict[Image, Take] = field(default_factory=dict)
    # Rovers that communicate data collected before the start.
    senders: dict[Sample | Image, int] = field(default_factory=dict)


class Impossible(Exception):
    """A goal that no rover can achieve."""


def complete(problem: Problem, hints: Hints) -> Tours:
    """Return tours that achieve all goals: the visits of the hints and few others.

    Raise Impossible if a goal cannot be achieved.
    """
    rovers = problem.rovers
    visits = [[rover.start, *hints.visits.get(r, ())] for r, rover in enumerate(rovers)]
    tours = Tours(visits)
    for datum in (*problem.samples, *problem.images):
        owners = [r for r, rover in enumerate(rovers) if datum in rover.samples | rover.images]
        ready = [r for r in owners if in_contact(problem, tours.visits[r])]
        if ready:
            tours.senders[datum] = ready[0]
        elif owners and not hints.visits:  # otherwise the hints let another rover collect it
            _end_in_contact(problem, tours.visits[owners[0]])
            tours.senders[datum] = owners[0]
    for sample in problem.samples:
        if sample not in tours.senders:
            _add_sample(problem, tours, sample, hints.samplers.get(sample))
    _add_images(problem, tours, hints)
    return tours


def in_contact(problem: Problem, visits: Sequence[str]) -> bool:
    """Return whether a rover sees a lander from its last waypoint."""
    return visits[-1] in problem.contact


def _end_in_contact(problem: Problem, visits: list[str]) -> None:
    """Append a waypoint from which a lander is visible, unless the last one is such."""
    if not problem.contact:
        raise Impossible("no lander is visible from any waypoint")
    if not in_contact(problem, visits):
        visits.append(min(problem.contact))


def _add_sample(problem: Problem, tours: Tours, sample: Sample, hint: int | None) -> None:
    """Choose a rover that takes a sample; add a visit if none passes there."""
    kind, waypoint = sample
    able = [
        r
        for r, rover in enumerate(problem.rovers)
        if kind in rover.kinds and sample in problem.lying
    ]
    if not able:
        raise Impossible(f"no rover can take the {kind} sample at {waypoint}")
    ready = [r for r in able if in_contact(problem, tours.visits[r])]
    there = [r for r in ready if waypoint in tours.visits[r]]
    busy = list(tours.samplers.values())
    if there:
        chosen = hint if hint in there else min(there, key=busy.count)
    else:
        chosen = min(ready or able, key=busy.count)
        visits = tours.visits[chosen]
        if waypoint != visits[0]:
            visits.insert(1, waypoint)
        _end_in_contact(problem, visits)
    assert chosen is not None
    tours.samplers[sample] = chosen


def _add_images(problem: Problem, tours: Tours, hints: Hints) -> None:
    """Choose rovers, cameras and visits for all images; add visits where needed."""
    left = [image for image in problem.images if image not in tours.senders]
    if len(_assign(problem, tours.visits, left, hints)) < len(left):
        # Taking all images is more important than saving calibrations.
        hints = Hints()
    while True:
        tours.takes = _assign(problem, tours.visits, left, hints)
        missing = [image for image in left if image not in tours.takes]
        if not missing:
            return
        done = len(tours.takes)
        for visits in _extensions(problem, tours.visits, missing[0]):
            if len(_assign(problem, visits, left, hints)) > done:
                tours.visits = visits
                break
        else:
            raise Impossible(f"no rover can take an image of {missing[0][0]} in {missing[0][1]}")


def inside(problem: Problem, tours: Sequence[Sequence[str]]) -> set[Image]:
    """Return the images that can be taken where a camera can be calibrated for them."""
    return {
        image
        for rover, visits in zip(problem.rovers, tours, strict=True)
        if in_contact(problem, visits)
        for waypoint in set(visits)
        for image in problem.takes_at(rover, waypoint)
    }


def _assign(
    problem: Problem, tours: Sequence[Sequence[str]], images: Sequence[Image], hints: Hints
) -> dict[Image, Take]:
    """Return takes for as many images as these tours allow."""
    takes: dict[Image, Take] = {}
    ready = [r for r, visits in enumerate(tours) if in_contact(problem, visits)]
    choices: dict[Image, list[Stretch]] = {}
    # Images for cameras that are calibrated at the start come first.
    for image in sorted(images, key=lambda image: image not in hints.firsts):
        able = [hints.firsts[image]] if image in hints.firsts else _cameras(problem)
        take = _near_take(problem, tours, [(r, c) for r, c in able if r in ready], image)
        if take is not None:
            takes[image] = take
        else:
            choices[image] = []
    for r in ready:
        for stretch in _stretches(r, problem.rovers[r], tours[r]):
            modes = problem.rovers[r].cameras[stretch.camera].modes
            passed = set(tours[r][stretch.first : stretch.end])
            for image, fitting in choices.items():
                objective, mode = image
                if (
                    mode in modes
                    and not passed.isdisjoint(problem.seen_from[objective])
                    and hints.firsts.get(image) in (None, (r, stretch.camera))
                ):
                    fitting.append(stretch)
    for image, (r, camera, first, end) in matching(choices).items():
        seen = problem.seen_from[image[0]]
        taken = next(t for t in range(first, end) if tours[r][t] in seen)
        takes[image] = Take(r, camera, max(0, first - 1), taken)
    return takes


def _cameras(problem: Problem) -> list[tuple[int, int]]:
    """Return all cameras as pairs of rover and camera."""
    return [(r, c) for r, rover in enumerate(problem.rovers) for c in range(len(rover.cameras))]


def _near_take(
    problem: Problem, tours: Sequence[Sequence[str]], able: list[tuple[int, int]], image: Image
) -> Take | None:
    """Return a visit at which a camera can be calibrated and take the image."""
    objective, mode = image
    seen = problem.seen_from[objective]
    for r, number in able:
        camera = problem.rovers[r].cameras[number]
        if mode in camera.modes:
            for t, waypoint in enumerate(tours[r]):
                if waypoint in seen and waypoint in camera.targets:
                    return Take(r, number, t, t)
    return None


def _extensions(
    problem: Problem, tours: Sequence[Sequence[str]], image: Image
) -> Iterator[list[list[str]]]:
    """Yield tours with added visits for an image, few first; one of the last ones suffices."""
    objective, mode = image
    places = sorted(problem.seen_from[objective])
    spots: dict[int, list[str]] = {}
    for r, number in _cameras(problem):
        camera = problem.rovers[r].cameras[number]
        if mode in camera.modes:
            spots[r] = sorted({*spots.get(r, ()), *camera.targets})
    # Rovers that end near a lander come first.
    able = sorted(spots, key=lambda r: not in_contact(problem, tours[r]))

    def extended(r: int, t: int, *more: str) -> list[list[str]]:
        visits = [*tours[r][:t], *more, *tours[r][t:]]
        _end_in_contact(problem, visits)
        return [visits if q == r else list(other) for q, other in enumerate(tours)]

    for r in able:
        yield extended(r, 1)
    for r in able:
        for t in range(1, len(tours[r]) + 1):
            yield from (extended(r, t, w) for w in dict.fromkeys([*places, *spots[r]]))
    for r in able:
        for t in range(1, len(tours[r]) + 1):
            yield from (extended(r, t, c, w) for c in spots[r][:_TRIED] for w in places[:_TRIED])
    # Visits at the end separate no calibration from its image.
    for r in able:
        yield from (extended(r, len(tours[r]), c, w) for c in spots[r] for w in places[:1])


class Stretch(NamedTuple):
    """Visits of a rover between two calibrations of a camera, where it can take one image.

    The camera is calibrated at the visit before `first`, or at the start if `first` is 0.
    """

    rover: int
    camera: int
    first: int
    end: int  # excluded


def _stretches(r: int, rover: Rover, visits: Sequence[str]) -> Iterator[Stretch]:
    """Yield all stretches; the first visit is the start of the rover."""
    for number, camera in enumerate(rover.cameras):
        spots = [t for t, w in enumerate(visits) if w in camera.targets]
        begins = [t + 1 for t in spots]
        ends = [*spots, len(visits)]
        if camera.calibrated:
            begins.insert(0, 0)
        else:
            ends.pop(0)
        yield from (Stretch(r, number, b, e) for b, e in zip(begins, ends, strict=True) if b < e)
