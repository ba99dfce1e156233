"""Measures of a planner on the tasks of a domain."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from planlog.experiment.records import Record, Status
from planlog.report.metrics.scores import NEAR, MeanStd, agility, npli, quality
from planlog.report.metrics.tasks import TaskRuns, cost_of, is_solved, length_of, seconds_to_plan


@dataclass(frozen=True)
class Eligibility:
    """Numbers of tasks eligible for NPLI, and of excluded ones by the first reason that applies."""

    tasks: int
    unknown_optimum: int
    unsolved_by_rules: int  # with some seed
    optimal_rules: int  # the mean length of the rules is optimal: nothing can be improved
    eligible: int

    @classmethod
    def of(cls, tasks: Collection[TaskRuns]) -> Eligibility:
        known = [task for task in tasks if task.optimal_length is not None]
        unsolved = sum(task.baseline is None for task in known)
        eligible = sum(map(is_eligible, tasks))
        optimal = len(known) - unsolved - eligible
        return cls(len(tasks), len(tasks) - len(known), unsolved, optimal, eligible)


def is_eligible(task: TaskRuns) -> bool:
    """Return whether NPLI is defined on the task."""
    if task.baseline is None or task.optimal_length is None:
        return False
    return abs(task.baseline - task.optimal_length) > NEAR


@dataclass(frozen=True)
class Measures:
    """A planner on some tasks; sums over tasks take the mean over the seeds of each task."""

    tasks: int  # tasks with a run
    runs: int
    solved: int  # runs with a plan
    statuses: Mapping[Status, int]  # numbers of runs
    coverage: float  # solved tasks
    quality: float  # IPC satisficing score: sum of C*/C
    agility: float  # IPC agile score
    npli: MeanStd | None  # over all pairs of eligible task and seed with a plan
    npli_unsolved: int  # pairs of eligible task and seed without a plan
    longer: int  # tasks on which the mean length exceeds that of the rules
    compared: int  # tasks that planner and rules solve with every seed
    seconds: float | None  # mean over runs with a plan
    most_seconds: float
    memory: float | None  # mean peak over runs with a plan, in bytes
    most_memory: int


def measure(tasks: Iterable[TaskRuns], planner: str) -> Measures:
    """Return the measures of a planner on those of the tasks that it was run on."""
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
        if is_eligible(task):
            assert task.baseline is not None and task.optimal_length is not None
            for run in plans:
                scores.append(npli(task.baseline, task.optimal_length, length_of(run)))
            unsolved += len(runs) - len(plans)
        if task.baseline is not None and len(plans) == len(runs):
            compared += 1
            longer += statistics.fmean(map(length_of, plans)) > task.baseline + NEAR
    seconds = [run.seconds for run in solved]
    memory = [run.memory for run in solved if run.memory]
    return Measures(
        tasks=len(done),
        runs=sum(len(runs) for _, runs in done),
        solved=len(solved),
        statuses=Counter(run.status for _, runs in done for run in runs),
        coverage=coverage,
        quality=qualities,
        agility=agilities,
        npli=MeanStd.of(scores),
        npli_unsolved=unsolved,
        longer=longer,
        compared=compared,
        seconds=statistics.fmean(seconds) if seconds else None,
        most_seconds=max(seconds, default=0.0),
        memory=statistics.fmean(memory) if memory else None,
        most_memory=max(memory, default=0),
    )
