"""All runs on a task, and what they say of it together."""

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
    """All runs on a task, by planner and in the order of their seeds, and what they say of it."""

    domain: str
    split: str
    task: str
    runs: Mapping[str, tuple[Record, ...]]
    rule_seeds: frozenset[int | None]  # with which the rules are run in this experiment

    @cached_property
    def solved(self) -> tuple[Record, ...]:
        """The runs that have found a plan."""
        return tuple(run for runs in self.runs.values() for run in runs if is_solved(run))

    @cached_property
    def objects(self) -> int | None:
        """The number of the task's objects."""
        known = (run.objects for runs in self.runs.values() for run in runs)
        return next((number for number in known if number is not None), None)

    @cached_property
    def baseline(self) -> float | None:
        """<BK>; None unless the rules have found a plan with every seed."""
        rules = [r for runs in self.runs.values() for r in runs if r.family is Family.RULES]
        if {run.seed for run in rules} != self.rule_seeds or not all(map(is_solved, rules)):
            return None
        return statistics.fmean(length_of(run) for run in rules) if rules else None

    @cached_property
    def best(self) -> float | None:
        """The least cost of all plans."""
        return min(map(cost_of, self.solved), default=None)

    @cached_property
    def bound(self) -> float:
        """The greatest cost that is proved to be no more than that of any plan."""
        bounds = (r.lower_bound for runs in self.runs.values() for r in runs)
        proved = [bound for bound in bounds if bound is not None]
        proved += [cost_of(run) for run in self.solved if run.optimal]
        return max(proved, default=-math.inf)

    @property
    def contradictory(self) -> bool:
        """A plan costs less than what was proved to be the least."""
        return self.best is not None and self.best < self.bound - NEAR

    @cached_property
    def optimum(self) -> float | None:
        """The cost of an optimal plan, if it is known."""
        proved = self.best is not None and abs(self.best - self.bound) <= NEAR
        return self.best if proved else None

    @cached_property
    def optimal_length(self) -> float | None:
        """x*; where actions do not all cost 1, an optimal plan need not be a shortest one."""
        unit_cost = all(cost_of(run) == length_of(run) for run in self.solved)
        return self.optimum if unit_cost else None


def is_solved(run: Record) -> bool:
    """Whether a plan was found (and is valid)."""
    return run.status is Status.SOLVED and run.length is not None


def length_of(run: Record) -> int:
    """Actions of the plan of a solved run."""
    assert run.length is not None
    return run.length


def cost_of(run: Record) -> float:
    """Cost of the plan of a solved run."""
    return length_of(run) if run.cost is None else run.cost


def seconds_to_plan(run: Record) -> float:
    """Seconds until a solved run had its first plan."""
    return run.plans[0][1] if run.plans else run.seconds
