"""Results of planners and exact methods on one task."""

from __future__ import annotations

from dataclasses import dataclass

from planlog.experiment.records import Status
from planlog.pddl.task import Action


@dataclass(frozen=True)
class TimedPlan:
    """A plan, and the seconds from the start of the run until it was found."""

    actions: tuple[Action, ...]
    seconds: float


@dataclass(frozen=True)
class Solution:
    """The outcome of a run with all plans found on the way, none of which is validated yet."""

    status: Status
    plans: tuple[TimedPlan, ...] = ()  # each better than the one before
    optimal: bool = False  # no plan is better than the last one
    lower_bound: int | None = None  # on the number of actions
    message: str = ""
    seconds: float = 0.0  # wall-clock
    cpu_seconds: float = 0.0  # of the whole process tree
    memory: int = 0  # peak resident bytes of the whole process tree
    version: str = ""
