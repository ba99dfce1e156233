"""Records of an experiment, ordered by domain, task and planner."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from planlog.experiment.records import Family, Record
from planlog.report.metrics import Measures, TaskRuns, measure
from planlog.report.planners import Planner, rank

Key = TypeVar("Key")

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
    ordered = sorted(records, key=_order)
    last = {(r.domain, r.split, r.task, r.planner, r.seed): r for r in ordered}.values()
    runs = [record for record in last if record.task]
    rule_seeds = frozenset(run.seed for run in runs if run.family is Family.RULES)
    tasks = [
        TaskRuns(*place, grouped(own, lambda run: run.planner), rule_seeds)
        for place, own in grouped(runs, lambda run: (run.domain, run.split, run.task)).items()
    ]
    planners = map(Planner.of, grouped(last, lambda record: record.planner).values())
    domains = tuple(sorted({record.domain for record in last}))
    return Comparison(
        domains,
        tuple(sorted(planners, key=lambda planner: planner.order)),
        {d: tuple(task for task in tasks if task.domain == d) for d in domains},
        {d: tuple(r for r in last if r.domain == d and not r.task) for d in domains},
        len(ordered) - len(last),
    )


def grouped(records: Iterable[Record], key: Callable[[Record], Key]) -> dict[Key, list[Record]]:
    """Return the records by key, in their order."""
    groups: dict[Key, list[Record]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups


def _order(record: Record) -> tuple[Any, ...]:
    seed = -1 if record.seed is None else record.seed
    task = difficulty(record.split, record.task)
    return record.domain, *task, record.planner, seed, record.started, record.run


def difficulty(split: str, task: str) -> tuple[Any, ...]:
    """Return a sort key of tasks: the split, then the numbers in the name."""
    parts = re.split(r"(\d+)", task)  # alternates text and numbers
    return rank(split, SPLITS), [int(p) if i % 2 else p for i, p in enumerate(parts)], task
