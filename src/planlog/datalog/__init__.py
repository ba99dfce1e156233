"""The rule language: text (`.dl` files) to checked, stratified programs; see docs/rules.md."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from planlog.datalog.diagnostics import Diagnostics
from planlog.datalog.lint import lint
from planlog.datalog.parser import parse
from planlog.datalog.resolve import resolve
from planlog.datalog.safety import check_safety
from planlog.datalog.stratify import in_dependency_order, stratify
from planlog.datalog.syntax import (
    Comparison,
    Constant,
    Literal,
    Program,
    Relation,
    Rule,
    Source,
    Term,
    Variable,
    Wildcard,
)
from planlog.datalog.typecheck import check_types

if TYPE_CHECKING:
    from planlog.pddl.task import Domain

__all__ = [
    "Comparison",
    "Constant",
    "Literal",
    "Program",
    "Relation",
    "Rule",
    "Source",
    "Term",
    "Variable",
    "Wildcard",
    "parse_program",
    "read_program",
]


def parse_program(text: str, domain: Domain, file: str = "<rules>") -> Program:
    """Parse and check the text of a rule file; messages call it `file`.

    Returns the program with its warnings. Raises RuleError with all mistakes and where they are.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    diagnostics = Diagnostics(file, text)
    rules = resolve(parse(text, diagnostics), domain, diagnostics)
    check_safety(rules, diagnostics)
    strata = stratify(rules, diagnostics)
    check_types(in_dependency_order(rules, strata), domain, diagnostics)
    diagnostics.raise_errors()
    lint(rules, strata, domain, diagnostics)
    return Program(tuple(rules), strata, diagnostics.warnings, file, text)


def read_program(path: str | Path, domain: Domain) -> Program:
    """Read and check a rule file. Raises RuleError as `parse_program` does, and OSError."""
    # A byte that is not UTF-8 becomes a character that is unknown outside of comments.
    text = Path(path).read_bytes().decode("utf-8-sig", errors="replace")
    return parse_program(text, domain, str(path))
