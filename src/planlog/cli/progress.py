"""Progress on the standard error: a bar on a terminal, lines now and then elsewhere, or a trace."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Self

from planlog.cli.console import say
from planlog.cli.formatting import as_number, duration, plural

if TYPE_CHECKING:
    from planlog.checking import Stage
    from planlog.experiment.jobs import Job
    from planlog.experiment.records import Record
    from planlog.learning.learn import Stage as LearningStage
    from planlog.learning.trainer import Progress as Epoch
    from planlog.pddl.task import Action, Task
    from planlog.policy.execution import Observer, PlanResult
    from planlog.policy.walk import Walk


class _Bar:
    """A bar of one line that disappears at the end, drawn only on a terminal.

    Columns are texts with rich's fields, or `bar`, `elapsed` and `remaining`.
    """

    def __init__(self, *columns: str, total: int | None, **fields: Any) -> None:
        self.is_terminal = sys.stderr.isatty()
        if not self.is_terminal:
            return
        # Importing rich takes longer than solving a small task, so only a drawn bar does.
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        special = {
            "bar": BarColumn,
            "elapsed": TimeElapsedColumn,
            "remaining": TimeRemainingColumn,
        }
        parts = [special[c]() if c in special else TextColumn(c) for c in columns]
        self._bar = Progress(*parts, console=Console(stderr=True), transient=True)
        self._line = self._bar.add_task("", total=total, **fields)

    def __enter__(self) -> Self:
        if self.is_terminal:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.is_terminal:
            self._bar.stop()

    def update(self, **fields: Any) -> None:
        """Change what the bar shows."""
        if self.is_terminal:
            self._bar.update(self._line, **fields)


class _Lines:
    """Lines of progress where no bar is drawn, one in so many seconds.

    Work that ends within the first interval prints none.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._next = time.monotonic() + seconds
        self._begun = False

    def say(self, text: str, *, now: bool = False) -> None:
        """Print the text if the last line was long ago, or `now` if there was a line before."""
        if time.monotonic() >= self._next or (now and self._begun):
            self._begun = True
            self._next = time.monotonic() + self._seconds
            say(text)


class ExecutionProgress(_Bar):
    """A bar of the goals that an execution has achieved."""

    def __init__(self) -> None:
        columns = ("step {task.fields[step]}", "bar", "{task.fields[left]} left", "elapsed")
        super().__init__(*columns, total=None, step=0, left="goals")
        self._next = 0.0
        self._total = 0

    @property
    def observer(self) -> Observer | None:
        """Function to call before each step."""
        return self._update if self.is_terminal else None

    def _update(self, walk: Walk, action: Action) -> None:
        # Drawing takes much longer than a step, so it happens a few times a second.
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + 0.1
        left = walk.goals_left
        self._total = max(left, self._total)
        self.update(
            total=self._total,
            completed=self._total - left,
            step=walk.steps,
            left=plural(left, "goal"),
        )


class ImproveProgress(_Bar):
    """The best cost that a search for better plans has found: a bar, or a line every 10 s."""

    LINE_SECONDS = 10.0

    def __init__(self, seconds: float | None, *, quiet: bool = False) -> None:
        what = "{task.fields[what]}"
        self._limit = seconds
        super().__init__("bar", what, "elapsed", total=None, what="improving the plan")
        self._quiet = quiet
        self._best = "no better plan yet"
        self._done = threading.Event()
        self._start = time.monotonic()

    def __enter__(self) -> Self:
        if not self.is_terminal and not self._quiet:
            # The search runs in the core until it finds a better plan, so a thread reports.
            self._thread = threading.Thread(target=self._report, daemon=True)
            self._thread.start()
        return super().__enter__()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        super().__exit__()

    def on_plan(self, plan: PlanResult) -> None:
        """Show a better plan."""
        self._best = f"best cost {as_number(plan.cost)}"
        self.update(what=f"improving the plan: {self._best}")

    def _report(self) -> None:
        while not self._done.wait(self.LINE_SECONDS):
            limit = "" if self._limit is None else f" of {duration(self._limit)}"
            say(f"improving: {self._best}, {duration(time.monotonic() - self._start)}{limit}")


class CheckProgress(_Bar):
    """A bar of the tasks checked."""

    def __init__(self, tasks: int) -> None:
        text = "{task.completed} of {task.total} tasks, {task.fields[states]:,} states"
        super().__init__("bar", text, "elapsed", total=tasks, states=0)
        self._states: dict[tuple[int, Stage], int] = {}

    def on_progress(self, task: Task, stage: Stage, number: int) -> None:
        """Show the number of states that a thread has seen of a task."""
        if stage.name in ("WHOLE", "REACHED"):
            self._states[id(task), stage] = number
            self.update(states=sum(self._states.copy().values()))

    def done(self, tasks: int) -> None:
        """Show the number of tasks that are checked."""
        self.update(completed=tasks)


class TrainingProgress(_Bar):
    """A bar of the epochs; without a terminal a line every 10 s and for each later stage."""

    LINE_SECONDS = 10.0

    def __init__(self) -> None:
        columns = ("bar", "{task.fields[what]}", "elapsed", "remaining")
        super().__init__(*columns, total=None, what="")
        self._lines = _Lines(self.LINE_SECONDS)
        self._stage: LearningStage | None = None

    def on_stage(self, stage: LearningStage, states: int) -> None:
        """Show a stage before the training begins, and the number of its states."""
        text = f"{stage.value}: {states:,} states"
        self.update(what=text)
        if not self.is_terminal:
            self._lines.say(text, now=stage is not self._stage)
            self._stage = stage

    def on_epoch(self, done: Epoch) -> None:
        """Show an epoch."""
        text = f"epoch {done.epoch}: loss {done.loss:.4g}, right in {done.accuracy:.1%}"
        self.update(total=done.epochs, completed=done.epoch, what=text)
        if not self.is_terminal:
            self._lines.say(f"{text}; {done.epochs} epochs", now=self._stage is not None)
            self._stage = None


class RunsProgress(_Bar):
    """A bar of the runs of an experiment; without a terminal a line every 30 s."""

    LINE_SECONDS = 30.0

    def __init__(self, jobs: Sequence[Job], done: Collection[str], processors: int) -> None:
        self._left = Counter(self._kind(job) for job in jobs if job.run not in done)
        self._all, self._done = len(jobs), len(jobs) - self._left.total()
        self._failed = 0
        self._processors = processors
        self._runs: Counter[tuple[bool, str]] = Counter()  # of each kind
        self._seconds: defaultdict[tuple[bool, str], float] = defaultdict(float)  # of all these
        self._lines = _Lines(self.LINE_SECONDS)
        what = "{task.fields[what]}"
        super().__init__("bar", what, "elapsed", total=self._all, what=self._text())

    def on_record(self, job: Job, record: Record) -> None:
        """Show a finished run."""
        kind = self._kind(job)
        self._left[kind] -= 1
        self._done += 1
        self._failed += record.status.name in ("FAILED", "INVALID")
        self._runs[kind] += 1
        self._seconds[kind] += record.seconds
        text = self._text()
        self.update(completed=self._done, what=text)
        if not self.is_terminal:
            self._lines.say(text)

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
        scores = walk.scores()
        derived: dict[str, list[str]] = {}
        for rule, derived_action in walk.explain():
            score = f"  {scores[derived_action]:.3f}" if scores else ""
            derived.setdefault(rule, []).append(f"{derived_action}{score}")
        lines = [
            f"step {walk.steps + 1}: {plural(walk.goals_left, 'goal')} left, "
            f"{plural(walk.action_count, 'action')} derived"
        ]
        for rule, actions in derived.items():
            lines += [f"  {rule}", *(f"      {name}" for name in actions)]
        say("\n".join([*lines, f"  takes {action}"]))
