"""Every message of the rule language, as users see it, and every example of its reference.

Each folder `golden/rules-*` holds a rule file, whose first line names one of the small domains,
and all that is said about it. `PLANLOG_UPDATE_GOLDEN=1` rewrites what is expected.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from planlog.datalog import parse_program
from planlog.errors import RuleError
from planlog.pddl.task import Domain

HERE = Path(__file__).parents[1]
CASES = sorted((HERE / "golden").glob("rules-*"))


def told(policy: str, domain_file: Path) -> str:
    """Errors, or warnings if there are none, rendered one after the other."""
    domain = Domain.read(domain_file)
    try:
        diagnostics = parse_program(policy, domain, "policy.dl").warnings
    except RuleError as error:
        diagnostics = error.diagnostics
    return "".join(f"{diagnostic.render()}\n" for diagnostic in diagnostics)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_messages(case: Path) -> None:
    policy = (case / "policy.dl").read_text(encoding="utf-8")
    name = policy.splitlines()[0].removeprefix("% domain: ")
    actual = told(policy, HERE / "support" / "small_domains" / f"{name}.pddl")
    expected = case / "expected.txt"
    if os.environ.get("PLANLOG_UPDATE_GOLDEN"):
        expected.write_text(actual, encoding="utf-8")
    assert actual == expected.read_text(encoding="utf-8")


def test_there_are_cases() -> None:
    assert len(CASES) > 60


BLOCK = re.compile(
    r"^```(\w+)(?: domain=(\w+))?\n(.*?)^```\n+(?:^```text\n(.*?)^```)?", re.M | re.S
)
EXAMPLES = BLOCK.findall((HERE.parent / "docs/rules.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("language", "name", "text", "answer"), EXAMPLES)
def test_examples_of_the_reference(
    language: str, name: str, text: str, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A text block right behind an example is what is said about it, or what it prints."""
    if language == "prolog":
        domain = HERE.parent / "src/planlog/domains" / name / "domain.pddl"
        assert told(text, domain) == answer
    elif language == "python":
        exec(text, {})
        assert capsys.readouterr().out == answer
    else:
        assert language == "text"  # the grammar


def test_the_reference_has_examples() -> None:
    assert [language for language, *_ in EXAMPLES].count("prolog") >= 4
