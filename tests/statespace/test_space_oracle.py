"""State spaces against mimir's, and against breadth-first search with PDDL by the book.

States are compared as sets of atoms, with their goal distances and transitions.
"""

from __future__ import annotations

import random
import re

import pymimir
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymimir.advanced.datasets import StateSpace as MimirSpace
from pymimir.advanced.datasets import (
    StateSpaceOptions,
    get_action,
    get_action_cost,
    get_action_goal_distance,
    get_state,
    get_unit_goal_distance,
    is_goal,
    is_unsolvable,
)

from planlog import domains
from planlog.pddl.task import Action, Domain
from planlog.statespace.space import DEAD_END, UNKNOWN, StateSpace, expand
from support.mimir_reference import assume_readable, mimir_atoms, mimir_problem
from support.pddl_by_the_book import Atoms, Book
from support.profiles import examples, noted
from support.random_tasks import random_task
from support.random_worlds import priced, random_world
from support.statespace_reference import as_dictionaries, atoms_of, distances_of, explore, same

seeds = st.integers(0, 2**32)


def space_of(domain: str, problem: str, limit: int = 10_000) -> StateSpace:
    return expand(Domain.parse(domain).parse_task(problem), limit=limit)


# --- Mimir -------------------------------------------------------------------------------


def mimir_space(problem: pymimir.Problem, limit: int) -> MimirSpace | None:
    """Return mimir's state space; None if it has more states than the limit."""
    options = StateSpaceOptions()
    options.max_num_states = limit + 1  # it needs one to spare
    options.symmetry_pruning = False
    options.remove_if_unsolvable = False
    found = MimirSpace.create(problem._search_context, options)
    return None if found is None else found[0]


def compare_with_mimir(domain: str, problem: str, limit: int = 10_000) -> StateSpace | None:
    """Compare states, distances, goals and transitions; None if there are too many states."""
    theirs = mimir_problem(domain, problem)  # keeps alive what states refer to
    found = mimir_space(theirs, limit)
    ours = space_of(domain, problem, limit)
    if found is None and not ours.complete:
        return None
    if found is None:  # it refuses goals that are false whatever the state
        assert set(ours.goal_distances.tolist()) == {DEAD_END}
        without_goal = re.sub(r"\(:goal .*", "(:goal (and)))", problem, flags=re.DOTALL)
        assert compare_with_mimir(domain, without_goal, limit) is not None
        return ours
    assert ours.complete
    names = {p.name for p in ours.task.domain.predicates if not p.derived}
    graph = found.get_graph()
    vertices = [pymimir.State(get_state(vertex), theirs) for vertex in graph.get_vertices()]
    states = [mimir_atoms(state, names) for state in vertices]
    assert len(ours) == len(states)
    distance = get_action_goal_distance if ours.task.minimises_cost else get_unit_goal_distance
    assert dict(zip(atoms_of(ours), distances_of(ours), strict=True)) == {
        state: DEAD_END if is_unsolvable(vertex) else distance(vertex)
        for state, vertex in zip(states, graph.get_vertices(), strict=True)
    }
    space = as_dictionaries(ours)
    assert space.goal == {
        state: is_goal(vertex) for state, vertex in zip(states, graph.get_vertices(), strict=True)
    }
    transitions: dict[Atoms, dict] = {state: {} for state in states}
    costs: dict[Atoms, dict] = {state: {} for state in states}
    for edge in graph.get_edges():
        action = Action.parse(str(pymimir.GroundAction(get_action(edge), theirs)))
        transitions[states[edge.get_source()]][action] = states[edge.get_target()]
        costs[states[edge.get_source()]][action] = get_action_cost(edge)
    assert space.transitions == transitions
    if ours.task.minimises_cost:
        assert space.costs == costs
    return ours


# Sizes of spaces with up to some thousand states.
SIZES = {
    "blocksworld": [{"blocks": n} for n in (2, 3, 4, 5)],
    "ferry": [
        {"cars": 1, "locations": 2},
        {"cars": 2, "locations": 3},
        {"cars": 3, "locations": 3},
        {"cars": 2, "locations": 5},
    ],
    "rover": [
        {"rovers": 1, "waypoints": 2, "cameras": 1, "objectives": 1},
        {"rovers": 1, "waypoints": 3, "cameras": 1, "objectives": 1},
    ],
    "satellite": [
        {"satellites": 1, "instruments": 1, "modes": 1, "directions": 3},
        {"satellites": 1, "instruments": 2, "modes": 2, "directions": 2},
        {"satellites": 2, "instruments": 2, "modes": 1, "directions": 3},
    ],
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", domains.names())
def test_shipped_domains_against_mimir(name: str, seed: int) -> None:
    domain = (domains.path(name) / "domain.pddl").read_text(encoding="utf-8")
    compared = 0
    for sizes in SIZES[name]:
        for _, problem in domains.generate(name, seed=seed, sizes=sizes):
            compared += compare_with_mimir(domain, problem, limit=4_000) is not None
    assert compared > 0


# --- Worlds of a few objects -------------------------------------------------------------


@examples(150)
@given(seeds)
def test_random_worlds_against_mimir(seed: int) -> None:
    domain, problem = noted(random_world(random.Random(seed), simple=True))
    compare_with_mimir(domain, problem, limit=1_000)


@examples(100)
@given(seeds)
def test_random_costs_against_mimir(seed: int) -> None:
    """Without costs on conditions. All costs are exact as floating-point numbers."""
    rng = random.Random(seed)
    domain, problem = noted(priced(random_world(rng), rng, often=0))
    assume_readable(domain, problem)
    compare_with_mimir(domain, problem, limit=1_000)


@examples(60)
@given(seeds)
def test_random_domains_against_mimir(seed: int) -> None:
    """Types, axioms and quantifiers, without the conditions that mimir misreads."""
    domain, problem = noted(random_task(random.Random(seed), simple=True))
    assume_readable(domain, problem)
    compare_with_mimir(domain, problem, limit=300)


# A lift in a shaft: it can be broken for good, keys can be lost, and lights toggle.
SHAFT = """
(define (domain shaft) (:requirements :strips :typing :negative-preconditions :conditional-effects)
  (:types floor key)
  (:constants ground - floor)
  (:predicates (above ?x ?y - floor) (at ?f - floor) (broken) (lost ?k - key) (light ?f - floor)
    (opens ?k - key ?f - floor))
  (:action up :parameters (?x ?y - floor)
    :precondition (and (at ?x) (above ?y ?x) (not (broken)))
    :effect (and (not (at ?x)) (at ?y) (when (not (light ?x)) (broken))))
  (:action down :parameters (?x ?y - floor)
    :precondition (and (at ?x) (above ?x ?y) (not (broken)))
    :effect (and (not (at ?x)) (at ?y)))
  (:action switch :parameters (?f - floor ?k - key)
    :precondition (and (at ?f) (opens ?k ?f) (not (lost ?k)))
    :effect (and (when (light ?f) (not (light ?f))) (when (not (light ?f)) (light ?f))))
  (:action lose :parameters (?k - key)
    :precondition (not (lost ?k)) :effect (lost ?k)))
"""


def shaft(init: str, goal: str) -> str:
    return f"""(define (problem p) (:domain shaft) (:objects one two - floor red blue - key)
      (:init (above one ground) (above two one) (opens red ground) (opens blue one) {init})
      (:goal {goal}))"""


@pytest.mark.parametrize(
    ("init", "goal", "solvable", "dead_ends"),
    [
        ("(at ground)", "(at two)", True, True),
        ("(at ground) (light ground) (light one)", "(at two)", True, True),
        ("(at ground)", "(and (at two) (not (broken)) (not (light one)))", False, True),
        ("(at ground) (lost red)", "(and (at two) (light ground))", False, True),
        ("(at ground) (broken)", "(at one)", False, True),
        ("(at two)", "(at two)", True, True),
        ("(at two)", "(lost red)", True, False),
        ("(at two) (broken) (lost red) (lost blue)", "(at ground)", False, True),
        ("(at two) (broken) (lost red) (lost blue)", "(at two)", True, False),
    ],
)
def test_dead_ends_and_unsolvable_tasks(
    init: str, goal: str, solvable: bool, dead_ends: bool
) -> None:
    space = compare_with_mimir(SHAFT, shaft(init, goal))
    assert space is not None
    assert (space.goal_distances[0] != DEAD_END) == solvable
    assert (DEAD_END in space.goal_distances) == dead_ends
    assert_by_the_book(SHAFT, shaft(init, goal))


# --- By the book -------------------------------------------------------------------------


def assert_by_the_book(domain: str, problem: str, limit: int = 10_000) -> StateSpace:
    """Compare content and order, and distances if the space is complete."""
    reference = explore(Book(domain, problem), limit=limit)
    space = space_of(domain, problem, limit)
    assert same(as_dictionaries(space), reference)
    assert space.complete == reference.complete
    if space.complete:
        expected = [reference.goal_distances.get(state, DEAD_END) for state in reference.depths]
        assert distances_of(space) == expected
        assert UNKNOWN not in space.goal_distances
    return space


@examples(150)
@given(seeds, st.sampled_from([1, 2, 10, 50, 200]))
def test_random_worlds_by_the_book(seed: int, limit: int) -> None:
    domain, problem = noted(random_world(random.Random(seed)))
    assert_by_the_book(domain, problem, limit)


@examples(100)
@given(seeds)
def test_random_domains_by_the_book(seed: int) -> None:
    """Axioms, quantifiers, disjunctions, derived goals, constants, costs."""
    domain, problem = noted(random_task(random.Random(seed)))
    assert_by_the_book(domain, problem, limit=40)


# Reachability is derived, and goals ask for what is derived and for what is not.
NETWORK = """
(define (domain network) (:requirements :adl :derived-predicates)
  (:types node)
  (:constants hub - node)
  (:predicates (wire ?x ?y - node) (power) (reach ?x ?y - node) (alone ?x - node) (all-one))
  (:derived (reach ?x ?y - node)
    (and (power) (or (wire ?x ?y) (exists (?z - node) (and (reach ?x ?z) (wire ?z ?y))))))
  (:derived (alone ?x - node) (not (exists (?y - node) (or (reach ?x ?y) (reach ?y ?x)))))
  (:derived (all-one) (forall (?x - node) (imply (not (= ?x hub)) (reach hub ?x))))
  (:action connect :parameters (?x ?y - node)
    :precondition (and (not (= ?x ?y)) (imply (power) (not (reach ?x ?y))))
    :effect (wire ?x ?y))
  (:action cut :parameters (?x - node)
    :precondition (exists (?y - node) (and (reach ?x ?y) (reach ?y ?x)))
    :effect (forall (?y - node) (when (reach ?y ?x) (not (wire ?x ?y)))))
  (:action toggle :parameters ()
    :precondition (forall (?x - node) (or (= ?x hub) (not (alone ?x)) (not (power))))
    :effect (and (when (power) (not (power))) (when (not (power)) (power)))))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "goal",
    [
        "(all-one)",
        "(and (all-one) (not (reach n1 hub)))",
        "(exists (?x - node) (and (not (= ?x hub)) (alone ?x) (power) (wire hub n1)))",
        "(or (alone hub) (and (reach n1 n2) (reach n2 n1)))",
        "(forall (?x - node) (imply (wire hub ?x) (reach ?x hub)))",
        "(and (power) (not (power)))",
        "(and)",
    ],
)
@pytest.mark.parametrize("init", ["", "(power)", "(wire hub n1) (wire n1 n2) (power)"])
def test_derived_predicates_and_conditions(init: str, goal: str) -> None:
    problem = f"""(define (problem p) (:domain network) (:objects n1 n2 - node)
      (:init {init}) (:goal {goal}))"""
    assert_by_the_book(NETWORK, problem)
