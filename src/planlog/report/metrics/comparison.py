"""Records of an experiment, put in order by domain, task and planner."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from planlog.experiment.records import Family, Record
from planlog.report.metrics.measures import Measures, measure
from planlog.report.metrics.tasks import TaskRuns, is_solved

SPLITS = ("training", "easy", "medium", "hard")  # in the order of their difficulty


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

    @property
    def seconds(self) -> float | None:
        """For how long it goes on improving its plans; None if it does not."""
        seconds = self.configuration.get("seconds")
        return None if seconds is None else float(seconds)

    @property
    def reworks(self) -> bool:
        """Whether it changes a policy's plans: eliminates actions, or improves them."""
        return self.seconds is not None or bool(self.configuration.get("eliminate"))


@dataclass(frozen=True)
class Comparison:
    """All records of an experiment in the order in which they are told of."""

    domains: tuple[str, ...]
    planners: tuple[Planner, ...]
    tasks: Mapping[str, tuple[TaskRuns, ...]]  # of each domain, from easy to difficult
    trainings: Mapping[str, tuple[Record, ...]]  # of each domain
    replaced: int  # records that are left out, since a later run has done the same

    @cached_property
    def measures(self) -> Mapping[tuple[str, str], Measures]:
        """Of each planner, by its name, in each domain."""
        return {
            (planner.name, domain): measure(self.tasks[domain], planner.name)
            for planner in self.planners
            for domain in self.domains
        }

    @property
    def records(self) -> Iterator[Record]:
        """All that count."""
        for domain in self.domains:
            yield from self.trainings[domain]
            for task in self.tasks[domain]:
                for runs in task.runs.values():
                    yield from runs

    @property
    def contradictions(self) -> list[TaskRuns]:
        """Tasks with a plan that is better than one that was said to be optimal."""
        return [task for tasks in self.tasks.values() for task in tasks if task.contradictory]


def compare(records: Iterable[Record]) -> Comparison:
    """Order records by domain, task and planner; their own order does not matter.

    Where a planner has been run with a seed on a task more than once (with another limit, or after
    a file was changed), the last run counts.
    """
    runs: dict[tuple[str, str, str], dict[str, list[Record]]] = {}
    trainings: dict[str, list[Record]] = defaultdict(list)
    samples: dict[str, list[Record]] = defaultdict(list)  # of each planner
    seeds = set()
    everything = sorted(records, key=_order)
    last = {_place(record): record for record in everything}
    for record in last.values():
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
        len(everything) - len(last),
    )


def _place(record: Record) -> tuple[Any, ...]:
    return record.domain, record.split, record.task, record.planner, record.seed


def _order(record: Record) -> tuple[Any, ...]:
    seed = -1 if record.seed is None else record.seed
    task = difficulty(record.split, record.task)
    return record.domain, *task, record.planner, seed, record.started, record.run


def difficulty(split: str, task: str) -> tuple[Any, ...]:
    """Orders tasks: by split, then by the numbers in their names."""
    parts = re.split(r"(\d+)", task)  # texts and numbers in turn
    return _rank(split, SPLITS), [int(p) if i % 2 else p for i, p in enumerate(parts)], task


def _planner(records: Sequence[Record]) -> Planner:
    """A planner by its records (one or more)."""
    described = (record.details.get("configuration") for record in records)
    configuration: Mapping[str, Any] = next((d for d in described if isinstance(d, dict)), {})
    solved = [run for run in records if is_solved(run)]
    family = records[0].family
    name = records[0].planner
    proves = family is Family.EXACT
    if family is Family.PLANNER:
        proved = bool(solved) and all(run.optimal for run in solved)
        proves = proved or configuration.get("planner", name) in _OPTIMAL
    return Planner(name, family, configuration, proves)


_FAMILIES = (Family.RULES, Family.SEARCH, Family.PLANNER, Family.LEARNED, Family.EXACT)
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
        planner.seconds or 0.0,
        planner.network or (),
        _rank(str(planner.configuration.get("planner", planner.name)), _PLANNERS),
        planner.name,
    )


def _rank(name: str, known: Sequence[str]) -> tuple[int, str]:
    """Known names in their order, then the others in that of the alphabet."""
    return (known.index(name) if name in known else len(known), name)
