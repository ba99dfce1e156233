"""Optimal plans for Ferry: brute force on small tasks, the formula on large ones."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog import domains
from support.exact_reference import (
    check_all_states,
    check_unsolvable,
    check_unsuitable,
    optimum,
    solved,
)
from support.profiles import examples

seeds = st.integers(0, 2**32)


def generated(cars: int, locations: int, seed: int = 0) -> str:
    sizes = {"cars": cars, "locations": locations}
    ((_, problem),) = domains.generate("ferry", seed=seed, sizes=sizes)
    return problem


def problem(initial: str, goal: str, cars: str = "a b", locations: str = "x y z") -> str:
    return (
        f"(define (problem p) (:domain ferry)"
        f" (:objects {cars} - car {locations} - location) (:init {initial}) (:goal (and {goal})))"
    )


@given(
    seed=seeds,
    cars=st.integers(1, 4),
    locations=st.integers(1, 5),
    without_goal=st.sampled_from([0, 0.3]),
    aboard=st.booleans(),
)
@examples(60)
def test_every_state_with_any_goal(
    seed: int, cars: int, locations: int, without_goal: float, aboard: bool
) -> None:
    rng = random.Random(seed)
    names = [f"c{i}" for i in range(cars)]
    places = [f"l{i}" for i in range(locations)]
    last = rng.choice(names) if aboard else None
    goal = [f"(at {c} {rng.choice(places)})" for c in names if rng.random() >= without_goal]
    goal = [atom for atom in goal if f" {last} " not in atom]
    goal += [f"(on {last})"] if last else []
    goal += [f"(at-ferry {rng.choice(places)})"] if rng.random() < 0.3 else []
    goal += ["(empty-ferry)"] if rng.random() < 0.2 else []
    start = ["(empty-ferry)", "(at-ferry l0)", *(f"(at {c} l0)" for c in names)]
    objects = f"{' '.join(names)} - car {' '.join(places)} - location"
    states = (locations + 1) ** cars * locations
    check_all_states("ferry", objects, start, goal, every=1 + states // 80)


def test_thousands_of_states() -> None:
    start = ["(empty-ferry)", "(at-ferry l0)", *(f"(at c{i} l0)" for i in range(4))]
    goal = ["(at c0 l1)", "(at c1 l2)", "(at c2 l1)", "(at c3 l0)"]
    objects = "c0 c1 c2 c3 - car l0 l1 l2 l3 - location"
    assert check_all_states("ferry", objects, start, goal) > 2000


@given(seed=seeds, cars=st.integers(1, 40), locations=st.integers(2, 30))
@examples(40)
def test_plans_of_larger_tasks(seed: int, cars: int, locations: int) -> None:
    text = generated(cars, locations, seed)
    solution = solved("ferry", text)
    assert solution.optimal
    steps = [action.name for action in solution.plans[0].actions]
    # All cars of generated tasks are away from their goals.
    assert steps.count("board") == steps.count("debark") == cars
    assert len(steps) >= 3 * cars


def test_a_thousand_cars_at_once() -> None:
    assert optimum("ferry", generated(1000, 500)) >= 3000


AT_HOME = "(empty-ferry) (at-ferry x) (at a x) (at b y)"


@pytest.mark.parametrize(
    ("initial", "goal", "length"),
    [
        (AT_HOME, "(at a x) (at b y)", 0),
        (AT_HOME, "(at a y)", 3),
        (AT_HOME, "(at a y) (at b x)", 6),
        (AT_HOME, "(at b z)", 4),
        (AT_HOME, "(at a y) (at-ferry z)", 4),
        (AT_HOME, "(on b)", 2),
        # Two components, which an empty sail connects.
        (AT_HOME.replace("(at b y)", "(at b z)"), "(at a y) (at b x)", 7),
        # A car aboard goes to its goal first, stays aboard, or is put down.
        ("(on a) (at-ferry x) (at b y)", "(at a y)", 2),
        ("(on a) (at-ferry x) (at b y)", "(at-ferry y)", 1),
        ("(on a) (at-ferry x) (at b y)", "(at-ferry y) (empty-ferry)", 2),
        ("(on a) (at-ferry x) (at b x)", "(at b y)", 4),
        ("(on a) (at-ferry x) (at b x)", "(at b y) (on a)", 6),
        ("(on a) (at-ferry x) (at b y)", "(on b)", 3),
    ],
)
def test_plans_counted_by_hand(initial: str, goal: str, length: int) -> None:
    assert optimum("ferry", problem(initial, goal)) == length


@pytest.mark.parametrize(
    "goal",
    [
        "(at a x) (at a y)",
        "(at a x) (on a)",
        "(on a) (on b)",
        "(on a) (empty-ferry)",
        "(at-ferry x) (at-ferry y)",
    ],
)
def test_contradictory_goals(goal: str) -> None:
    check_unsolvable("ferry", problem(AT_HOME, goal))


@pytest.mark.parametrize(
    ("initial", "reason"),
    [
        ("(empty-ferry) (at-ferry x) (at a x)", "b is nowhere"),
        ("(empty-ferry) (at-ferry x) (at a x) (at a y) (at b x)", "a is at two places"),
        ("(at-ferry x) (on a) (at a y) (at b x)", "a is at two places"),
        ("(empty-ferry) (at a x) (at b x)", "not at 0"),
        ("(empty-ferry) (at-ferry x) (at-ferry y) (at a x) (at b x)", "not at 2"),
        ("(at-ferry x) (at a x) (at b x)", "empty-ferry"),
        ("(at-ferry x) (on a) (on b)", "empty-ferry"),
        ("(empty-ferry) (at-ferry x) (on a) (at b x)", "empty-ferry"),
    ],
)
def test_inconsistent_initial_states(initial: str, reason: str) -> None:
    check_unsuitable("ferry", problem(initial, "(at a y)"), reason)


@pytest.mark.parametrize("goal", ["(not (at a x))", "(or (at a x) (at a y))"])
def test_goals_of_other_kinds(goal: str) -> None:
    check_unsuitable("ferry", problem(AT_HOME, goal), "goals must be atoms")
