"""Every message of the rule language, as users see it.

Each folder `golden/rules-*` holds a rule file, whose first line names one of the small domains,
and all that is said about it. `PLANLOG_UPDATE_GOLDEN=1` rewrites what is expected.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from planlog.errors import RuleError
from planlog.rules import parse_program
from planlog.task import Domain

HERE = Path(__file__).parent
CASES = sorted((HERE / "golden").glob("rules-*"))


def told(policy: str) -> str:
    """Errors, or warnings if there are none, rendered one after the other."""
    first_line = policy.splitlines()[0]
    name = first_line.removeprefix("% domain: ")
    domain = Domain.read(HERE / "small_domains" / f"{name}.pddl")
    try:
        diagnostics = parse_program(policy, domain, "policy.dl").warnings
    except RuleError as error:
        diagnostics = error.diagnostics
    return "".join(f"{diagnostic.render()}\n" for diagnostic in diagnostics)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_messages(case: Path) -> None:
    actual = told((case / "policy.dl").read_text(encoding="utf-8"))
    expected = case / "expected.txt"
    if os.environ.get("PLANLOG_UPDATE_GOLDEN"):
        expected.write_text(actual, encoding="utf-8")
    assert actual == expected.read_text(encoding="utf-8")


def test_there_are_cases() -> None:
    assert len(CASES) > 60
