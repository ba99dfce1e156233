"""Random small tasks of Rover and Satellite, of shapes that no generator produces."""

from __future__ import annotations

import random
from collections.abc import Callable


def rover_task(rng: random.Random) -> str:
    """Return a small task of any shape, which may be unsolvable.

    Rovers have any equipment and up to two stores; cameras have up to two targets and can be on
    two rovers; there are up to two landers, and data collected or communicated at the start.
    """

    def some(things: list[str], chance: float) -> list[str]:
        return [thing for thing in things if rng.random() < chance]

    rovers = [f"r{i}" for i in range(rng.choice([1, 1, 2]))]
    waypoints = [f"w{i}" for i in range(rng.randint(2, 5 - len(rovers)))]
    cameras = [f"c{i}" for i in range(rng.randint(0, 2))]
    objectives = [f"o{i}" for i in range(rng.randint(1, 4 - len(rovers)))]
    modes = ["colour", "grey"][: rng.choice([1, 1, 2])]
    landers = ["l0", "l1"][: rng.choice([1, 1, 1, 2])]
    initial = [f"(at {r} {rng.choice(waypoints)})" for r in rovers]
    initial += [f"(at_lander {lander} {rng.choice(waypoints)})" for lander in landers]
    initial += some([f"(visible {v} {w})" for v in waypoints for w in waypoints], 0.5)
    stores = []
    for r in rovers:
        for k in range(rng.choice([0, 1, 1, 1, 1, 1, 2])):
            stores.append(f"{r}-s{k}")
            initial.append(f"(store_of {r}-s{k} {r})")
            initial.append(rng.choice(["(empty {})", "(full {})"]).format(f"{r}-s{k}"))
    for kind in ("soil", "rock"):
        initial += some([f"(equipped_for_{kind}_analysis {r})" for r in rovers], 0.85)
    initial += some([f"(equipped_for_imaging {r})" for r in rovers], 0.9)
    for c in cameras:
        initial += [f"(on_board {c} {r})" for r in rng.sample(rovers, rng.choice([1, len(rovers)]))]
        targets = rng.sample(objectives, min(len(objectives), rng.choice([0, 1, 1, 1, 1, 1, 2])))
        initial += [f"(calibration_target {c} {o})" for o in targets]
        initial += some([f"(supports {c} {m})" for m in modes], 0.9)
        initial += some([f"(calibrated {c} {r})" for r in rovers], 0.1)
    initial += some([f"(visible_from {o} {w})" for o in objectives for w in waypoints], 0.45)
    samples = [(kind, w) for kind in ("soil", "rock") for w in waypoints]
    wanted = rng.sample(samples, rng.randint(0, min(3, len(samples))))
    images = [(o, m) for o in objectives for m in modes] if cameras else []
    taken = rng.sample(images, rng.randint(0 if wanted else min(1, len(images)), len(images)))
    initial += some([f"(at_{kind}_sample {w})" for kind, w in wanted], 0.98)
    initial += some([f"(have_{k}_analysis {r} {w})" for k, w in wanted for r in rovers], 0.05)
    initial += some([f"(have_image {r} {o} {m})" for o, m in images for r in rovers], 0.05)
    goal = [f"(communicated_{kind}_data {w})" for kind, w in wanted]
    goal += [f"(communicated_image_data {o} {m})" for o, m in taken]
    initial += some(goal, 0.05)
    objects = {
        "rover": rovers,
        "waypoint": waypoints,
        "camera": cameras,
        "objective": objectives,
        "mode": modes,
        "lander": landers,
        "store": stores,
    }
    listed = " ".join(f"{' '.join(names)} - {kind}" for kind, names in objects.items() if names)
    return (
        f"(define (problem p) (:domain rover) (:objects {listed})"
        f" (:init {' '.join(initial)}) (:goal (and {' '.join(goal)})))"
    )


def satellite_task(rng: random.Random) -> str:
    """Return a small task of any shape, which may be unsolvable.

    Instruments have up to two calibration targets, some satellites have no power, and images
    exist at the start or cannot be taken.
    """
    satellites = [f"s{i}" for i in range(rng.choice([1, 1, 2]))]
    instruments = [f"i{i}" for i in range(rng.randint(1, 4 - len(satellites)))]
    modes = [f"m{i}" for i in range(rng.randint(1, 2))]
    directions = [f"d{i}" for i in range(rng.randint(2, 4 - len(satellites) // 2))]
    initial = [f"(pointing {s} {rng.choice(directions)})" for s in satellites]
    initial += [f"(power_avail {s})" for s in satellites if rng.random() < 0.95]
    for i in instruments:
        initial.append(f"(on_board {i} {rng.choice(satellites)})")
        initial += [f"(supports {i} {m})" for m in modes if rng.random() < 0.7]
        targets = rng.sample(directions, rng.choice([0, 1, 1, 1, 2]))
        initial += [f"(calibration_target {i} {d})" for d in targets]
        initial += [f"(calibrated {i})"] if rng.random() < 0.2 else []
    images = [f"(have_image {d} {m})" for d in directions for m in modes]
    initial += rng.sample(images, rng.choice([0, 0, 1]))
    goal = rng.sample(images, rng.randint(1, len(images)))
    goal += [f"(pointing {s} {rng.choice(directions)})" for s in satellites if rng.random() < 0.5]
    return (
        f"(define (problem p) (:domain satellite) (:objects {' '.join(satellites)} - satellite"
        f" {' '.join(instruments)} - instrument {' '.join(modes)} - mode"
        f" {' '.join(directions)} - direction)"
        f" (:init {' '.join(initial)}) (:goal (and {' '.join(goal)})))"
    )


ODD_TASKS: dict[str, Callable[[random.Random], str]] = {
    "rover": rover_task,
    "satellite": satellite_task,
}
