"""Collector of diagnostics: one run reports all mistakes of a rule file."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Protocol

from planlog.errors import Diagnostic, RuleError, Severity


class Located(Protocol):
    """A part of the rule file with its position: a token, term, literal or comparison."""

    @property
    def line(self) -> int:
        """Line number, from 1."""

    @property
    def column(self) -> int:
        """Column number, from 1."""

    @property
    def length(self) -> int:
        """Number of characters to underline."""


class Diagnostics:
    """Errors and warnings about a rule file, each with its source line."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self._lines = text.split("\n")
        self._diagnostics: list[Diagnostic] = []
        self._reported: set[tuple[int, str, str]] = set()

    def error(self, place: Located, message: str, hint: str = "") -> None:
        """Add an error that points at the place; the hint says how to fix it."""
        self._add(Severity.ERROR, place.line, place.column, place.length, message, hint)

    def error_after(self, place: Located, message: str, hint: str = "") -> None:
        """Add an error that points just behind the place, where something is missing."""
        self._add(Severity.ERROR, place.line, place.column + place.length, 1, message, hint)

    def warning(self, place: Located, message: str, hint: str = "") -> None:
        """Add a warning that points at the place."""
        self._add(Severity.WARNING, place.line, place.column, place.length, message, hint)

    def warning_for_file(self, message: str, hint: str = "") -> None:
        """Add a warning that points at the start of the file."""
        self._add(Severity.WARNING, 1, 1, 1, message, hint)

    def raise_errors(self) -> None:
        """Raise RuleError if there are errors.

        The warnings are left out, since many of them would only follow from the errors.
        """
        errors = self._of(Severity.ERROR)
        if errors:
            raise RuleError(errors)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The warnings, in the order of the file."""
        return self._of(Severity.WARNING)

    def _of(self, severity: Severity) -> tuple[Diagnostic, ...]:
        chosen = [d for d in self._diagnostics if d.severity is severity]
        return tuple(sorted(chosen, key=lambda d: (d.line, d.column)))

    def _add(
        self, severity: Severity, line: int, column: int, length: int, message: str, hint: str
    ) -> None:
        if (line, message, hint) in self._reported:
            return  # the same mistake again in the same line
        self._reported.add((line, message, hint))
        source = self._lines[line - 1]
        self._diagnostics.append(
            Diagnostic(self.file, line, column, message, hint, source, length, severity)
        )


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate most similar to the name, if any; `-` and `_` count as equal."""
    plain = {candidate.replace("-", "_"): candidate for candidate in candidates}
    close = difflib.get_close_matches(name.replace("-", "_"), plain, n=1)
    return plain[close[0]] if close else None


def enumeration(names: Iterable[str], limit: int = 12) -> str:
    """Return the names as `a, b, c`, with `...` in place of those after the first `limit`."""
    listed = list(names)
    return ", ".join(listed[:limit]) + (", ..." if len(listed) > limit else "")
