"""Scores of single runs, and their means.

For a task, <BK> is the mean length of the plans that the rules alone find, over their seeds, and
x* the length of an optimal plan. A plan of length x improves on the rules by

    PLI(x)  = 100 · (<BK> - x) / <BK>
    NPLI(x) = 100 · PLI(x) / PLI(x*) = 100 · (<BK> - x) / (<BK> - x*)

so NPLI is 0 for the rules' mean and 100 for an optimal plan, and no plan has more.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

AGILE_SECONDS = 1800.0  # the time limit of the learning track of 2023
NEAR = 1e-9  # costs are sums of floating-point numbers


def pli(baseline: float, length: float) -> float:
    """How much shorter than the rules' mean length a plan is, in per cent of it."""
    return 100 * (baseline - length) / baseline


def npli(baseline: float, optimum: float, length: float) -> float:
    """How much of the way from the rules' mean length to the optimum a plan goes, in per cent."""
    return 100 * (baseline - length) / (baseline - optimum)


def quality(best: float, cost: float | None) -> float:
    """The share C*/C of a plan in the IPC satisficing score; 0 without a plan."""
    if cost is None:
        return 0.0
    return 1.0 if cost <= best + NEAR else best / cost


def agility(seconds: float | None) -> float:
    """The share of a run in the IPC agile score: 1 up to a second, then less with its logarithm."""
    if seconds is None:
        return 0.0
    return max(0.0, 1 - math.log(max(1.0, seconds)) / math.log(AGILE_SECONDS))


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation of some values; the deviation of just these values (divided by
    their number, not by one less)."""

    mean: float
    deviation: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread | None:
        """None if there are none."""
        if not values:
            return None
        mean = statistics.fmean(values)
        variance = statistics.fmean((value - mean) ** 2 for value in values)
        return cls(mean, math.sqrt(variance), len(values))
