"""The clock of an exact method."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import Any

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

    def solution(self, status: Status, **values: Any) -> Solution:
        """Return a solution with these values and the time used so far."""
        cpu_seconds = time.process_time() - self._cpu_start
        return Solution(status, seconds=self.seconds, cpu_seconds=cpu_seconds, **values)

    def solved(self, best: TimedPlan, lower_bound: int) -> Solution:
        """Return the solution with this plan, which is optimal if the bound equals its length."""
        optimal = len(best.actions) == lower_bound
        return self.solution(
            Status.SOLVED,
            plans=(best,),
            optimal=optimal,
            lower_bound=lower_bound,
            message="" if optimal else "optimality was not proved",
        )
