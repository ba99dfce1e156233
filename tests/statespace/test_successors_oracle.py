"""Applicable actions and successors against mimir, unified-planning and PDDL by the book.

Walks go through tasks of the shipped domains and through random tasks of random domains. `Book`
reads the same PDDL text and follows the definitions, without regard to speed.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from decimal import Decimal

import numpy as np
import pytest
import unified_planning.shortcuts as up
from hypothesis import given
from hypothesis import strategies as st
from unified_planning.engines import SequentialPlanValidator, ValidationResultStatus
from unified_planning.io import PDDLReader

from planlog import domains
from planlog.costs import Cost
from planlog.pddl.task import Action, Domain
from planlog.policy.execution import execute
from planlog.policy.policy import Policy
from planlog.policy.walk import Walk
from planlog.validation import validate
from support.mimir_reference import assume_readable, mimir_atoms, mimir_problem
from support.pddl_by_the_book import Atoms, Book
from support.profiles import examples, noted
from support.random_tasks import random_task

up.get_environment().credits_stream = None

seeds = st.integers(0, 2**32)


# --- Walks -------------------------------------------------------------------------------


def atoms_of(walk: Walk) -> Atoms:
    """Return all atoms of the state except derived ones."""
    atoms = (*walk.state.atoms, *walk.task.static_atoms)
    return frozenset((name, *arguments) for name, arguments in atoms)


def start(domain: str, problem: str) -> Walk:
    parsed_domain = Domain.parse(domain)
    return Policy.applicable(parsed_domain).start(parsed_domain.parse_task(problem))


def successors(walk: Walk, actions: list[Action]) -> Iterator[tuple[Action, Atoms, Cost]]:
    """Yield each action with its successor and cost; undo it afterwards."""
    before = walk.cost
    for action in actions:
        walk.apply(action)
        yield action, atoms_of(walk), walk.cost - before
        walk.undo()


def sampled(rng: random.Random, actions: list[Action], count: int) -> list[Action]:
    return rng.sample(actions, min(count, len(actions)))


@examples(300)
@given(seeds)
def test_random_domains_by_the_book(seed: int) -> None:
    """In every state of a walk, actions, successors and costs equal those of the book."""
    rng = random.Random(seed)
    domain, problem = noted(random_task(rng))
    book, walk = Book(domain, problem), start(domain, problem)
    cost = Decimal(0)
    for _ in range(6):
        state = atoms_of(walk)
        actions = walk.actions()
        assert set(actions) == book.applicable(state)
        assert len(actions) == walk.action_count == len(set(actions))
        assert walk.is_goal == book.holds(book.goal, book.closed(state), {})
        for action, reached, paid in successors(walk, sampled(rng, actions, 5)):
            expected, price = book.successor(state, action)
            assert reached == expected, action
            assert paid == price, action
        if not actions:
            break
        step = rng.choice(actions)
        cost += book.successor(state, step)[1]
        walk.apply(step)
        assert walk.cost == cost


@examples(100)
@given(seeds)
def test_undo_restores_everything(seed: int) -> None:
    """Undoing restores states, derived actions, goals and costs."""
    rng = random.Random(seed)
    domain, problem = noted(random_task(rng))
    walk = start(domain, problem)

    def everything() -> tuple[object, ...]:
        return (walk.state, walk.actions(), walk.goals_left, walk.fingerprint, walk.steps)

    way, costs = [everything()], [walk.cost]
    fingerprints = {walk.fingerprint: walk.state}
    for _ in range(15):
        if not (actions := walk.actions()):
            break
        walk.apply(rng.choice(actions))
        way.append(everything())
        costs.append(walk.cost)
        # Equal states, and no others, have equal fingerprints, wherever they are reached.
        assert fingerprints.setdefault(walk.fingerprint, walk.state) == walk.state
    assert len(fingerprints) == len({state for state, *_ in way})
    back = rng.randint(0, len(way) - 1)
    while walk.steps > back:
        assert everything() == way[walk.steps]
        assert walk.cost == costs[walk.steps]
        walk.undo()
    fresh = walk.policy.start(walk.task, walk.state)
    assert fresh.actions() == walk.actions()
    assert (fresh.goals_left, fresh.fingerprint) == (walk.goals_left, walk.fingerprint)


@examples(100)
@given(seeds)
def test_costs_and_goals_as_validated(seed: int) -> None:
    rng = random.Random(seed)
    domain, problem = noted(random_task(rng))
    walk = start(domain, problem)
    plan = []
    for _ in range(6):
        report = validate(domain, problem, "\n".join(map(str, plan)))
        assert report.steps == walk.steps
        assert report.step is None, report.reason
        assert report.valid == walk.is_goal, report.reason
        assert report.cost == walk.cost
        if not (actions := walk.actions()):
            break
        plan.append(rng.choice(actions))
        walk.apply(plan[-1])


@pytest.mark.parametrize(
    ("goal", "left"),
    [
        ("(and)", 0),
        ("(or)", 1),
        ("(= a b)", 1),
        ("(not (= a b))", 0),
        ("(imply (p a) (or))", 0),
        ("(forall (?x - object) (or))", 1),
        ("(and (p a) (not (p a)))", 1),
        ("(and (not (p a)) (p a) (not (p a)))", 1),
        ("(and (p a) (p a) (p b) (not (p b)))", 2),
        ("(and (not (p a)) (not (p b)))", 0),
    ],
)
def test_goals_that_hold_always_never_or_twice(goal: str, left: int) -> None:
    """A literal counts once, however often it is written, and one of a pair is always left."""
    domain = """(define (domain d) (:requirements :adl) (:predicates (p ?x))
      (:action make :parameters (?x) :effect (p ?x)))"""
    problem = f"(define (problem q) (:domain d) (:objects a b) (:init) (:goal {goal}))"
    walk = start(domain, problem)
    book = Book(domain, problem)
    assert walk.goals_left == left
    for name in ("a", "b", "a"):
        assert walk.is_goal == book.holds(book.goal, atoms_of(walk), {})
        walk.apply(Action("make", (name,)))
    while walk.steps:
        walk.undo()
    assert walk.goals_left == left


# --- Mimir -------------------------------------------------------------------------------


def compare_with_mimir(domain: str, problem: str, rng: random.Random, steps: int) -> int:
    """Compare actions and successors along a walk, and return its length."""
    theirs = mimir_problem(domain, problem)  # keeps alive what states refer to
    state = theirs.get_initial_state()
    walk = start(domain, problem)
    names = {p.name for p in walk.task.domain.predicates if not p.derived}
    for _ in range(steps):
        found = {
            Action.parse(str(action)): action for action in state.generate_applicable_actions()
        }
        assert set(walk.actions()) == set(found)
        assert atoms_of(walk) == mimir_atoms(state, names)
        for action, reached, _ in successors(walk, sampled(rng, sorted(found), 5)):
            assert reached == mimir_atoms(found[action].apply(state), names), action
        if not found:
            break
        step = rng.choice(sorted(found))
        walk.apply(step)
        state = found[step].apply(state)
    return walk.steps


@pytest.mark.parametrize("number", range(0, 20, 4))
@pytest.mark.parametrize("name", domains.names())
def test_shipped_domains_against_mimir(name: str, number: int) -> None:
    sizes = domains.split_sizes(name, "training")[number]
    domain = (domains.path(name) / "domain.pddl").read_text(encoding="utf-8")
    for _, problem in domains.generate(name, seed=number, sizes=sizes, count=2):
        compare_with_mimir(domain, problem, random.Random(number), steps=12)


@examples(60)
@given(seeds)
def test_random_domains_against_mimir(seed: int) -> None:
    """Conditions are simple, since mimir misreads some conjunctions of disjunctions."""
    rng = random.Random(seed)
    domain, problem = noted(random_task(rng, simple=True))
    assume_readable(domain, problem)
    compare_with_mimir(domain, problem, rng, steps=5)


# --- unified-planning --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "variant"),
    [(name, variant) for name in domains.names() for variant in domains.variants(name)],
)
def test_plans_of_shipped_policies(name: str, variant: str) -> None:
    """Both validators accept the plans."""
    text = (domains.path(name) / "domain.pddl").read_text(encoding="utf-8")
    domain = Domain.parse(text)
    policy = Policy.read(domains.policy_path(name, variant), domain)
    reader = PDDLReader()
    for sizes in domains.split_sizes(name, "easy", 3)[:2]:
        ((_, problem),) = domains.generate(name, seed=3, sizes=sizes)
        task = domain.parse_task(problem)
        result = execute(policy, task, rng=np.random.default_rng(0))
        if variant == "policy":
            assert result.solved
        elif not result.solved:
            continue
        plan = str(result.plan)
        report = validate(text, problem, plan)
        assert report.valid, report.reason
        assert report.cost == result.cost
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = reader.parse_problem_string(text, problem)
            steps = reader.parse_plan_string(theirs, "".join(f"{a}\n" for a in result.actions))
            verdict = SequentialPlanValidator().validate(theirs, steps)
        assert verdict.status == ValidationResultStatus.VALID


@pytest.mark.parametrize("name", domains.names())
def test_shipped_policies_along_their_plans(name: str) -> None:
    """Incremental maintenance equals evaluation from scratch, forwards and backwards."""
    domain = Domain.read(domains.path(name) / "domain.pddl")
    policy = Policy.read(domains.policy_path(name), domain)
    rng = np.random.default_rng(0)
    for sizes in domains.split_sizes(name, "easy", 8):
        ((_, problem),) = domains.generate(name, seed=5, sizes=sizes)
        walk = policy.start(domain.parse_task(problem))
        while not walk.is_goal:
            actions = walk.actions()
            assert actions == policy.actions(walk.task, walk.state)
            walk.apply(actions[rng.integers(len(actions))])
            if rng.random() < 0.2:
                walk.undo()
                assert walk.actions() == actions
        while walk.steps:
            walk.undo()
            assert walk.actions() == policy.actions(walk.task, walk.state)
