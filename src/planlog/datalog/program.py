"""Checked programs: the stages from the text of a rule file to its rules."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from planlog.datalog.diagnostics import Diagnostics, Place, origin_of
from planlog.datalog.lint import lint
from planlog.datalog.parser import parse
from planlog.datalog.resolve import resolve
from planlog.datalog.safety import check_safety
from planlog.datalog.stratify import Dependencies, check_stratified
from planlog.datalog.syntax import Relation, Rule, Source
from planlog.datalog.typecheck import check_types
from planlog.errors import Diagnostic, Severity
from planlog.files import read_input_text

if TYPE_CHECKING:
    from planlog.datalog.include import Origin
    from planlog.datalog.parser import ParsedFile
    from planlog.pddl.task import Domain


@dataclass(frozen=True)
class Program:
    """Checked rules: safe, stratified and well typed."""

    rules: tuple[Rule, ...]
    warnings: tuple[Diagnostic, ...] = field(default=(), compare=False)
    file: str = field(default="<rules>", compare=False)
    text: str = field(default="", compare=False)  # with the rules that it includes
    origins: tuple[Origin, ...] = field(default=(), compare=False)  # of these, line by line
    expanded: bool = False  # the bodies of rules for actions contain their preconditions
    # The program in which rules behind `prefer` always apply, if there is a `prefer`.
    loose: Program | None = field(default=None, compare=False)

    def diagnostic(
        self, place: Place, message: str, hint: str, severity: Severity = Severity.ERROR
    ) -> Diagnostic:
        """Return a diagnostic about a part of the file, with its line if the text has it."""
        line, column, length = place
        lines = self.text.split("\n")
        source = lines[line - 1] if 0 < line <= len(lines) else ""
        file, line = self.origin(line)
        return Diagnostic(file, line, column, message, hint, source, length, severity)

    def origin(self, line: int) -> tuple[str, int]:
        """Return the file and line that a line of the text comes from."""
        own_lines = self.text.count("\n") - len(self.origins) if self.origins else line
        return origin_of(line, self.file, own_lines, self.origins)

    def without_network_rules(self) -> tuple[Program, tuple[Rule, ...]]:
        """Split the program into the rules of the policy and those that only networks read."""
        rules = self.rules
        if not any(rule.for_network for rule in rules):
            return self, ()
        dependencies = Dependencies(rules)
        read = dependencies.needed_for(rule.head.relation for rule in rules if rule.for_network)
        # Unused predicates stay, too, with all that they need.
        kept = dependencies.needed_for(
            r.head.relation for r in rules if r.is_policy_rule or r.head.relation not in read
        )
        return (
            replace(self, rules=tuple(rule for rule in rules if rule.head.relation in kept)),
            tuple(rule for rule in rules if rule.head.relation not in kept),
        )

    @cached_property
    def unnamed(self) -> frozenset[Relation]:
        """The relations for which the file has no names, such as the elements of aggregates."""
        literals = (literal for rule in self.rules for literal in rule.literals)
        inputs = {relation for each in literals for relation in each.relation.inputs}
        return frozenset(inputs | {r.head.relation for r in self.rules if r.generated})

    def __str__(self) -> str:
        return "".join(f"{rule}\n" for rule in self.rules)


def parse_program(
    text: str, domain: Domain, file: str = "<rules>", path: Path | None = None
) -> Program:
    """Parse and check the text of a rule file; messages call it `file`.

    It includes files of Planlog, and of the folder of its `path`, if it has one. Returns the
    program with its warnings. Raises RuleError with all mistakes and where they are.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text, origins = _with_includes(text, file, path)
    diagnostics = Diagnostics(file, text, origins)
    parsed = parse(text, diagnostics)
    resolved = resolve(parsed, domain, diagnostics)
    rules = _in_order(resolved, parsed, domain, diagnostics)
    dependencies = Dependencies(rules)
    check_safety(rules, diagnostics)
    check_stratified(dependencies, diagnostics)
    _check_choices_and_values(rules, dependencies, diagnostics)
    check_types(dependencies.in_order(rules), domain, diagnostics)
    diagnostics.raise_errors()
    lint(rules, dependencies, domain, diagnostics)
    loose = None
    if any(order.kind == "prefer" for order in parsed.orders):
        others = _in_order(resolved, parsed, domain, Diagnostics(file, text), prefer=False)
        loose = Program(_without_choices(others, domain), (), file, text, origins)
    written_out = _without_choices(rules, domain)
    return Program(written_out, diagnostics.warnings, file, text, origins, loose=loose)


# The stages that few rule files need are loaded when one does, since that takes milliseconds.


def _with_includes(text: str, file: str, path: Path | None) -> tuple[str, tuple[Origin, ...]]:
    if "include" not in text:
        return text, ()
    from planlog.datalog.include import with_includes

    diagnostics = Diagnostics(file, text)
    including = (path.resolve(),) if path else ()
    source = with_includes(text, file, path.parent if path else None, diagnostics, including)
    diagnostics.raise_errors()
    return source


def _in_order(
    rules: list[Rule],
    parsed: ParsedFile,
    domain: Domain,
    diagnostics: Diagnostics,
    *,
    prefer: bool = True,
) -> list[Rule]:
    if not parsed.orders and not any(rule.forbids for rule in rules):
        return rules
    from planlog.datalog.order import in_order

    return in_order(rules, parsed.orders, domain, diagnostics, prefer=prefer)


def _check_choices_and_values(
    rules: list[Rule], dependencies: Dependencies, diagnostics: Diagnostics
) -> None:
    if any(rule.choices for rule in rules):
        from planlog.datalog.choices import check_choices

        check_choices(rules, dependencies, diagnostics)
    if any(rule.head.relation.numbers for rule in rules):
        from planlog.datalog.values import check_values

        check_values(rules, dependencies, diagnostics)


def _without_choices(rules: list[Rule], domain: Domain) -> tuple[Rule, ...]:
    if not any(rule.choices or _reads_applicable(rule) for rule in rules):
        return tuple(rules)
    from planlog.datalog.choices import expand_choices

    return tuple(expand_choices(rules, domain))


def _reads_applicable(rule: Rule) -> bool:
    return any(literal.relation.source is Source.APPLICABLE for literal in rule.literals)


def read_program(path: str | Path, domain: Domain) -> Program:
    """Read and check a rule file. Raises RuleError as `parse_program` does, and OSError."""
    # A byte that is not UTF-8 becomes a character that is unknown outside of comments.
    return parse_program(read_input_text(path), domain, str(path), Path(path))
