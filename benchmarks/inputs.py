"""Inputs of all measurements: sizes, tasks and the clock."""

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
    """Sizes of the measurements."""

    repetitions: int
    read_sizes: dict[str, int]  # of the Rover task to read
    read_characters: int  # minimum of its text
    blocks: int
    plan_part: float  # of the largest sizes
    growth_parts: tuple[float, ...]
    states: int  # maximum of a state space
    sample: int  # states on which NeuraLogic is measured
    sample_epochs: int
    training: str  # settings of `planlog train`
    models: tuple[str, ...]  # domains to train a model for
    score_sizes: dict[str, dict[str, int]]  # of the tasks for steps with a learned policy
    places: int  # of a road graph with four times as many one-way roads
    grid: int  # cells along each side
    group: int  # elements of an aggregate


FULL = Sizes(
    repetitions=7,
    read_sizes={"rovers": 30, "waypoints": 300, "cameras": 95, "objectives": 300},
    read_characters=3_000_000,
    blocks=150,
    plan_part=1,
    growth_parts=(1 / 8, 1 / 4, 1 / 2, 1),
    states=10_000,
    # A smaller sample would fit into the caches of the processor, unlike all states.
    sample=4000,
    sample_epochs=12,
    training="default",
    models=domains.names(),
    score_sizes={
        "blocksworld": {"blocks": 150},
        "ferry": {"cars": 97, "locations": 49},
        "satellite": {"satellites": 40, "instruments": 78, "modes": 5, "directions": 30},
    },
    places=500,
    grid=50,
    group=1000,
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
    places=20,
    grid=4,
    group=10,
)


def best(repetitions: int, *sides: Callable[[], float]) -> list[float]:
    """Run all sides in turns, and return the fewest seconds that each reports."""
    rounds = [[side() for side in sides] for _ in range(repetitions)]
    return [min(times) for times in zip(*rounds, strict=True)]


def timed(function: Callable[[], object]) -> Callable[[], float]:
    """Return a function that calls this one and returns its CPU seconds."""

    def run() -> float:
        start = time.thread_time()
        function()
        return time.thread_time() - start

    return run


def setting(name: str) -> tuple[Domain, Policy]:
    """Return a shipped domain and its policy."""
    domain = Domain.read(domains.path(name) / "domain.pddl")
    return domain, Policy.read(domains.policy_path(name), domain)


def generated(name: str, sizes: dict[str, int], seed: int) -> str:
    return next(domains.generate(name, seed=seed, sizes=sizes))[1]


def largest_generated(name: str, sizes: dict[str, int]) -> str:
    """Return the longest of five tasks of these sizes; their goals differ in size."""
    return max((generated(name, sizes, seed) for seed in range(5)), key=len)


def part_of(name: str, part: float) -> dict[str, int]:
    minimum = {size.name: size.minimum for size in domains.parameters(name)}
    return {size: max(minimum[size], round(value * part)) for size, value in LARGEST[name].items()}


def described(name: str, sizes: dict[str, int]) -> str:
    return f"{name}: " + ", ".join(f"{number} {what}" for what, number in sizes.items())
