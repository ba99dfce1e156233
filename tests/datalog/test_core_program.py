"""The core checks the numbers in programs that Python builds."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from planlog import _core

DOMAIN = b"""(define (domain d) (:predicates (p ?x) (q ?x ?y))
  (:action a :parameters (?x) :precondition (p ?x) :effect (not (p ?x))))"""


@pytest.fixture
def program() -> _core.Program:
    domain, diagnostics = _core.read_domain(DOMAIN)
    assert domain is not None and not diagnostics
    return _core.Program(domain)


@pytest.mark.parametrize(
    "call",
    [
        lambda program: program.status(2, _core.Source.STATE),
        lambda program: program.status(0, _core.Source.TYPE),
        lambda program: program.type([1]),
        lambda program: program.action(1),
        lambda program: program.action_relation(1),
        lambda program: program.derived("wide", 33),
    ],
)
def test_unknown_numbers_are_refused(
    program: _core.Program, call: Callable[[_core.Program], object]
) -> None:
    with pytest.raises(ValueError):
        call(program)


@pytest.mark.parametrize(
    ("head", "head_terms", "body", "comparisons", "variables", "message"),
    [
        (9, [0], [(0, False, [0])], [], 1, "no such relation"),
        (1, [0], [(9, False, [0])], [], 1, "no such relation"),
        (1, [0, 0], [(0, False, [0])], [], 1, "wrong number of arguments"),
        (1, [0], [(0, False, [])], [], 1, "wrong number of arguments"),
        (1, [1], [(0, False, [0])], [], 1, "no variable"),
        (1, [-1], [(0, False, [0])], [], 1, "no constant"),
        (1, [0], [(0, False, [0])], [(0, 3, True)], 1, "no variable"),
        (1, [0], [(0, True, [0])], [], 1, "no positive literal"),
        (1, [0], [(0, False, [0])], [], 2, "no positive literal"),
    ],
)
def test_wrong_rules_are_refused(
    program: _core.Program,
    head: int,
    head_terms: list[int],
    body: list[tuple[int, bool, list[int]]],
    comparisons: list[tuple[int, int, bool]],
    variables: int,
    message: str,
) -> None:
    assert program.status(0, _core.Source.STATE) == 0
    assert program.action(0) == 1
    with pytest.raises(ValueError, match=message):
        program.add_rule(head, head_terms, body, comparisons, variables)
    assert program.rule_count == 0
    assert program.add_rule(1, [0], [(0, False, [0])], [], 1) == 0
