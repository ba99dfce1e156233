"""Warnings about rules that cannot see all goals of the tasks.

Each folder `golden/goals-*` holds a domain, rules, tasks, and all that is said about them.
`PLANLOG_UPDATE_GOLDEN=1` rewrites what is expected.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from planlog.pddl.task import Domain, Task
from planlog.policy.goal_warnings import goal_warnings
from planlog.policy.policy import Policy

CASES = sorted((Path(__file__).parents[1] / "golden").glob("goals-*"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_messages(case: Path) -> None:
    domain = Domain.read(case / "domain.pddl")
    policy = Policy.parse((case / "policy.dl").read_text(), domain, "policy.dl")
    tasks = [domain.read_task(file) for file in sorted(case.glob("p*.pddl"))]
    actual = "".join(f"{warning.render()}\n" for warning in goal_warnings(policy, tasks))
    expected = case / "expected.txt"
    if os.environ.get("PLANLOG_UPDATE_GOLDEN"):
        expected.write_text(actual, encoding="utf-8")
    assert actual == expected.read_text(encoding="utf-8")


DOMAIN = Domain.parse("""(define (domain d) (:predicates (p ?x) (q ?x))
  (:action a :parameters (?x) :effect (and (p ?x) (q ?x))))""")


def task_of(goal: str) -> Task:
    return DOMAIN.parse_task(
        f"(define (problem t) (:domain d) (:objects b c) (:init) (:goal {goal}))"
    )


EITHER = "(or (p b) (p c))"


@pytest.mark.parametrize(
    ("rules", "goal", "count"),
    [
        ("a(X) :- p@ug(X).", EITHER, 1),
        ("a(X) :- p@goal(X).  a(X) :- p@ag(X), p@un(X).", EITHER, 1),
        ("a(X) :- p@aa(X).", EITHER, 0),
        ("a(X) :- p(X), q@ug(X).", EITHER, 0),
        ("a(X) :- p@ug(X).", "(and (p b) (p c))", 0),
        ("a(X) :- p@ug(X).", "(forall (?x) (p ?x))", 0),
        ("a(X) :- p@ug(X), q@ug(X).", "(forall (?x) (imply (p ?x) (q ?x)))", 2),
        ("a(X).  n@network(X) :- p@ug(X).", EITHER, 1),
    ],
)
def test_one_warning_for_each_predicate(rules: str, goal: str, count: int) -> None:
    tasks = [task_of(goal) for _ in range(99)]
    warnings = goal_warnings(Policy.parse(rules, DOMAIN), tasks)
    assert len(warnings) == count
    assert all("and 98 other tasks" in warning.message for warning in warnings)


def test_no_rules_no_warnings() -> None:
    assert goal_warnings(Policy.applicable(DOMAIN), [task_of(EITHER)]) == ()
