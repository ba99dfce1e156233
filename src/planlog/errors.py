"""Exceptions for mistakes of users, and diagnostics: messages with a place in a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

MOST_DIAGNOSTICS = 20  # of a file are shown
_MESSAGE_WIDTH = 400  # characters of a message
_SOURCE_WIDTH = 120  # characters of a source line


class Severity(Enum):
    ERROR = "error"
    UNSUPPORTED = "unsupported"
    WARNING = "warning"


@dataclass(frozen=True)
class Diagnostic:
    """A mistake at a place of a file; lines and columns count from 1."""

    file: str
    line: int
    column: int
    message: str
    hint: str = ""
    source: str = ""  # the source line
    length: int = 1  # of the underlined part
    severity: Severity = Severity.ERROR

    def render(self) -> str:
        """Return `file:line:column: severity: message`, the source line, a caret and the hint."""
        place = f"{self.file}:{self.line}:{self.column}"
        text = f"{place}: {self.severity.value}: {clip(self.message)}"
        if self.source:
            source, column = _excerpt(self.source, self.column - 1)
            # Tabs are kept so that the caret lines up in a terminal.
            indent = "".join("\t" if c == "\t" else " " for c in source[:column])
            shown = max(1, min(self.length, len(source) - column))
            text += f"\n  {source}\n  {indent}{'^' + '~' * (shown - 1)}"
        if self.hint:
            text += f"\n  help: {clip(self.hint)}"
        return text

    def __str__(self) -> str:
        return self.render()


def clip(text: str, width: int = _MESSAGE_WIDTH) -> str:
    """Cut out the middle of a text that is longer than `width`."""
    return text if len(text) <= width else f"{text[: 3 * width // 4]} … {text[-width // 4 :]}"


def _excerpt(source: str, column: int) -> tuple[str, int]:
    """Return the part of a long source line around a column, and the column in this part."""
    if len(source) <= _SOURCE_WIDTH:
        return source, column
    start = max(0, min(column - _SOURCE_WIDTH // 2, len(source) - _SOURCE_WIDTH))
    end = start + _SOURCE_WIDTH
    before = "… " if start else ""
    after = " …" if end < len(source) else ""
    return before + source[start:end] + after, len(before) + column - start


def render_diagnostics(diagnostics: Sequence[Diagnostic]) -> str:
    """Render the first diagnostics, and count the others."""
    lines = [diagnostic.render() for diagnostic in diagnostics[:MOST_DIAGNOSTICS]]
    if len(diagnostics) > MOST_DIAGNOSTICS:
        lines.append(f"… and {len(diagnostics) - MOST_DIAGNOSTICS:,} more")
    return "\n".join(lines)


class PlanlogError(Exception):
    """Base class of all errors that a user can cause and fix.

    >>> task.object_id("z")
    Traceback (most recent call last):
        ...
    planlog.errors.UnknownNameError: task 'p' has no object 'z'
    """


class InputError(PlanlogError):
    """A file that cannot be used, with all its diagnostics."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__(render_diagnostics(self.diagnostics))

    def __reduce__(self) -> tuple[type[InputError], tuple[tuple[Diagnostic, ...]]]:
        return type(self), (self.diagnostics,)


class PddlError(InputError):
    """A domain or problem file that is not correct PDDL."""


class UnsupportedError(PddlError):
    """Correct PDDL that uses a feature Planlog does not have."""


class RuleError(InputError):
    """A rule file that is not a correct policy of the domain."""


class PlanFileError(InputError):
    """A plan file that cannot be read."""


class WrongFileError(InputError):
    """A file of another kind than the argument expects."""


class MissingFileError(PlanlogError):
    """A file that is neither given nor found."""


class ModelError(PlanlogError):
    """A model file that cannot be used at all or not for this domain."""


class SettingsError(PlanlogError):
    """Settings that a training cannot use."""


class NothingToLearnError(PlanlogError):
    """Tasks without a state in which the policy has a choice between good and bad actions."""


class UnknownNameError(PlanlogError):
    """A name (of an object, predicate, action, domain) that does not exist here."""


class InapplicableError(PlanlogError):
    """An action whose precondition does not hold in the state it was applied in."""


class MissingValueError(PlanlogError):
    """A cost that depends on a value which the task does not give."""
