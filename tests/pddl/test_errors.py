"""Every message of the PDDL reader, as users see it.

Each folder `golden/pddl-*` holds a domain, perhaps a problem, and all that is said about the
last of them. `PLANLOG_UPDATE_GOLDEN=1` rewrites what is expected.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from planlog.errors import Diagnostic, PddlError, UnsupportedError
from planlog.pddl.task import Domain

pytestmark = pytest.mark.core

CASES = sorted((Path(__file__).parents[1] / "golden").glob("pddl-*"))


def told(case: Path) -> str:
    """Diagnostics of the case, one after the other, and the verdict."""

    def rendered(diagnostics: Iterable[Diagnostic]) -> str:
        return "".join(f"{diagnostic.render()}\n" for diagnostic in diagnostics)

    problem = case / "problem.pddl"
    try:
        domain = Domain.parse((case / "domain.pddl").read_bytes(), file="domain.pddl")
        if not problem.exists():
            return rendered(domain.warnings) + "read\n"
        task = domain.parse_task(problem.read_bytes(), file="problem.pddl")
        return rendered(task.warnings) + "read\n"
    except UnsupportedError as error:
        return rendered(error.diagnostics) + "unsupported\n"
    except PddlError as error:
        return rendered(error.diagnostics) + "refused\n"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_messages(case: Path) -> None:
    actual = told(case)
    expected = case / "expected.txt"
    if os.environ.get("PLANLOG_UPDATE_GOLDEN"):
        expected.write_text(actual, encoding="utf-8")
    assert actual == expected.read_text(encoding="utf-8")


def test_there_are_cases() -> None:
    assert len(CASES) > 70
