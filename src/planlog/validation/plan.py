"""Plan files: steps `(action arguments)`, and a comment with the cost in the last line.

As in the files that VAL reads, a step may have a time before it and a duration after it: `0: (a b)`
or `0.000: (a b) [1]`. Line breaks mean nothing except that they end comments.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from fractions import Fraction
from typing import NamedTuple

from planlog.errors import Diagnostic, PlanFileError

_COMMENT = re.compile(r";[^\r\n]*")
_STEP = re.compile(
    r"(?:([0-9]+\.?[0-9]*|\.[0-9]+)\s*:\s*)?\(\s*([^\s()][^()]*)\)(?:\s*\[\s*[0-9.]+\s*\])?"
)
_LINE_END = re.compile(r"\r\n?|\n")
_COST = re.compile(
    r";\s*cost\s*=\s*([+-]?[0-9]{1,60}(?:\.[0-9]{0,60})?(?:e[+-]?[0-9]{1,2})?)\b.*", re.IGNORECASE
)


class Step(NamedTuple):
    """A ground action of a plan."""

    name: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"({' '.join((self.name, *self.arguments))})"


def read_plan(text: str, file: str) -> tuple[list[Step], Fraction | None]:
    """Return the steps in lower case, and the cost that the last line declares, if it does.

    Raises PlanFileError with all places where a step is expected, or where times decrease.
    """
    # Blanks for comments keep all places in the text.
    content = _COMMENT.sub(lambda comment: " " * len(comment[0]), text)
    line_starts = [0, *(end.end() for end in _LINE_END.finditer(text))]
    steps: list[Step] = []
    wrong: list[Diagnostic] = []

    def report(place: int, length: int, message: str, hint: str) -> None:
        line = bisect_right(line_starts, place)
        begin = line_starts[line - 1]
        end = _LINE_END.search(text, place)
        source = text[begin : end.start() if end else len(text)]
        column = place - begin + 1
        wrong.append(Diagnostic(file, line, column, message, hint, source, length))

    time = Fraction(0)
    place = _skip_space(content, 0)
    while place < len(content):
        if step := _STEP.match(content, place):
            after = step.end()
            name, *arguments = step[2].lower().split()
            steps.append(Step(name, tuple(arguments)))
            if step[1] and Fraction(step[1]) < time:
                message = f"time {step[1]} after a later one"
                report(place, len(step[1]), message, "sort the steps by their times")
            elif step[1]:
                time = Fraction(step[1])
        else:
            line_end = _LINE_END.search(content, place)
            after = line_end.start() if line_end else len(content)
            part = content[place:after].rstrip()
            report(place, len(part), "expected a step '(action arguments)'", _hint(part))
        place = _skip_space(content, after)
    if wrong:
        raise PlanFileError(wrong)
    last_line = text[line_starts[bisect_right(line_starts, len(text.rstrip())) - 1] :]
    cost = _COST.fullmatch(last_line.strip())
    return steps, Fraction(cost[1]) if cost else None


def _skip_space(text: str, place: int) -> int:
    while place < len(text) and text[place].isspace():
        place += 1
    return place


def _hint(part: str) -> str:
    if part.count("(") > part.count(")"):
        return "close the parenthesis"
    if _STEP.search(part):
        return "remove the text outside the parentheses"
    return "put the action and its arguments in parentheses, or start a comment with ';'"
