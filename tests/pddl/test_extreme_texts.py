"""Prefixes of files and giant texts are read, or give located errors, in little time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fuzz.texts import check_diagnostics
from planlog.errors import PddlError
from planlog.pddl.task import Domain

pytestmark = pytest.mark.core

SAMPLES = [
    ((folder / "domain.pddl").read_text(), (folder / "problem.pddl").read_text())
    for folder in sorted((Path(__file__).parents[1] / "support" / "pddl_samples").iterdir())
]


def judge(read: Callable[[str], object], text: str) -> bool:
    """Whether the text is taken; if it is not, the errors must be located in it."""
    try:
        read(text)
        return True
    except PddlError as error:
        check_diagnostics(error.diagnostics, text)
        return False


def test_every_prefix() -> None:
    for domain_text, problem_text in SAMPLES:
        domain = Domain.parse(domain_text)
        for text, read in ((domain_text, Domain.parse), (problem_text, domain.parse_task)):
            complete = text.rstrip()
            for end in range(0, len(complete), 3):
                assert not judge(read, complete[:end])


def domain_with(body: str) -> str:
    return f"(define (domain d) (:types t) (:predicates (p ?x - t) (q)) {body})"


def action_with(condition: str = "(q)", effect: str = "(q)", parameters: str = "?x - t") -> str:
    return domain_with(
        f"(:action a :parameters ({parameters}) :precondition {condition} :effect {effect})"
    )


N = 20_000
GIANTS = {
    "parentheses": "(" * 1_000_000,
    "closed parentheses": "(" * 500_000 + ")" * 500_000,
    "nested not": action_with("(not " * 200 + "(q)" + ")" * 200),
    "nested or": action_with("(or (q) (p ?x) (and (p ?x) " * 100 + "(q)" + "))" * 100),
    "nested exists": action_with("(exists (?x - t) " * 200 + "(p ?x)" + ")" * 200),
    "wide and": action_with("(and" + " (p ?x)" * N + ")"),
    "wide or": action_with("(or" + " (p ?x)" * N + ")"),
    "conditions times effects": action_with(
        effect="(when (and" + " (q)" * N + ") (and" + " (p ?x)" * N + "))"
    ),
    "variables": action_with(parameters=" ".join(f"?x{i}" for i in range(N))),
    "quantified variables": action_with(
        effect=f"(forall ({' '.join(f'?y{i}' for i in range(N))}) (and {'(q)' * N}))"
    ),
    "names": domain_with("(:constants " + " ".join(f"c{i}" for i in range(N)) + " - u)"),
    "long name": domain_with(f"(:action {'a' * 1_000_000} :parameters () :effect (z))"),
    "unknown names": action_with("(and" + "".join(f" (p{i} ?x)" for i in range(N)) + ")"),
    "chain of types": "(define (domain d) (:types "
    + " ".join(f"t{i} - t{i + 1}" for i in range(N))
    + "))",
    "either": domain_with(f"(:constants c - (either {'t ' * N}))"),
    "derived chain": "(define (domain d) (:predicates "
    + " ".join(f"(r{i})" for i in range(N))
    + ")"
    + " ".join(f"(:derived (r{i}) (not (r{i + 1})))" for i in range(N - 1))
    + ")",
    "negative cycle": "(define (domain d) (:predicates "
    + " ".join(f"(r{i})" for i in range(N))
    + ")"
    + " ".join(f"(:derived (r{i}) (not (r{(i + 1) % N})))" for i in range(N))
    + ")",
    "number": action_with(effect=f"(increase (total-cost) {'9' * 100_000})"),
    "comment": ";" * 3_000_000,
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", GIANTS)
def test_giants(name: str) -> None:
    """Texts that nest deeply or multiply take seconds; anything worse than linear, hours."""
    judge(Domain.parse, GIANTS[name])
