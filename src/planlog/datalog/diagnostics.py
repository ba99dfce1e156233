"""Collector of diagnostics: one run reports all mistakes of a rule file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from planlog import errors
from planlog.errors import MOST_DIAGNOSTICS, Diagnostic, RuleError, Severity, clip

# A hint, or a function that returns it: suggestions take time, and most are never shown.
Hint = str | Callable[[], str]


class Place(NamedTuple):
    """A part of a line of the rule file; lines and columns count from 1."""

    line: int
    column: int
    length: int  # number of characters to underline


NOWHERE = Place(0, 0, 1)  # the place of generated rules


class Diagnostics:
    """Errors and warnings about a rule file, each with its source line.

    At the error number MOST_DIAGNOSTICS, the reading ends with RuleError; later warnings are
    dropped.
    """

    def __init__(self, file: str, text: str, origins: Sequence[tuple[str, int]] = ()) -> None:
        """Collect diagnostics about a text; `origins` are those of its last lines, if not of it."""
        self.file = file
        self._lines = text.split("\n")
        self._own_lines = text.count("\n") - len(origins) if origins else len(self._lines)
        self._origins = origins
        self._found: dict[Severity, list[Diagnostic]] = {Severity.ERROR: [], Severity.WARNING: []}
        self._reported: set[tuple[int, str, str]] = set()

    def error(self, place: Place, message: str, hint: Hint = "") -> None:
        """Add an error; the hint says how to fix it."""
        self._add(Severity.ERROR, place, message, hint)
        if len(self._found[Severity.ERROR]) == MOST_DIAGNOSTICS:
            self.raise_errors()

    def warning(self, place: Place, message: str, hint: Hint = "") -> None:
        """Add a warning; the hint says how to avoid it."""
        if len(self._found[Severity.WARNING]) < MOST_DIAGNOSTICS:
            self._add(Severity.WARNING, place, message, hint)

    def raise_errors(self) -> None:
        """Raise RuleError if there are errors.

        The warnings are left out, since many of them would only follow from the errors.
        """
        errors = self._of(Severity.ERROR)
        if errors:
            raise RuleError(errors)

    @property
    def has_errors(self) -> bool:
        """Whether there are errors."""
        return bool(self._found[Severity.ERROR])

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The warnings, in the order of the file."""
        return self._of(Severity.WARNING)

    def _of(self, severity: Severity) -> tuple[Diagnostic, ...]:
        return tuple(sorted(self._found[severity], key=lambda d: (d.line, d.column)))

    def _add(self, severity: Severity, place: Place, message: str, hint: Hint) -> None:
        line, column, length = place
        key = (line, clip(message), clip(hint) if isinstance(hint, str) else "")
        if key in self._reported:
            return  # the same mistake again in the same line
        self._reported.add(key)
        hint = hint if isinstance(hint, str) else hint()
        source = self._lines[line - 1]
        file, line = origin_of(line, self.file, self._own_lines, self._origins)
        self._found[severity].append(
            Diagnostic(file, line, column, message, hint, source, length, severity)
        )

    def extend(self, other: Diagnostics) -> None:
        """Add what another collector has found."""
        for severity, found in other._found.items():
            self._found[severity] += found


def origin_of(
    line: int, file: str, own_lines: int, origins: Sequence[tuple[str, int]]
) -> tuple[str, int]:
    """Return the file and line that a line of a text comes from."""
    return origins[line - own_lines - 1] if line > own_lines else (file, line)


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate most similar to the name, if any; `-` and `_` count as equal.

    If there is none, return a candidate that has the name as a part, such as `up` in `move.up`:
    a name that lacks its quotes is read in parts.
    """
    plain = {candidate.replace("-", "_"): candidate for candidate in candidates}
    close = errors.nearest(name.replace("-", "_"), plain)
    if close:
        return plain[close]
    return next((c for c in plain.values() if name in re.findall(r"[\w-]+", c)), None)


def enumeration(names: Iterable[str], limit: int = 12) -> str:
    """Return the names as `a, b, c`, with `...` in place of those after the first `limit`."""
    listed = list(names)
    return ", ".join(listed[:limit]) + (", ..." if len(listed) > limit else "")
