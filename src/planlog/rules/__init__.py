"""Rule text (`.dl` files) to checked, stratified programs; the language is in docs/rules.md."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from planlog.rules.advice import advise
from planlog.rules.binding import check_bindings
from planlog.rules.parser import parse
from planlog.rules.report import Report
from planlog.rules.resolve import resolve
from planlog.rules.stratify import in_dependency_order, stratify
from planlog.rules.syntax import (
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
from planlog.rules.typecheck import check_types

if TYPE_CHECKING:
    from planlog.task import Domain

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
    """The program of a rule text, or RuleError with all that is wrong with it."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    report = Report(file, text)
    rules = resolve(parse(text, report), domain, report)
    check_bindings(rules, report)
    strata = stratify(rules, report)
    check_types(in_dependency_order(rules, strata), domain, report)
    report.raise_errors()
    advise(rules, strata, domain, report)
    return Program(tuple(rules), strata, report.warnings, file, text)


def read_program(path: str | Path, domain: Domain) -> Program:
    """The program of a rule file; OSError if it cannot be read."""
    # A byte that is not UTF-8 becomes a character that is unknown outside of comments.
    text = Path(path).read_bytes().decode("utf-8-sig", errors="replace")
    return parse_program(text, domain, str(path))
