"""Costs are exact everywhere: in the core, the validator, plan files, JSON and Python."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planlog
from planlog.costs import (
    LARGEST,
    cost_from_json,
    cost_text,
    exact_cost,
    parse_cost,
    sum_costs,
)
from planlog.errors import CostOverflowError, PddlError
from planlog.experiment.records import Family, Record, Status
from planlog.json_text import to_json
from planlog.pddl.plan import Plan
from planlog.pddl.task import Domain, Task
from planlog.policy.policy import Policy
from planlog.validation import Validator
from support.costly_tasks import task_of, texts
from support.profiles import examples

NUMBERS = st.builds(
    lambda digits, decimals, exponent: (
        (
            f"{str(digits)[:-decimals] or '0'}.{str(digits).zfill(decimals)[-decimals:]}"
            if decimals
            else str(digits)
        )
        + (f"e{exponent}" if exponent else "")
    ),
    st.integers(0, 10**7),
    st.integers(0, 4),
    st.integers(-4, 4),
)


@examples(60)
@given(st.lists(NUMBERS, min_size=1, max_size=6), NUMBERS)
def test_sums_are_those_of_fractions(prices: list[str], constant: str) -> None:
    expected = sum(map(Fraction, prices), len(prices) * Fraction(constant))
    result = solved(task_of(prices, constant))
    assert result.cost == expected
    assert type(result.cost) is (int if expected.denominator == 1 else Decimal)
    plan = result.plan
    assert plan is not None
    assert Fraction(cost_text(plan.cost)) == expected and "e" not in cost_text(plan.cost).lower()
    assert Plan.parse(str(plan)) == plan
    report = Validator(*texts(prices, constant)).replay(str(plan))
    assert (report.cost, report.valid, report.warnings) == (plan.cost, True, ())
    assert cost_from_json(json.loads(to_json(plan.cost))) == plan.cost


def test_a_search_compares_costs_that_differ_in_the_last_digit() -> None:
    """Two ways, whose costs are the same floating-point number."""
    high, low = 2**60 + 1, 2**60
    domain = Domain.parse(
        f"""(define (domain ways) (:predicates (done)) (:functions (total-cost))
          (:action dear :parameters () :effect (and (done) (increase (total-cost) {high})))
          (:action fair :parameters () :effect (and (done) (increase (total-cost) {low}))))"""
    )
    task = domain.parse_task(
        "(define (problem p) (:domain ways) (:init) (:goal (done)) (:metric minimize (total-cost)))"
    )
    assert float(high) == float(low)
    first = Plan.parse("(dear)")
    (better,) = planlog.improve(
        task, Policy.applicable(domain), first, threads=1, max_expansions=200
    )
    assert (better.cost, str(better.plan)) == (low, f"(fair)\n; cost = {low} (general cost)\n")


# --- Limits --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prices", "constant", "message"),
    [
        ([str(LARGEST + 1)], "0", "is too large: costs are at most 9223372036854775807"),
        (["1e19"], "0", "is too large"),
        (["1e99999999999999999999999"], "0", "is too large"),
        (["1"], "1" + 5000 * "0", "is too large"),
        (["0.0000000000000000001"], "0", "is too precise: costs have at most 18 decimals"),
        (["1"], "1e-99999999999999999999999", "is too precise"),
        (["0.01", str(LARGEST)], "0", "2 decimals can have costs of at most 92233720368547758.07"),
        ([str(LARGEST), "0.1"], "0", "1 decimal can have costs of at most 922337203685477580.7"),
        (["0.001"], str(LARGEST), "3 decimals can have costs of at most 9223372036854775.807"),
    ],
)
def test_numbers_beyond_the_limits_are_located_errors(
    prices: list[str], constant: str, message: str
) -> None:
    """Planner and validator agree on the number."""
    domain, problem = texts(prices, constant)
    found = []
    for read in (lambda: task_of(prices, constant), lambda: Validator(domain, problem)):
        with pytest.raises(PddlError, match=message) as caught:
            read()
        (diagnostic,) = caught.value.diagnostics
        found.append((diagnostic.line, diagnostic.column))
    assert found[0] == found[1]


NEAR_THE_LIMITS = st.builds(
    lambda whole, decimals, exponent: f"{whole}{decimals}{exponent}",
    st.one_of(st.integers(0, 3), st.integers(0, 10**20), st.sampled_from([LARGEST, LARGEST // 10])),
    st.one_of(st.just(""), st.from_regex(r"\.[0-9]{0,19}", fullmatch=True)),
    st.one_of(st.just(""), st.from_regex(r"[eE][+-]?[0-9]{1,2}", fullmatch=True)),
)


@examples(150)
@given(st.lists(NEAR_THE_LIMITS, min_size=1, max_size=3), NEAR_THE_LIMITS)
def test_planner_and_validator_accept_the_same_numbers(prices: list[str], constant: str) -> None:
    def accepts(read: Callable[[], object]) -> bool:
        try:
            read()
        except PddlError:
            return False
        return True

    given_texts = texts(prices, constant)
    planner = accepts(lambda: task_of(prices, constant))
    assert planner == accepts(lambda: Validator(*given_texts))
    # The rule of the documentation, with fractions.
    numbers = [Fraction(text) for text in (*prices, constant)]
    fits = all(10**18 * n == int(10**18 * n) for n in numbers)
    if fits:
        decimals = next(d for d in range(19) if all((10**d * n).denominator == 1 for n in numbers))
        fits = max(numbers) * 10**decimals <= LARGEST
    assert planner == fits


def test_an_overflow_leaves_a_walk_where_it_is() -> None:
    task = task_of([f"{LARGEST // 10}.7", "0.1"])
    walk = Policy.applicable(task.domain).start(task)
    walk.apply("(pay p0 p1)")
    before = walk.state, walk.cost
    with pytest.raises(CostOverflowError, match=r"larger than 922337203685477580\.7"):
        walk.apply("(pay p1 p2)")
    assert (walk.state, walk.cost) == before
    walk.undo()
    assert walk.cost == 0


def test_the_validator_adds_without_a_limit() -> None:
    steps = "(pay p0 p1)\n(pay p1 p2)\n"
    report = Validator(*texts(2 * [str(LARGEST)])).replay(steps)
    assert (report.valid, report.cost) == (True, 2 * LARGEST)


def test_a_given_plan_with_an_overflow_is_an_error() -> None:
    task = task_of(2 * [str(LARGEST)])
    plan = Plan.parse("(pay p0 p1)\n(pay p1 p2)\n")
    with pytest.raises(CostOverflowError):
        list(planlog.improve(task, Policy.applicable(task.domain), plan))


def test_rollouts_with_an_overflow_are_not_plans() -> None:
    """The search meets actions whose sum is too large, and goes on."""
    domain = Domain.parse(
        f"""(define (domain ways) (:predicates (half) (done)) (:functions (total-cost))
          (:action dear :parameters () :effect (and (done) (increase (total-cost) {LARGEST})))
          (:action one :parameters () :effect (and (half) (increase (total-cost) {LARGEST})))
          (:action two :parameters () :precondition (half)
             :effect (and (done) (increase (total-cost) {LARGEST})))
          (:action fair :parameters () :effect (and (done)
            (increase (total-cost) {LARGEST - 1}))))"""
    )
    task = domain.parse_task(
        "(define (problem p) (:domain ways) (:init) (:goal (done)) (:metric minimize (total-cost)))"
    )
    policy = Policy.applicable(domain)
    *_, best = planlog.improve(task, policy, Plan.parse("(dear)"), threads=1, max_expansions=500)
    assert best.cost == LARGEST - 1


# --- Values --------------------------------------------------------------------------------


@examples(200)
@given(st.integers(-(10**25), 10**25), st.integers(0, 18))
def test_texts_and_json_give_the_same_cost(units: int, decimals: int) -> None:
    cost = exact_cost(units, decimals)
    assert cost == Fraction(units, 10**decimals)
    assert parse_cost(cost_text(cost)) == cost
    assert cost_from_json(json.loads(to_json({"cost": cost}))["cost"]) == cost


@examples(100)
@given(st.lists(st.tuples(st.integers(0, 2**63), st.integers(0, 18))))
def test_sums_of_different_units(numbers: list[tuple[int, int]]) -> None:
    total = sum_costs(exact_cost(*number) for number in numbers)
    assert total == sum(Fraction(units, 10**decimals) for units, decimals in numbers)


@pytest.mark.parametrize(
    "text", ["", "1e999", "inf", "nan", "0x10", "1_000", "٣", "1" * 61, "1.2.3"]
)
def test_texts_that_are_no_costs(text: str) -> None:
    with pytest.raises(ValueError, match="not a cost"):
        parse_cost(text)


@pytest.mark.parametrize("value", [None, True, [], float("nan"), float("inf"), "x"])
def test_json_values_that_are_no_costs(value: object) -> None:
    with pytest.raises(ValueError, match="not a cost"):
        cost_from_json(value)


def test_json_has_no_numbers_that_are_not_finite() -> None:
    value = {
        "a": [float("inf"), (1, float("nan"))],
        "b": {"c": -float("inf"), "d": Decimal("1E-7")},
    }
    assert to_json(value) == '{"a": [null, [1, null]], "b": {"c": null, "d": "0.0000001"}}'


def test_records_keep_costs_and_old_records_are_read() -> None:
    record = Record(
        run="r", domain="d", planner="p", family=Family.RULES, status=Status.SOLVED,
        length=3, cost=Decimal("0.3"), lower_bound=27021597764222979,
        plans=((Decimal("0.5"), 1.5), (Decimal("0.3"), 2.5)),
    )  # fmt: skip
    assert '"cost": "0.3"' in record.to_json()
    assert Record.from_json(record.to_json()) == record
    old = record.to_json().replace('"0.3"', "0.3").replace('"0.5"', "12.0")
    found = Record.from_json(old)
    assert (found.cost, found.plans[0][0]) == (Decimal("0.3"), 12)
    with pytest.raises(ValueError, match="no number of JSON"):
        Record.from_json(record.to_json().replace('"0.3"', "NaN"))


def solved(task: Task) -> Any:
    return planlog.solve(task, Policy.applicable(task.domain))
