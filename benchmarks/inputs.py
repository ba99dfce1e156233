"""What all measurements share: how much to measure, the tasks, and the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from planlog import domains
from planlog.pddl.task import Domain
from planlog.policy.policy import Policy

LARGEST = {
    "blocksworld": {"blocks": 488},
    "ferry": {"cars": 974, "locations": 487},
    "satellite": {"satellites": 99, "instruments": 195, "modes": 10, "directions": 98},
    "rover": {"rovers": 30, "waypoints": 190, "cameras": 95, "objectives": 190},
}


@dataclass(frozen=True)
class Sizes:
    """How much to measure."""

    repetitions: int
    read_sizes: dict[str, int]  # of the Rover task to read
    read_characters: int  # that it has at least
    blocks: int
    plan_part: float  # of the largest sizes, for whole plans
    growth_parts: tuple[float, ...]
    states: int  # that a state space has at most
    sample: int  # states on which NeuraLogic is measured
    sample_epochs: int
    training: str  # settings of `planlog train`
    models: tuple[str, ...]  # domains to train a model for
    score_sizes: dict[str, dict[str, int]]  # of the tasks in which steps are scored


FULL = Sizes(
    repetitions=7,
    read_sizes={"rovers": 30, "waypoints": 300, "cameras": 95, "objectives": 300},
    read_characters=3_000_000,
    blocks=150,
    plan_part=1,
    growth_parts=(1 / 8, 1 / 4, 1 / 2, 1),
    states=10_000,
    # With fewer, more of it stays in the processor's caches than with all states.
    sample=4000,
    sample_epochs=12,
    training="default",
    models=domains.names(),
    score_sizes={
        "blocksworld": {"blocks": 150},
        "ferry": {"cars": 97, "locations": 49},
        "satellite": {"satellites": 40, "instruments": 78, "modes": 5, "directions": 30},
    },
)
QUICK = Sizes(
    repetitions=1,
    read_sizes={"rovers": 2, "waypoints": 10, "cameras": 2, "objectives": 10},
    read_characters=0,
    blocks=8,
    plan_part=0.02,
    growth_parts=(0.01, 0.03),
    states=100,
    sample=3,
    sample_epochs=2,
    training="small",
    models=("ferry",),
    score_sizes={"blocksworld": {"blocks": 8}, "ferry": {"cars": 3, "locations": 3}},
)


def best(repetitions: int, *sides: Callable[[], float]) -> list[float]:
    """The least number of seconds that each side reports, over repetitions in turns."""
    rounds = [[side() for side in sides] for _ in range(repetitions)]
    return [min(times) for times in zip(*rounds, strict=True)]


def timed(function: Callable[[], object]) -> Callable[[], float]:
    """The function as one that reports how many seconds it took."""

    def run() -> float:
        start = time.thread_time()
        function()
        return time.thread_time() - start

    return run


def setting(name: str) -> tuple[Domain, Policy]:
    """A shipped domain and its policy."""
    domain = Domain.read(domains.path(name) / "domain.pddl")
    return domain, Policy.read(domains.policy_path(name), domain)


def generated(name: str, sizes: dict[str, int], seed: int) -> str:
    return next(domains.generate(name, seed=seed, sizes=sizes))[1]


def largest_generated(name: str, sizes: dict[str, int]) -> str:
    """The longest of some tasks of these sizes, since they differ in what they hold and want."""
    return max((generated(name, sizes, seed) for seed in range(5)), key=len)


def part_of(name: str, part: float) -> dict[str, int]:
    minimum = {size.name: size.minimum for size in domains.parameters(name)}
    return {size: max(minimum[size], round(value * part)) for size, value in LARGEST[name].items()}


def described(name: str, sizes: dict[str, int]) -> str:
    return f"{name}: " + ", ".join(f"{number} {what}" for what, number in sizes.items())
