"""What a planner or an exact method says of a task."""

from __future__ import annotations

from dataclasses import dataclass

from planlog.results import Status
from planlog.task import Action


@dataclass(frozen=True)
class Found:
    """A plan, and the seconds after which it was there."""

    actions: tuple[Action, ...]
    seconds: float


@dataclass(frozen=True)
class Solution:
    """How it ended, and all plans on the way; nothing in here has been validated yet."""

    status: Status
    plans: tuple[Found, ...] = ()  # each better than the one before
    optimal: bool = False  # no plan is better than the last one
    lower_bound: int | None = None  # no plan has fewer actions
    message: str = ""
    seconds: float = 0.0
    cpu_seconds: float = 0.0  # of the whole process tree
    memory: int = 0  # most bytes resident at once, of the whole process tree
    version: str = ""
