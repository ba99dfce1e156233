"""Optimal plans for Ferry: brute force on small tasks, the formula on large ones."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from support.exact_reference import check_all_states, generated, optimum, solved
from support.profiles import examples

seeds = st.integers(0, 2**32)


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
    text = generated("ferry", seed, cars=cars, locations=locations)
    solution = solved("ferry", text)
    assert solution.optimal
    steps = [action.name for action in solution.plans[0].actions]
    # All cars of generated tasks are away from their goals.
    assert steps.count("board") == steps.count("debark") == cars
    assert len(steps) >= 3 * cars


def test_a_thousand_cars_at_once() -> None:
    assert optimum("ferry", generated("ferry", 0, cars=1000, locations=500)) >= 3000
