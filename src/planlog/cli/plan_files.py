"""Numbered plan files NAME, NAME.1, NAME.2, …, each with a better plan than the last."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from click.exceptions import Exit

from planlog.cli.console import emit, say
from planlog.cli.exit_codes import ExitCode
from planlog.cli.formatting import counted
from planlog.cli.signals import Signals
from planlog.costs import cost_text
from planlog.errors import PddlError
from planlog.files import (
    OutputError,
    explain,
    read_input_text,
    save_elsewhere,
    write_atomically,
)
from planlog.policy.execution import Outcome, PlanResult

if TYPE_CHECKING:
    from planlog.validation import Validator


LONGEST = ".99999"  # ending of a numbered file; there are fewer in any run


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


def delete_older(files: Iterable[Path]) -> None:
    """Delete files of an earlier run, once the first file of this run is in their place."""
    for file in files:
        try:
            if file.is_file():  # a device such as /dev/stdout stays
                file.unlink()
        except OSError as error:
            say(f"note: a file of an earlier run stays: {explain(error)}")


class PlanManager:
    """Validate, report and write the plans of one task, each better than the last.

    Plans go to FILE, FILE.1, FILE.2, …, which are never seen unfinished, or without a file to the
    standard output. A plan that cannot be written to its file goes to the standard output too.
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
        series: bool = False,
    ) -> None:
        """Without `quiet`, report plans; a `series` replaces that of an earlier run."""
        self.found: list[tuple[PlanResult, float]] = []  # with the seconds since the start
        self.file: Path | None = None  # of the best plan, if it is in a file
        self.valid: bool | None = None  # the validator's verdict on the last plan, if it was asked
        self._pddl_files = domain_file, task_file
        self._file = file
        self._start = start
        self._signals = signals
        self._quiet = quiet
        self._series = series
        self._written = 0

    @property
    def best(self) -> PlanResult | None:
        """The last plan, which is the best."""
        return self.found[-1][0] if self.found else None

    @property
    def is_unwritten(self) -> bool:
        """Whether the best plan is not in the file that it was meant for."""
        return self._file is not None and self.best is not None and self.file is None

    def add(self, result: PlanResult, label: str = "", *, validate: bool = True) -> bool:
        """Write a plan unless the validator rejects it; return whether it was accepted.

        A signal or a limit ends the validation. Without a verdict, the plan is written all the
        same.
        """
        plan = result.plan
        assert plan is not None
        self.valid = None
        try:
            if validate and not self._signals.received:
                with self._signals.interruptible():
                    self.valid = self._verdict(str(plan))
        finally:
            self._deliver(result, str(plan), label)
        return self.valid is not False

    def _deliver(self, result: PlanResult, text: str, label: str) -> None:
        """Write a plan that the validator does not reject, and report it."""
        seconds = time.monotonic() - self._start
        accepted = self.valid is not False
        if accepted:
            with self._signals.shield():
                self.file = self._write(text)
                self.found.append((result, seconds))
        if not self._quiet:
            file = self.file if accepted else None
            say((f"{label}: " if label else "") + summarise(result, seconds, file, self.valid))

    def _write(self, text: str) -> Path | None:
        """Write a plan to the next file; return None if it went to the standard output."""
        if self._file is not None:
            file = numbered_file(self._file, self._written) if self._written else self._file
            try:
                write_atomically(file, text)
            except OutputError as error:
                where = "in the JSON object" if self._quiet else "on the standard output"
                say(f"planlog: {explain(error)}; the plan is {where}")
            else:
                self._written += 1
                if self._series and self._written == 1:
                    older = numbered_files(file)
                    delete_older(older[number] for number in sorted(older, reverse=True))
                return file
        if not self._quiet:
            self._print(text)
        return None

    def _print(self, text: str) -> None:
        try:
            emit(text.rstrip())
        except Exit as end:
            is_told = end.exit_code != ExitCode.BROKEN_PIPE  # nobody wants the rest otherwise
            if is_told and (saved := save_elsewhere(text.encode(), ".plan")):
                say(f"planlog: the plan is saved in {saved}")
            raise

    def _verdict(self, plan: str) -> bool | None:
        """Return whether the validator accepts a plan; None if it cannot read the task."""
        return None if self._validator is None else self._validator.replay(plan).valid

    @cached_property
    def _validator(self) -> Validator | None:
        # Imported here: most plans are not validated.
        from planlog.validation import Validator

        domain, task = map(read_input_text, self._pddl_files)  # what the planner has read
        domain_file, task_file = map(str, self._pddl_files)
        try:
            return Validator(domain, task, names=(domain_file, task_file))
        except PddlError as error:
            # The plan was found, so it is kept.
            say(f"warning: plans are not validated, as the validator cannot read the task\n{error}")
            return None


_REASONS = {
    Outcome.NO_ACTION: "the policy derives no action here",
    Outcome.NO_PLAN: "no plan inside the rules",
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
        text = f"solved: {length}, cost {cost_text(result.cost)}, {seconds:.2f} s"
        if valid is False:
            return f"{text}, NOT VALID (this is a bug in Planlog: please report it)"
        text += ", valid" if valid else ""
        return text + (f", plan in {plan_file}" if plan_file else "")
    if result.searched_states is not None:
        states = f"{counted(result.searched_states, 'state')} searched"
        reason = _REASONS[result.outcome]
        if result.outcome is Outcome.NO_PLAN:
            reason += ": they reach no goal"
        return f"not solved: {reason}; {states}, {seconds:.2f} s"
    goals = "" if result.goals_left is None else f", {counted(result.goals_left, 'goal')} left"
    steps = counted(result.steps, "step")
    return f"not solved: {_REASONS[result.outcome]}; {steps}{goals}, {seconds:.2f} s"


def before_search(result: PlanResult, *, has_rules: bool) -> str:
    """Say why a search follows an execution."""
    if not has_rules:
        return "note: without rules, this is a search among all applicable actions"
    where = "a dead end" if result.outcome is Outcome.NO_ACTION else "a circle"
    steps = counted(result.steps, "step")
    return f"note: the policy runs into {where} after {steps}: searching inside the rules"


def exit_code(result: PlanResult, signals: Signals, plans: PlanManager) -> int:
    """Return the exit code of an execution; an invalid plan is a bug of Planlog."""
    if plans.valid is False:
        return ExitCode.CRITICAL
    if plans.is_unwritten:
        return ExitCode.OUTPUT
    if result.outcome is Outcome.INTERRUPTED:
        return signals.exit_code
    return {
        Outcome.SOLVED: ExitCode.SUCCESS,
        Outcome.TIME_LIMIT: ExitCode.TIME_LIMIT,
        Outcome.MEMORY_LIMIT: ExitCode.MEMORY_LIMIT,
    }.get(result.outcome, ExitCode.NO_PLAN)
