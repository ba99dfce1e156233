"""What the speed benchmark finds, and whether that is what is required."""

from __future__ import annotations

from dataclasses import dataclass

# Time per step may grow this much more than the number of derived actions: what grows with
# the task leaves the processor's caches one after the other.
CACHE_EFFECT = 1.5


@dataclass(frozen=True)
class Ratio:
    """Seconds that Planlog takes for something, and those of something else."""

    what: str
    ours: float
    other: float
    other_name: str
    required: float | None  # at least this many times as fast; None: only for information

    @property
    def ratio(self) -> float:
        return self.other / self.ours

    @property
    def met(self) -> bool:
        return self.required is None or self.ratio >= self.required


@dataclass(frozen=True)
class Budget:
    """Seconds that something takes, and how many it may."""

    what: str
    seconds: float
    allowed: float

    @property
    def met(self) -> bool:
        return self.seconds <= self.allowed


@dataclass(frozen=True)
class Process:
    """What a command of Planlog takes from start to end, and what it may."""

    what: str
    outcome: str
    expected: str  # outcome
    steps: int  # actions of the plan, or epochs
    seconds: float  # with the start of Python
    megabytes: float  # at the peak
    allowed_seconds: float
    allowed_megabytes: float

    @property
    def met(self) -> bool:
        return (
            self.outcome == self.expected
            and self.seconds < self.allowed_seconds
            and self.megabytes < self.allowed_megabytes
        )


@dataclass(frozen=True)
class StepCost:
    """What a step of a whole plan costs, beside the mean number of actions that are derived."""

    domain: str
    sizes: str
    objects: int
    steps: int
    actions: float
    microseconds: float


@dataclass(frozen=True)
class Growth:
    """How many times as much a step takes in the largest task as in the smallest."""

    domain: str
    time: float
    actions: float

    @property
    def met(self) -> bool:
        return self.time <= CACHE_EFFECT * max(1.0, self.actions)
