"""One exception class for each kind of user mistake; located messages with the source line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Severity(Enum):
    ERROR = "error"
    UNSUPPORTED = "unsupported"
    WARNING = "warning"


@dataclass(frozen=True)
class Diagnostic:
    """What is wrong at a place of a file; lines and columns count from 1."""

    file: str
    line: int
    column: int
    message: str
    hint: str = ""
    source: str = ""  # the source line
    length: int = 1  # of the underlined part
    severity: Severity = Severity.ERROR

    def render(self) -> str:
        """`file:line:column: severity: message`, the source line, a caret, the hint."""
        text = f"{self.file}:{self.line}:{self.column}: {self.severity.value}: {self.message}"
        if self.source:
            # Tabs are kept so that the caret lines up in a terminal.
            indent = "".join("\t" if c == "\t" else " " for c in self.source[: self.column - 1])
            shown = max(1, min(self.length, len(self.source) - self.column + 1))
            text += f"\n  {self.source}\n  {indent}{'^' + '~' * (shown - 1)}"
        if self.hint:
            text += f"\n  help: {self.hint}"
        return text

    def __str__(self) -> str:
        return self.render()


class PlanlogError(Exception):
    """Base class of all errors that a user can cause and fix.

    >>> task.object_id("z")
    Traceback (most recent call last):
        ...
    planlog.errors.UnknownNameError: task 'p' has no object 'z'
    """


class InputError(PlanlogError):
    """A file that cannot be used, with all that is wrong with it."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(d.render() for d in self.diagnostics))


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
    """A file that was not given and is not found either."""


class ModelError(PlanlogError):
    """A model file that cannot be used, or not for this domain."""


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
