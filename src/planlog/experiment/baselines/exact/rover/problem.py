"""Rover tasks: the data to communicate, and the abilities of each rover."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from planlog.experiment.baselines.exact.task_shape import Facts, goal_atoms
from planlog.pddl.task import Task

Sample = tuple[str, str]  # soil or rock, waypoint
Image = tuple[str, str]  # objective, mode


@dataclass(frozen=True)
class Camera:
    """A camera on a rover that is equipped for imaging."""

    name: str
    modes: frozenset[str]
    targets: dict[str, str]  # waypoint -> calibration target visible from there
    calibrated: bool  # at the start


@dataclass(frozen=True)
class Rover:
    """A rover in the initial state."""

    name: str
    start: str
    kinds: frozenset[str]  # of samples for which it is equipped, if it has a store
    empty: tuple[str, ...]  # stores
    full: tuple[str, ...]
    cameras: tuple[Camera, ...]
    samples: frozenset[Sample]  # wanted, and analysed before the start
    images: frozenset[Image]

    @cached_property
    def modes_at(self) -> dict[str, frozenset[str]]:
        """Waypoint -> modes of the cameras that can be calibrated there.

        Any number of images in these modes can be taken there.
        """
        spots = {w for camera in self.cameras for w in camera.targets}
        return {
            w: frozenset(m for camera in self.cameras if w in camera.targets for m in camera.modes)
            for w in spots
        }


@dataclass(frozen=True)
class Problem:
    """Data to communicate, and positions of objects."""

    rovers: tuple[Rover, ...]
    samples: tuple[Sample, ...]  # to communicate
    lying: frozenset[Sample]  # samples that can still be taken
    images: tuple[Image, ...]  # to communicate
    seen_from: dict[str, frozenset[str]]  # objective -> waypoints
    contact: dict[str, tuple[str, str]]  # waypoint -> visible lander, its waypoint

    def takes_at(self, rover: Rover, waypoint: str) -> Iterator[Image]:
        """Yield the images that a rover can calibrate for and take at a waypoint."""
        modes = rover.modes_at.get(waypoint, frozenset())
        return ((o, m) for o, m in self.images if m in modes and waypoint in self.seen_from[o])


def read(task: Task) -> Problem:
    """Return the problem of a task; raise UnsuitableTaskError for tasks of another shape."""
    facts = Facts(task)
    sent = [f"communicated_{kind}_data" for kind in ("soil", "rock", "image")]
    wanted = goal_atoms(task, sent)
    done = {(name, *row) for name in sent for row in facts[name]}
    left = sorted(set(wanted) - done)
    samples = [(atom[0].split("_")[1], atom[1]) for atom in left if len(atom) == 2]
    images = [(atom[1], atom[2]) for atom in left if len(atom) == 3]
    lying = {(kind, w) for kind in ("soil", "rock") for w in facts.objects(f"at_{kind}_sample")}
    landers = facts.grouped("at_lander")
    sites = {w: lander for lander, places in landers.items() for w in places}
    contact = {x: (sites[y], y) for x, y in facts["visible"] if y in sites}
    seen_from: dict[str, frozenset[str]] = defaultdict(frozenset)
    seen_from |= {o: frozenset(ws) for o, ws in facts.grouped("visible_from").items()}
    return Problem(
        rovers=tuple(_rovers(facts, samples, images)),
        samples=tuple(samples),
        lying=frozenset(samples) & lying,
        images=tuple(images),
        seen_from=seen_from,
        contact=contact,
    )


def _rovers(facts: Facts, samples: list[Sample], images: list[Image]) -> Iterator[Rover]:
    """Yield the rovers that have a position."""
    places = facts.grouped("at")
    empty, full = (set(facts.objects(name)) for name in ("empty", "full"))
    stores: dict[str, list[str]] = defaultdict(list)
    for store, owners in facts.grouped("store_of").items():
        if len(owners) > 1:
            raise facts.unsuitable(f"store '{store}' belongs to two rovers")
        if store in empty and store in full:
            raise facts.unsuitable(f"store '{store}' is both empty and full")
        if store in empty or store in full:
            stores[owners[0]].append(store)
    for name, (start, *others) in places.items():
        if others:
            raise facts.unsuitable(f"rover '{name}' is at two waypoints")
        kinds = {
            kind
            for kind in ("soil", "rock")
            if (name,) in facts[f"equipped_for_{kind}_analysis"] and stores[name]
        }
        analysed = {
            (kind, w)
            for kind in ("soil", "rock")
            for r, w in facts[f"have_{kind}_analysis"]
            if r == name
        }
        yield Rover(
            name=name,
            start=start,
            kinds=frozenset(kinds),
            empty=tuple(s for s in stores[name] if s in empty),
            full=tuple(s for s in stores[name] if s in full),
            cameras=tuple(_cameras(facts, name)),
            samples=frozenset(samples) & analysed,
            images=frozenset(images) & {(o, m) for r, o, m in facts["have_image"] if r == name},
        )


def _cameras(facts: Facts, rover: str) -> Iterator[Camera]:
    if (rover,) not in facts["equipped_for_imaging"]:
        return
    seen_from, targets = facts.grouped("visible_from"), facts.grouped("calibration_target")
    supported = facts.grouped("supports")
    for camera, carrier in facts["on_board"]:
        if carrier == rover:
            spots = {w: o for o in targets[camera] for w in seen_from[o]}
            calibrated = (camera, rover) in facts["calibrated"]
            yield Camera(camera, frozenset(supported[camera]), spots, calibrated)
