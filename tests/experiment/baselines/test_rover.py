"""Rover tasks in which the order of the visits matters, against breadth-first search."""

from __future__ import annotations

import random

import pytest

from support.exact_reference import optimum, shortest


def camera_task(rng: random.Random) -> str:
    """Return a task in which the order of visits matters: cameras are not calibrated where their
    images are taken."""
    waypoints, cameras, objectives = ["w0", "w1", "w2", "w3"], ["c0", "c1"], ["o0", "o1", "o2"]
    rovers = ["r0", "r1"][: rng.choice([1, 1, 1, 2])]
    initial = [f"(at {r} {rng.choice(waypoints)}) (equipped_for_imaging {r})" for r in rovers]
    initial += ["(at_lander general w0)", f"(visible {rng.choice(waypoints)} w0)"]
    for c in cameras:
        initial.append(f"(on_board {c} r0) (on_board {c} {rovers[-1]}) (supports {c} {c}-mode)")
        initial.append(f"(calibration_target {c} {rng.choice(objectives)})")
    for o in objectives:
        seen = rng.sample(waypoints, rng.choice([1, 1, 1, 2]))
        initial += [f"(visible_from {o} {w})" for w in seen]
    images = [f"(communicated_image_data {o} {c}-mode)" for o in objectives for c in cameras]
    return (
        f"(define (problem p) (:domain rover) (:objects {' '.join(rovers)} - rover"
        f" {' '.join(waypoints)} - waypoint {' '.join(cameras)} - camera"
        f" {' '.join(objectives)} - objective c0-mode c1-mode - mode general - lander)"
        f" (:init {' '.join(initial)}) (:goal (and {' '.join(rng.sample(images, 4))})))"
    )


# The first visits that the integer program chooses have no order in these tasks.
@pytest.mark.slow
@pytest.mark.parametrize("seed", [23, 64, 145, 286, 915])
def test_orders_of_visits(seed: int) -> None:
    text = camera_task(random.Random(seed))
    assert optimum("rover", text) == shortest("rover", text)
