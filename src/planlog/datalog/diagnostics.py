"""Collector of diagnostics: one run reports all mistakes of a rule file."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import NamedTuple

from planlog.errors import Diagnostic, RuleError, Severity


class Place(NamedTuple):
    """A part of a line of the rule file; lines and columns count from 1."""

    line: int
    column: int
    length: int  # number of characters to underline


NOWHERE = Place(0, 0, 1)  # the place of generated rules


class Diagnostics:
    """Errors and warnings about a rule file, each with its source line."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self._lines = text.split("\n")
        self._diagnostics: list[Diagnostic] = []
        self._reported: set[tuple[int, str, str]] = set()

    def error(self, place: Place, message: str, hint: str = "") -> None:
        """Add an error; the hint says how to fix it."""
        self._add(Severity.ERROR, place, message, hint)

    def warning(self, place: Place, message: str, hint: str = "") -> None:
        """Add a warning; the hint says how to avoid it."""
        self._add(Severity.WARNING, place, message, hint)

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

    def _add(self, severity: Severity, place: Place, message: str, hint: str) -> None:
        line, column, length = place
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
