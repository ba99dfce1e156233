"""Progress on the standard error: a bar on a terminal, lines now and then elsewhere, or a trace."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Self

from planlog.cli.console import say
from planlog.cli.formatting import counted, duration
from planlog.costs import cost_text
from planlog.policy.walk import MANY_ACTIONS
from planlog.printable import printable

if TYPE_CHECKING:
    from planlog.checking import Stage
    from planlog.cli.signals import Signals
    from planlog.experiment.jobs import Job
    from planlog.experiment.records import Record
    from planlog.learning.learn import Stage as LearningStage
    from planlog.learning.trainer import Progress as Epoch
    from planlog.pddl.task import Action, Task
    from planlog.policy.execution import Observer, PlanResult
    from planlog.policy.walk import Walk


class _Progress:
    """A bar that disappears at the end; without a terminal a line every `LINE_SECONDS`.

    Work that ends within the first interval prints no line.
    """

    LINE_SECONDS = math.inf

    def __init__(self, text: str = "", *, total: int | None = None) -> None:
        self.is_terminal = sys.stderr.isatty()
        self._next_line = time.monotonic() + self.LINE_SECONDS
        self._has_lines = False
        if self.is_terminal:
            # Importing rich takes longer than solving a small task, so only a drawn bar does.
            from rich import progress
            from rich.console import Console

            text_column = progress.TextColumn("{task.description}", markup=False)
            columns = (progress.BarColumn(), text_column, progress.TimeElapsedColumn())
            console = Console(stderr=True)
            self._bar = progress.Progress(*columns, console=console, transient=True)
            self._line = self._bar.add_task(text, total=total)

    def __enter__(self) -> Self:
        if self.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.is_terminal:
            self._bar.stop()

    def show(self, text: str, *, begins: bool = False, **bar: Any) -> None:
        """Show a text beside the bar, or as a line if the last line was long ago.

        After the first line, a stage that `begins` has a line of its own.
        """
        if self.is_terminal:
            self._bar.update(self._line, description=printable(text), **bar)
        elif time.monotonic() >= self._next_line or (begins and self._has_lines):
            self._has_lines = True
            self._next_line = time.monotonic() + self.LINE_SECONDS
            say(text)


class ExecutionProgress(_Progress):
    """A bar of the goals that an execution has achieved."""

    def __init__(self) -> None:
        super().__init__("step 0")
        self._next_update = 0.0
        self._total = 0

    @property
    def observer(self) -> Observer | None:
        """Function to call before each step."""
        return self._update if self.is_terminal else None

    def _update(self, walk: Walk, action: Action) -> None:
        # Drawing takes much longer than a step, so it happens a few times a second.
        now = time.monotonic()
        if now < self._next_update:
            return
        self._next_update = now + 0.1
        left = walk.goals_left
        self._total = max(left, self._total)
        text = f"step {walk.steps}, {counted(left, 'goal')} left"
        self.show(text, total=self._total, completed=self._total - left)

    def on_search(self, states: int) -> None:
        """Show the number of states of a search."""
        now = time.monotonic()
        if self.is_terminal and now >= self._next_update:
            self._next_update = now + 0.1
            self.show(f"searching: {counted(states, 'state')}")


class ImproveProgress(_Progress):
    """The best cost that a search for better plans has found."""

    LINE_SECONDS = 10.0

    def __init__(self, seconds: float | None, *, quiet: bool = False) -> None:
        super().__init__("improving the plan")
        self._limit = "" if seconds is None else f" of {duration(seconds)}"
        self._quiet = quiet
        self._best = "no better plan yet"
        self._done = threading.Event()
        self._start = time.monotonic()

    def __enter__(self) -> Self:
        if not self.is_terminal and not self._quiet:
            # The search runs in the core until it finds a better plan, so a thread reports.
            threading.Thread(target=self._report, daemon=True).start()
        return super().__enter__()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        super().__exit__()

    def on_plan(self, plan: PlanResult) -> None:
        """Show a better plan."""
        self._best = f"best cost {cost_text(plan.cost)}"
        if self.is_terminal:
            self.show(f"improving the plan: {self._best}")

    def _report(self) -> None:
        while not self._done.wait(self.LINE_SECONDS):
            say(f"improving: {self._best}, {duration(time.monotonic() - self._start)}{self._limit}")


class CheckProgress(_Progress):
    """A bar of the tasks checked."""

    def __init__(self, tasks: int) -> None:
        super().__init__(total=tasks)
        self._tasks = tasks
        self._done = 0
        self._states: dict[tuple[int, Stage], int] = {}

    def on_progress(self, task: Task, stage: Stage, number: int) -> None:
        """Show the number of states that a thread has seen of a task."""
        if stage.name in ("WHOLE", "REACHED"):
            self._states[id(task), stage] = number
            self._update()

    def done(self, tasks: int) -> None:
        """Show the number of tasks that are checked."""
        self._done = tasks
        self._update()

    def _update(self) -> None:
        states = counted(sum(self._states.copy().values()), "state")
        text = f"{self._done:,} of {counted(self._tasks, 'task')}, {states}"
        self.show(text, completed=self._done)


class TrainingProgress(_Progress):
    """Stages of a training, and its epochs."""

    LINE_SECONDS = 10.0

    def __init__(self, signals: Signals) -> None:
        super().__init__()
        self._signals = signals
        self._stage: LearningStage | None = None

    def on_stage(self, stage: LearningStage, states: int) -> None:
        """Show a stage before the training begins, and the number of its states."""
        self.show(f"{stage.value}: {states:,} states", begins=stage is not self._stage)
        self._stage = stage

    def on_epoch(self, done: Epoch) -> None:
        """Show an epoch, and end the training if a signal has arrived."""
        self._signals.keep_result()
        text = f"epoch {done.epoch} of {done.epochs}: loss {done.loss:.4g}, "
        text += f"accuracy {done.accuracy:.1%}"
        begins = self._stage is not None
        self._stage = None
        self.show(text, begins=begins, total=done.epochs, completed=done.epoch)
        self._signals.check()


class RunsProgress(_Progress):
    """Finished runs of an experiment, and an estimate of the time that is left."""

    LINE_SECONDS = 30.0

    def __init__(self, jobs: Sequence[Job], done: Collection[str], processors: int) -> None:
        self._left = Counter(self._kind(job) for job in jobs if job.run not in done)
        self._all, self._done = len(jobs), len(jobs) - self._left.total()
        self._failed = 0
        self._processors = processors
        self._runs: Counter[tuple[bool, str]] = Counter()  # of each kind
        self._seconds: defaultdict[tuple[bool, str], float] = defaultdict(float)  # of all these
        super().__init__(self._text(), total=self._all)

    def on_record(self, job: Job, record: Record) -> None:
        """Show a finished run."""
        kind = self._kind(job)
        self._left[kind] -= 1
        self._done += 1
        self._failed += record.status.name in ("FAILED", "INVALID")
        self._runs[kind] += 1
        self._seconds[kind] += record.seconds
        self.show(self._text(), completed=self._done)

    def _text(self) -> str:
        text = f"{self._done:,} of {self._all:,} runs"
        if self._failed:
            text += f", {self._failed:,} failed"
        left = self._seconds_left()
        return text if left is None else f"{text}, {duration(left)} left"

    @staticmethod
    def _kind(job: Job) -> tuple[bool, str]:
        """Return the kind of a run; runs of one kind take about equally long."""
        return job.trains, job.planner

    def _seconds_left(self) -> float | None:
        """Estimate the remaining time; None while too little is known."""
        total = 0.0
        for kind, left in self._left.items():
            known = [kind] if self._runs[kind] else [k for k in self._runs if k[0] == kind[0]]
            runs = sum(self._runs[k] for k in known)
            if left and not runs:
                return None
            total += left * sum(self._seconds[k] for k in known) / max(1, runs)
        return total / self._processors


class Trace:
    """A trace of every step: the derived actions by rule, with scores, and the action taken."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def observer(self, walk: Walk, action: Action) -> None:
        """Print a step before it is taken."""
        if walk.action_count > MANY_ACTIONS:
            self._tell_counts(walk, action)
            return
        scores = walk.scores()
        derived: dict[str, list[str]] = {}
        for rule, derived_action in walk.explain():
            score = f"  {scores[derived_action]:.3f}" if scores else ""
            derived.setdefault(rule, []).append(f"{derived_action}{score}")
        lines = [
            f"step {walk.steps + 1}: {counted(walk.goals_left, 'goal')} left, "
            f"{counted(walk.action_count, 'action')} derived"
        ]
        for rule, actions in derived.items():
            lines += [f"  {rule}", *(f"      {name}" for name in actions)]
        say("\n".join([*lines, f"  takes {action}"]))

    def _tell_counts(self, walk: Walk, action: Action) -> None:
        """Print how many actions each rule derives, since nobody reads thousands of them."""
        lines = [f"step {walk.steps + 1}: {counted(walk.action_count, 'action')} derived"]
        for rule, number in walk.rule_counts().items():
            hint = "; 'any X' keeps one of equal ones" if number > MANY_ACTIONS else ""
            lines += [f"  {rule}", f"      {counted(number, 'action')}{hint}"] if number else []
        say("\n".join([*lines, f"  takes {action}"]))
