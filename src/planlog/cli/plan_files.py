"""Numbered plan files NAME, NAME.1, NAME.2, …, each with a better plan than the last."""

from __future__ import annotations

import re
import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from planlog.cli.console import emit, say
from planlog.cli.exit_codes import ExitCode
from planlog.cli.formatting import as_number, counted
from planlog.cli.signals import Signals
from planlog.policy.execution import Outcome, PlanResult

if TYPE_CHECKING:
    from planlog.validation import Validator


def numbered_files(file: Path) -> dict[int, Path]:
    """Find the files `NAME.N` beside a file `NAME`, which need not exist, by their numbers."""
    pattern = re.compile(re.escape(file.name) + r"\.([1-9][0-9]*)")
    found = {}
    for other in file.parent.iterdir():
        match = pattern.fullmatch(other.name)
        if match and other.is_file():
            found[int(match[1])] = other
    return found


def numbered_file(file: Path, number: int) -> Path:
    """Return the file `NAME.N` of a file `NAME`."""
    return file.with_name(f"{file.name}.{number}")


def delete_numbered_files(file: Path) -> None:
    """Delete the files of an earlier run: `NAME` and every `NAME.N`."""
    for other in (file, *numbered_files(file).values()):
        if other.is_file():  # a device such as /dev/stdout stays
            other.unlink()


class PlanManager:
    """Validate, report and write the plans of one task, each better than the last.

    Plans go to FILE, FILE.1, FILE.2, …, which are never seen unfinished, or without a file to the
    standard output.
    """

    def __init__(
        self,
        domain_file: Path,
        task_file: Path,
        file: Path | None,
        start: float,
        signals: Signals,
        *,
        quiet: bool = False,
    ) -> None:
        self.found: list[tuple[PlanResult, float]] = []  # with the seconds since the start
        self.valid: bool | None = None  # the validator's verdict on the last plan, if it was asked
        self._pddl_files = domain_file, task_file
        self._file = file
        self._start = start
        self._signals = signals
        self._quiet = quiet

    @property
    def best(self) -> PlanResult | None:
        """The last plan, which is the best."""
        return self.found[-1][0] if self.found else None

    @property
    def file(self) -> Path | None:
        """File of the best plan."""
        return self._numbered(len(self.found) - 1)

    def add(self, result: PlanResult, label: str = "", *, validate: bool = True) -> bool:
        """Write a plan unless the validator rejects it; return whether it was written."""
        plan = result.plan
        assert plan is not None
        self.valid = self._validator.replay(str(plan)).valid if validate else None
        file = self._numbered(len(self.found))
        seconds = time.monotonic() - self._start
        accepted = self.valid is not False
        if accepted:
            with self._signals.shield():
                if file is not None:
                    plan.write(file)
                elif not self._quiet:
                    emit(str(plan).rstrip())
                self.found.append((result, seconds))
        if not self._quiet:
            say((f"{label}: " if label else "") + summarise(result, seconds, file, self.valid))
        return accepted

    def _numbered(self, index: int) -> Path | None:
        return numbered_file(self._file, index) if self._file and index else self._file

    @cached_property
    def _validator(self) -> Validator:
        # Imported here: most plans are not validated.
        from planlog.validation import Validator

        # Comments of old benchmark files hold bytes that are not UTF-8.
        domain, task = (file.read_text("utf-8-sig", errors="replace") for file in self._pddl_files)
        return Validator(domain, task)


_REASONS = {
    Outcome.NO_ACTION: "the policy derives no action here",
    Outcome.CYCLE: "the policy leads back to states already seen, with no way out",
    Outcome.STEP_LIMIT: "step limit reached",
    Outcome.TIME_LIMIT: "time limit reached",
    Outcome.MEMORY_LIMIT: "memory limit reached",
    Outcome.INTERRUPTED: "interrupted",
}


def summarise(
    result: PlanResult, seconds: float, plan_file: Path | None = None, valid: bool | None = None
) -> str:
    """Describe the outcome of an execution in one line."""
    if result.solved:
        length = counted(len(result.actions), "action")
        text = f"solved: {length}, cost {as_number(result.cost)}, {seconds:.2f} s"
        if valid is False:
            return f"{text}, NOT VALID (this is a bug in Planlog: please report it)"
        text += ", valid" if valid else ""
        return text + (f", plan in {plan_file}" if plan_file else "")
    goals = "" if result.goals_left is None else f", {counted(result.goals_left, 'goal')} left"
    steps = counted(result.steps, "step")
    return f"not solved: {_REASONS[result.outcome]}; {steps}{goals}, {seconds:.2f} s"


def exit_code(result: PlanResult, signals: Signals, valid: bool | None) -> int:
    """Return the exit code of an execution; an invalid plan is a bug of Planlog."""
    if valid is False:
        return ExitCode.CRITICAL
    if result.outcome is Outcome.INTERRUPTED:
        return signals.exit_code
    return {
        Outcome.SOLVED: ExitCode.SUCCESS,
        Outcome.TIME_LIMIT: ExitCode.TIME_LIMIT,
        Outcome.MEMORY_LIMIT: ExitCode.MEMORY_LIMIT,
    }.get(result.outcome, ExitCode.NO_PLAN)
