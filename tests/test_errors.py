"""Diagnostics are bounded in number, width, memory and time, whatever the file."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import resource
import time
from collections.abc import Callable

import pytest

from planlog.datalog import parse_program
from planlog.errors import (
    MOST_DIAGNOSTICS,
    Diagnostic,
    InputError,
    PlanFileError,
    nearest,
)
from planlog.pddl.plan import Plan
from planlog.pddl.task import Domain
from planlog.validation import Validator

GRAPH = """(define (domain graph) (:predicates (at ?x) (edge ?x ?y))
  (:action go :parameters (?x ?y) :precondition (and (at ?x) (edge ?x ?y))
    :effect (and (at ?y) (not (at ?x)))))"""
DOMAIN = Domain.parse(GRAPH)
PROBLEM = "(define (problem p) (:domain graph) (:objects a b) (:init (at a)) (:goal (at b)))"
MEGABYTE = 10**6


def rules(text: str) -> None:
    parse_program(text, DOMAIN, "rules.dl")


def problem(text: str) -> None:
    DOMAIN.parse_task(text)


def validated(text: str) -> None:
    Validator(text, PROBLEM)


def replayed(text: str) -> None:
    Validator(GRAPH, PROBLEM).replay(text)


N = 3_000
OBJECTS = " ".join(f"object{i}" for i in range(100_000))
HOSTILE: dict[str, tuple[Callable[[str], object], str]] = {
    "rules on one line": (rules, "".join(f"q{i}(X) :- unknown{i}(X). " for i in range(N))),
    "rules with one mistake": (rules, "p(X) :- zz(Y). " * N),
    "unknown characters": (rules, "§¶" * 20 * N),
    "quotes": (rules, "'" * 20 * N),
    "long names": (rules, "".join(f"{'p' * 20_000}{i} :- {'q' * 20_000}.\n" for i in range(100))),
    "a long name": (rules, "p" * MEGABYTE),
    "negative cycles": (rules, "".join(f"p{i} :- not p{i}.\n" for i in range(N))),
    "crossing cycles": (
        rules,
        "".join(f"p{i} :- not p{(i * 7 + 1) % N}, p{(i + 1) % N}.\n" for i in range(N)),
    ),
    "domain on one line": (
        Domain.parse,
        GRAPH.replace("\n", " ")[:-1] + f"{'(:action a :parameters () :effect (z))' * N})",
    ),
    "domain of one name": (Domain.parse, f"(define (domain {'(' * 140}{'x' * MEGABYTE}"),
    "unknown objects of many": (
        problem,
        f"(define (problem p) (:domain graph) (:objects {OBJECTS}) (:goal (at object1)) (:init"
        + "".join(f" (at objectx{i})" for i in range(N))
        + "))",
    ),
    "validated domain": (validated, f"(define (domain graph) (:{'x' * MEGABYTE}))"),
    "plan of many lines": (Plan.parse, "go a b\n" * 20 * N),
    "plan of one line": (Plan.parse, "x" * MEGABYTE),
    "validated plan of many lines": (replayed, "go a b\n" * 20 * N),
    "validated plan of one line": (replayed, "x" * MEGABYTE),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_diagnostics_are_bounded(name: str) -> None:
    read, text = HOSTILE[name]
    start = time.process_time()
    with pytest.raises(InputError) as raised:
        read(text)
    assert time.process_time() - start < 5
    diagnostics = raised.value.diagnostics
    assert 1 <= len(diagnostics) <= 2 * MOST_DIAGNOSTICS
    for diagnostic in diagnostics:
        kept = diagnostic.message + diagnostic.hint + diagnostic.source
        assert len(kept) < 1_000
    shown = str(raised.value)
    assert len(shown) < 30_000
    assert max(map(len, shown.splitlines())) < 1_000
    assert len(pickle.dumps(raised.value)) < 100_000


def test_memory_of_diagnostics() -> None:
    """A diagnostic does not keep its source line alive."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    text = GRAPH.replace("\n", " ")[:-1] + "(:action a :parameters () :effect (z))" * 100_000 + ")"
    kept = []
    for _ in range(20):
        with pytest.raises(InputError) as raised:
            Domain.parse(text)
        kept.append(raised.value.diagnostics)
    # 20 x 50 copies of 4 MB would be 4 GB.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500 * 1024


def test_long_lines_are_shown_around_the_column() -> None:
    line = "a" * 500 + "HERE" + "b" * 500
    found = Diagnostic("f", 1, 501, "message", source=line, length=4)
    assert len(found.source) < 130
    _, source, underline = found.render().splitlines()
    at = underline.index("^")
    assert source[at : at + 4] == "HERE"
    assert underline.strip() == "^~~~"
    for same in (copy.copy(found), pickle.loads(pickle.dumps(found)), dataclasses.replace(found)):
        assert same == found
        assert same.render() == found.render()


def test_carets_line_up_after_escapes() -> None:
    found = Diagnostic("f", 1, 4, "message", source="\x1b\x1b\tHERE\x00!", length=5)
    _, source, underline = found.render().splitlines()
    at = underline.index("^")
    assert source == "  \\x1b\\x1b\tHERE\\x00!"
    assert source[at:] == "HERE\\x00!"
    assert underline[at:] == "^~~~~~~~"
    assert underline[:at] == "  " + " " * 8 + "\t"


def test_a_file_name_cannot_forge_a_message() -> None:
    error = PlanFileError([Diagnostic("plan\nplanlog: all is well\x1b[2K", 1, 1, "no step")])
    assert str(error) == "plan\\nplanlog: all is well\\x1b[2K:1:1: error: no step"


def test_suggestions_are_bounded() -> None:
    assert nearest("holdign", ["holding", "on"]) == "holding"
    start = time.process_time()
    assert nearest("x" * MEGABYTE, ["x" * MEGABYTE]) is None
    assert nearest("object", (f"object{i}" for i in range(10**9))) is None
    assert time.process_time() - start < 1
