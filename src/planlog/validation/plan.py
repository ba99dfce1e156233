"""Plan files: one `(action arguments)` per line, and a comment with the cost at the end."""

from __future__ import annotations

import re
from typing import NamedTuple

from planlog.errors import Diagnostic, PlanFileError

_STEP = re.compile(r"\(\s*([^\s();]+(?:\s+[^\s();]+)*)\s*\)")
_COST = re.compile(r";\s*cost\s*=\s*([+-]?\d+(?:\.\d*)?(?:e[+-]?\d+)?)\b.*", re.IGNORECASE)


class Step(NamedTuple):
    """A ground action of a plan."""

    name: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"({' '.join((self.name, *self.arguments))})"


def read_plan(text: str, file: str) -> tuple[list[Step], float | None]:
    """Return the steps in lower case, and the cost that the last line declares, if it does.

    Raises PlanFileError with all lines that are no steps.
    """
    steps: list[Step] = []
    wrong: list[Diagnostic] = []
    declared_cost: float | None = None
    for number, line in enumerate(text.split("\n"), 1):
        content = line.partition(";")[0].strip()
        if line.strip():
            cost = None if content else _COST.match(line.strip())
            declared_cost = float(cost.group(1)) if cost else None
        if step := _STEP.fullmatch(content):
            name, *arguments = step.group(1).lower().split()
            steps.append(Step(name, tuple(arguments)))
        elif content:
            place = (file, number, line.index(content) + 1)
            message = "expected one step '(action arguments)'"
            source = line.rstrip("\r")
            wrong.append(Diagnostic(*place, message, _hint(content), source, len(content)))
    if wrong:
        raise PlanFileError(wrong)
    return steps, declared_cost


def _hint(content: str) -> str:
    if content.count("(") > 1 and _STEP.match(content):
        return "write every step on a line of its own"
    if content.count("(") > content.count(")"):
        return "close the parenthesis on the same line"
    if _STEP.search(content):
        return "remove the text outside the parentheses"
    return "put the action and its arguments in parentheses, or start a comment with ';'"
