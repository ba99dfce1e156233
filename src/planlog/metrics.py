"""What records of runs say of planners: how their plans compare with the rules and the optimum.

For a task, <BK> is the mean length of the plans that the rules alone find, over their seeds, and
x* the length of an optimal plan. A plan of length x improves on the rules by

    PLI(x)  = 100 · (<BK> - x) / <BK>
    NPLI(x) = 100 · PLI(x) / PLI(x*) = 100 · (<BK> - x) / (<BK> - x*)

so NPLI is 0 for the rules' mean and 100 for an optimal plan, and no plan has more.
"""

from __future__ import annotations

import math
import re
import statistics
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from planlog.results import Family, Record, Status

SPLITS = ("training", "easy", "medium", "hard")  # in the order of their difficulty
AGILE_SECONDS = 1800.0  # the time limit of the learning track of 2023
_NEAR = 1e-9  # costs are sums of floating-point numbers


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
    return 1.0 if cost <= best + _NEAR else best / cost


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


@dataclass(frozen=True)
class Planner:
    """Something that makes plans, as the records call it, and how it was configured."""

    name: str
    family: Family
    configuration: Mapping[str, Any]
    proves: bool = False  # it finds only plans that it has proved optimal

    @property
    def settings(self) -> str:
        """The name of the training's settings; empty where nothing was trained."""
        return str(self.configuration.get("settings", ""))

    @property
    def network(self) -> tuple[int, int] | None:
        """Layers and width of the network that was trained."""
        layers, width = self.configuration.get("layers"), self.configuration.get("width")
        return (int(layers), int(width)) if layers is not None and width is not None else None


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
        return self.best is not None and self.best < self.bound - _NEAR

    @cached_property
    def optimum(self) -> float | None:
        """The cost of an optimal plan, if it is known."""
        proved = self.best is not None and abs(self.best - self.bound) <= _NEAR
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


@dataclass(frozen=True)
class Comparison:
    """All records of an experiment in the order in which they are told of."""

    domains: tuple[str, ...]
    planners: tuple[Planner, ...]
    tasks: Mapping[str, tuple[TaskRuns, ...]]  # of each domain, from easy to difficult
    trainings: Mapping[str, tuple[Record, ...]]  # of each domain

    @cached_property
    def measures(self) -> Mapping[tuple[str, str], Measures]:
        """Of each planner, by its name, in each domain."""
        return {
            (planner.name, domain): measure(self.tasks[domain], planner.name)
            for planner in self.planners
            for domain in self.domains
        }

    @property
    def contradictions(self) -> list[TaskRuns]:
        """Tasks with a plan that is better than one that was said to be optimal."""
        return [task for tasks in self.tasks.values() for task in tasks if task.contradictory]


def compare(records: Iterable[Record]) -> Comparison:
    """Order records by domain, task and planner; their own order does not matter."""
    runs: dict[tuple[str, str, str], dict[str, list[Record]]] = {}
    trainings: dict[str, list[Record]] = defaultdict(list)
    samples: dict[str, list[Record]] = defaultdict(list)  # of each planner
    seeds = set()
    for record in sorted(records, key=_order):
        samples[record.planner].append(record)
        if not record.task:
            trainings[record.domain].append(record)
            continue
        task = runs.setdefault((record.domain, record.split, record.task), {})
        task.setdefault(record.planner, []).append(record)
        if record.family is Family.RULES:
            seeds.add(record.seed)
    tasks: dict[str, list[TaskRuns]] = defaultdict(list)
    for (domain, split, name), by_planner in runs.items():
        frozen = {planner: tuple(some) for planner, some in by_planner.items()}
        tasks[domain].append(TaskRuns(domain, split, name, frozen, frozenset(seeds)))
    domains = tuple(sorted({*tasks, *trainings}))
    return Comparison(
        domains,
        tuple(sorted(map(_planner, samples.values()), key=_planner_order)),
        {domain: tuple(tasks[domain]) for domain in domains},
        {domain: tuple(trainings[domain]) for domain in domains},
    )


def _order(record: Record) -> tuple[Any, ...]:
    seed = -1 if record.seed is None else record.seed
    return (record.domain, *difficulty(record.split, record.task), record.planner, seed, record.run)


def difficulty(split: str, task: str) -> tuple[Any, ...]:
    """Orders tasks: by split, then by the numbers in their names."""
    parts = re.split(r"(\d+)", task)  # texts and numbers in turn
    return _rank(split, SPLITS), [int(p) if i % 2 else p for i, p in enumerate(parts)], task


def _planner(records: Sequence[Record]) -> Planner:
    """A planner by its records (one or more)."""
    described = (record.details.get("configuration") for record in records)
    configuration: Mapping[str, Any] = next(filter(None, described), {})
    solved = [run for run in records if is_solved(run)]
    family = records[0].family
    name = records[0].planner
    proves = family is Family.EXACT
    if family is Family.PLANNER:
        proved = bool(solved) and all(run.optimal for run in solved)
        proves = proved or configuration.get("planner", name) in _OPTIMAL
    return Planner(name, family, configuration, proves)


_FAMILIES = (Family.RULES, Family.PLANNER, Family.LEARNED, Family.EXACT)
_SETTINGS = ("paper", "default")
_OPTIMAL = ("scorpion", "lmcut", "symk")
_PLANNERS = ("lama-first", "lama", *_OPTIMAL)


def _planner_order(planner: Planner) -> tuple[Any, ...]:
    """Rules, planners, learned policies (as in the paper first), those that prove optimality."""
    return (
        planner.proves,
        _FAMILIES.index(planner.family),
        planner.network is None,
        _rank(planner.settings, _SETTINGS),
        planner.network or (),
        _rank(str(planner.configuration.get("planner", planner.name)), _PLANNERS),
        planner.name,
    )


def _rank(name: str, known: Sequence[str]) -> tuple[int, str]:
    """Known names in their order, then the others in that of the alphabet."""
    return (known.index(name) if name in known else len(known), name)


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
    return known and abs(task.baseline - task.optimal_length) > _NEAR  # type: ignore[operator]


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
            longer += statistics.fmean(map(length_of, plans)) > task.baseline + _NEAR
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
