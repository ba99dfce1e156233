"""Rover tasks: the data to communicate, and the abilities of each rover."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from planlog.experiment.baselines.exact.task_shape import Facts, goal_atoms
from planlog.pddl.task import Task

_KINDS = ("soil", "rock")

Sample = tuple[str, str]  # kind, waypoint
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
    sent = [f"communicated_{kind}_data" for kind in (*_KINDS, "image")]
    wanted = goal_atoms(task, sent)
    done = {(name, *row) for name in sent for row in facts[name]}
    left = sorted(set(wanted) - done)
    samples = [(atom[0].split("_")[1], atom[1]) for atom in left if len(atom) == 2]
    images = [(atom[1], atom[2]) for atom in left if len(atom) == 3]
    lying = {(kind, w) for kind in _KINDS for w in facts.objects(f"at_{kind}_sample")}
    sites = {w: lander for lander, w in facts["at_lander"]}
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
    owners = facts.function(facts["store_of"], "belongs to two rovers")
    empty, full = (facts.objects(name) for name in ("empty", "full"))
    for store in owners:
        if store in empty and store in full:
            raise facts.unsuitable(f"{store} is both empty and full")
    for name, start in facts.function(facts["at"], "is at two waypoints").items():
        stores = [store for store, owner in owners.items() if owner == name]
        kinds = {k for k in _KINDS if (name,) in facts[f"equipped_for_{k}_analysis"]}
        analysed = {(k, w) for k in _KINDS for r, w in facts[f"have_{k}_analysis"] if r == name}
        yield Rover(
            name=name,
            start=start,
            kinds=frozenset(kinds if not {*empty, *full}.isdisjoint(stores) else ()),
            empty=tuple(store for store in stores if store in empty),
            full=tuple(store for store in stores if store in full),
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
