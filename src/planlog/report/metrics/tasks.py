"""All runs on a task, and the bounds that follow from them together."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from planlog.experiment.records import Family, Record, Status
from planlog.report.metrics.scores import NEAR


@dataclass(frozen=True)
class TaskRuns:
    """All runs on a task, by planner and in the order of their seeds."""

    domain: str
    split: str
    task: str
    runs: Mapping[str, tuple[Record, ...]]
    rule_seeds: frozenset[int | None]  # seeds of the rules in this experiment

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """The runs of all planners."""
        return tuple(run for runs in self.runs.values() for run in runs)

    @cached_property
    def solved(self) -> tuple[Record, ...]:
        """The runs that found a plan."""
        return tuple(filter(is_solved, self.records))

    @cached_property
    def objects(self) -> int | None:
        """The number of objects of the task."""
        return next((run.objects for run in self.records if run.objects is not None), None)

    @cached_property
    def baseline(self) -> float | None:
        """<BK>; None unless the rules found a plan with every seed."""
        rules = [run for run in self.records if run.family is Family.RULES]
        if {run.seed for run in rules} != self.rule_seeds or not all(map(is_solved, rules)):
            return None
        return statistics.fmean(map(length_of, rules)) if rules else None

    @cached_property
    def best(self) -> float | None:
        """The lowest cost of all plans."""
        return min(map(cost_of, self.solved), default=None)

    @cached_property
    def bound(self) -> float:
        """The highest proved lower bound on the cost of a plan."""
        proved = [run.lower_bound for run in self.records if run.lower_bound is not None]
        proved += [cost_of(run) for run in self.solved if run.optimal]
        return max(proved, default=-math.inf)

    @property
    def contradictory(self) -> bool:
        """Whether a plan costs less than a proved lower bound."""
        return self.best is not None and self.best < self.bound - NEAR

    @cached_property
    def optimum(self) -> float | None:
        """The cost of an optimal plan, if known."""
        proved = self.best is not None and abs(self.best - self.bound) <= NEAR
        return self.best if proved else None

    @cached_property
    def optimal_length(self) -> float | None:
        """x*; unknown with other action costs than 1, where an optimal plan need not be short."""
        unit_cost = all(cost_of(run) == length_of(run) for run in self.solved)
        return self.optimum if unit_cost else None


def is_solved(run: Record) -> bool:
    """Return whether a run found a valid plan."""
    return run.status is Status.SOLVED and run.length is not None


def length_of(run: Record) -> int:
    """Return the plan length of a solved run."""
    assert run.length is not None
    return run.length


def cost_of(run: Record) -> float:
    """Return the plan cost of a solved run."""
    return length_of(run) if run.cost is None else run.cost


def seconds_to_plan(run: Record) -> float:
    """Return the seconds until the first plan of a solved run."""
    return run.plans[0][1] if run.plans else run.seconds
