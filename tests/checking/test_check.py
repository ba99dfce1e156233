"""The three properties on graphs, against a reference that follows the definitions.

A state is a node, an action is an edge, and the policy derives some of the edges. So every graph
with some chosen edges is a task with a policy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.checking import (
    CheckSettings,
    Property,
    Stage,
    Summary,
    TaskReport,
    Verdict,
    check,
    check_all,
)
from planlog.checking.report import Counterexample, Finding, Fraction, Reason, Scope
from planlog.cli.commands import check_json, check_text
from planlog.cli.commands.check_text import Checked
from planlog.errors import RuleError
from planlog.pddl.task import Action, Domain, Task
from planlog.policy.policy import Policy
from planlog.validation import validate
from support.profiles import examples
from support.statespace_reference import best_plans

P1, P2, P3 = Property
PROVED, REFUTED, UNDECIDED = Verdict

GRAPH = """
(define (domain graph)
  (:requirements :strips :action-costs :disjunctive-preconditions :negative-preconditions)
  (:predicates (at ?x) (edge ?x ?y) (allowed ?x ?y))
  (:functions (total-cost) - number (toll ?x ?y) - number)
  (:action go :parameters (?x ?y) :precondition (and (at ?x) (edge ?x ?y))
    :effect (and (not (at ?x)) (at ?y) (increase (total-cost) (toll ?x ?y)))))
"""
DOMAIN = Domain.parse(GRAPH)
RULES = """\
permitted(X, Y) :- allowed(X, Y), at(X).
go(X, Y) :- permitted(X, Y).
go(X, X) :- allowed(X, X), at(X), not edge(X, X).
"""
POLICY = Policy.parse(RULES, DOMAIN)

Edge = tuple[int, int]
FAR = 10**9


@dataclass(frozen=True)
class Graph:
    """A task: reach one of the targets from node 0."""

    nodes: int
    edges: frozenset[Edge]
    allowed: frozenset[Edge]  # some of the edges
    targets: frozenset[int]
    priced: bool = False
    lowest: int = 0  # price

    def price(self, x: int, y: int) -> Decimal:
        """Return the cost of an edge; half of the edges have the lowest price."""
        if not self.priced:
            return Decimal(1)
        return self.lowest + max(Decimal(0), Decimal(5 * x + 3 * y) % 7 - 3) / 2

    @property
    def text(self) -> str:
        objects = " ".join(f"n{i}" for i in range(self.nodes))
        facts = [f"(edge n{x} n{y})" for x, y in sorted(self.edges)]
        facts += [f"(allowed n{x} n{y})" for x, y in sorted(self.allowed)]
        facts += [f"(= (toll n{x} n{y}) {self.price(x, y)})" for x, y in sorted(self.edges)]
        goals = [f"(at n{i})" for i in sorted(self.targets)] or ["(edge n0 nowhere)"]
        goal = goals[0] if len(goals) == 1 else f"(or {' '.join(goals)})"
        metric = "(:metric minimize (total-cost))" if self.priced else ""
        return f"""(define (problem p) (:domain graph) (:objects {objects} nowhere)
          (:init (at n0) (= (total-cost) 0) {" ".join(facts)}) (:goal {goal}) {metric})"""

    @property
    def task(self) -> Task:
        return DOMAIN.parse_task(self.text)

    # --- The reference, by definition and without regard to speed ---

    def derived(self, node: int) -> set[int]:
        """Return the next nodes of an execution; it ends in targets."""
        return set() if node in self.targets else {y for x, y in self.allowed if x == node}

    def applicable(self, node: int) -> set[int]:
        return {y for x, y in self.edges if x == node}

    def from_(self, node: int, policy: bool) -> dict[int, int]:
        """Return the least numbers of steps from a node to all reachable nodes."""
        step = self.derived if policy else self.applicable
        found, todo = {node: 0}, [node]
        for at in todo:
            for to in step(at):
                if to not in found:
                    found[to] = found[at] + 1
                    todo.append(to)
        return found

    def cycle(self, node: int) -> int:
        """Return the length of the shortest cycle of the policy through a node."""
        return min(
            (1 + self.from_(to, True).get(node, FAR) for to in self.derived(node)), default=FAR
        )

    def plans(self, policy: bool) -> dict[int, tuple[Decimal, int]]:
        """Return the least cost of a plan from each node, and the fewest actions of such a plan."""
        step = self.derived if policy else self.applicable
        graph = {n: [(to, self.price(n, to)) for to in step(n)] for n in range(self.nodes)}
        return best_plans(graph, self.targets)

    @cached_property
    def best(self) -> dict[int, tuple[Decimal, int]]:
        return self.plans(False)

    def distance(self, node: int) -> Decimal:
        """Return h*."""
        return self.best.get(node, (Decimal(FAR), FAR))[0]

    def optimal(self, node: int) -> set[int]:
        cost, actions = self.best.get(node, (Decimal(FAR), FAR))
        return {
            to
            for to in self.applicable(node)
            if self.best.get(to) == (cost - self.price(node, to), actions - 1)
        }

    def kept(self, node: int) -> set[int]:
        """Return the nodes after derived actions that begin a plan of least cost."""
        here = self.distance(node)
        return {
            to
            for to in self.derived(node)
            if self.price(node, to) + self.distance(to) == here < FAR
        }

    def kept_from(self, node: int) -> set[int]:
        """Return the nodes that are reached by such actions."""
        found, todo = {node}, [node]
        for at in todo:
            todo += self.kept(at) - found
            found |= self.kept(at)
        return found

    def is_lost(self, node: int) -> bool:
        """Return whether the policy can but return, or do nothing, if it is to keep the optimum."""
        return all(node in self.kept_from(to) for to in self.kept_from(node))

    @cached_property
    def reached(self) -> dict[int, int]:
        return self.from_(0, True)

    @cached_property
    def whole(self) -> dict[int, int]:
        return self.from_(0, False)

    @cached_property
    def solvable(self) -> set[int]:
        """Solvable nodes without the targets."""
        return {n for n in self.whole if n not in self.targets and self.distance(n) < FAR}

    @cached_property
    def stuck(self) -> set[int]:
        return {n for n in self.reached if n not in self.targets and not self.derived(n)}

    @cached_property
    def failing(self) -> dict[Property, set[int]]:
        return {
            P1: {n for n in self.reached if not self.from_(n, True).keys() & self.targets},
            P2: {n for n in self.reached if self.cycle(n) < FAR},
            P3: {n for n in self.solvable if self.is_lost(n)},
        }

    @property
    def weak(self) -> bool:
        return bool(self.reached.keys() & self.targets)


def graph(
    edges: Iterable[Edge], targets: Iterable[int], forbidden: Iterable[Edge] = (), nodes: int = 0
) -> Graph:
    edges = frozenset(edges)
    count = max(nodes, 1 + max((max(edge) for edge in edges), default=0))
    return Graph(count, edges, edges - set(forbidden), frozenset(targets))


@st.composite
def graphs(draw: st.DrawFn, most: int = 8) -> Graph:
    nodes = draw(st.integers(1, most))
    node = st.integers(0, nodes - 1)
    edges = draw(st.frozensets(st.tuples(node, node), max_size=3 * nodes))
    allowed = edges
    if edges:
        allowed -= draw(st.frozensets(st.sampled_from(sorted(edges))))
    targets = draw(st.frozensets(node, max_size=2))
    priced, lowest = draw(st.booleans()), draw(st.integers(0, 1))
    return Graph(nodes, edges, allowed, targets, priced, lowest)


def go(*nodes: int) -> tuple[Action, ...]:
    """Return the path through these nodes."""
    return tuple(Action("go", (f"n{x}", f"n{y}")) for x, y in pairwise(nodes))


def pairs(actions: Iterable[Action]) -> list[Edge]:
    """Return the edges that these actions take."""
    return [(int(x[1:]), int(y[1:])) for x, y in (action.arguments for action in actions)]


def node_of(example: Counterexample) -> int:
    (place,) = example.state.atoms
    return int(place.arguments[0][1:])


def ends(actions: Iterable[Action]) -> set[int]:
    return {y for _, y in pairs(actions)}


def verdicts(report: TaskReport) -> tuple[Verdict, ...]:
    return tuple(finding.verdict for finding in report.findings.values())


def as_verdict(holds: bool) -> Verdict:
    return PROVED if holds else REFUTED


def inspect(world: Graph, finding: Finding) -> Counterexample:
    """Assert that every statement of a counterexample is true, and return it."""
    example = finding.counterexample
    assert example is not None and finding.verdict is REFUTED
    node = node_of(example)
    assert node in world.failing[finding.property]

    replayed = validate(GRAPH, world.text, str(example.plan), prefix=True)
    assert replayed.valid and replayed.complete and replayed.warnings == ()  # the cost is right
    assert replayed.steps == len(example.plan.actions)
    at, places = 0, [0]
    for action in example.plan.actions:
        x, y = (int(name[1:]) for name in action.arguments)
        assert x == at
        if example.under_policy:
            assert y in world.derived(x)
        at = y
        places.append(at)
    assert places[len(example.trace)] == node
    assert places[len(example.trace) + len(example.cycle)] == node
    if example.ending is not None:
        assert not world.derived(at)
    shortest = (world.reached if example.under_policy else world.whole)[node]
    assert len(example.trace) >= shortest
    if example.shortest:
        assert len(example.trace) == shortest

    assert {status.goal: status.holds for status in example.goals} == dict.fromkeys(
        world.task.goals, node in world.targets
    )
    assert ends(example.derived) == world.derived(node)
    by_rule = {"go(X, Y) :- permitted(X, Y).": example.derived} if example.derived else {}
    assert example.derived_by_rule == by_rule
    distance = world.distance(node)
    assert example.distance in (None, distance)
    assert example.dead_end in (None, distance == FAR)
    assert example.optimal is None or ends(example.optimal) == world.optimal(node)

    if finding.property is P1:
        stuck = node in world.stuck
        assert example.reason is (Reason.NO_ACTION if stuck else Reason.TRAP)
        if example.ending is not None:
            assert (example.ending == ()) == stuck
            last = ends(example.ending[-1:]) or {node}
            assert last <= world.stuck
    elif finding.property is P2:
        assert example.reason is Reason.CYCLE and len(example.cycle) >= world.cycle(node)
    elif example.cycle:
        assert example.reason is Reason.FREE_CYCLE
        assert {world.price(*nodes) for nodes in pairs(example.cycle)} == {0}
        assert world.plans(policy=True).get(node, (FAR, 0))[0] > distance
    else:
        assert example.reason is Reason.LOST_OPTIMUM and example.optimal
        assert not set(example.optimal) & set(example.derived)
        assert not world.kept(node)
    return example


# --- Small violations of each property ----------------------------------------------------------


# A graph, the verdicts on its three properties, and parts of some counterexamples. In a solvable
# state without a derived action that leads on, optimal actions are lost as well.
CASES = {
    "a loop": (
        graph([(0, 1), (1, 2), (2, 1), (2, 3)], {3}),
        (PROVED, REFUTED, PROVED),
        {P2: {"trace": go(0, 1), "cycle": go(1, 2, 1)}},
    ),
    "an action that changes nothing is a cycle": (
        graph([(0, 1), (1, 1), (1, 2)], {2}),
        (PROVED, REFUTED, PROVED),
        {P2: {"trace": go(0, 1), "cycle": go(1, 1)}},
    ),
    "cycles after a goal do not matter": (
        graph([(0, 1), (1, 0), (1, 2)], {1}),
        (PROVED, PROVED, PROVED),
        {},
    ),
    "a dead end is reported where it begins": (
        graph([(0, 1), (1, 2), (1, 3), (3, 4)], {2}),
        (REFUTED, PROVED, PROVED),
        {P1: {"trace": go(0, 1, 3), "reason": Reason.TRAP, "optimal": (), "ending": go(3, 4)}},
    ),
    "a missing action": (
        graph([(0, 1), (1, 2), (0, 3), (3, 2)], {2}, forbidden=[(3, 2)]),
        (REFUTED, PROVED, REFUTED),
        {
            P1: {"trace": go(0, 3), "reason": Reason.NO_ACTION, "optimal": go(3, 2), "distance": 1},
            P3: {"trace": go(0, 3)},
        },
    ),
    "a region that cannot be left": (
        graph([(0, 1), (0, 2), (2, 3), (3, 2)], {1}),
        (REFUTED, REFUTED, PROVED),
        {P1: {"trace": go(0, 2), "reason": Reason.TRAP, "ending": None}},
    ),
    "a lost optimum": (
        graph([(0, 1), (1, 2), (2, 3), (1, 3)], {3}, forbidden=[(1, 3)]),
        (PROVED, PROVED, REFUTED),
        {P3: {"trace": go(0, 1), "derived": go(1, 2), "optimal": go(1, 3), "distance": 1}},
    ),
    "a lost optimum that the policy does not reach": (
        graph([(0, 1), (0, 2), (2, 1)], {1}, forbidden=[(0, 2), (2, 1)]),
        (PROVED, PROVED, REFUTED),
        {P3: {"trace": go(0, 2), "under_policy": False}},
    ),
    "a lost optimum that the policy reaches is preferred to a nearer one": (
        graph(
            [(0, 1), (1, 2), (2, 4), (2, 3), (3, 4), (0, 5), (5, 6), (6, 7), (7, 4)],
            {4},
            forbidden=[(2, 4), (0, 5), (5, 6)],
        ),
        (PROVED, PROVED, REFUTED),
        {P3: {"trace": go(0, 1, 2), "under_policy": True}},
    ),
    "a task without a plan": (
        graph([(0, 1), (1, 0)], {2}, nodes=3),
        (REFUTED, REFUTED, PROVED),
        {P1: {"trace": (), "dead_end": True}},
    ),
    "a task that is solved at once; the third property is about all states": (
        graph([(0, 1), (1, 2), (2, 0)], {0}, forbidden=[(1, 2)]),
        (PROVED, PROVED, REFUTED),
        {P3: {"trace": go(0, 1), "under_policy": False}},
    ),
    "the failing state that the policy reaches first, not the one that other actions do": (
        graph(
            [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4), (1, 5), (5, 6), (3, 7)],
            {7},
            forbidden=[(0, 4)],
        ),
        (REFUTED, PROVED, PROVED),
        {P1: {"trace": go(0, 1, 5), "ending": go(5, 6)}},
    ),
    "the nearest state without derived actions is the ending": (
        graph([(0, 1), (0, 2), (2, 3), (2, 4), (4, 5)], {1}),
        (REFUTED, PROVED, PROVED),
        {P1: {"trace": go(0, 2), "ending": go(2, 3)}},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_small_graphs(case: str) -> None:
    world, expected, found = CASES[case]
    report = check(POLICY, world.task)
    assert verdicts(report) == expected
    for property, parts in found.items():
        example = inspect(world, report.findings[property])
        assert {name: getattr(example, name) for name in parts} == parts


def test_a_trace_outside_the_expanded_part_may_be_shorter() -> None:
    """Node 5 is reached by 0-1-2-3-4-5, and by 0-6-8-5, where 8 has no room for its successors."""
    edges = [*((0, i) for i in range(1, 7)), *((i, i + 1) for i in range(1, 5))]
    edges += [(0, 7), (5, 7), (6, 8), (8, 5), (8, 9)]
    world = graph(edges, {7}, forbidden=[(0, 2), (0, 3), (0, 4), (0, 5), (5, 7)])
    finding = check(POLICY, world.task, CheckSettings(limit=9, walks=0)).findings[P3]
    assert finding.scope is Scope.PART_OF_WHOLE
    example = inspect(world, finding)
    assert example.trace == go(0, 1, 2, 3, 4, 5) and not example.shortest


# --- Costs -------------------------------------------------------------------------------------


def priced(tolls: dict[Edge, object], target: int, forbidden: Iterable[Edge] = ()) -> Task:
    """Return a task in which each edge has its toll."""
    world = replace(graph(tolls, {target}, forbidden), priced=True)
    text = re.sub(r"\(= \(toll .*?\) [0-9.]+\)", "", world.text)
    facts = " ".join(f"(= (toll n{x} n{y}) {toll})" for (x, y), toll in tolls.items())
    return DOMAIN.parse_task(text.replace("(:init", f"(:init {facts}"))


def test_a_policy_that_pays_too_much() -> None:
    """U3: its only plan costs 10, though one of cost 2 exists. It has the fewest actions."""
    tolls = {(0, 3): 10, (0, 1): 1, (1, 2): "0.5", (2, 3): "0.5"}
    task = priced(tolls, 3, forbidden=[(0, 1)])
    report = check(POLICY, task)
    assert verdicts(report) == (PROVED, PROVED, REFUTED)
    finding = report.findings[P3]
    assert finding.failing == Fraction(1, 3)
    example = finding.counterexample
    assert example is not None
    assert (example.reason, example.distance) == (Reason.LOST_OPTIMUM, 2)
    assert (example.optimal, example.derived) == (go(0, 1), go(0, 3))
    # The number of actions does not matter, and without a metric nothing else does.
    assert check(POLICY, priced(tolls, 3, forbidden=[(0, 3)])).verdict is PROVED
    plain = graph(tolls, {3}, forbidden=[(0, 1)])
    assert verdicts(check(POLICY, plain.task)) == (PROVED, PROVED, PROVED)
    plain = graph(tolls, {3}, forbidden=[(0, 3)])
    assert verdicts(check(POLICY, plain.task)) == (PROVED, PROVED, REFUTED)


def test_going_round_at_no_cost_is_no_plan() -> None:
    """In 0 and 1 a derived action begins a plan of least cost, and the policy never gets there."""
    tolls = {(0, 1): 0, (1, 0): 0, (1, 2): 1, (0, 3): 5, (3, 2): 0}
    task = priced(tolls, 2, forbidden=[(1, 2)])
    report = check(POLICY, task)
    assert verdicts(report) == (PROVED, REFUTED, REFUTED)
    finding = report.findings[P3]
    assert finding.failing == Fraction(2, 3)
    example = finding.counterexample
    assert example is not None
    assert (example.reason, example.trace) == (Reason.FREE_CYCLE, ())
    assert example.cycle == go(0, 1, 0)
    assert example.distance == 1
    # With a way out at the least cost, the cycle is none of the third property's business.
    assert verdicts(check(POLICY, priced(tolls, 2))) == (PROVED, REFUTED, PROVED)


def test_walks_find_optima_that_cost_less() -> None:
    """One of the last edges is dear, and the cheap way is not derived."""
    tolls: dict[Edge, object] = {(i, i + 1): 1 for i in range(LONG)}
    tolls[LONG - 2, LONG] = 9
    cheap = [(LONG - 2, LONG - 1)]
    task = priced(tolls, LONG, forbidden=cheap)
    finding = check(POLICY, task, CheckSettings(limit=100)).findings[P3]
    assert (finding.verdict, finding.scope) == (REFUTED, Scope.WALKS)
    example = finding.counterexample
    assert example is not None
    assert (example.distance, example.optimal) == (2, go(*cheap[0]))
    assert len(example.trace) == LONG - 2


# --- Any graph, any policy -----------------------------------------------------------------------


@examples(300)
@given(graphs())
def test_reports_equal_the_reference(world: Graph) -> None:
    report = check(POLICY, world.task)
    assert report.walks is None
    assert report.whole == len(world.whole) and report.whole_complete
    assert report.reached == len(world.reached) and report.reached_complete
    at_target = world.whole.keys() & world.targets
    assert report.solvable == len(world.solvable) + len(at_target)
    assert report.unsolvable == (world.distance(0) == FAR)
    for property, finding in report.findings.items():
        failing = world.failing[property]
        assert finding.verdict is as_verdict(not failing)
        assert finding.scope is (Scope.WHOLE if property is P3 else Scope.REACHED)
        among = len(world.solvable if property is P3 else world.reached)
        assert finding.failing == Fraction(len(failing), among)
        if failing:
            example = inspect(world, finding)
            depths = world.reached if failing & world.reached.keys() else world.whole
            assert example.shortest and example.under_policy == (depths is world.reached)
            assert len(example.trace) == min(depths[n] for n in failing if n in depths)
            # Everything is known about the state.
            node = node_of(example)
            assert example.dead_end == (world.distance(node) == FAR)
            assert example.optimal is not None
            assert example.distance == (None if example.dead_end else world.distance(node))
            if property is P1:
                found = world.from_(node, True)
                to_end = [found[end] for end in world.stuck if end in found]
                assert (example.ending is None) == (not to_end)
                assert example.ending is None or len(example.ending) == min(to_end)
            if property is P2:
                assert len(example.cycle) == world.cycle(node)
        else:
            assert finding.counterexample is None
    met = {n for n in world.solvable if n in world.reached}
    assert report.findings[P3].failing_reached == Fraction(len(met & world.failing[P3]), len(met))
    # By definition: from no solvable state the best plan of the policy costs more than the best.
    own = world.plans(policy=True)
    keeps = all(own.get(n, (FAR, 0))[0] == world.distance(n) for n in world.solvable)
    assert (report.findings[P3].verdict is PROVED) == keeps
    if not world.priced or world.lowest > 0:  # then it is enough to look at each state alone
        assert world.failing[P3] == {n for n in world.solvable if not world.kept(n)}
    fond = report.fond
    assert fond.weak is as_verdict(world.weak)
    assert fond.strong_cyclic is as_verdict(not world.failing[P1])
    assert fond.strong is as_verdict(not world.failing[P1] | world.failing[P2])


@examples(150)
@given(graphs())
def test_rules_and_choices_are_counted(world: Graph) -> None:
    report = check(POLICY, world.task).rules
    nodes = [n for n in world.whole if n not in world.targets]
    derived = {n: world.derived(n) for n in nodes}
    fired = sum(bool(to) for to in derived.values())
    number = sum(map(len, derived.values()))
    assert (report.scope, report.states) == (Scope.WHOLE, len(nodes))
    permitted, going, never = report.rules
    assert (permitted.states, permitted.derivations) == (fired, number)
    assert (going.states, going.derivations) == (fired, number)
    assert (going.rule, going.line) == ("go(X, Y) :- permitted(X, Y).", 2)
    assert not permitted.derives_action and going.derives_action
    assert never in report.never_fired and (permitted in report.never_fired) == (not fired)

    live = {n: derived[n] for n in world.solvable}
    assert report.actions == sum(map(len, live.values()))
    assert report.choice == Fraction(sum(len(to) > 1 for to in live.values()), len(live))
    mixed = [n for n, to in live.items() if to & world.optimal(n) and to - world.optimal(n)]
    assert report.mixed == Fraction(len(mixed), len(live))


def test_derivations_of_static_rules_count_once() -> None:
    world = Graph(4, frozenset({(0, 1), (1, 2), (2, 3)}), frozenset({(0, 1), (1, 2)}), frozenset())
    text = (
        "known(X) :- edge(X, Y), not allowed(X, Y). way(X, Y) :- edge(X, Y). go(X, Y) :- way(X, Y)."
    )
    static, way, going = check(Policy.parse(text, DOMAIN), world.task).rules.rules
    assert (static.states, static.derivations) == (4, 1)
    assert (way.states, way.derivations) == (4, 3)
    assert (going.states, going.derivations) == (3, 3)


@examples(150)
@given(graphs())
def test_reached_states_decide_the_first_two_properties(world: Graph) -> None:
    report = check(POLICY, world.task, CheckSettings(properties=(P1, P2)))
    assert report.whole is None and set(report.findings) == {P1, P2}
    assert report.reached == len(world.reached) and report.reached_complete
    assert report.unsolvable == (world.distance(0) == FAR)
    for property, finding in report.findings.items():
        failing = world.failing[property]
        assert finding.verdict is as_verdict(not failing)
        assert finding.failing == Fraction(len(failing), len(world.reached))
        if failing:
            example = inspect(world, finding)
            assert len(example.trace) == min(world.reached[n] for n in failing)
            assert example.dead_end is not None and example.optimal is not None  # looked up
    rules = report.rules
    nodes = [n for n in world.reached if n not in world.targets]
    assert (rules.scope, rules.states, rules.mixed) == (Scope.REACHED, len(nodes), None)
    assert rules.rules[1].derivations == sum(len(world.derived(n)) for n in nodes)


@examples(300)
@given(graphs(most=12), st.integers(1, 12), st.integers(0, 5), st.integers(0, 9))
def test_reports_within_a_limit_are_true(world: Graph, limit: int, walks: int, seed: int) -> None:
    report = check(
        POLICY, world.task, CheckSettings(limit=limit, walks=walks, walk_steps=15, seed=seed)
    )
    for property, finding in report.findings.items():
        failing = world.failing[property]
        assert finding.verdict in (UNDECIDED, as_verdict(not failing))
        if finding.verdict is REFUTED:
            inspect(world, finding)
        if finding.failing is not None:
            assert finding.failing.number <= len(failing)
        complete = report.whole_complete if property is P3 else report.reached_complete
        if complete:
            assert finding.verdict is not UNDECIDED
            assert finding.states == len(world.whole if property is P3 else world.reached)
        else:
            assert finding.verdict is not PROVED
    assert report.fond.weak in (UNDECIDED, as_verdict(world.weak))
    assert report.fond.strong_cyclic is report.findings[P1].verdict
    assert report.unsolvable in (None, world.distance(0) == FAR)
    assert report.whole is not None and report.whole <= limit and report.reached <= limit
    assert report.whole_complete == (len(world.whole) <= limit)
    assert report.reached_complete == (len(world.reached) <= limit)
    undecided = any(v is UNDECIDED for v in verdicts(report))
    assert (report.walks is not None) or not (undecided and walks)


@examples(100)
@given(graphs(most=12), st.integers(1, 5), st.integers(0, 9))
def test_walks_depend_on_the_seed_only(world: Graph, limit: int, seed: int) -> None:
    task = world.task
    first, second = (
        check(POLICY, task, CheckSettings(limit=limit, walks=3, walk_steps=10, seed=seed))
        for _ in range(2)
    )
    assert first == second


# --- Beyond the limit ----------------------------------------------------------------------------

LONG = 150  # nodes in a row, with a limit of 20 states


def row(*more: Edge, forbidden: Iterable[Edge] = ()) -> Graph:
    return graph([*((i, i + 1) for i in range(LONG)), *more], {LONG}, forbidden)


def test_walks_without_a_counterexample_leave_properties_undecided() -> None:
    report = check(POLICY, row().task, CheckSettings(limit=20, walks=7))
    assert verdicts(report) == (UNDECIDED, UNDECIDED, UNDECIDED)
    assert {finding.scope for finding in report.findings.values()} == {
        Scope.PART_OF_WHOLE,
        Scope.PART_OF_REACHED,
    }
    assert all(finding.states == 20 for finding in report.findings.values())
    walks = report.walks
    assert walks is not None
    assert (walks.walks, walks.steps, walks.states) == (7, 7 * LONG, LONG + 1)
    assert (walks.solved, walks.stuck) == (7, 0)
    assert walks.probes > 0
    assert report.fond.weak is PROVED
    assert report.unsolvable is False


def test_no_walks() -> None:
    report = check(POLICY, row().task, CheckSettings(limit=20, walks=0))
    assert report.walks is None
    assert report.fond.weak is UNDECIDED
    assert report.unsolvable is None


def test_walks_find_a_state_without_an_action() -> None:
    world = row((100, LONG + 1))
    finding = check(POLICY, world.task, CheckSettings(limit=20)).findings[P1]
    example = inspect(world, finding)
    assert (finding.scope, finding.failing) == (Scope.WALKS, None)
    assert (example.reason, example.dead_end) == (Reason.NO_ACTION, True)
    assert len(example.trace) == 101 and not example.shortest


def test_walks_find_the_first_state_of_a_trap() -> None:
    world = row(*((i, i + 1) for i in range(LONG + 1, LONG + 5)), (LONG + 5, LONG + 2))
    world = graph([*world.edges, (100, LONG + 1)], {LONG})
    report = check(POLICY, world.task, CheckSettings(limit=20, properties=(P1,)))
    example = inspect(world, report.findings[P1])
    assert node_of(example) == LONG + 1
    assert (example.reason, example.ending) == (Reason.TRAP, None)
    assert report.walks is not None and report.walks.probes > 0


def test_walks_find_cycles_and_cut_loops_out_of_traces() -> None:
    world = row((60, 50), (100, 95))
    finding = check(POLICY, world.task, CheckSettings(limit=20, properties=(P2,))).findings[P2]
    example = inspect(world, finding)
    assert (len(example.trace), len(example.cycle)) in {(50, 11), (95, 6)}
    # These cycles can be left, so they are no traps.
    assert check(POLICY, world.task, CheckSettings(limit=20, properties=(P1,))).verdict is UNDECIDED

    world = row((60, 50), (100, 95), (140, LONG + 1))
    example = inspect(
        world, check(POLICY, world.task, CheckSettings(limit=20, properties=(P1,))).findings[P1]
    )
    assert len(example.trace) == 141


def test_walks_find_lost_optima_near_the_goal() -> None:
    shortcut = (LONG - 8, LONG - 5)
    world = row(shortcut, forbidden=[shortcut])
    finding = check(POLICY, world.task, CheckSettings(limit=20)).findings[P3]
    example = inspect(world, finding)
    assert (example.distance, example.optimal) == (6, go(*shortcut))
    assert len(example.trace) == LONG - 8


def test_costs_of_long_traces() -> None:
    world = row((100, LONG + 1))
    world = Graph(world.nodes, world.edges, world.allowed, world.targets, priced=True)
    example = inspect(world, check(POLICY, world.task, CheckSettings(limit=20)).findings[P1])
    assert str(example.plan).splitlines()[-1].endswith("(general cost)")


# --- Presentation ------------------------------------------------------------------------------

LAMPS = """
(define (domain lamps)
  (:requirements :adl :derived-predicates)
  (:predicates (on ?x) (wired ?x ?y) (lit ?x) (broken ?x))
  (:derived (lit ?x) (or (on ?x) (exists (?y) (and (wired ?y ?x) (lit ?y)))))
  (:action switch :parameters (?x) :precondition (not (on ?x)) :effect (on ?x)))
"""


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("(on a)", {"(on a)": False}),
        ("(and (on a) (not (on b)))", {"(on a)": False, "(not (on b))": True}),
        ("(and (lit d) (not (lit d)))", {"(lit d)": True, "(not (lit d))": False}),
        (
            "(and (on a) (wired c d) (not (wired d c)))",
            {"(on a)": False, "(wired c d)": True, "(not (wired d c))": True},
        ),
        (
            "(and (or (on a) (on b)) (exists (?x) (lit ?x)) (forall (?x) (lit ?x)))",
            {
                "(or (on a) (on b))": False,
                "(exists (?x) (lit ?x))": True,
                **{"(lit a)": False, "(lit b)": False, "(lit c)": True, "(lit d)": True},
            },
        ),
    ],
)
def test_goals_have_a_status(goal: str, expected: dict[str, bool]) -> None:
    domain = Domain.parse(LAMPS)
    task = domain.parse_task(
        f"""(define (problem p) (:domain lamps) (:objects a b c d)
        (:init (on c) (wired c d)) (:goal {goal}))"""
    )
    policy = Policy.parse("switch(X) :- broken(X).", domain)
    example = check(policy, task).findings[P1].counterexample
    assert example is not None and example.trace == ()
    assert [str(atom) for atom in example.state.atoms] == ["(on c)"]
    assert {status.goal: status.holds for status in example.goals} == expected


def test_text_and_json_are_made_without_evaluating_the_policy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So both have the same content: that of the report."""
    world, _, _ = CASES["a missing action"]
    reports = [check(POLICY, world.task, CheckSettings(limit=limit)) for limit in (4, 1)]
    results = [Checked(Path("p.pddl"), report, {}) for report in reports]
    for name in ("start", "actions", "query", "derivations", "core"):
        monkeypatch.delattr(Policy, name)
    text = check_text.describe(results, Path("domain.pddl"), limit=4, in_full=True, every=True)
    shown = {*RULES.splitlines(), *re.findall(r"\((?:go|at) [^()]*\)", text)}
    assert {"(go n0 n3)", "(go n3 n2)", "(at n3)"} <= shown
    stored = json.dumps(check_json.describe(results))
    assert all(part in text and part in stored for part in shown)


def test_policy_of_all_applicable_actions() -> None:
    world = graph([(0, 1), (1, 0), (1, 2), (0, 2)], {2})
    report = check(Policy.applicable(DOMAIN), world.task)
    assert verdicts(report) == (PROVED, REFUTED, PROVED)
    assert report.rules.rules == ()
    assert report.rules.mixed == Fraction(2, 2)


def test_rules_that_name_other_objects_are_an_error() -> None:
    policy = Policy.parse("go(n0, elsewhere) :- at(n0).", DOMAIN)
    for properties in ((P1,), (P3,), tuple(Property)):
        with pytest.raises(RuleError, match="elsewhere"):
            check(policy, graph([(0, 1)], {1}).task, CheckSettings(properties=properties))


def test_progress_is_reported_and_interrupts_pass_through() -> None:
    told: list[tuple[Stage, int]] = []
    world = row()
    check(
        POLICY, world.task, CheckSettings(limit=20, walks=3), on_progress=lambda *x: told.append(x)
    )
    assert [done for stage, done in told if stage is Stage.WALKS] == [1, 2, 3]
    for stop in (1, len(told)):

        def interrupt(stage: Stage, done: int, calls: list[int] = [stop]) -> None:  # noqa: B006
            calls[0] -= 1
            if calls[0] == 0:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            check(POLICY, world.task, CheckSettings(limit=20, walks=3), on_progress=interrupt)


# --- Several tasks -------------------------------------------------------------------------------


@examples(30)
@given(st.lists(graphs(), max_size=6), st.integers(1, 3))
def test_parallel_checks_equal_single_checks(worlds: list[Graph], workers: int) -> None:
    tasks = [world.task for world in worlds]
    together = check_all(POLICY, tasks, CheckSettings(limit=4, walks=3), workers=workers)
    assert list(together) == [
        check(POLICY, task, CheckSettings(limit=4, walks=3)) for task in tasks
    ]


@examples(100)
@given(st.lists(st.tuples(graphs(), st.integers(1, 20)), min_size=1, max_size=4))
def test_summaries_combine_reports(worlds: list[tuple[Graph, int]]) -> None:
    reports = [
        check(POLICY, world.task, CheckSettings(limit=limit, walks=2)) for world, limit in worlds
    ]
    summary = Summary(tuple(reports))
    for property in Property:
        found = {report.findings[property].verdict for report in reports}
        assert summary.verdict(property) is (
            REFUTED if REFUTED in found else UNDECIDED if UNDECIDED in found else PROVED
        )
    assert summary.overall is Verdict.all_of(summary.verdict(p) for p in Property)
    rules = summary.rules
    assert [r.states for r in rules.rules] == [
        sum(report.rules.rules[i].states for report in reports) for i in range(3)
    ]
    assert rules.choice == Fraction.sum(report.rules.choice for report in reports)
    assert rules.mixed is not None
    assert rules.mixed.of == sum(r.rules.mixed.of for r in reports if r.rules.mixed)
    scopes = {report.rules.scope for report in reports}
    assert rules.scope is (scopes.pop() if len(scopes) == 1 else None)
    known = [report for report in reports if report.whole_complete]
    assert summary.fully_known == len(known)
    shares = [report.findings[P3].failing for report in known]
    assert summary.failing(P3).number == sum(share.number for share in shares if share)
    assert summary.fond.strong_cyclic is summary.verdict(P1)
    if all(report.whole_complete for report in reports):
        assert summary.failing(P3).of == sum(len(world.solvable) for world, _ in worlds)
        assert summary.states == sum(len(world.whole) for world, _ in worlds)
