"""Integers in rules: least values, aggregates and arithmetic against plain Python and clingo."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.errors import PlanlogError
from planlog.pddl.task import Domain
from planlog.policy.derivations import Derivations
from planlog.policy.policy import Policy
from support.clingo_reference import substitutions
from support.profiles import examples
from support.random_values import DOMAIN, World

LEAST = """
near(A, 0) :- wanted(A).
near(A, min D + N) :- near(B, D), road(A, B), len(A, B, N), not slow(A, B).
near(A, min D + 2 * N) :- near(B, D), road(A, B), len(A, B, N), slow(A, B).
distance(A, A, 0) :- place(A).
distance(A, C, min N + D) :- road(A, B), len(A, B, N), not slow(A, B), distance(B, C, D).
distance(A, C, min 2 * N + D) :- road(A, B), len(A, B, N), slow(A, B), distance(B, C, D).
close(A, min D) :- near(A, D), D < 4.
close(A, min D) :- close(B, D), road(A, B), D <= 1.
made(A, 1) :- wanted(A).
made(A, min X + Y + N) :- road(A, B), road(A, C), made(B, X), made(C, Y), B != C, len(A, B, N).
made(A, min 2 * X + N) :- road(A, B), made(B, X), len(A, B, N).
"""
AGGREGATES = """
roads(A, N) :- place(A), N = count { B : road(A, B) }.
load(A, W) :- place(A), W = sum { V, I : has(A, I), weight(I, V) }.
lightest(A, W) :- W = min { V, I : has(A, I), weight(I, V) }.
heaviest(A, W) :- W = max { V : has(A, I), weight(I, V) }.
all(N) :- N = count { A, I : has(A, I) }.
busy(A) :- 2 <= count { B : road(A, B) }, place(A).
balance(A, X - 3 * (Y + 1)) :- load(A, X), roads(A, Y).
longest(A, B) :- road(A, B), len(A, B, N), N = max { M : road(A, C), len(A, C, M) }.
add-wanted(A) :- busy(A), not wanted(A), count { B : wanted(B) } < 2.
"""

Rows = set[tuple[Any, ...]]


def rows(policy: Policy, found: Derivations, names: tuple[str, ...], name: str) -> Rows:
    assert policy.program is not None
    relations = (rule.head.relation for rule in policy.program.rules)
    relation = next(relation for relation in relations if relation.name == name)
    return {
        tuple(
            int(found.numbers[value]) if column in relation.numbers else names[value]
            for column, value in enumerate(row)
        )
        for row in found.relations[policy.relation(relation)].of(0).tolist()
    }


def expected_least(world: World) -> dict[str, Rows]:
    near = world.distances([a for (a,) in world.of("wanted")])
    close = {a: d for a, d in near.items() if d < 4}
    changed = True
    while changed:
        changed = False
        for a, b in world.of("road"):
            if close.get(b, 2) <= 1 and close[b] < close.get(a, close[b] + 1):
                close[a] = close[b]
                changed = True
    return {
        "near": set(near.items()),
        "close": set(close.items()),
        "made": set(world.cheapest().items()),
        "distance": {(a, b, d) for b in world.places for a, d in world.distances([b]).items()},
    }


def expected_aggregates(world: World) -> dict[str, Rows]:
    roads = {a: [b for x, b in world.of("road") if x == a] for a in world.places}
    weights = {a: [world.weight[i] for x, i in world.of("has") if x == a] for a in world.places}
    busy = [a for a in world.places if len(roads[a]) >= 2]
    wanted = {a for (a,) in world.of("wanted")}
    return {
        "roads": {(a, len(roads[a])) for a in world.places},
        "load": {(a, sum(weights[a])) for a in world.places},
        "lightest": {(a, min(found)) for a, found in weights.items() if found},
        "heaviest": {(a, max(found)) for a, found in weights.items() if found},
        "all": {(sum(map(len, weights.values())),)},
        "busy": {(a,) for a in busy},
        "balance": {(a, sum(weights[a]) - 3 * (len(roads[a]) + 1)) for a in world.places},
        "longest": {
            (a, b)
            for a, b in world.of("road")
            if world.length[a, b] == max(world.length[a, c] for c in roads[a])
        },
        "add-wanted": {(a,) for a in busy if a not in wanted and len(wanted) < 2},
    }


@examples(120)
@given(st.integers(0, 2**32 - 1))
def test_values_equal_those_of_plain_python(seed: int) -> None:
    """In the first state and after every step, maintained and from scratch, back and in a copy."""
    world = World(seed)
    task = world.task()
    names = task.object_names
    for text, expected in ((LEAST, expected_least), (AGGREGATES, expected_aggregates)):
        policy = Policy.parse(text, DOMAIN)
        walk = policy.start(task)
        before = set(world.atoms)
        states = []
        for _ in range(15):
            kept, fresh = walk.derivations(), policy.derivations(task, [walk.state])
            for name, found in expected(world).items():
                assert rows(policy, kept, names, name) == found, name
                assert rows(policy, fresh, names, name) == found, name
            # Of a least value, the derivations that lead to it are the same.
            assert substitutions(kept) == substitutions(fresh)
            states.append(expected(world))
            twin = walk.copy()
            walk.apply(world.move())
        while walk.steps:
            walk.undo()
            found = walk.derivations()
            for name, values in states.pop().items():
                assert rows(policy, found, names, name) == values
        for name, values in expected(World(seed)).items():
            assert rows(policy, walk.derivations(), names, name) == values
        assert twin.steps == 14
        world.atoms = before
        world.rng.seed(seed)


def test_a_least_value_that_falls_is_an_error_that_names_the_rule() -> None:
    domain = Domain.parse(
        """(define (domain d) (:predicates (arc ?a ?b) (start ?a)) (:functions (w ?a ?b))
        (:action go :parameters (?a ?b) :precondition (arc ?a ?b) :effect (start ?b)))"""
    )
    task = domain.parse_task(
        """(define (problem p) (:domain d) (:objects a b)
        (:init (start a) (arc a b) (= (w a b) 3)) (:goal (start b)))"""
    )
    policy = Policy.parse(
        "far(A, 9) :- start(A).\nfar(B, min D - W) :- far(A, D), arc(A, B), w(A, B, W).\n"
        "go(A, B) :- far(A, _).",
        domain,
    )
    message = (
        r"<rules>:2: error: "
        r"the least value of far\(b, 6\) is smaller than that of far\(a, 9\), which it comes from\n"
        r"  far\(B, min D - W\) :- "
    )
    with pytest.raises(PlanlogError, match=message):
        policy.actions(task, task.initial)


def test_overflow_is_an_error() -> None:
    world = World(1)
    large = "9" * 18
    policy = Policy.parse(
        f"huge(N) :- N = {large} * {large}.\nadd-wanted(A) :- place(A), huge(_).", DOMAIN
    )
    with pytest.raises(PlanlogError, match=r"<rules>:1: error: .* does not fit into 64 bits"):
        policy.actions(world.task(), world.task().initial)


def test_functions_with_other_than_whole_values_cannot_be_read() -> None:
    domain = Domain.parse(
        "(define (domain d) (:predicates (p ?a)) (:functions (w ?a))"
        " (:action go :parameters (?a) :effect (p ?a)))"
    )
    task = domain.parse_task(
        "(define (problem p) (:domain d) (:objects a) (:init (= (w a) 0.5)) (:goal (p a)))"
    )
    with pytest.raises(PlanlogError, match="'w' is not a whole number"):
        Policy.parse("go(A) :- w(A, _).", domain).actions(task, task.initial)


def test_queries_return_integers() -> None:
    world = World(3)
    world.atoms = {("road", "p0", "p1"), ("road", "p0", "p2"), ("wanted", "p1")}
    task = world.task()
    policy = Policy.parse(LEAST, DOMAIN)
    length = world.length["p0", "p1"]
    assert policy.query(task, task.initial, "near(A, D), A != p1") == [{"A": "p0", "D": length}]
    assert policy.query(task, task.initial, "N = count { B : road(p0, B) }") == [{"N": 2}]


def test_texts_of_rules_can_be_read_back() -> None:
    policy = Policy.parse(LEAST + AGGREGATES, DOMAIN)
    assert policy.program is not None
    again = Policy.parse(str(policy.program), DOMAIN)
    world = World(7)
    for _ in range(20):
        world.move()
    task = world.task()
    for name, values in {**expected_least(world), **expected_aggregates(world)}.items():
        found = again.derivations(task, [task.initial])
        assert rows(again, found, task.object_names, name) == values


@examples(60)
@given(st.integers(0, 2**32 - 1), st.integers(2, 18))
def test_least_values_equal_the_distances_of_networkx(seed: int, size: int) -> None:
    """While roads appear and vanish, and become slow, which makes them longer."""
    world = World(seed, places=[f"p{i}" for i in range(size)])
    task = world.task()
    policy = Policy.parse(LEAST, DOMAIN)
    walk = policy.start(task)
    for _ in range(20):
        graph = nx.DiGraph()
        graph.add_nodes_from(world.places)
        # Backwards: from the places that are wanted.
        graph.add_weighted_edges_from((b, a, world.cost(a, b)) for a, b in world.of("road"))
        wanted = {place for (place,) in world.of("wanted")}
        near = nx.multi_source_dijkstra_path_length(graph, wanted) if wanted else {}
        found = walk.derivations()
        assert rows(policy, found, task.object_names, "near") == set(near.items())
        assert rows(policy, found, task.object_names, "distance") == {
            (start, end, distance)
            for end, distances in nx.all_pairs_dijkstra_path_length(graph)
            for start, distance in distances.items()
        }
        walk.apply(world.move())
