"""What is measured of a planner on the tasks of a domain."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from planlog.experiment.records import Record, Status
from planlog.report.metrics.scores import NEAR, Spread, agility, npli, quality
from planlog.report.metrics.tasks import TaskRuns, cost_of, is_solved, length_of, seconds_to_plan


@dataclass(frozen=True)
class Grounds:
    """Which tasks NPLI is taken over, and why not over the others (the first reason counts)."""

    tasks: int
    unknown_optimum: int
    unsolved_by_rules: int  # with some seed
    optimal_rules: int  # the rules' mean length is optimal: there is nothing to improve
    used: int

    @classmethod
    def of(cls, tasks: Collection[TaskRuns]) -> Grounds:
        unknown = sum(task.optimal_length is None for task in tasks)
        rest = [task for task in tasks if task.optimal_length is not None]
        unsolved = sum(task.baseline is None for task in rest)
        used = sum(map(is_ground, tasks))
        return cls(len(tasks), unknown, unsolved, len(rest) - unsolved - used, used)


def is_ground(task: TaskRuns) -> bool:
    """Whether NPLI is defined on the task."""
    known = task.baseline is not None and task.optimal_length is not None
    return known and abs(task.baseline - task.optimal_length) > NEAR  # type: ignore[operator]


@dataclass(frozen=True)
class Measures:
    """A planner on some tasks; what is counted by tasks is a mean over the seeds on each."""

    tasks: int  # that it has been run on
    runs: int
    solved: int  # of the runs
    statuses: Mapping[Status, int]  # of the runs
    coverage: float  # tasks solved
    quality: float  # IPC satisficing score: sum of C*/C over the tasks
    agility: float  # IPC agile score
    npli: Spread | None  # over all (task, seed) where it is defined and there is a plan
    npli_unsolved: int  # (task, seed) where it is defined, but there is no plan
    longer: int  # tasks where its mean length is above that of the rules
    compared: int  # tasks that both solve with every seed
    seconds: Spread | None  # of the runs that found a plan
    most_seconds: float
    memory: float | None  # mean of the most bytes of runs that found a plan
    most_memory: int


def measure(tasks: Iterable[TaskRuns], planner: str) -> Measures:
    """How a planner does on these tasks; those that it was not run on take no part."""
    done = [(task, runs) for task in tasks if (runs := task.runs.get(planner))]
    statuses: dict[Status, int] = defaultdict(int)
    solved: list[Record] = []
    scores: list[float] = []
    coverage = qualities = agilities = 0.0
    unsolved = longer = compared = 0
    for task, runs in done:
        plans = [run for run in runs if is_solved(run)]
        solved += plans
        for run in runs:
            statuses[run.status] += 1
        coverage += len(plans) / len(runs)
        if task.best is not None:
            qualities += sum(quality(task.best, cost_of(run)) for run in plans) / len(runs)
        agilities += sum(agility(seconds_to_plan(run)) for run in plans) / len(runs)
        if is_ground(task):
            assert task.baseline is not None and task.optimal_length is not None
            for run in plans:
                scores.append(npli(task.baseline, task.optimal_length, length_of(run)))
            unsolved += len(runs) - len(plans)
        if task.baseline is not None and len(plans) == len(runs):
            compared += 1
            longer += statistics.fmean(map(length_of, plans)) > task.baseline + NEAR
    memory = [run.memory for run in solved if run.memory]
    return Measures(
        tasks=len(done),
        runs=sum(len(runs) for _, runs in done),
        solved=len(solved),
        statuses=dict(statuses),
        coverage=coverage,
        quality=qualities,
        agility=agilities,
        npli=Spread.of(scores),
        npli_unsolved=unsolved,
        longer=longer,
        compared=compared,
        seconds=Spread.of([run.seconds for run in solved]),
        most_seconds=max((run.seconds for run in solved), default=0.0),
        memory=statistics.fmean(memory) if memory else None,
        most_memory=max(memory, default=0),
    )
