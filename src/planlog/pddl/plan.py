"""Plans, and plan files in the format of the planning competitions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from planlog.errors import Diagnostic, PddlError, PlanFileError
from planlog.files import write_atomically
from planlog.pddl.task import Action, counted

_COST = re.compile(r";\s*cost\s*=\s*([+-]?\d+(?:\.\d*)?(?:e[+-]?\d+)?)\s*(\(general cost\))?.*")


@dataclass(frozen=True)
class Plan:
    """A sequence of ground actions and its cost. `str()` gives the text of its plan file.

    The cost is the number of actions (`unit_cost`) unless the task minimises `total-cost`.

    >>> plan = Plan((Action("go", ("a", "b")),), cost=1)
    >>> plan
    Plan(1 action, cost 1)
    >>> print(plan, end="")
    (go a b)
    ; cost = 1 (unit cost)
    >>> Plan.parse(str(plan)) == plan
    True
    """

    actions: tuple[Action, ...]
    cost: float
    unit_cost: bool = True

    @classmethod
    def read(cls, path: Path | str) -> Plan:
        """Read a plan file. Raises PlanFileError as `parse` does, OSError if there is no file."""
        return cls.parse(Path(path).read_text("utf-8-sig", errors="replace"), file=str(path))

    @classmethod
    def parse(cls, text: str, file: str = "<plan>") -> Plan:
        """Parse the text of a plan file; messages call it `file`.

        The cost is the one that the last line states. Without such a line it is the number of
        actions. Raises PlanFileError with all lines that hold no action.
        """
        actions, mistakes, cost = [], [], None
        for number, line in enumerate(text.splitlines(), 1):
            content = line.partition(";")[0].strip()
            if line.strip():
                cost = None if content else _COST.fullmatch(line.strip().lower())
            try:
                if content:
                    actions.append(Action.parse(content))
            except PddlError:
                place = (file, number, line.index(content) + 1)
                message = "expected one action '(name object ...)'"
                hint = "write each action on a line of its own, comments after ';'"
                mistakes.append(Diagnostic(*place, message, hint, line, len(content)))
        if mistakes:
            raise PlanFileError(mistakes)
        if cost is None:
            return cls(tuple(actions), float(len(actions)))
        return cls(tuple(actions), float(cost.group(1)), unit_cost=cost.group(2) is None)

    def write(self, path: Path | str) -> None:
        """Write the plan file, so that other processes see it complete or not at all."""
        write_atomically(Path(path), str(self))

    def __len__(self) -> int:
        return len(self.actions)

    def __repr__(self) -> str:
        return f"Plan({counted(len(self), 'action')}, cost {self.cost:g})"

    def __str__(self) -> str:
        kind = "unit cost" if self.unit_cost else "general cost"
        lines = "".join(f"{action}\n" for action in self.actions)
        return f"{lines}; cost = {self.cost:.15g} ({kind})\n"
