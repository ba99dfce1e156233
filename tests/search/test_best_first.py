"""Search inside the rules: it finds a plan exactly where exhaustive exploration does."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planlog
from planlog import domains
from planlog.checking import check
from planlog.checking.report import Fraction, Property, Verdict
from planlog.pddl.task import Atom, Domain, Task
from planlog.policy.execution import Outcome, PlanResult, execute
from planlog.policy.policy import Policy
from planlog.search.best_first import SearchResult, search_inside_rules
from planlog.statespace.space import DEAD_END, expand
from planlog.validation import validate
from support.profiles import examples
from support.random_policies import random_rules, world_task
from support.shipped_domains import SHIPPED, SMALL, generated

LIMIT = 3000


def has_plan(policy: Policy, task: Task) -> bool | None:
    """Whether a goal is among the states that the policy reaches; None if they are too many."""
    space = expand(task, policy, limit=LIMIT)
    if (space.goal_distances == 0).any():
        return True
    return False if space.expanded == len(space) else None


def assert_as_exhaustive(policy: Policy, task: Task) -> SearchResult:
    expected = has_plan(policy, task)
    found = search_inside_rules(policy, task, max_states=10 * LIMIT)
    if expected is not None:
        assert found.outcome is (Outcome.SOLVED if expected else Outcome.NO_PLAN)
    if found.solved:
        assert_derived(policy.loose or policy, task, found)
    return found


def assert_derived(policy: Policy, task: Task, found: PlanResult) -> None:
    """Each action of the plan is derived, and the last one leads to a goal."""
    walk = policy.start(task)
    for action in found.actions:
        assert action in walk.actions()
        walk.apply(action)
    assert walk.is_goal
    assert walk.cost == found.cost


@examples(300)
@given(st.integers(0, 2**32))
def test_random_policies(seed: int) -> None:
    task = world_task(seed)
    policy = Policy.parse(random_rules(random.Random(seed), task.domain), task.domain)
    assert_as_exhaustive(policy, task)
    assert_as_exhaustive(Policy.applicable(task.domain), task)


@examples(60)
@given(st.sampled_from(domains.names()), st.integers(0, 2**32))
def test_shipped_rules_some_of_which_are_left_out(name: str, seed: int) -> None:
    rng = random.Random(seed)
    task = generated(name, seed % 1000)
    policy = Policy.read(domains.policy_path(name), SHIPPED[name])
    assert policy.program is not None
    kept = tuple(
        rule for rule in policy.program.rules if not rule.is_policy_rule or rng.random() < 0.7
    )
    weaker = Policy(task.domain, replace(policy.program, rules=kept))
    assert_as_exhaustive(weaker, task)


@examples(150)
@given(st.integers(0, 2**32))
def test_right_dead_rules_lose_no_plan(seed: int) -> None:
    """A rule calls states dead by an atom that only hopeless states have."""
    task = world_task(seed)
    space = expand(task, limit=LIMIT)
    if space.expanded < len(space):
        return
    alive: set[Atom] = set()
    met: set[Atom] = set()
    for number in range(len(space)):
        atoms = space.state(number).atoms
        met.update(atoms)
        if space.goal_distances[number] != DEAD_END:
            alive.update(atoms)
    rules = random_rules(random.Random(seed), task.domain)
    dead = "".join(f"\ndead :- {_literal(atom)}." for atom in sorted(met - alive))
    with_dead = Policy.parse(rules + dead, task.domain)
    without = Policy.parse(rules, task.domain)
    found, other = (search_inside_rules(policy, task) for policy in (with_dead, without))
    assert found.outcome is other.outcome
    assert found.expanded <= other.expanded or found.solved


def _literal(atom: Atom) -> str:
    name, *arguments = str(atom).strip("()").split()
    return f"{name}({', '.join(arguments)})" if arguments else name


# --- Cards -------------------------------------------------------------------------------------
# Cards lie on piles. A strict player only takes a card that is due; a loose one also puts cards
# aside, on a limited number of spaces.

CARDS = """
(define (domain cards)
  (:requirements :typing :negative-preconditions)
  (:types card space)
  (:predicates (clear ?c - card) (on ?c ?d - card) (bottom ?c - card) (done ?c - card)
               (after ?d ?c - card) (first ?c - card) (free ?s - space)
               (aside ?c - card ?s - space))
  (:action finish-first :parameters (?c - card)
    :precondition (and (first ?c) (clear ?c) (bottom ?c) (not (done ?c)))
    :effect (and (done ?c) (not (clear ?c)) (not (bottom ?c))))
  (:action finish :parameters (?c ?d ?b - card)
    :precondition (and (clear ?c) (on ?c ?d) (after ?c ?b) (done ?b))
    :effect (and (done ?c) (not (clear ?c)) (not (on ?c ?d)) (clear ?d)))
  (:action finish-first-on :parameters (?c ?d - card)
    :precondition (and (clear ?c) (on ?c ?d) (first ?c))
    :effect (and (done ?c) (not (clear ?c)) (not (on ?c ?d)) (clear ?d)))
  (:action finish-bottom :parameters (?c ?b - card)
    :precondition (and (clear ?c) (bottom ?c) (after ?c ?b) (done ?b))
    :effect (and (done ?c) (not (clear ?c)) (not (bottom ?c))))
  (:action finish-aside :parameters (?c ?b - card ?s - space)
    :precondition (and (aside ?c ?s) (after ?c ?b) (done ?b))
    :effect (and (done ?c) (not (aside ?c ?s)) (free ?s)))
  (:action put-aside :parameters (?c ?d - card ?s - space)
    :precondition (and (clear ?c) (on ?c ?d) (free ?s))
    :effect (and (aside ?c ?s) (not (free ?s)) (not (clear ?c)) (not (on ?c ?d)) (clear ?d)))
  (:action move :parameters (?c ?d ?e - card)
    :precondition (and (clear ?c) (on ?c ?d) (clear ?e) (not (on ?c ?e)))
    :effect (and (not (on ?c ?d)) (clear ?d) (on ?c ?e) (not (clear ?e)))))
"""
STRICT = """
family finish-one(C) = finish-first(C) | finish(C, _, _) | finish-first-on(C, _)
                     | finish-bottom(C, _) | finish-aside(C, _, _).
finish-one(C).
else
% A card goes onto the one that comes right after it.
move(C, _, E) :- after(E, C).
"""
LOOSE = "put-aside(_, _, _).\n"


def cards(seed: int, count: int = 8, piles: int = 3, spaces: int = 2) -> Task:
    rng = random.Random(seed)
    names = [f"c{i}" for i in range(count)]
    order = rng.sample(names, count)
    facts = [f"(after {b} {a})" for a, b in pairwise(names)]
    facts += [f"(first {names[0]})", *(f"(free s{i})" for i in range(spaces))]
    for pile in (order[i::piles] for i in range(piles)):
        facts += [f"(bottom {pile[0]})", f"(clear {pile[-1]})"]
        facts += [f"(on {upper} {lower})" for lower, upper in pairwise(pile)]
    goal = " ".join(f"(done {name})" for name in names)
    return Domain.parse(CARDS).parse_task(
        f"(define (problem p) (:domain cards) (:objects {' '.join(names)} - card"
        f" {' '.join(f's{i}' for i in range(spaces))} - space)"
        f" (:init {' '.join(facts)}) (:goal (and {goal})))"
    )


def test_strict_rules_before_loose_ones_solve_what_either_solves() -> None:
    """And where the strict ones suffice, the plan is theirs."""
    solved = {"strict": 0, "loose": 0, "both": 0}
    for seed in range(40):
        task = cards(seed)
        strict, loose, both = (
            Policy.parse(text, task.domain)
            for text in (STRICT, STRICT.replace("else", "") + LOOSE, f"{STRICT}prefer\n{LOOSE}")
        )
        found = {
            "strict": search_inside_rules(strict, task),
            "loose": search_inside_rules(loose, task),
            "both": search_inside_rules(both, task),
        }
        for name, result in found.items():
            solved[name] += result.solved
        assert found["both"].solved >= max(found["strict"].solved, found["loose"].solved)
        if found["strict"].solved:
            assert len(found["both"].actions) <= 1.2 * len(found["strict"].actions)
        if found["both"].solved:
            assert_derived(both.loose or both, task, found["both"])
    assert 0 < solved["strict"] < solved["both"]


def test_better_plans_may_use_what_stands_behind_prefer() -> None:
    task = cards(0)
    policy = Policy.parse(f"{STRICT}prefer\n{LOOSE}", task.domain)
    first = planlog.solve(task, policy)
    assert first.solved
    *_, best = [first, *planlog.improve(task, policy, first, max_expansions=2000, threads=1)]
    assert best.cost <= first.cost
    assert_derived(Policy.applicable(task.domain), task, best)


def test_solve_searches_where_the_policy_gets_stuck() -> None:
    """The result says how; without the search, it says where."""
    stuck = 0
    for seed in range(40):
        task = cards(seed)
        policy = Policy.parse(f"{STRICT}prefer\n{LOOSE}", task.domain)
        alone = planlog.solve(task, policy, search=False)
        found = planlog.solve(task, policy)
        assert found.solved >= alone.solved
        again = planlog.solve(task, policy)
        assert again.actions == found.actions  # the same seed, the same plan
        if found.solved and not alone.solved:
            stuck += 1
            assert isinstance(found, SearchResult)
            assert found.searched_states
        if not found.solved:
            assert found.outcome is Outcome.NO_PLAN
    assert stuck > 0


def test_dead_states_are_avoided_if_another_action_is_derived() -> None:
    domain = Domain.parse(
        """(define (domain fork) (:predicates (at ?x) (road ?x ?y) (pit ?x))
        (:action go :parameters (?x ?y) :precondition (and (at ?x) (road ?x ?y))
          :effect (and (not (at ?x)) (at ?y))))"""
    )
    task = domain.parse_task(
        """(define (problem p) (:domain fork) (:objects a b c d)
        (:init (at a) (road a b) (road a c) (road c d) (pit b)) (:goal (at d)))"""
    )
    rules = "go(X, Y).\n"
    ends = [
        planlog.solve(task, Policy.parse(rules, domain), seed=s, search=False) for s in range(9)
    ]
    assert not all(end.solved for end in ends)
    policy = Policy.parse(rules + "dead :- at(X), pit(X).\n", domain)
    assert not policy.warnings
    assert all(planlog.solve(task, policy, seed=s, search=False).solved for s in range(9))
    assert search_inside_rules(policy, task).solved
    report = check(policy, task)
    assert report.findings[Property.GOAL_ACHIEVING].verdict is Verdict.PROVED
    assert report.dead == Fraction(0, 1)
    without = check(Policy.parse(rules, domain), task).findings[Property.GOAL_ACHIEVING]
    assert without.verdict is Verdict.REFUTED
    wrong = check(Policy.parse(rules + "dead :- at(c).\n", domain), task)
    assert wrong.dead == Fraction(1, 1)
    # There is nothing better than to go on.
    only = Policy.parse("go(X, Y) :- pit(Y).\ndead :- at(X), pit(X).\n", domain)
    assert execute(only, task).outcome is Outcome.NO_ACTION
    assert search_inside_rules(only, task).dead == 1


def test_limits() -> None:
    task = generated("blocksworld", 0, blocks=12)
    policy = Policy.applicable(task.domain)
    full = search_inside_rules(policy, task, max_states=10)
    assert (full.outcome, full.searched_states) == (Outcome.STEP_LIMIT, 10)
    late = search_inside_rules(policy, task, time_limit=0.0)
    assert late.outcome in (Outcome.TIME_LIMIT, Outcome.SOLVED)
    small = search_inside_rules(policy, task, memory_limit=1)
    assert small.outcome in (Outcome.MEMORY_LIMIT, Outcome.SOLVED)
    seen: list[int] = []
    search_inside_rules(policy, task, on_progress=seen.append)
    assert seen == sorted(seen)


@pytest.mark.parametrize("name", domains.names())
def test_plans_without_rules_are_valid(name: str) -> None:
    ((_, problem),) = domains.generate(name, seed=1, sizes=SMALL[name])
    domain = (domains.path(name) / "domain.pddl").read_text("utf-8")
    found = planlog.solve(SHIPPED[name].parse_task(problem), "none")
    assert isinstance(found, SearchResult)
    assert validate(domain, problem, "\n".join(map(str, found.actions))).valid
