"""Exceptions for mistakes of users, and diagnostics: messages with a place in a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice

from planlog.printable import one_line, printable

# Diagnostics are bounded when they are made, so that no file makes them long, many or slow.
MOST_DIAGNOSTICS = 50  # of a file are kept; a reader stops at that many errors
MOST_SHOWN = 20  # of them are printed
_MESSAGE_WIDTH = 400  # characters of a message
_SOURCE_WIDTH = 120  # characters of a source line
_NAME_WIDTH = 64  # characters of a name that is compared with others
_MOST_CANDIDATES = 5_000  # names that a misspelt one is compared with


class Severity(Enum):
    ERROR = "error"
    UNSUPPORTED = "unsupported"
    WARNING = "warning"


@dataclass(frozen=True)
class Diagnostic:
    """A mistake at a place of a file; lines and columns count from 1.

    A long message or hint loses its middle, and of a long source line the part around the column
    is kept.
    """

    file: str
    line: int
    column: int
    message: str
    hint: str = ""
    source: str = ""  # the source line, or a part of it
    length: int = 1  # of the underlined part
    severity: Severity = Severity.ERROR
    caret: int = 0  # the column in `source`; by default found from `column`

    def __post_init__(self) -> None:
        source, caret = self.source, self.caret
        if not caret:
            source, caret = _excerpt(source, self.column)
        bounded = {
            "message": clip(self.message),
            "hint": clip(self.hint),
            "source": source,
            "caret": caret,
        }
        for name, value in bounded.items():
            object.__setattr__(self, name, value)

    def render(self) -> str:
        """Return `file:line:column: severity: message`, the source line, a caret and the hint.

        Characters that a terminal would act on are escaped.
        """
        place = f"{one_line(self.file)}:{self.line}:{self.column}"
        text = f"{place}: {self.severity.value}: {printable(self.message)}"
        if self.source:
            start = self.caret - 1
            end = start + max(1, self.length)
            parts = (self.source[:start], self.source[start:end], self.source[end:])
            before, marked, after = (printable(part, keep="\t") for part in parts)
            # Tabs are kept so that the caret lines up in a terminal.
            indent = "".join("\t" if c == "\t" else " " for c in before)
            underline = "^" + "~" * (len(marked) - 1)
            text += f"\n  {before}{marked}{after}\n  {indent}{underline}"
        if self.hint:
            text += f"\n  help: {printable(self.hint)}"
        return text

    def __str__(self) -> str:
        return self.render()


def clip(text: str, width: int = _MESSAGE_WIDTH) -> str:
    """Cut out the middle of a text that is longer than `width`."""
    if len(text) <= width:
        return text
    end = width // 4
    return f"{text[: width - end - 3]} … {text[-end:]}"


def _excerpt(source: str, column: int) -> tuple[str, int]:
    """Return the part of a long source line around a column, and the column in this part."""
    if len(source) <= _SOURCE_WIDTH:
        return source, column
    start = max(0, min(column - 1 - _SOURCE_WIDTH // 2, len(source) - _SOURCE_WIDTH))
    end = start + _SOURCE_WIDTH
    before = "… " if start else ""
    after = " …" if end < len(source) else ""
    return before + source[start:end] + after, len(before) + column - start


def render_diagnostics(diagnostics: Sequence[Diagnostic]) -> str:
    """Render the first diagnostics, and count the others."""
    lines = [diagnostic.render() for diagnostic in diagnostics[:MOST_SHOWN]]
    more = len(diagnostics) - len(lines)
    if more > 0:
        least = "at least " if len(diagnostics) >= MOST_DIAGNOSTICS else ""
        lines.append(f"… and {least}{more:,} more")
    return "\n".join(lines)


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate most similar to a misspelt name, if any.

    Long names and large numbers of candidates, for which that would take long, have none.
    """
    known = list(islice(candidates, _MOST_CANDIDATES + 1))
    if len(name) > _NAME_WIDTH or len(known) > _MOST_CANDIDATES:
        return None
    import difflib  # only for messages

    short = [candidate for candidate in known if len(candidate) <= _NAME_WIDTH]
    return next(iter(difflib.get_close_matches(name, short, n=1)), None)


class PlanlogError(Exception):
    """Base class of all errors that a user can cause and fix.

    >>> task.object_id("z")
    Traceback (most recent call last):
        ...
    planlog.errors.UnknownNameError: task 'p' has no object 'z'
    """


class InputError(PlanlogError):
    """A file that cannot be used, with its diagnostics: all of them, or the first of very many."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(islice(diagnostics, MOST_DIAGNOSTICS))
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


class CostOverflowError(PlanlogError):
    """A plan whose cost is larger than the core can add up."""
