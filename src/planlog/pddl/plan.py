"""Plans, and plan files in the format of the planning competitions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from planlog.costs import Cost, cost_text, parse_cost
from planlog.errors import Diagnostic, PlanFileError
from planlog.files import read_input_text, write_atomically
from planlog.pddl.task import Action, counted

_COMMENT = re.compile(r";[^\r\n]*")
_PARENTHESIS = r"(?P<open>\()|(?P<close>\))"
_WORD = r"(?P<word>[^\s()]+)"
# Only between actions are there times and durations: `(flip [1])` has an argument `[1]`.
_INSIDE = re.compile(f"{_PARENTHESIS}|{_WORD}")
_BETWEEN = re.compile(
    rf"{_PARENTHESIS}|(?P<time>(?:[0-9]+\.?[0-9]*|\.[0-9]+)\s*:)"
    rf"|(?P<duration>\[\s*[0-9.]+\s*\])|{_WORD}"
)
_LINE_END = re.compile(r"\r\n?|\n")
_COST = re.compile(
    r"\s*;\s*cost\s*=\s*([+-]?[0-9]{1,60}(?:\.[0-9]{0,60})?(?:e[+-]?[0-9]{1,2})?)\b"
    r"\s*(\(general cost\))?.*"
)


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
    cost: Cost
    unit_cost: bool = True

    @classmethod
    def read(cls, path: Path | str) -> Plan:
        """Read a plan file. Raises PlanFileError as `parse` does, OSError if there is no file."""
        return cls.parse(read_input_text(path), file=str(path))

    @classmethod
    def parse(cls, text: str, file: str = "<plan>") -> Plan:
        """Parse the text of a plan file; messages call it `file`.

        Actions may be in any case, on one line or on several. As in the files that VAL reads, a
        time may precede an action and a duration may follow it: `0.000: (go a b) [1]`. Times must
        not decrease, and durations mean nothing.

        The cost is the one that the last line states. Without such a line it is the number of
        actions. Raises PlanFileError with all lines on which an action is expected.

        >>> Plan.parse("0: (GO a b) 1: (GO b c)").actions
        (Action(name='go', arguments=('a', 'b')), Action(name='go', arguments=('b', 'c')))
        """
        reader = _PlanReader(text, file)
        actions = tuple(reader.actions())
        if reader.mistakes:
            raise PlanFileError(reader.mistakes)
        last_line = re.split(r"[\r\n]", text.rstrip())[-1]
        cost = _COST.fullmatch(last_line.lower())
        if cost is None:
            return cls(actions, len(actions))
        return cls(actions, parse_cost(cost[1]), unit_cost=cost[2] is None)

    def write(self, path: Path | str) -> None:
        """Write the plan file, so that other processes see it complete or not at all."""
        write_atomically(Path(path), str(self))

    def __len__(self) -> int:
        return len(self.actions)

    def __repr__(self) -> str:
        return f"Plan({counted(len(self), 'action')}, cost {cost_text(self.cost)})"

    def __str__(self) -> str:
        kind = "unit cost" if self.unit_cost else "general cost"
        lines = "".join(f"{action}\n" for action in self.actions)
        return f"{lines}; cost = {cost_text(self.cost)} ({kind})\n"


class _PlanReader:
    """Reads the actions of a plan file, and collects its mistakes."""

    def __init__(self, text: str, file: str) -> None:
        self.mistakes: list[Diagnostic] = []
        self._text = text
        self._file = file
        self._line_starts = [0, *(end.end() for end in _LINE_END.finditer(text))]

    def actions(self) -> Iterator[Action]:
        """Yield the actions. After a mistake, go on with the next line."""
        opened: int | None = None  # place of the parenthesis of the current action
        words: list[str] = []
        previous = ""  # kind of the token before
        last_time = Decimal(0)
        place = 0
        # Blanks for comments keep all places in the text.
        content = _COMMENT.sub(lambda comment: " " * len(comment[0]), self._text)
        while token := (_BETWEEN if opened is None else _INSIDE).search(content, place):
            kind, begin = str(token.lastgroup), token.start()
            place = token.end()
            if opened is not None and kind == "word":
                words.append(token[0])
            elif kind == "open" and opened is None:
                opened, words = begin, []
            elif kind == "close" and opened is not None and words:
                yield Action(words[0].lower(), tuple(word.lower() for word in words[1:]))
                opened = None
            elif kind == "time" and previous != "time":
                time = Decimal(token[0].rstrip(":").rstrip())
                if time < last_time:
                    place = self._mistake(begin, "time before that of the last action")
                last_time = time
            elif kind != "duration" or previous != "close":
                place = self._mistake(begin if opened is None else opened)
                opened, kind = None, ""
            previous = kind
        if opened is not None or previous == "time":
            self._mistake(len(content.rstrip()) - 1 if opened is None else opened)

    def _mistake(self, place: int, message: str = "expected an action '(name object ...)'") -> int:
        """Record a mistake from a place to the end of its line, and return this end."""
        line = bisect_right(self._line_starts, place)
        begin = self._line_starts[line - 1]
        match = _LINE_END.search(self._text, place)
        end = match.start() if match else len(self._text)
        source = self._text[begin:end]
        length = len(source[place - begin :].partition(";")[0].rstrip())
        hint = "write actions in parentheses, in the order of their times, and comments after ';'"
        column = place - begin + 1
        self.mistakes.append(Diagnostic(self._file, line, column, message, hint, source, length))
        return end
