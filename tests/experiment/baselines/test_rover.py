"""Optimal plans for Rover, against breadth-first search on small tasks of all shapes."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.exact_reference import check_unsolvable, check_unsuitable, optimum, shortest
from support.exact_states import check_states
from support.profiles import examples

seeds = st.integers(0, 2**32)


def odd_task(rng: random.Random) -> str:
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


def problem(initial: str, goal: str) -> str:
    """Return a task of a fully equipped rover: calibration at b, communication at c."""
    return (
        "(define (problem p) (:domain rover)"
        " (:objects r - rover a b c d - waypoint s - store i - camera low high - mode"
        " general - lander x y - objective)"
        " (:init (at_lander general d) (visible c d) (store_of s r)"
        " (equipped_for_soil_analysis r) (equipped_for_rock_analysis r) (equipped_for_imaging r)"
        " (on_board i r) (supports i low) (supports i high) (calibration_target i x)"
        f" (visible_from x b) (visible_from y a) {initial})"
        f" (:goal (and {goal})))"
    )


SAMPLES = "(at_soil_sample a) (at_rock_sample a) (at_soil_sample c)"
READY = f"(at r a) (empty s) {SAMPLES}"


@pytest.mark.slow
def test_thousands_of_states_of_odd_tasks() -> None:
    rng = random.Random(0)
    assert sum(check_states("rover", odd_task(rng), 20) for _ in range(70)) > 1000


# The first visits that the integer program chooses have no order in these tasks.
@pytest.mark.slow
@pytest.mark.parametrize("seed", [23, 64, 145, 286, 915])
def test_orders_of_visits(seed: int) -> None:
    text = camera_task(random.Random(seed))
    assert optimum("rover", text) == shortest("rover", text)


@given(seed=seeds)
@examples(15)
def test_states_of_any_odd_task(seed: int) -> None:
    check_states("rover", odd_task(random.Random(seed)), 5)


@pytest.mark.parametrize(
    ("initial", "goal", "length"),
    [
        # Sample, drive to c, send.
        (READY, "(communicated_soil_data a)", 3),
        (READY, "(communicated_soil_data c)", 3),
        # For a second sample the store has to be emptied.
        (READY, "(communicated_soil_data a) (communicated_rock_data a)", 6),
        (READY.replace("empty", "full"), "(communicated_soil_data a)", 4),
        (f"{READY} (have_soil_analysis r a)", "(communicated_soil_data a)", 2),
        (f"{READY} (communicated_soil_data a)", "(communicated_soil_data a)", 0),
        # Drive to b, calibrate, take; drive to c, send.
        (READY, "(communicated_image_data x low)", 5),
        (READY, "(communicated_image_data x low) (communicated_image_data x high)", 8),
        # y is seen from a only, the camera can be calibrated at b only.
        (READY, "(communicated_image_data y low)", 6),
        (READY, "(communicated_image_data y low) (communicated_image_data y high)", 11),
        # Over d first, since c has to be the last waypoint.
        (
            f"{READY} (at_soil_sample d)",
            "(communicated_image_data y low) (communicated_soil_data d)",
            9,
        ),
        (f"{READY} (calibrated i r)", "(communicated_image_data y low)", 3),
        (f"{READY} (have_image r y low)", "(communicated_image_data y low)", 2),
        # The lander is visible only from b, where the camera is calibrated.
        (f"{READY} (at_lander general b) (visible b b)", "(communicated_image_data y low)", 6),
    ],
)
def test_plans_counted_by_hand(initial: str, goal: str, length: int) -> None:
    assert optimum("rover", problem(initial, goal)) == length


@pytest.mark.parametrize(
    ("initial", "goal"),
    [
        (READY, "(communicated_soil_data b)"),
        ("(at r a) (at_soil_sample a)", "(communicated_soil_data a)"),
        ("(empty s) (at_soil_sample a)", "(communicated_soil_data a)"),
    ],
)
def test_unsolvable_tasks(initial: str, goal: str) -> None:
    check_unsolvable("rover", problem(initial, goal))


@pytest.mark.parametrize(
    ("initial", "reason"),
    [
        (f"{READY} (at r b)", "r is at two waypoints"),
        (f"{READY} (full s)", "s is both empty and full"),
        (f"{READY} (store_of s q)", "s belongs to two rovers"),
    ],
)
def test_inconsistent_initial_states(initial: str, reason: str) -> None:
    text = problem(initial, "(communicated_soil_data a)").replace("r - rover", "r q - rover")
    check_unsuitable("rover", text, reason)


@pytest.mark.parametrize("goal", ["(not (at r a))", "(at r b)"])
def test_goals_of_other_kinds(goal: str) -> None:
    check_unsuitable("rover", problem(READY, goal), "goals must be atoms")
