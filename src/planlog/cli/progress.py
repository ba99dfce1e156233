"""What is shown during the work, on the standard error: a bar on a terminal, or a trace."""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bar

from planlog.cli.exits import say
from planlog.cli.wording import duration, plural

if TYPE_CHECKING:
    from planlog.check import Stage
    from planlog.execution import Observer
    from planlog.experiment.jobs import Job
    from planlog.learn import Stage as LearningStage
    from planlog.policy import Walk
    from planlog.results import Record
    from planlog.task import Action, Task
    from planlog.training import Progress as Epoch


class _Shown:
    """Something to look at from the beginning of the work to its end."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class _BarShown(_Shown):
    """A bar of one line, which goes when the work ends; nothing at all when this is no terminal."""

    def __init__(self, *columns: ProgressColumn, total: int | None, **fields: Any) -> None:
        console = Console(stderr=True)
        self.is_terminal = console.is_terminal
        self._bar = Bar(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._line = self._bar.add_task("", total=total, **fields)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()


class Progress(_BarShown):
    """A bar of the goals achieved."""

    def __init__(self) -> None:
        super().__init__(
            TextColumn("step {task.fields[step]}"),
            BarColumn(),
            TextColumn("{task.fields[left]} left"),
            TimeElapsedColumn(),
            total=None,
            step=0,
            left="goals",
        )
        self._next = 0.0

    @property
    def observer(self) -> Observer | None:
        """To be called before each step."""
        return self._update if self.is_terminal else None

    def _update(self, walk: Walk, action: Action) -> None:
        # Drawing takes much longer than a step, so it is done a few times a second.
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + 0.1
        left = walk.goals_left
        task = self._bar.tasks[0]
        total = max(left, task.total or 0)
        self._bar.update(
            self._line,
            total=total,
            completed=total - left,
            step=walk.steps,
            left=plural(left, "goal"),
        )


class TasksProgress(_BarShown):
    """A bar of the tasks checked."""

    def __init__(self, tasks: int) -> None:
        super().__init__(
            BarColumn(),
            TextColumn("{task.completed} of {task.total} tasks, {task.fields[states]:,} states"),
            TimeElapsedColumn(),
            total=tasks,
            states=0,
        )
        self._states: dict[tuple[int, Stage], int] = {}

    def on_progress(self, task: Task, stage: Stage, number: int) -> None:
        """For a thread that has so far seen this number of states of a task."""
        if stage.name in ("WHOLE", "REACHED"):
            self._states[id(task), stage] = number
            self._bar.update(self._line, states=sum(self._states.copy().values()))

    def done(self, tasks: int) -> None:
        self._bar.update(self._line, completed=tasks)


class TrainingProgress(_BarShown):
    """A bar of the epochs."""

    def __init__(self) -> None:
        super().__init__(
            BarColumn(),
            TextColumn("{task.fields[what]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            total=None,
            what="",
        )

    def on_stage(self, stage: LearningStage, states: int) -> None:
        """Before the training begins."""
        self._bar.update(self._line, what=f"{stage.value}: {states:,} states")

    def on_epoch(self, done: Epoch) -> None:
        """After each epoch."""
        self._bar.update(
            self._line,
            total=done.epochs,
            completed=done.epoch,
            what=f"epoch {done.epoch}: loss {done.loss:.4g}, right in {done.accuracy:.1%}",
        )


class RunsProgress(_BarShown):
    """A bar of the runs of an experiment; lines now and then where there is no terminal."""

    LINE_SECONDS = 30.0

    def __init__(self, jobs: Sequence[Job], done: Collection[str], processors: int) -> None:
        self._left = Counter(self._kind(job) for job in jobs if job.run not in done)
        self._all, self._done = len(jobs), len(jobs) - self._left.total()
        self._failed = 0
        self._processors = processors
        self._runs: Counter[tuple[bool, str]] = Counter()  # of each kind
        self._seconds: defaultdict[tuple[bool, str], float] = defaultdict(float)  # of all these
        self._next = time.monotonic() + self.LINE_SECONDS
        super().__init__(
            BarColumn(),
            TextColumn("{task.fields[what]}"),
            TimeElapsedColumn(),
            total=self._all,
            what=self._text(),
        )

    def on_record(self, job: Job, record: Record) -> None:
        """After each run."""
        kind = self._kind(job)
        self._left[kind] -= 1
        self._done += 1
        self._failed += record.status.name in ("FAILED", "INVALID")
        self._runs[kind] += 1
        self._seconds[kind] += record.seconds
        text = self._text()
        self._bar.update(self._line, completed=self._done, what=text)
        if not self.is_terminal and (now := time.monotonic()) >= self._next:
            self._next = now + self.LINE_SECONDS
            say(text)

    def _text(self) -> str:
        text = f"{self._done:,} of {self._all:,} runs"
        if self._failed:
            text += f", {self._failed:,} failed"
        left = self._seconds_left()
        return text if left is None else f"{text}, {duration(left)} left"

    @staticmethod
    def _kind(job: Job) -> tuple[bool, str]:
        """Runs that probably take about as long."""
        return job.trains, job.planner

    def _seconds_left(self) -> float | None:
        """As if all runs of a kind took equally long; None as long as too little is known."""
        total = 0.0
        for kind, left in self._left.items():
            known = [kind] if self._runs[kind] else [k for k in self._runs if k[0] == kind[0]]
            runs = sum(self._runs[k] for k in known)
            if left and not runs:
                return None
            total += left * sum(self._seconds[k] for k in known) / max(1, runs)
        return total / self._processors


class Trace(_Shown):
    """Every step with the actions that the policy derives, by the rules that derive them."""

    observer: Observer

    def __init__(self) -> None:
        self.observer = self._print

    def _print(self, walk: Walk, action: Action) -> None:
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
        print("\n".join(lines), f"  takes {action}", sep="\n", file=sys.stderr)
