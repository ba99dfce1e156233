"""Properties that all exact methods share."""

from __future__ import annotations

import random
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog import domains
from planlog.experiment.baselines.exact import exact_method
from planlog.experiment.baselines.exact.integer_program import MissingSolverError
from planlog.experiment.baselines.exact.task_shape import UnsuitableTaskError
from planlog.pddl.task import Domain
from support.exact_cases import CASES, problem
from support.exact_reference import (
    SHIPPED,
    check_unsolvable,
    check_unsuitable,
    generated,
    method,
    optimum,
    shortest,
    solved,
)
from support.exact_states import check_states
from support.odd_tasks import ODD_TASKS
from support.profiles import examples

seeds = st.integers(0, 2**32)


def every(field: str) -> list[tuple]:
    """Return the cases of all domains, each after the name of its domain."""
    return [
        (name, *(case if isinstance(case, tuple) else (case,)))
        for name, cases in CASES.items()
        for case in getattr(cases, field)
    ]


@pytest.mark.parametrize(("name", "initial", "goal", "length"), every("optima"))
def test_plans_counted_by_hand(name: str, initial: str, goal: str, length: int) -> None:
    assert optimum(name, problem(name, initial, goal)) == length


@pytest.mark.parametrize(("name", "initial", "goal"), every("unsolvable"))
def test_unsolvable_tasks(name: str, initial: str, goal: str) -> None:
    check_unsolvable(name, problem(name, initial, goal))


@pytest.mark.parametrize(("name", "initial", "reason"), every("inconsistent"))
def test_inconsistent_initial_states(name: str, initial: str, reason: str) -> None:
    check_unsuitable(name, problem(name, initial, CASES[name].goal), reason)


@pytest.mark.parametrize(("name", "goal"), every("other_goals"))
def test_goals_of_other_kinds(name: str, goal: str) -> None:
    check_unsuitable(name, problem(name, CASES[name].initial, goal), "goals must be atoms")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "states"), [("rover", 20), ("satellite", 18)])
def test_thousands_of_states_of_odd_tasks(name: str, states: int) -> None:
    rng = random.Random(0)
    assert sum(check_states(name, ODD_TASKS[name](rng), states) for _ in range(70)) > 1000


@pytest.mark.parametrize("name", ODD_TASKS)
@given(seed=seeds)
@examples(15)
def test_states_of_any_odd_task(name: str, seed: int) -> None:
    check_states(name, ODD_TASKS[name](random.Random(seed)), 5)


@pytest.mark.parametrize("name", domains.names())
@pytest.mark.parametrize("number", range(30))
def test_generated_tasks_against_breadth_first_search(name: str, number: int) -> None:
    rover = [(1, 4, 2, 1), (1, 3, 2, 1), (2, 2, 1, 1)][number % 3]  # others are too large
    sizes = {
        "blocksworld": (4 + number % 3,),
        "ferry": (2 + number % 4, 3 + number % 3),
        "rover": rover,
        "satellite": (1 + number % 2, 1 + number % 4, 1 + number % 2, 3 + (number % 2 == 0)),
    }[name]
    names = [size.name for size in domains.parameters(name)]
    text = generated(name, number, **dict(zip(names, sizes, strict=True)))
    assert optimum(name, text) == shortest(name, text)


@pytest.mark.parametrize("name", domains.names())
def test_medium_tasks_are_solved(name: str) -> None:
    tasks = list(domains.generate(name, seed=1, split="medium"))
    for _, text in tasks[:12:3] if name == "rover" else tasks[::6]:
        assert solved(name, text, time_limit=60).optimal


@pytest.mark.parametrize(
    ("name", "sizes"), [("rover", {}), ("satellite", {}), ("blocksworld", {"blocks": 146})]
)
def test_without_time_there_is_a_plan(name: str, sizes: dict[str, int]) -> None:
    assert not solved(name, generated(name, 0, **sizes), time_limit=0).optimal


@pytest.mark.parametrize("name", domains.names())
def test_plans_are_reproducible(name: str) -> None:
    first, second = (solved(name, generated(name, 5)).plans[0].actions for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("name", "other", "reason"),
    [
        ("blocksworld", "ferry", "predicate 'arm-empty' is missing"),
        ("ferry", "blocksworld", "predicate 'arm-empty' is not expected"),
        ("rover", "satellite", "predicate 'at' is missing"),
        ("satellite", "rover", "is not expected"),
    ],
)
def test_other_domains(name: str, other: str, reason: str) -> None:
    with pytest.raises(UnsuitableTaskError, match=reason):
        method(name)(SHIPPED[other].parse_task(generated(other, 0)))


def test_methods_are_found_by_the_name_of_the_domain() -> None:
    assert all(exact_method(name) for name in domains.names())
    # A domain without a method, shared modules, and names of no package.
    for name in ("gripper", "clock", "task-shape", "", "..", "a b"):
        assert exact_method(name) is None


def test_action_costs() -> None:
    text = (domains.path("blocksworld") / "domain.pddl").read_text()
    text = text.replace("(:predicates", "(:functions (total-cost))\n(:predicates")
    text = text.replace("(holding ?ob)\n", "(holding ?ob) (increase (total-cost) 2)\n", 1)
    costly = generated("blocksworld", 0).rstrip()[:-1] + "(:metric minimize (total-cost)))"
    with pytest.raises(UnsuitableTaskError, match="minimises a cost"):
        method("blocksworld")(Domain.parse(text).parse_task(costly))


def test_without_highs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(MissingSolverError, match=r"planlog\[baselines\]"):
        method("blocksworld")(SHIPPED["blocksworld"].parse_task(generated("blocksworld", 0)))
