"""The clock of an exact method."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable

from planlog.experiment.baselines.solution import Solution, TimedPlan
from planlog.experiment.records import Status
from planlog.pddl.task import Action


class Clock:
    """Measures the time since its creation, and makes solutions with it."""

    def __init__(self, limit: float | None) -> None:
        self._start = time.monotonic()
        self._cpu_start = time.process_time()
        self._limit = math.inf if limit is None else limit

    @property
    def seconds(self) -> float:
        """Wall-clock seconds since the start."""
        return time.monotonic() - self._start

    @property
    def left(self) -> float:
        """Seconds until the limit; infinite without a limit, never negative."""
        return max(0.0, self._limit - self.seconds)

    def plan(self, actions: Iterable[Action]) -> TimedPlan:
        """Return a plan that was found now."""
        return TimedPlan(tuple(actions), self.seconds)

    def solved(self, best: TimedPlan, lower_bound: int) -> Solution:
        """Return the solution with this plan, which is optimal if the bound equals its length."""
        optimal = len(best.actions) == lower_bound
        message = "" if optimal else "optimality was not proved"
        return self._solution(Status.SOLVED, (best,), optimal, lower_bound, message)

    def unsolvable(self, reason: str) -> Solution:
        """Return the solution of a task without a plan."""
        return self._solution(Status.UNSOLVABLE, message=reason)

    def no_plan(self, lower_bound: int) -> Solution:
        """Return the solution of a task for which no plan was found in time."""
        return self._solution(Status.NO_PLAN, lower_bound=lower_bound)

    def _solution(
        self,
        status: Status,
        plans: tuple[TimedPlan, ...] = (),
        optimal: bool = False,
        lower_bound: int | None = None,
        message: str = "",
    ) -> Solution:
        cpu_seconds = time.process_time() - self._cpu_start
        return Solution(
            status, plans, optimal, lower_bound, message, self.seconds, cpu_seconds=cpu_seconds
        )
