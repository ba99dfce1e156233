"""Metrics of planners: plan length against the rules and the optimum, coverage, IPC scores.

For a task, <BK> is the mean length of the plans of the rules alone, over their seeds, and x* the
length of an optimal plan. If the task minimises cost, lengths are costs. A plan of length x has

    PLI(x)  = 100 · (<BK> - x) / <BK>
    NPLI(x) = 100 · PLI(x) / PLI(x*) = 100 · (<BK> - x) / (<BK> - x*)

so NPLI is 0 for the mean of the rules and 100 for an optimal plan, which is its maximum.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from planlog.costs import Cost
from planlog.experiment.records import Family, Record, Status

AGILE_SECONDS = 1800.0  # time limit of the IPC 2023 learning track
NEAR = 1e-9  # tolerance for mean costs


def pli(baseline: float, cost: float) -> float:
    """Return the plan-length improvement over the mean of the rules, in per cent."""
    return 100 * (baseline - cost) / baseline


def npli(baseline: float, optimum: float, cost: float) -> float:
    """Return the normalised plan-length improvement: 0 at the mean of the rules, 100 optimal."""
    return 100 * (baseline - cost) / (baseline - optimum)


def quality(best: Cost, cost: Cost) -> float:
    """Return C*/C, the contribution of a plan to the IPC satisficing score."""
    return 1.0 if cost <= best else float(best / cost)


def agility(seconds: float) -> float:
    """Return the contribution of a run to the IPC agile score: 1 up to one second, then less."""
    return max(0.0, 1 - math.log(max(1.0, seconds)) / math.log(AGILE_SECONDS))


def is_solved(run: Record) -> bool:
    """Return whether a run found a valid plan."""
    return run.status is Status.SOLVED and run.length is not None


def cost_of(run: Record) -> Cost:
    """Return the plan cost of a solved run: its length, unless the task minimises cost."""
    assert run.length is not None
    return run.length if run.cost is None else run.cost


def seconds_to_plan(run: Record) -> float:
    """Return the seconds until the first plan of a solved run."""
    return run.plans[0][1] if run.plans else run.seconds


class Exclusion(Enum):
    """Reason why NPLI is not defined on a task."""

    UNKNOWN_OPTIMUM = "optimum unknown"
    UNSOLVED_BY_RULES = "not solved by the rules with every seed"
    OPTIMAL_RULES = "rules already optimal"  # on average: nothing can be improved


@dataclass(frozen=True)
class TaskRuns:
    """All runs on a task, by planner and in the order of their seeds."""

    domain: str
    split: str
    task: str
    runs: Mapping[str, Sequence[Record]]
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
        return statistics.fmean(map(cost_of, rules)) if rules else None

    def mean_cost(self, planner: str) -> float | None:
        """Return the mean plan cost of a planner over the runs that found a plan."""
        costs = [cost_of(run) for run in self.runs.get(planner, ()) if is_solved(run)]
        return statistics.fmean(costs) if costs else None

    @cached_property
    def best(self) -> Cost | None:
        """The lowest cost of all plans."""
        return min(map(cost_of, self.solved), default=None)

    @cached_property
    def bound(self) -> Cost | None:
        """The highest proved lower bound on the cost of a plan; None if there is none."""
        proved = [run.lower_bound for run in self.records if run.lower_bound is not None]
        proved += [cost_of(run) for run in self.solved if run.optimal]
        return max(proved, default=None)

    @property
    def contradictory(self) -> bool:
        """Whether a plan costs less than a proved lower bound."""
        return self.best is not None and self.bound is not None and self.best < self.bound

    @cached_property
    def optimum(self) -> Cost | None:
        """x*, the cost of an optimal plan, if known."""
        return self.best if self.best == self.bound else None

    @cached_property
    def exclusion(self) -> Exclusion | None:
        """The first reason that excludes the task from NPLI; None if it counts."""
        if self.optimum is None:
            return Exclusion.UNKNOWN_OPTIMUM
        if self.baseline is None:
            return Exclusion.UNSOLVED_BY_RULES
        improvable = abs(self.baseline - float(self.optimum)) > NEAR
        return None if improvable else Exclusion.OPTIMAL_RULES


class Statistics(NamedTuple):
    """Mean, population standard deviation and maximum."""

    mean: float
    std: float
    max: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Statistics | None:
        """Return the statistics of values; None if there are none."""
        if not values:
            return None
        mean = statistics.fmean(values)
        variance = statistics.fmean((value - mean) ** 2 for value in values)
        return cls(mean, math.sqrt(variance), max(values))


@dataclass(frozen=True)
class Measures:
    """A planner on some tasks; sums over tasks take the mean over the seeds of each task."""

    runs: int
    expected: int  # runs with every seed on every task
    statuses: Mapping[Status, int]  # numbers of runs
    coverage: float  # solved tasks
    quality: float  # IPC satisficing score: sum of C*/C
    agility: float  # IPC agile score
    npli: Statistics | None  # over all pairs of task and seed with a plan, without excluded tasks
    npli_unsolved: int  # such pairs without a plan
    longer: int  # tasks on which the mean cost exceeds that of the rules
    compared: int  # tasks that planner and rules solve with every seed
    seconds: Statistics | None  # of runs with a plan
    memory: Statistics | None  # peak of runs with a plan, in bytes


def measure(tasks: Collection[TaskRuns], planner: str, seeds: int = 1) -> Measures:
    """Return the measures of a planner, by name, on those of the tasks that it was run on."""
    done = [(task, runs) for task in tasks if (runs := task.runs.get(planner))]
    solved: list[Record] = []
    scores: list[float] = []
    coverage = qualities = agilities = 0.0
    unsolved = longer = compared = 0
    for task, runs in done:
        plans = [run for run in runs if is_solved(run)]
        solved += plans
        coverage += len(plans) / len(runs)
        if task.best is not None:
            qualities += sum(quality(task.best, cost_of(run)) for run in plans) / len(runs)
        agilities += sum(agility(seconds_to_plan(run)) for run in plans) / len(runs)
        if task.exclusion is None:
            assert task.baseline is not None and task.optimum is not None
            for run in plans:
                scores.append(npli(task.baseline, float(task.optimum), float(cost_of(run))))
            unsolved += len(runs) - len(plans)
        if task.baseline is not None and len(plans) == len(runs):
            compared += 1
            longer += statistics.fmean(map(cost_of, plans)) > task.baseline + NEAR
    return Measures(
        runs=sum(len(runs) for _, runs in done),
        expected=len(tasks) * seeds,
        statuses=Counter(run.status for _, runs in done for run in runs),
        coverage=coverage,
        quality=qualities,
        agility=agilities,
        npli=Statistics.of(scores),
        npli_unsolved=unsolved,
        longer=longer,
        compared=compared,
        seconds=Statistics.of([run.seconds for run in solved]),
        memory=Statistics.of([run.memory for run in solved if run.memory]),
    )
