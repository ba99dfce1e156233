"""The plans that a command finds: checked, told in one line each, and written."""

from __future__ import annotations

import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from planlog.cli.exits import ExitCode, emit, say, signal_code
from planlog.cli.limits import Interrupts
from planlog.cli.numbered import number
from planlog.cli.wording import as_number, plural

if TYPE_CHECKING:
    from planlog.execution import PlanResult
    from planlog.validate import Validator


class Plans:
    """Plans of one task, each better than the last. They go to FILE, FILE.1, FILE.2, …, and appear
    whole, or without a file to the standard output."""

    def __init__(
        self,
        domain_file: Path,
        task_file: Path,
        file: Path | None,
        start: float,
        interrupts: Interrupts,
        *,
        quiet: bool = False,
    ) -> None:
        self.found: list[tuple[PlanResult, float]] = []  # with the time since the start
        self.valid: bool | None = None  # whether the last plan was; None if it was not checked
        self._task = domain_file, task_file
        self._file = file
        self._start = start
        self._interrupts = interrupts
        self._quiet = quiet

    @property
    def best(self) -> PlanResult | None:
        return self.found[-1][0] if self.found else None

    @property
    def file(self) -> Path | None:
        """The file of the best plan."""
        return self._numbered(len(self.found) - 1)

    def add(self, result: PlanResult, way: str = "", *, check: bool = True) -> bool:
        """Write the plan, unless the validator is asked and refuses it; whether it is written."""
        from planlog.execution import format_plan, write_plan

        text = format_plan(result.actions, cost=result.cost, unit_cost=result.unit_cost)
        self.valid = self._validator.replay(text).valid if check else None
        file = self._numbered(len(self.found))
        seconds = time.monotonic() - self._start
        accepted = self.valid is not False
        if accepted and file is None and not self._quiet:
            emit(text.rstrip())
        if accepted:
            with self._interrupts.wait():
                if file is not None:
                    write_plan(file, result)
                self.found.append((result, seconds))
        if not self._quiet:
            say((f"{way}: " if way else "") + summary(result, seconds, file, self.valid))
        return accepted

    def _numbered(self, index: int) -> Path | None:
        return number(self._file, index) if self._file and index else self._file

    @cached_property
    def _validator(self) -> Validator:
        """Independent of all that has found the plans; it reads the task once for all of them."""
        from planlog.validate import Validator

        # Bytes that are not UTF-8 occur in comments of old files.
        domain, task = (file.read_text("utf-8-sig", errors="replace") for file in self._task)
        return Validator(domain, task)


def summary(result: PlanResult, seconds: float, plan_file: Path | None, valid: bool | None) -> str:
    """One line: how it ended, and how far it got."""
    from planlog.execution import Outcome

    if result.solved:
        length = plural(len(result.actions), "action")
        text = f"solved: {length}, cost {as_number(result.cost)}, {seconds:.2f} s"
        if valid is not None:
            text += ", valid" if valid else ", NOT VALID (this is a bug in Planlog: please report)"
        return text + (f", plan in {plan_file}" if plan_file else "")
    reason = {
        Outcome.NO_ACTION: "the policy derives no action here",
        Outcome.CYCLE: "the policy leads back to states already seen, with no way out",
        Outcome.STEP_LIMIT: "step limit reached",
        Outcome.TIME_LIMIT: "time limit reached",
        Outcome.MEMORY_LIMIT: "memory limit reached",
        Outcome.INTERRUPTED: "interrupted",
    }[result.outcome]
    goals = "" if result.goals_left is None else f", {plural(result.goals_left, 'goal')} left"
    return f"not solved: {reason}; {plural(result.steps, 'step')}{goals}, {seconds:.2f} s"


def exit_code(result: PlanResult, signals: list[int], valid: bool | None) -> int:
    """What an execution ended with; a plan that is not valid is a mistake of ours."""
    from planlog.execution import Outcome

    if valid is False:
        return ExitCode.CRITICAL
    if result.outcome is Outcome.INTERRUPTED:
        return signal_code(signals)
    return {
        Outcome.SOLVED: ExitCode.SUCCESS,
        Outcome.TIME_LIMIT: ExitCode.TIME_LIMIT,
        Outcome.MEMORY_LIMIT: ExitCode.MEMORY_LIMIT,
    }.get(result.outcome, ExitCode.NO_PLAN)
