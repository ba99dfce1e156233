"""State spaces of tasks that minimise cost, against value iteration with PDDL by the book."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog import _core
from planlog.costs import LARGEST
from planlog.errors import CostOverflowError, MissingValueError
from planlog.pddl.task import Domain, Task
from planlog.policy.policy import Policy
from planlog.statespace.labels import label, select_training
from planlog.statespace.space import DEAD_END, UNKNOWN, StateSpace, expand
from support.costly_tasks import ROADS, Tolls, roads, task_of
from support.pddl_by_the_book import Book
from support.profiles import examples, noted
from support.random_policies import random_rules
from support.random_worlds import PRICES, priced, random_world
from support.statespace_reference import (
    Reference,
    as_dictionaries,
    atoms_of,
    best_plans,
    distances_of,
    explore,
    same,
)

seeds = st.integers(0, 2**32)
FREE_OR_DEAR = ("0", "0", "0", "3")


def costly_world(seed: int, prices: tuple[str, ...] = PRICES) -> tuple[str, str]:
    return noted(priced(random_world(random.Random(seed)), random.Random(seed), prices))


def parsed(world: tuple[str, str]) -> Task:
    domain, problem = world
    return Domain.parse(domain).parse_task(problem)


def masked(space: StateSpace, mask: np.ndarray, state: int) -> set[object]:
    return {space.action_of(t) for t in space.transitions(state) if mask[t]}


def assert_plans(space: StateSpace, reference: Reference) -> None:
    """Assert distances and transitions of least cost, where the distance is known."""
    distances = distances_of(space)
    for number, state in enumerate(atoms_of(space)[: space.expanded]):
        if distances[number] < 0:
            assert distances[number] == UNKNOWN or state not in reference.goal_distances
            continue
        assert distances[number] == reference.goal_distances[state]
        if not reference.goal[state]:
            assert masked(space, space.optimal, number) == reference.optimal(state) != set()
            assert masked(space, space.cheapest, number) == reference.cheapest(state)


# --- Distances and optimal actions ---------------------------------------------------------


@examples(200)
@given(seeds, st.sampled_from([PRICES, FREE_OR_DEAR, ("0",)]))
def test_random_worlds_by_the_book(seed: int, prices: tuple[str, ...]) -> None:
    world = costly_world(seed, prices)
    reference = explore(Book(*world), limit=200)
    space = expand(parsed(world), limit=200)
    assert same(as_dictionaries(space), reference)
    if reference.complete:
        assert UNKNOWN not in space.goal_distances
        assert_plans(space, reference)


@examples(200)
@given(seeds, st.sampled_from([PRICES, FREE_OR_DEAR]), st.floats(0, 1))
def test_part_of_a_space(seed: int, prices: tuple[str, ...], share: float) -> None:
    """What is known of a part is true of the whole, and it is all that the part can tell."""
    world = costly_world(seed, prices)
    whole = explore(Book(*world), limit=300)
    if not whole.complete:
        return
    part = expand(parsed(world), limit=max(1, round(share * len(whole.depths))))
    assert_plans(part, whole)
    inside = as_dictionaries(part)
    graph = {
        state: [(successor, inside.costs[state][action]) for action, successor in found.items()]
        for state, found in inside.transitions.items()
    }
    goals = [s for s, goal in zip(atoms_of(part), part.goal.tolist(), strict=True) if goal]
    border = [s for s in inside.depths if s not in inside.transitions and s not in goals]
    to_goal, to_border = best_plans(graph, goals), best_plans(graph, border)
    known = [
        state
        for state in inside.depths
        if state in goals
        or state not in to_border
        or (state in to_goal and to_goal[state][0] < to_border[state][0])
    ]
    distances = zip(inside.depths, part.goal_distances.tolist(), strict=True)
    assert [state for state, distance in distances if distance != UNKNOWN] == known


@examples(100)
@given(seeds)
def test_unit_costs_are_lengths(seed: int) -> None:
    """A task whose actions all cost 1 has the results of the task without a metric."""
    world = random_world(random.Random(seed))
    plain = parsed(noted(world))
    unit = parsed(priced(world, random.Random(seed), ("1",), often=0))
    assert unit.minimises_cost and not plain.minimises_cost
    rules = random_rules(random.Random(seed), plain.domain)
    spaces = [expand(task, limit=300) for task in (plain, unit)]
    one, other = spaces
    assert one.costs is None and other.costs is not None
    assert set(other.costs.tolist()) <= {1}
    for name in ("depths", "goal", "successors", "actions"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()
    if not one.complete:
        known = other.goal_distances != UNKNOWN
        both = known & (one.goal_distances != UNKNOWN)
        assert one.goal_distances[both].tolist() == other.goal_distances[both].tolist()
        return
    for name in ("goal_distances", "solvable", "cheapest", "optimal"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()
    labels = [
        label(space, Policy.parse(rules, task.domain))
        for space, task in zip(spaces, (plain, unit), strict=True)
    ]
    for name in ("states", "actions", "optimal", "derived"):
        assert getattr(labels[0], name).tolist() == getattr(labels[1], name).tolist()


@examples(100)
@given(seeds)
def test_optimal_actions_lead_to_a_goal(seed: int) -> None:
    """Whoever takes any optimal actions arrives, pays the goal distance, and goes no detour."""
    space = expand(parsed(costly_world(seed, FREE_OR_DEAR)), limit=300)
    if not space.complete:
        return
    assert space.costs is not None
    rng = random.Random(seed)
    for start in np.flatnonzero(space.solvable).tolist():
        state, paid, met = start, 0, set()
        while not space.goal[state]:
            assert state not in met
            met.add(state)
            chosen = rng.choice([t for t in space.transitions(state) if space.optimal[t]])
            paid += int(space.costs[chosen])
            state = int(space.successors[chosen])
        assert paid == space.goal_distances[start]


@examples(100)
@given(seeds, st.sampled_from([PRICES, FREE_OR_DEAR]))
def test_expansion_until_the_distance_is_known(seed: int, prices: tuple[str, ...]) -> None:
    task = parsed(costly_world(seed, prices))
    whole = expand(task, limit=300)
    if not whole.complete:
        return
    for state in random.Random(seed).sample(range(len(whole)), min(5, len(whole))):
        near = expand(task, start=whole.state(state), stop_at_goal=True, limit=300)
        assert near.goal_distances[0] == whole.goal_distances[state]
        if whole.solvable[state]:
            assert masked(near, near.optimal, 0) == masked(whole, whole.optimal, state)
            assert masked(near, near.cheapest, 0) == masked(whole, whole.cheapest, state)


# --- Small examples ------------------------------------------------------------------------


def optimal_at(space: StateSpace, place: str) -> set[str]:
    (state,) = (s for s in range(len(space)) if str(space.state(s).atoms[0]) == f"(at {place})")
    return {action.arguments[1] for action in masked(space, space.optimal, state)}  # type: ignore[attr-defined]


def test_the_cheaper_plan_has_more_actions() -> None:
    """U3: a plan of cost 10 was optimal, although one of cost 2 exists."""
    task = roads({"ad": 10, "ab": 1, "bc": "0.5", "cd": "0.5"}, "d")
    space = expand(task)
    assert task.decode_cost(int(space.goal_distances[0])) == 2
    assert optimal_at(space, "a") == {"b"}
    labels = label(space, Policy.applicable(task.domain))
    assert len(labels) == 3
    assert labels.optimal.tolist() == [True, False, True, True]


def test_detours_at_no_cost_are_not_optimal() -> None:
    space = expand(roads({"ab": 0, "ba": 0, "bc": 0, "ac": 0, "cd": 2, "db": 0}, "d"))
    assert space.goal_distances.tolist() == [2, 2, 2, 0]
    assert optimal_at(space, "a") == {"c"}
    assert optimal_at(space, "b") == {"c"}
    assert int(space.cheapest.sum()) == 5  # a and b to each other, both to c, and c to d


def test_plans_that_cost_nothing() -> None:
    """Goals are told from states whose distance is 0."""
    task = roads({"ab": 0, "bc": 0, "cd": 0, "de": 0}, "d")
    space = expand(task)
    assert space.goal_distances.tolist() == [0, 0, 0, 0, DEAD_END]
    assert space.solvable.tolist() == [True, True, True, False, False]
    assert len(label(space, Policy.applicable(task.domain))) == 3
    assert [len(chosen) for chosen in select_training([task], max_states=3)] == [5]
    assert select_training([task], max_states=2) == []


def test_a_cheaper_goal_beyond_the_nearest_one() -> None:
    tolls: Tolls = {"ac": 10, **dict.fromkeys(["ab", "bd", "de", "ef", "fc"], 1)}
    task = roads(tolls, "c")
    for limit, distance in ((3, UNKNOWN), (4, UNKNOWN), (6, 5)):
        assert expand(task, limit=limit).goal_distances[0] == distance
    assert expand(task, stop_at_goal=True).goal_distances[0] == 5


def test_a_near_goal_is_known_although_much_is_not() -> None:
    """Beyond the border nothing can cost less than the way there."""
    tolls: Tolls = {"ab": 2, "bc": 2, "ad": 5, "de": 0, "ef": 0, "fg": 0}
    task = roads(tolls, "c")
    part = expand(task, limit=5)
    assert not part.complete
    assert part.goal_distances[0] == 4
    # If the way to the border cost as much, another plan might.
    part = expand(roads({**tolls, "ad": 4}, "c"), limit=5)
    assert part.goal_distances[0] == UNKNOWN


def test_spaces_without_a_metric_have_no_costs() -> None:
    task = Domain.parse(ROADS).task_of(["(at a)", "(road a b)"], goal=["(at b)"])
    space = expand(task)
    assert space.costs is None
    assert space.goal_distances.dtype == np.int32
    assert space.optimal is space.cheapest


# --- Limits of costs -----------------------------------------------------------------------


def test_largest_costs() -> None:
    space = expand(task_of([str(LARGEST - 1), "1"]))
    assert space.goal_distances.tolist() == [LARGEST, 1, 0]
    too_large = expand(task_of([str(LARGEST), "1"]))
    with pytest.raises(CostOverflowError, match="costs more than 9223372036854775807"):
        _ = too_large.goal_distances
    # A detour that costs too much does not matter.
    tolls: Tolls = {"ab": LARGEST, "bc": LARGEST, "ac": 1}
    assert expand(roads(tolls, "c")).goal_distances.tolist() == [1, LARGEST, 0]


def test_an_action_whose_cost_is_too_large() -> None:
    task = task_of([str(LARGEST)], constant="1")
    with pytest.raises(CostOverflowError, match="the cost of an action is too large"):
        expand(task)


def test_an_action_without_a_cost() -> None:
    task = roads({"ab": 1, "bc": None}, "c")
    with pytest.raises(MissingValueError, match=re.escape("task 'p': an action has no cost: ")):
        expand(task)
    core = _core.StateSpace(
        task.core, Policy.applicable(task.domain).core, task.initial.ids, 10, True, False
    )
    with pytest.raises(_core.MissingValue):
        core.advance(10)
    with pytest.raises(ValueError, match="start again"):
        core.advance(10)
