"""Tours of rovers: who collects what at which visit, completed by more visits where needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from planlog.experiment.baselines.exact.rover.problem import Image, Problem, Sample
from planlog.experiment.baselines.exact.rover.stretches import Stretch, matching, options

# Waypoints of each kind that are tried for a pair of visits to be added.
_TRIED = 5


@dataclass(frozen=True)
class Hints:
    """What an integer program would do."""

    visits: Mapping[int, Sequence[str]] = field(default_factory=dict)  # after the start
    # The images that a rover takes away from where it can calibrate for them.
    away: Mapping[int, frozenset[Image]] = field(default_factory=dict)
    samplers: Mapping[Sample, int] = field(default_factory=dict)
    firsts: Mapping[Image, tuple[int, int]] = field(default_factory=dict)  # rover, camera


@dataclass(frozen=True)
class Take:
    """An image, taken by a camera of a rover at a visit, calibrated for it at this or another."""

    rover: int
    camera: int
    calibrated: int
    taken: int


@dataclass
class Tours:
    """The visits of each rover, with its start as the first one, and what it does on the way."""

    visits: list[list[str]]
    samples: dict[Sample, tuple[int, int]] = field(default_factory=dict)  # rover, visit
    takes: dict[Image, Take] = field(default_factory=dict)
    senders: dict[Sample | Image, int] = field(default_factory=dict)  # of what rovers have already


class Impossible(Exception):
    """Something that no rover can do."""


def complete(problem: Problem, hints: Hints) -> Tours:
    """Tours that do everything, with the visits of the hints and as few others as is easily seen.

    Raises Impossible if something cannot be done.
    """
    rovers = problem.rovers
    visits = [[rover.start, *hints.visits.get(r, ())] for r, rover in enumerate(rovers)]
    tours = Tours(visits)
    for datum in (*problem.samples, *problem.images):
        owners = [r for r, rover in enumerate(rovers) if datum in rover.samples | rover.images]
        ready = [r for r in owners if in_contact(problem, tours.visits[r])]
        if ready:
            tours.senders[datum] = ready[0]
        elif owners and not _can_collect(problem, datum):
            tours.visits[owners[0]].append(_contact(problem))
            tours.senders[datum] = owners[0]
    for sample in problem.samples:
        if sample not in tours.senders:
            _add_sample(problem, tours, sample, hints.samplers.get(sample))
    _add_images(problem, tours, hints)
    # Visits may have been added before those of samples.
    for sample, (r, _) in tours.samples.items():
        tours.samples[sample] = r, tours.visits[r].index(sample[1])
    return tours


def in_contact(problem: Problem, visits: Sequence[str]) -> bool:
    """Whether a rover can send all it has at the last of its visits."""
    return visits[-1] in problem.contact


def _contact(problem: Problem) -> str:
    """Some waypoint from which a lander is seen."""
    if not problem.contact:
        raise Impossible("no lander is seen from anywhere")
    return min(problem.contact)


def _can_collect(problem: Problem, datum: Sample | Image) -> bool:
    if datum in problem.samples:
        return datum in problem.lying and any(datum[0] in r.kinds for r in problem.rovers)
    objective, mode = datum
    return bool(problem.seen_from[objective]) and any(
        mode in camera.modes and camera.targets for r in problem.rovers for camera in r.cameras
    )


def _add_sample(problem: Problem, tours: Tours, sample: Sample, hint: int | None) -> None:
    """Choose the rover that takes a sample; if none of them is there, one more visit."""
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
    busy = [r for r, _ in tours.samples.values()]
    if there:
        chosen = hint if hint in there else min(there, key=busy.count)
    else:
        chosen = min(ready or able, key=busy.count)
        visits = tours.visits[chosen]
        if waypoint != visits[0]:
            visits.insert(1, waypoint)
        if not in_contact(problem, visits):
            visits.append(_contact(problem))
    assert chosen is not None
    tours.samples[sample] = chosen, 0


def _add_images(problem: Problem, tours: Tours, hints: Hints) -> None:
    """Choose who takes the images where; if need be, with more visits."""
    left = [image for image in problem.images if image not in tours.senders]
    if len(_assign(problem, tours.visits, left, hints)) < len(left):
        # All images matter more than calibrations that are saved.
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
    """All images that can be taken where a camera can be calibrated for them."""
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
    """Who takes which image when on these tours, as far as they allow it."""
    takes: dict[Image, Take] = {}
    ready = [r for r, visits in enumerate(tours) if in_contact(problem, visits)]
    choices: dict[Image, list[tuple[int, Stretch]]] = {}
    # First come the images that have to be taken by a camera that is calibrated from the start.
    for image in sorted(images, key=lambda image: image not in hints.firsts):
        able = [hints.firsts[image]] if image in hints.firsts else _cameras(problem)
        take = _near_take(problem, tours, [(r, c) for r, c in able if r in ready], image)
        if take is not None:
            takes[image] = take
        else:
            choices[image] = []
    for r in ready:
        for image, found in options(problem, problem.rovers[r], tours[r], choices).items():
            first = hints.firsts.get(image)
            choices[image] += [(r, s) for s in found if first in (None, (r, s.camera))]
    for image, (r, stretch) in matching(choices).items():
        takes[image] = _far_take(problem, tours[r], r, image, stretch)
    return takes


def _cameras(problem: Problem) -> list[tuple[int, int]]:
    """All cameras, each with its rover first."""
    return [(r, c) for r, rover in enumerate(problem.rovers) for c in range(len(rover.cameras))]


def _near_take(
    problem: Problem, tours: Sequence[Sequence[str]], able: list[tuple[int, int]], image: Image
) -> Take | None:
    """A visit at which one of the cameras can be calibrated and take an image."""
    objective, mode = image
    seen = problem.seen_from[objective]
    for r, number in able:
        camera = problem.rovers[r].cameras[number]
        if mode in camera.modes:
            for t, waypoint in enumerate(tours[r]):
                if waypoint in seen and waypoint in camera.targets:
                    return Take(r, number, t, t)
    return None


def _far_take(
    problem: Problem, visits: Sequence[str], rover: int, image: Image, stretch: Stretch
) -> Take:
    seen = problem.seen_from[image[0]]
    taken = next(t for t in range(stretch.first, stretch.end) if visits[t] in seen)
    return Take(rover, stretch.camera, max(0, stretch.first - 1), taken)


def _extensions(
    problem: Problem, tours: Sequence[Sequence[str]], image: Image
) -> Iterator[list[list[str]]]:
    """Tours with more visits for an image, few of them first; one of the last does for certain."""
    objective, mode = image
    places = sorted(problem.seen_from[objective])
    spots: dict[int, list[str]] = {}
    for r, number in _cameras(problem):
        camera = problem.rovers[r].cameras[number]
        if mode in camera.modes:
            spots[r] = sorted({*spots.get(r, ()), *camera.targets})
    # Rovers that are on their way already first.
    able = sorted(spots, key=lambda r: not in_contact(problem, tours[r]))

    def extended(r: int, t: int, *more: str) -> list[list[str]]:
        visits = [*tours[r][:t], *more, *tours[r][t:]]
        if not in_contact(problem, visits):
            visits.append(_contact(problem))
        return [visits if q == r else list(other) for q, other in enumerate(tours)]

    for r in able:
        yield extended(r, 1)
    for r in able:
        for t in range(1, len(tours[r]) + 1):
            yield from (extended(r, t, w) for w in dict.fromkeys([*places, *spots[r]]))
    for r in able:
        for t in range(1, len(tours[r]) + 1):
            yield from (extended(r, t, c, w) for c in spots[r][:_TRIED] for w in places[:_TRIED])
    # After everything else, where they do not part what belongs together.
    for r in able:
        yield from (extended(r, len(tours[r]), c, w) for c in spots[r] for w in places[:1])
