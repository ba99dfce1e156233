"""Records of an experiment, ordered by domain, task and planner."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from planlog.experiment.records import Family, Record
from planlog.report.metrics import Measures, TaskRuns, measure
from planlog.report.planners import Planner, rank

SPLITS = ("training", "easy", "medium", "hard")  # in the order of difficulty


@dataclass(frozen=True)
class Comparison:
    """All records of an experiment in the order of a report."""

    domains: tuple[str, ...]
    planners: tuple[Planner, ...]
    tasks: Mapping[str, tuple[TaskRuns, ...]]  # by domain, from easy to difficult
    trainings: Mapping[str, tuple[Record, ...]]  # by domain
    replaced: int  # number of records that a later run of the same planner replaces

    @cached_property
    def measures(self) -> Mapping[tuple[str, str], Measures]:
        """The measures of each planner, by name, in each domain."""
        return {
            (planner.name, domain): measure(self.tasks[domain], planner.name, planner.seeds)
            for planner in self.planners
            for domain in self.domains
        }

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings of the trained networks; one empty name if none was trained."""
        trained = (planner.settings for planner in self.planners if planner.network is not None)
        return tuple(dict.fromkeys(trained)) or ("",)

    def with_settings(self, settings: str) -> list[Planner]:
        """Return the planners without those that were trained with other settings."""
        return [p for p in self.planners if p.network is None or p.settings == settings]

    @property
    def incomplete(self) -> set[str]:
        """Names of the planners that have not been run on every task with every seed."""
        return {name for (name, _), m in self.measures.items() if m.runs < m.expected}

    @property
    def records(self) -> Iterator[Record]:
        """All records that count."""
        for domain in self.domains:
            yield from self.trainings[domain]
            for task in self.tasks[domain]:
                yield from task.records

    @property
    def contradictions(self) -> list[TaskRuns]:
        """Tasks with a plan that is better than a proved lower bound."""
        return [task for tasks in self.tasks.values() for task in tasks if task.contradictory]


def compare(records: Iterable[Record]) -> Comparison:
    """Order records by domain, task and planner; their own order does not matter.

    If a planner has several records for a task and seed (with another limit, or after a file has
    changed), the last run counts.
    """
    runs: dict[tuple[str, str, str], dict[str, list[Record]]] = {}
    trainings: dict[str, list[Record]] = defaultdict(list)
    by_planner: dict[str, list[Record]] = defaultdict(list)
    rule_seeds = set()
    everything = sorted(records, key=_order)
    last = {(r.domain, r.split, r.task, r.planner, r.seed): r for r in everything}
    for record in last.values():
        by_planner[record.planner].append(record)
        if not record.task:
            trainings[record.domain].append(record)
            continue
        task = runs.setdefault((record.domain, record.split, record.task), {})
        task.setdefault(record.planner, []).append(record)
        if record.family is Family.RULES:
            rule_seeds.add(record.seed)
    tasks: dict[str, list[TaskRuns]] = defaultdict(list)
    for (domain, split, name), of_planners in runs.items():
        frozen = {planner: tuple(some) for planner, some in of_planners.items()}
        tasks[domain].append(TaskRuns(domain, split, name, frozen, frozenset(rule_seeds)))
    domains = tuple(sorted({*tasks, *trainings}))
    return Comparison(
        domains,
        tuple(sorted(map(Planner.of, by_planner.values()), key=lambda planner: planner.order)),
        {domain: tuple(tasks[domain]) for domain in domains},
        {domain: tuple(trainings[domain]) for domain in domains},
        len(everything) - len(last),
    )


def _order(record: Record) -> tuple[Any, ...]:
    seed = -1 if record.seed is None else record.seed
    task = difficulty(record.split, record.task)
    return record.domain, *task, record.planner, seed, record.started, record.run


def difficulty(split: str, task: str) -> tuple[Any, ...]:
    """Return a sort key of tasks: the split, then the numbers in the name."""
    parts = re.split(r"(\d+)", task)  # alternates text and numbers
    return rank(split, SPLITS), [int(p) if i % 2 else p for i, p in enumerate(parts)], task
