"""Results of the benchmarks: each compares a measurement with a requirement, and is a table row."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

# Time per step may grow this much more than the number of derived actions: the data of larger
# tasks exceed one cache of the processor after the other.
CACHE_EFFECT = 1.5


def verdict(met: bool) -> str:
    return "[green]yes" if met else "[bold red]no"


def duration(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} µs"


def report(results: Sequence[Any], *, as_json: bool, may_fail: bool) -> int:
    """Print results of the classes below, one table for each, and return the exit code."""
    kinds = {result.NAME: [r for r in results if r.NAME == result.NAME] for result in results}
    if as_json:
        found: dict[str, Any] = {"python": platform.python_version(), "machine": platform.machine()}
        for name, group in kinds.items():
            found[name] = [{**asdict(result), "met": result.met} for result in group]
        for ratio in found.get("ratios", []):
            ratio["ratio"] = ratio["other"] / ratio["ours"]
        print(json.dumps(found, indent=2))
    else:
        console = Console(width=None if sys.stdout.isatty() else 140)
        for group in kinds.values():
            table = Table(*group[0].COLUMNS)
            for result in group:
                table.add_row(*result.row())
            console.print(table)
    return 0 if may_fail or all(result.met for result in results) else 1


@dataclass(frozen=True)
class Ratio:
    """Seconds of Planlog and of another implementation for the same work."""

    NAME = "ratios"
    COLUMNS = ("what", "Planlog", "other", "", "times as fast", "required", "met")

    what: str
    ours: float
    other: float
    other_name: str
    required: float | None  # at least this many times as fast; None: for information

    @property
    def ratio(self) -> float:
        return self.other / self.ours

    @property
    def met(self) -> bool:
        return self.required is None or self.ratio >= self.required

    def row(self) -> tuple[str, ...]:
        required = ("", "") if self.required is None else (f"{self.required:g}", verdict(self.met))
        times = duration(self.ours), duration(self.other)
        return (self.what, *times, self.other_name, f"{self.ratio:.1f}", *required)


@dataclass(frozen=True)
class Quantity:
    """A quantity, and how large it may be."""

    NAME = "quantities"
    COLUMNS = ("what", "Planlog", "allowed", "unit", "met")

    what: str
    value: float
    allowed: float
    unit: str

    @property
    def met(self) -> bool:
        return self.value <= self.allowed

    def row(self) -> tuple[str, ...]:
        return self.what, f"{self.value:.0f}", f"{self.allowed:.0f}", self.unit, verdict(self.met)


@dataclass(frozen=True)
class Budget:
    """Seconds that some work takes, and the seconds that it may take."""

    NAME = "budgets"
    COLUMNS = ("what", "Planlog", "allowed", "met")

    what: str
    seconds: float
    allowed: float

    @property
    def met(self) -> bool:
        return self.seconds <= self.allowed

    def row(self) -> tuple[str, ...]:
        return self.what, duration(self.seconds), duration(self.allowed), verdict(self.met)


@dataclass(frozen=True)
class Process:
    """Time and memory of a command of Planlog from start to end, and what is allowed."""

    NAME = "processes"
    COLUMNS = ("from the command line", "outcome", "steps", "s", "MB", "allowed", "met")

    what: str
    outcome: str
    expected: str  # outcome
    steps: int  # actions of the plan, or epochs
    seconds: float  # with the start of Python
    megabytes: float  # peak
    allowed_seconds: float
    allowed_megabytes: float

    @property
    def met(self) -> bool:
        return (
            self.outcome == self.expected
            and self.seconds < self.allowed_seconds
            and self.megabytes < self.allowed_megabytes
        )

    def row(self) -> tuple[str, ...]:
        allowed = f"{self.allowed_seconds} s, {self.allowed_megabytes} MB"
        used = f"{self.seconds:.2f}", f"{self.megabytes:.0f}"
        return self.what, self.outcome, str(self.steps), *used, allowed, verdict(self.met)


@dataclass(frozen=True)
class StepCost:
    """Time of a step of a whole plan, beside the mean number of derived actions."""

    NAME = "steps"
    COLUMNS = ("domain", "sizes", "objects", "steps", "derived actions", "µs/step", "µs/action")

    domain: str
    sizes: str
    objects: int
    steps: int
    actions: float
    microseconds: float
    met = True

    def row(self) -> tuple[str, ...]:
        return (
            self.domain,
            self.sizes,
            str(self.objects),
            str(self.steps),
            f"{self.actions:.1f}",
            f"{self.microseconds:.1f}",
            f"{self.microseconds / self.actions:.2f}",
        )


@dataclass(frozen=True)
class Growth:
    """Factors by which derived actions and time of a step grow from the smallest task on."""

    NAME = "growth"
    COLUMNS = ("smallest to largest", "derived actions", "time per step", "grows no faster")

    domain: str
    time: float
    actions: float

    @property
    def met(self) -> bool:
        return self.time <= CACHE_EFFECT * max(1.0, self.actions)

    def row(self) -> tuple[str, ...]:
        return self.domain, f"× {self.actions:.1f}", f"× {self.time:.1f}", verdict(self.met)
