"""Optimal plans for Blocksworld: brute force on small tasks, bounds on large ones."""

from __future__ import annotations

import random
import sys
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.experiment.baselines.exact.blocksworld.feedback_vertex_set import (
    light_cycles,
    minimum_feedback_set,
)
from support.exact_cases import TWO_TOWERS, problem
from support.exact_reference import check_all_states, generated, optimum, solved
from support.profiles import examples

seeds = st.integers(0, 2**32)


def on_table(blocks: list[str]) -> list[str]:
    return ["(arm-empty)", *(f"({p} {b})" for b in blocks for p in ("on-table", "clear"))]


def random_towers(rng: random.Random, blocks: list[str], held: bool) -> list[str]:
    """Return the atoms of a random state."""
    order = rng.sample(blocks, len(blocks))
    atoms = [f"(holding {order.pop()})" if held else "(arm-empty)"]
    below = ""
    for block in order:
        if not below or rng.random() < 0.3:
            atoms += [f"(clear {below})"] if below else []
            atoms.append(f"(on-table {block})")
        else:
            atoms.append(f"(on {block} {below})")
        below = block
    return [*atoms, *([f"(clear {below})"] if below else [])]


@given(seed=seeds, blocks=st.integers(1, 4), held=st.booleans(), part=st.floats(0, 1))
@examples(25)
def test_every_state_with_any_part_of_a_state_as_goal(
    seed: int, blocks: int, held: bool, part: float
) -> None:
    rng = random.Random(seed)
    names = [f"b{i}" for i in range(blocks)]
    goal = [atom for atom in random_towers(rng, names, held) if rng.random() < part]
    every = 7 if blocks == 4 else 1
    check_all_states("blocksworld", " ".join(names), on_table(names), goal, every)


@given(seed=seeds, blocks=st.integers(1, 3))
@examples(20)
def test_every_state_with_any_atoms_as_goal(seed: int, blocks: int) -> None:
    """Most such goals are unsolvable."""
    rng = random.Random(seed)
    names = [f"b{i}" for i in range(blocks)]
    unary = ("clear", "on-table", "holding")
    atoms = ["(arm-empty)", *(f"({p} {b})" for b in names for p in unary)]
    atoms += [f"(on {a} {b})" for a in names for b in names]
    goal = rng.sample(atoms, rng.randint(0, min(4, len(atoms))))
    check_all_states("blocksworld", " ".join(names), on_table(names), goal)


@pytest.mark.slow
def test_thousands_of_states_with_five_blocks() -> None:
    names = [f"b{i}" for i in range(5)]
    rng = random.Random(1)
    goals = [
        random_towers(rng, names, held=False),
        random_towers(rng, names, held=True),
        random_towers(rng, names, held=False)[:6],
    ]
    checked = [
        check_all_states("blocksworld", " ".join(names), on_table(names), goal) for goal in goals
    ]
    assert checked == [501 + 5 * 73] * 3  # arrangements of five blocks; one held, and of four


@given(seed=seeds, time_limit=st.sampled_from([0.0, 0.01, 0.1]))
@examples(8)
def test_there_is_always_a_plan_and_a_bound(seed: int, time_limit: float) -> None:
    text = generated("blocksworld", seed, blocks=120)
    quick = solved("blocksworld", text, time_limit)
    thorough = solved("blocksworld", text)
    assert thorough.optimal
    assert quick.lower_bound is not None
    assert quick.lower_bound <= len(thorough.plans[-1].actions) <= len(quick.plans[-1].actions)
    assert bool(quick.message) == (not quick.optimal)


def test_reached_goal_without_time() -> None:
    assert solved(
        "blocksworld", problem("blocksworld", TWO_TOWERS, TWO_TOWERS), time_limit=0
    ).optimal


def test_tower_higher_than_the_recursion_limit() -> None:
    count = sys.getrecursionlimit() + 100
    names = [f"b{i}" for i in range(count)]
    initial = [f"(on {a} {b})" for a, b in pairwise(names)]
    goal = [f"(on {b} {a})" for a, b in pairwise(names)]
    text = (
        f"(define (problem p) (:domain blocksworld) (:objects {' '.join(names)})"
        f" (:init (arm-empty) (clear b0) (on-table {names[-1]}) {' '.join(initial)})"
        f" (:goal (and {' '.join(goal)})))"
    )
    assert optimum("blocksworld", text) == 2 * count


def is_acyclic(arcs: np.ndarray) -> bool:
    while len(arcs):
        stay = arcs.any(axis=1)
        if stay.all():
            return False
        arcs = arcs[np.ix_(stay, stay)]
    return True


def random_arcs(seed: int, nodes: int, density: float) -> np.ndarray:
    return np.random.default_rng(seed).random((nodes, nodes)) < density


@given(seed=seeds, nodes=st.integers(0, 9), density=st.floats(0.05, 0.5))
def test_feedback_sets_by_brute_force(seed: int, nodes: int, density: float) -> None:
    arcs = random_arcs(seed, nodes, density)
    found = minimum_feedback_set(arcs)

    def without(removed: frozenset[int]) -> np.ndarray:
        kept = [node for node in range(nodes) if node not in removed]
        return arcs[np.ix_(kept, kept)]

    assert is_acyclic(without(found.nodes))
    assert found.lower_bound == len(found.nodes)
    for fewer in combinations(range(nodes), max(0, len(found.nodes) - 1)):
        assert not found.nodes or not is_acyclic(without(frozenset(fewer)))


@given(seed=seeds, nodes=st.integers(1, 40))
@examples(15)
def test_feedback_sets_of_larger_graphs_within_any_time(seed: int, nodes: int) -> None:
    arcs = random_arcs(seed, nodes, density=3 / nodes)
    best = minimum_feedback_set(arcs)
    hurried = minimum_feedback_set(arcs, time_limit=0)
    assert best.lower_bound == len(best.nodes)
    assert hurried.lower_bound <= len(best.nodes) <= len(hurried.nodes)
    kept = [node for node in range(nodes) if node not in hurried.nodes]
    assert is_acyclic(arcs[np.ix_(kept, kept)])


@given(seed=seeds, nodes=st.integers(1, 12), density=st.floats(0.05, 0.4))
def test_light_cycles(seed: int, nodes: int, density: float) -> None:
    arcs = random_arcs(seed, nodes, density) & ~np.eye(nodes, dtype=bool)
    weights = np.random.default_rng(seed).choice([0, 0.25, 0.5, 1], size=nodes)
    # Weight of the lightest closed walk through each node.
    distance = np.where(arcs, weights, np.inf)
    for _ in range(nodes):
        distance = np.minimum(distance, (distance[:, :, None] + distance[None]).min(axis=1))
    cycles = light_cycles(arcs, weights)
    assert len(cycles) == len(set(cycles))
    for cycle in cycles:
        assert weights[list(cycle)].sum() < 1
        assert not is_acyclic(arcs[np.ix_(cycle, cycle)])
    on_some = {node for cycle in cycles for node in cycle}
    assert on_some == {node for node in range(nodes) if distance[node, node] < 1}
