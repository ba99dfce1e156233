"""Action elimination: results are still plans, and equal those of a slow reference."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog import domains
from planlog.cli import main
from planlog.pddl.task import Action, Domain
from planlog.policy.execution import Outcome, PlanResult, execute
from planlog.search.action_elimination import eliminate_redundant_actions
from planlog.validation import validate, validate_files
from support.profiles import examples
from support.shipped_domains import SHIPPED, generated, policy_of

Literal = tuple[str, bool]  # an atom and its truth
seeds = st.integers(0, 2**32 - 1)


def plan(*actions: Action, cost: int | None = None) -> PlanResult:
    return PlanResult(
        outcome=Outcome.SOLVED,
        actions=actions,
        cost=len(actions) if cost is None else cost,
        unit_cost=cost is None,
        steps=len(actions),
        goals_left=0,
        seconds=0.0,
    )


# --- Random tasks --------------------------------------------------------------------------


@dataclass(frozen=True)
class Schema:
    """An action over one object x: conditions and effects about p(x), q(x) and r."""

    name: str
    cost: int
    needs: tuple[Literal, ...]
    makes: tuple[Literal, ...]

    def ground(self, literals: tuple[Literal, ...], x: str) -> list[Literal]:
        return [(atom.replace("?x", x), value) for atom, value in literals]

    def text(self) -> str:
        return (
            f"(:action {self.name} :parameters (?x) :precondition {conjunction(self.needs)}\n"
            f"  :effect (and {literals(self.makes)} (increase (total-cost) {self.cost})))"
        )


def literals(some: tuple[Literal, ...] | list[Literal]) -> str:
    return " ".join(f"({atom})" if value else f"(not ({atom}))" for atom, value in some)


def conjunction(some: tuple[Literal, ...] | list[Literal]) -> str:
    return f"(and {literals(some)})"


def random_schema(rng: random.Random, number: int) -> Schema:
    def some(least: int) -> tuple[Literal, ...]:
        atoms = rng.sample(("p ?x", "q ?x", "r"), rng.randint(least, 2))
        return tuple((atom, rng.random() < 0.6) for atom in atoms)

    return Schema(f"a{number}", rng.randint(0, 3), some(0), some(1))


def holds(state: set[str], some: list[Literal]) -> bool:
    return all((atom in state) == value for atom, value in some)


def apply(state: set[str], some: list[Literal]) -> set[str]:
    removed = {atom for atom, value in some if not value}
    return (state - removed) | {atom for atom, value in some if value}


def serving(
    initial: set[str], goal: list[Literal], steps: list[tuple[Schema, str]]
) -> list[tuple[Schema, str]]:
    """Follow the definition step by step, until no action is redundant."""
    states = [initial]
    for schema, x in steps:
        states.append(apply(states[-1], schema.ground(schema.makes, x)))
    wanted, kept = set(goal), []
    for (schema, x), before, after in reversed(list(zip(steps, states, states[1:], strict=False))):
        made = {(atom, atom in after) for atom in before ^ after}
        if made & wanted:
            wanted = (wanted - made) | set(schema.ground(schema.needs, x))
            kept.insert(0, (schema, x))
    return kept if kept == steps else serving(initial, goal, kept)


@examples(300)
@given(seeds, st.booleans())
def test_redundant_actions_are_eliminated_and_no_others(seed: int, with_costs: bool) -> None:
    rng = random.Random(seed)
    schemas = [random_schema(rng, i) for i in range(5)]
    objects = "abc"
    atoms = ["r", *(f"{name} {x}" for name in "pq" for x in objects)]
    state = initial = {atom for atom in atoms if rng.random() < 0.4}
    steps = []
    for _ in range(rng.randint(0, 15)):
        schema, x = rng.choice(schemas), rng.choice(objects)
        if holds(state, schema.ground(schema.needs, x)):
            steps.append((schema, x))
            state = apply(state, schema.ground(schema.makes, x))
    goal = [(atom, atom in state) for atom in rng.sample(atoms, rng.randint(1, 4))]
    domain = f"""(define (domain d)
      (:requirements :strips :negative-preconditions :action-costs)
      (:predicates (p ?x) (q ?x) (r)) (:functions (total-cost))
      {" ".join(schema.text() for schema in schemas)})"""
    metric = "(:metric minimize (total-cost))" if with_costs else ""
    facts = " ".join(f"({atom})" for atom in sorted(initial))
    problem = f"""(define (problem p) (:domain d) (:objects {" ".join(objects)})
      (:init {facts} (= (total-cost) 0)) (:goal {conjunction(goal)}) {metric})"""

    actions = [Action(schema.name, (x,)) for schema, x in steps]
    cost = float(sum(schema.cost for schema, _ in steps)) if with_costs else None
    result = eliminate_redundant_actions(
        Domain.parse(domain).parse_task(problem), plan(*actions, cost=cost)
    )

    expected = serving(initial, goal, steps)
    assert list(result.actions) == [Action(schema.name, (x,)) for schema, x in expected]
    text = str(result.plan)
    report = validate(domain, problem, text)
    assert report.valid
    assert report.cost == result.cost


# --- Policies ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", domains.names())
def test_plans_of_policies(name: str) -> None:
    domain = (domains.path(name) / "domain.pddl").read_text()
    shorter = 0
    for number, (_, problem) in enumerate(domains.generate(name, seed=5, split="easy")):
        task = SHIPPED[name].parse_task(problem)
        executed = execute(policy_of(name), task, rng=np.random.default_rng(number))
        result = eliminate_redundant_actions(task, executed)
        rest = iter(executed.actions)
        assert all(action in rest for action in result.actions)  # in the same order
        assert eliminate_redundant_actions(task, result) == result
        shorter += len(result.actions) < len(executed.actions)
        text = str(result.plan)
        report = validate(domain, problem, text)
        assert report.valid
        assert report.cost == result.cost
    # Policies of these two domains have no redundant actions.
    assert (shorter == 0) == (name in ("blocksworld", "ferry"))


def test_no_plan_stays_what_it_is() -> None:
    task = generated("ferry", 0, cars=2, locations=3)
    stopped = execute(policy_of("ferry"), task, rng=np.random.default_rng(0), max_steps=1)
    assert stopped.outcome is Outcome.STEP_LIMIT
    assert eliminate_redundant_actions(task, stopped) is stopped


LAMPS = """(define (domain lamps) (:requirements :adl :derived-predicates :action-costs)
  (:predicates (on ?x) (dusty ?x) (bright)) (:functions (total-cost))
  (:derived (bright) (exists (?x) (on ?x)))
  (:action light :parameters (?x) :effect (and (on ?x) (increase (total-cost) 1)))
  (:action dust :parameters (?x) :effect (not (dusty ?x)))
  (:action clean :parameters () :effect (forall (?x) (not (dusty ?x))))
  (:action read :parameters (?x) :precondition (bright) :effect (dusty ?x))
  (:action look :parameters (?x) :precondition (or (on ?x) (dusty ?x)) :effect (dusty ?x)))
"""


@pytest.mark.parametrize(
    ("goal", "actions", "kept"),
    [
        ("(on a)", "light a, light b, dust a", "light a"),
        ("(on a)", "light a, clean, light b", "light a, clean, light b"),
        ("(on a)", "light a, read b", "light a, read b"),
        ("(on a)", "light a, look a", "light a, look a"),
        ("(bright)", "light a, light b", "light a, light b"),
        ("(or (on a) (on b))", "light a, light b", "light a, light b"),
        ("(and (on a) (= a a))", "dust b, light a, light a", "light a"),
        ("(not (dusty a))", "light a, light b", ""),
    ],
)
def test_where_conditions_are_more_than_literals_all_is_kept(
    goal: str, actions: str, kept: str
) -> None:
    task = Domain.parse(LAMPS).parse_task(
        f"(define (problem p) (:domain lamps) (:objects a b) (:init) (:goal {goal}))"
    )

    def read(text: str) -> tuple[Action, ...]:
        words = (step.split() for step in text.split(", ") if step)
        return tuple(Action(name, tuple(arguments)) for name, *arguments in words)

    assert eliminate_redundant_actions(task, plan(*read(actions))).actions == read(kept)


# --- The command line ----------------------------------------------------------------------


def test_solve_eliminates_redundant_actions_unless_told_not_to(tmp_path: Path) -> None:
    sizes = ["--rovers", "2", "--waypoints", "6", "--cameras", "6", "--objectives", "6"]
    assert main(["generate", "rover", *sizes, "--seed", "1", "--out", str(tmp_path)]) == 0
    task = tmp_path / "p01.pddl"

    def length(*options: str) -> float:
        file = tmp_path / "plan"
        solve = ["solve", str(task), "--no-model", "--plan-file", str(file), "--validate"]
        assert main([*solve, *options]) == 0
        report = validate_files(tmp_path / "domain.pddl", task, file)
        assert report.valid
        return report.cost

    assert length() < length("--no-eliminate")
