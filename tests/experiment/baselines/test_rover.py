"""Optimal plans for Rover, against breadth-first search on small tasks of all shapes."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog import domains
from planlog.experiment.baselines.exact.task_shape import UnsuitableTaskError
from planlog.experiment.records import Status
from support.exact_reference import SHIPPED, method, optimum, shortest, solved
from support.exact_states import check_states
from support.profiles import examples

seeds = st.integers(0, 2**32)


def odd_task(rng: random.Random) -> str:
    """A small task of any shape, some of them without a solution.

    Rovers have any equipment and none, one or two stores, cameras can be on two rovers and have
    none, one or two targets; there are two landers, and data that is there or was sent already.
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
    """Cameras for different images, each calibrated at another waypoint than the images are taken
    at, so that the order of visits matters; a second rover is sometimes of help."""
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
    """A rover that can do everything; at b it can calibrate, from c the lander at d is seen."""
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


# In these tasks the first visits that the integer program chooses are in no order possible.
@pytest.mark.slow
@pytest.mark.parametrize("seed", [23, 64, 145, 286, 915])
def test_orders_of_visits(seed: int) -> None:
    text = camera_task(random.Random(seed))
    assert optimum("rover", text) == shortest("rover", text)


@given(seed=seeds)
@examples(15)
def test_states_of_any_odd_task(seed: int) -> None:
    check_states("rover", odd_task(random.Random(seed)), 5)


@pytest.mark.parametrize("number", range(30))
def test_generated_tasks_as_breadth_first_search(number: int) -> None:
    # More would make the state space too large.
    rovers, waypoints, cameras, objectives = [(1, 4, 2, 1), (1, 3, 2, 1), (2, 2, 1, 1)][number % 3]
    sizes = {
        "rovers": rovers,
        "waypoints": waypoints,
        "cameras": cameras,
        "objectives": objectives,
    }
    ((_, text),) = domains.generate("rover", seed=number, sizes=sizes)
    assert optimum("rover", text) == shortest("rover", text)


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
        # By way of d first, as c has to be the last.
        (
            f"{READY} (at_soil_sample d)",
            "(communicated_image_data y low) (communicated_soil_data d)",
            9,
        ),
        (f"{READY} (calibrated i r)", "(communicated_image_data y low)", 3),
        (f"{READY} (have_image r y low)", "(communicated_image_data y low)", 2),
        # The lander is seen only from where the camera is calibrated: back to b at the end.
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
    solution = method("rover")(SHIPPED["rover"].parse_task(problem(initial, goal)))
    assert solution.status is Status.UNSOLVABLE
    assert not solution.plans


@pytest.mark.parametrize(
    ("initial", "reason"),
    [
        (f"{READY} (at r b)", "'r' is at two waypoints"),
        (f"{READY} (full s)", "'s' is both empty and full"),
        (f"{READY} (store_of s q)", "'s' belongs to two rovers"),
    ],
)
def test_initial_states_that_cannot_be(initial: str, reason: str) -> None:
    text = problem(initial, "(communicated_soil_data a)").replace("r - rover", "r q - rover")
    with pytest.raises(UnsuitableTaskError, match=reason):
        method("rover")(SHIPPED["rover"].parse_task(text))


@pytest.mark.parametrize("goal", ["(not (at r a))", "(at r b)"])
def test_goals_of_other_kinds(goal: str) -> None:
    task = SHIPPED["rover"].parse_task(problem(READY, goal))
    with pytest.raises(UnsuitableTaskError, match="a goal has to be an atom"):
        method("rover")(task)


def test_other_domains_are_refused() -> None:
    ((_, text),) = domains.generate("satellite", seed=0)
    with pytest.raises(UnsuitableTaskError, match="predicate 'at' is missing"):
        method("rover")(SHIPPED["satellite"].parse_task(text))


def test_medium_tasks_are_solved() -> None:
    tasks = list(domains.generate("rover", seed=1, split="medium"))
    for _, text in tasks[:12:3]:
        assert solved("rover", text).optimal


def test_without_time_there_is_still_a_plan() -> None:
    ((_, text),) = domains.generate("rover", seed=0)
    solution = solved("rover", text, time_limit=0)
    assert not solution.optimal


def test_the_same_task_gives_the_same_plan() -> None:
    ((_, text),) = domains.generate("rover", seed=5)
    assert solved("rover", text).plans[0].actions == solved("rover", text).plans[0].actions
