"""What is shown during the work, on the standard error: a bar on a terminal, or a trace."""

from __future__ import annotations

import sys
import time
from types import TracebackType
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

from planlog.cli.wording import plural

if TYPE_CHECKING:
    from planlog.check import Stage
    from planlog.execution import Observer
    from planlog.learn import Stage as LearningStage
    from planlog.policy import Walk
    from planlog.task import Action, Task
    from planlog.training import Progress as Epoch


class _Shown:
    """Something to look at from the beginning of the work to its end."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
