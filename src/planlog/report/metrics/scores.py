"""Scores of single runs, and their means.

For a task, <BK> is the mean length of the plans of the rules alone, over their seeds, and x* the
length of an optimal plan. A plan of length x has

    PLI(x)  = 100 · (<BK> - x) / <BK>
    NPLI(x) = 100 · PLI(x) / PLI(x*) = 100 · (<BK> - x) / (<BK> - x*)

so NPLI is 0 for the mean of the rules and 100 for an optimal plan, which is its maximum.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

AGILE_SECONDS = 1800.0  # time limit of the IPC 2023 learning track
NEAR = 1e-9  # tolerance for costs, which are sums of floating-point numbers


def pli(baseline: float, length: float) -> float:
    """Return the plan-length improvement over the mean of the rules, in per cent."""
    return 100 * (baseline - length) / baseline


def npli(baseline: float, optimum: float, length: float) -> float:
    """Return the normalised plan-length improvement: 0 at the mean of the rules, 100 optimal."""
    return 100 * (baseline - length) / (baseline - optimum)


def quality(best: float, cost: float) -> float:
    """Return C*/C, the contribution of a plan to the IPC satisficing score."""
    return 1.0 if cost <= best + NEAR else best / cost


def agility(seconds: float) -> float:
    """Return the contribution of a run to the IPC agile score: 1 up to one second, then less."""
    return max(0.0, 1 - math.log(max(1.0, seconds)) / math.log(AGILE_SECONDS))


class MeanStd(NamedTuple):
    """Mean and population standard deviation."""

    mean: float
    std: float

    @classmethod
    def of(cls, values: Sequence[float]) -> MeanStd | None:
        """Return mean and standard deviation of values; None if there are none."""
        if not values:
            return None
        mean = statistics.fmean(values)
        return cls(mean, math.sqrt(statistics.fmean((value - mean) ** 2 for value in values)))
