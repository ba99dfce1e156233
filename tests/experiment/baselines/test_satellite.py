"""Optimal plans for Satellite, against breadth-first search on small tasks of all shapes."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.exact_reference import check_unsolvable, check_unsuitable, optimum
from support.exact_states import check_states
from support.profiles import examples

seeds = st.integers(0, 2**32)


def odd_task(rng: random.Random) -> str:
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


def problem(initial: str, goal: str) -> str:
    """Return a task of a satellite with two instruments and one with a third."""
    return (
        "(define (problem p) (:domain satellite)"
        " (:objects s t - satellite i j k - instrument red blue - mode a b c d - direction)"
        " (:init (on_board i s) (on_board j s) (on_board k t) (supports i red)"
        " (supports j blue) (supports k red) (supports k blue) (calibration_target i a)"
        f" (calibration_target j b) (calibration_target k c) {initial})"
        f" (:goal (and {goal})))"
    )


READY = "(pointing s d) (pointing t d) (power_avail s) (power_avail t)"


@pytest.mark.slow
def test_thousands_of_states_of_odd_tasks() -> None:
    rng = random.Random(0)
    assert sum(check_states("satellite", odd_task(rng), 18) for _ in range(70)) > 1000


@given(seed=seeds)
@examples(15)
def test_states_of_any_odd_task(seed: int) -> None:
    check_states("satellite", odd_task(random.Random(seed)), 5)


@pytest.mark.parametrize(
    ("initial", "goal", "length"),
    [
        (READY, "(pointing s d)", 0),
        (READY, "(pointing s a) (pointing t a)", 2),
        # On, turn, calibrate, turn, take.
        (READY, "(have_image d red)", 5),
        # With k, whose target is one more turn, or without its power with i and j.
        (READY, "(have_image a red) (have_image b blue)", 7),
        (READY.replace("(power_avail t)", ""), "(have_image a red) (have_image b blue)", 9),
        (READY, "(have_image c red) (have_image c blue)", 5),
        # The last image is taken where the satellite has to point.
        (READY, "(have_image d red) (pointing s d)", 5),
        (READY, "(have_image a red) (pointing s d)", 5),
        # Phase i ends in the calibration target of phase j, which saves a turn.
        (
            "(pointing s a) (pointing t d) (power_avail s)",
            "(have_image a red) (have_image b red) (have_image b blue)",
            9,
        ),
        # Each phase could end in the target of the other, but only one of them is first.
        (READY.replace("(power_avail t)", ""), "(have_image b red) (have_image a blue)", 10),
        # Phase i could save a turn both as the first and as the last, but there is phase j.
        (
            "(pointing s a) (pointing t d) (power_avail s)",
            "(have_image d red) (have_image b blue) (pointing s d)",
            10,
        ),
        # On from the start, and calibrated or not.
        ("(pointing s d) (pointing t d) (power_on i) (calibrated i)", "(have_image d red)", 1),
        ("(pointing s d) (pointing t d) (power_on i)", "(have_image a red)", 3),
        ("(pointing s d) (pointing t d) (power_on i)", "(have_image b blue)", 5),
        # Calibrated, but not on: switching on spoils it.
        ("(pointing s a) (pointing t d) (power_avail s) (calibrated i)", "(have_image a red)", 3),
    ],
)
def test_plans_counted_by_hand(initial: str, goal: str, length: int) -> None:
    assert optimum("satellite", problem(initial, goal)) == length


@pytest.mark.parametrize(
    ("initial", "goal"),
    [
        (READY, "(pointing s a) (pointing s b)"),
        ("(pointing s a) (pointing t d)", "(have_image a red)"),
        ("(pointing s a) (pointing t d) (power_avail s) (power_on k)", "(have_image a green)"),
    ],
)
def test_unsolvable_tasks(initial: str, goal: str) -> None:
    text = problem(initial, goal).replace("red blue", "red blue green")
    check_unsolvable("satellite", text)


@pytest.mark.parametrize(
    ("initial", "reason"),
    [
        (f"{READY} (pointing s a)", "s points at two directions"),
        (READY.replace("(pointing s d)", ""), "s points nowhere"),
        (f"{READY} (on_board i t)", "i is on board of two satellites"),
        (f"{READY} (power_on i)", "s has power for a second instrument"),
        ("(pointing s d) (pointing t d) (power_on i) (power_on j)", "s has two instruments on"),
    ],
)
def test_inconsistent_initial_states(initial: str, reason: str) -> None:
    check_unsuitable("satellite", problem(initial, "(have_image a red)"), reason)


@pytest.mark.parametrize("goal", ["(not (pointing s a))", "(power_on i)"])
def test_goals_of_other_kinds(goal: str) -> None:
    check_unsuitable("satellite", problem(READY, goal), "goals must be atoms")
