"""Records of an experiment, ordered by domain, task and planner."""

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

SPLITS = ("training", "easy", "medium", "hard")  # in the order of difficulty


@dataclass(frozen=True)
class Planner:
    """A planner or policy with its configuration, as its records describe it."""

    name: str
    family: Family
    program: str = ""  # name without settings and time limit, such as lama or shipped
    settings: str = ""  # of the training; empty if nothing was trained
    network: tuple[int, int] | None = None  # layers and width of the trained network
    seconds: float | None = None  # time limit of a search for better plans
    eliminates: bool = False  # redundant actions
    proves: bool = False  # every plan that it returns is proved optimal
    seeds: int = 1  # number of seeds in the records

    @property
    def postprocesses(self) -> bool:
        """Whether it changes the plans of a policy, by action elimination or by search."""
        return self.seconds is not None or self.eliminates


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
            (planner.name, domain): measure(self.tasks[domain], planner.name)
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

    def expected_runs(self, planner: Planner, domain: str) -> int:
        """Return the number of runs when every seed has been run on every task of a domain."""
        return len(self.tasks[domain]) * planner.seeds

    @property
    def incomplete(self) -> list[Planner]:
        """Planners that have not been run on every task with every seed."""
        return [
            planner
            for planner in self.planners
            if any(
                self.measures[planner.name, domain].runs < self.expected_runs(planner, domain)
                for domain in self.domains
            )
        ]

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
    last = {_place(record): record for record in everything}
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
        tuple(sorted(map(_planner, by_planner.values()), key=_planner_order)),
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
    """Return a sort key of tasks: the split, then the numbers in the name."""
    parts = re.split(r"(\d+)", task)  # alternates text and numbers
    return _rank(split, SPLITS), [int(p) if i % 2 else p for i, p in enumerate(parts)], task


def _planner(records: Sequence[Record]) -> Planner:
    """Return the planner of some records; `details` of old or foreign records may be missing."""
    described = (record.details.get("configuration") for record in records)
    values: Mapping[str, Any] = next((d for d in described if isinstance(d, dict)), {})
    name, family = records[0].planner, records[0].family
    program = "shipped" if values.get("kind") == "shipped" else str(values.get("planner", name))
    layers, width = values.get("layers"), values.get("width")
    seconds = values.get("seconds")
    solved = [run for run in records if is_solved(run)]
    proved = bool(solved) and all(run.optimal for run in solved)
    return Planner(
        name,
        family,
        program,
        settings=str(values.get("settings", "")),
        network=None if layers is None or width is None else (int(layers), int(width)),
        seconds=None if seconds is None else float(seconds),
        eliminates=bool(values.get("eliminate")),
        proves=family is Family.EXACT
        or (family is Family.PLANNER and (proved or program in _OPTIMAL)),
        seeds=len({record.seed for record in records}),
    )


_FAMILIES = (Family.RULES, Family.SEARCH, Family.PLANNER, Family.LEARNED, Family.EXACT)
_SETTINGS = ("paper", "default")
_OPTIMAL = ("scorpion", "lmcut", "symk")
_PLANNERS = ("lama-first", "lama", *_OPTIMAL)


def _planner_order(planner: Planner) -> tuple[Any, ...]:
    """Return a sort key: rules, planners, learned policies, then optimal planners."""
    return (
        planner.proves,
        _FAMILIES.index(planner.family),
        planner.network is None,
        _rank(planner.settings, _SETTINGS),
        planner.seconds or 0.0,
        planner.network or (),
        _rank(planner.program, _PLANNERS),
        planner.name,
    )


def _rank(name: str, known: Sequence[str]) -> tuple[int, str]:
    """Return a sort key: known names in their order, then others alphabetically."""
    return (known.index(name) if name in known else len(known), name)
