"""Random Rover tasks: samples at half the waypoints, goals for any number of samples and images."""

from __future__ import annotations

import numpy as np

from planlog.domains import Size
from planlog.domains.problem_text import covering_subsets, numbered, problem_text, random_subset

SIZES = (
    Size("rovers", "number of rovers", 1, 2, (1, 4), (1, 4), (5, 10), (15, 30)),
    Size("waypoints", "number of waypoints", 2, 6, (4, 10), (4, 10), (15, 88), (100, 190)),
    Size("cameras", "number of cameras", 1, 2, (1, 4), (1, 4), (5, 49), (60, 95)),
    Size("objectives", "number of objectives", 1, 4, (1, 10), (1, 10), (15, 88), (100, 190)),
)
SMALLEST = (*((1, 2, 1, 1),) * 3, (1, 3, 1, 1), (1, 2, 2, 2), (2, 3, 3, 3))

MODES = ("colour", "high_res", "low_res")


def generate(
    rng: np.random.Generator,
    name: str,
    *,
    rovers: int,
    waypoints: int,
    cameras: int,
    objectives: int,
) -> str:
    """Return a problem in PDDL with the given numbers of objects.

    The task is solvable: some rover is equipped for each kind of sample, every mode has a camera
    on an equipped rover, and the lander and every objective are visible from some waypoint.
    """
    rover = numbered("rover", rovers)
    store = [f"{r}store" for r in rover]
    waypoint = numbered("waypoint", waypoints)
    camera = numbered("camera", cameras)
    objective = numbered("objective", objectives)

    initial = [f"(at_lander general {waypoint[rng.integers(waypoints)]})"]
    initial += [f"(at {r} {waypoint[rng.integers(waypoints)]})" for r in rover]
    initial += [f"(empty {s})" for s in store]
    initial += [f"(store_of {s} {r})" for s, r in zip(store, rover, strict=True)]

    goal = []
    for kind in ("soil", "rock"):
        initial += [
            f"(equipped_for_{kind}_analysis {rover[i]})" for i in random_subset(rng, rovers, 1)
        ]
        sampled = np.flatnonzero(rng.random(waypoints) < 0.5)
        initial += [f"(at_{kind}_sample {waypoint[i]})" for i in sampled]
        wanted = sampled[random_subset(rng, len(sampled), 0)]
        goal += [f"(communicated_{kind}_data {waypoint[i]})" for i in wanted]

    for a, b in _visible_pairs(rng, waypoints):
        initial.append(f"(visible {waypoint[a]} {waypoint[b]})")
        initial.append(f"(visible {waypoint[b]} {waypoint[a]})")

    imaging = random_subset(rng, rovers, 1)
    initial += [f"(equipped_for_imaging {rover[i]})" for i in imaging]
    for c, modes in zip(camera, covering_subsets(rng, cameras, len(MODES)), strict=True):
        initial.append(f"(on_board {c} {rover[rng.choice(imaging)]})")
        initial.append(f"(calibration_target {c} {objective[rng.integers(objectives)]})")
        initial += [f"(supports {c} {MODES[m]})" for m in modes]
    for o in objective:
        initial += [f"(visible_from {o} {waypoint[i]})" for i in random_subset(rng, waypoints, 1)]

    images = [(o, m) for o in objective for m in MODES]
    for i in random_subset(rng, len(images), 0 if goal else 1):
        goal.append(f"(communicated_image_data {images[i][0]} {images[i][1]})")

    objects = {"lander": ["general"], "mode": list(MODES), "rover": rover, "store": store}
    objects |= {"waypoint": waypoint, "camera": camera, "objective": objective}
    return problem_text(name, "rover", objects, initial, goal)


def _visible_pairs(rng: np.random.Generator, waypoints: int) -> list[tuple[int, int]]:
    """Draw a connected graph with any number of edges, from a tree to the complete graph."""
    order = rng.permutation(waypoints)
    tree = np.zeros((waypoints, waypoints), dtype=bool)
    for i in range(1, waypoints):
        a, b = order[i], order[rng.integers(i)]
        tree[min(a, b), max(a, b)] = True
    first, second = np.nonzero(np.triu(~tree, k=1))
    extra = rng.permutation(len(first))[: rng.integers(len(first) + 1)]
    tree[first[extra], second[extra]] = True
    return [(int(a), int(b)) for a, b in np.argwhere(tree)]
