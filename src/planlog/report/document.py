"""What a report says, in the order in which it says it, in no format yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from planlog.experiment.records import Record, Status
from planlog.report import tables
from planlog.report.figure import Figure
from planlog.report.figures import all_figures
from planlog.report.metrics import Comparison
from planlog.report.naming import (
    domain_label,
    duration,
    full_label,
    plural,
)
from planlog.report.published import TRAINING_SECONDS
from planlog.report.table import Cell, Table


@dataclass(frozen=True)
class Listing:
    """Lines of text as they are, such as messages of programs."""

    lines: tuple[str, ...]


Item = str | Table | Figure | Listing  # a text is a paragraph


@dataclass(frozen=True)
class Section:
    """A title, and what stands under it."""

    title: str
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Document:
    """A report."""

    title: str
    sections: tuple[Section, ...]

    @property
    def tables(self) -> dict[str, Table]:
        """By their names."""
        items = (item for section in self.sections for item in section.items)
        return {item.name: item for item in items if isinstance(item, Table)}

    @property
    def figures(self) -> tuple[Figure, ...]:
        items = (item for section in self.sections for item in section.items)
        return tuple(item for item in items if isinstance(item, Figure))


def write(comparison: Comparison, about: Mapping[str, Any]) -> Document:
    """The report on an experiment; `about` is what the experiment says of itself."""
    figures = all_figures(comparison)

    def drawn(start: str) -> list[Figure]:
        return [figure for figure in figures if figure.name.startswith(start)]

    sections = [Section("What was run", tuple(_summary(comparison, about)))]
    if any(comparison.tasks.values()):
        sections += [
            Section(
                "Plan length",
                (
                    tables.npli_table(comparison),
                    tables.grounds_table(comparison),
                    *_without_plans(comparison),
                    tables.longer_table(comparison),
                    *drawn("pli-"),
                ),
            ),
            Section(
                "Coverage and scores",
                (
                    tables.coverage_table(comparison),
                    tables.satisficing_table(comparison),
                    tables.agile_table(comparison),
                    *drawn("quality-"),
                ),
            ),
            Section(
                "Time and memory",
                (
                    tables.time_table(comparison),
                    tables.memory_table(comparison),
                    *drawn("time"),
                ),
            ),
        ]
    if any(comparison.trainings.values()):
        quick, slow = TRAINING_SECONDS
        sections.append(
            Section(
                "Training",
                (
                    tables.training_table(comparison),
                    f"The trainings of the paper took from {quick:,} to {slow:,} seconds.",
                    *drawn("learning"),
                ),
            )
        )
    if drawn("objects"):
        sections.append(Section("Sizes of the tasks", tuple(drawn("objects"))))
    sections += [
        Section("All runs", tuple(_runs(comparison))),
        Section("How the numbers are made", _DEFINITIONS),
    ]
    return Document(
        "Report on an experiment",
        tuple(
            Section(section.title, items)
            for section in sections
            if (items := tuple(i for i in section.items if not _is_empty(i)))
        ),
    )


def _is_empty(item: Item) -> bool:
    return isinstance(item, Table) and not any(item.rows)


def warnings(comparison: Comparison) -> Iterator[str]:
    """What a reader of the numbers should know before all else."""
    if nothing := [domain for domain in comparison.domains if not comparison.tasks[domain]]:
        yield f"Nothing has been run yet in {', '.join(map(domain_label, nothing))}."
    if missing := [row for row in tables.runs_table(comparison).rows if _is_partial(row)]:
        yield (
            "These results are not complete: not yet run on every task are "
            f"{len(missing)} of {plural(len(comparison.planners), 'planner')} (see the table of "
            "all runs). Sums and means are of what is there."
        )
    if comparison.replaced:
        yield (
            f"{plural(comparison.replaced, 'record')} left out: the same was run again later, with "
            "other limits or other files."
        )
    wrong = comparison.contradictions
    if wrong:
        places = ", ".join(
            f"{t.domain} {t.split} {t.task} (a plan of cost {t.best:g}, but {t.bound:g} proved)"
            for t in wrong[:_CONTRADICTIONS]
        )
        more = f" and {len(wrong) - _CONTRADICTIONS:,} more" if wrong[_CONTRADICTIONS:] else ""
        yield (
            "Contradictions: plans are better than what was said to be proved optimal, so the "
            f"optimum of {plural(len(wrong), 'task')} counts as unknown: {places}{more}."
        )


_CONTRADICTIONS = 3  # that are named


def _is_partial(row: tuple[Cell, ...]) -> bool:
    return any(" of " in cell.text for cell in row[1:])


def _summary(comparison: Comparison, about: Mapping[str, Any]) -> Iterator[Item]:
    tasks = sum(map(len, comparison.tasks.values()))
    runs = sum(measures.runs for measures in comparison.measures.values())
    trainings = sum(map(len, comparison.trainings.values()))
    yield (
        f"{plural(runs, 'run')} of {plural(len(comparison.planners), 'planner')} on "
        f"{plural(tasks, 'task')} of {plural(len(comparison.domains), 'domain')} "
        f"({', '.join(map(domain_label, comparison.domains))}), and "
        f"{plural(trainings, 'training')}."
    )
    yield from warnings(comparison)
    yield _duration(list(comparison.records))
    parts = about.get("commands")
    commands = [c for c in parts if isinstance(c, dict)] if isinstance(parts, list) else []
    if lines := dict.fromkeys(str(c["command"]) for c in commands if "command" in c):
        yield Listing(tuple(lines))
    for machine in dict.fromkeys(_machine(c.get("machine")) for c in commands):
        if machine:
            yield f"Machine: {machine}."
    versions = commands[-1].get("versions") if commands else None
    if isinstance(versions, dict) and versions:
        yield f"Versions: {', '.join(f'{k} {v}' for k, v in sorted(versions.items()))}."


def _duration(records: Sequence[Record]) -> str:
    """How long it all took."""
    text = f"Together they took {duration(sum(record.seconds for record in records))}"
    starts, ends = [], []
    for record in records:
        with suppress(ValueError):  # without a time, or with another kind of it
            start = datetime.fromisoformat(record.started).timestamp()
            starts.append(start)
            ends.append(start + record.seconds)
    if not starts:
        return f"{text}."
    passed = duration(max(ends) - min(starts))
    return f"{text}; from the first start to the last end {passed} passed."


def _machine(machine: object) -> str:
    """In words; empty if nothing is known."""
    if not isinstance(machine, dict):
        return ""
    parts = []
    if isinstance(processors := machine.get("processors"), int):
        parts.append(plural(processors, "processor"))
    if isinstance(memory := machine.get("memory"), int | float):
        parts.append(f"{memory / 2**30:.1f} GiB of memory")
    if isinstance(system := machine.get("system"), str):
        parts.append(system)
    return ", ".join(parts)


def _without_plans(comparison: Comparison) -> Iterator[Item]:
    """Whose mean is over fewer plans than that of others."""
    parts = []
    for planner in comparison.planners:
        for domain in comparison.domains:
            measures = comparison.measures[planner.name, domain]
            if measures.npli_unsolved and not planner.proves:
                parts.append(
                    f"{full_label(planner)} in {domain_label(domain)} ({measures.npli_unsolved})"
                )
    if parts:
        yield (
            "Runs without a plan have no NPLI and are not in the means, on tasks that are "
            f"otherwise used: {'; '.join(parts)}."
        )


_MESSAGES = 20  # of failed runs; more say nothing new


def _runs(comparison: Comparison) -> Iterator[Item]:
    yield tables.runs_table(comparison)
    yield tables.endings_table(comparison)
    failed = [record for record in comparison.records if record.status in _MISTAKES]
    if failed:
        # One of each kind.
        kinds: dict[tuple[str, str], list[Record]] = {}
        for record in failed:
            kinds.setdefault((record.planner, record.message), []).append(record)
        yield f"Failed or refused: {plural(len(failed), 'run')}. What they said:"
        lines = [_told(records) for records in kinds.values()]
        rest = [f"… and {len(lines) - _MESSAGES:,} more"] if len(lines) > _MESSAGES else []
        yield Listing((*lines[:_MESSAGES], *rest))


_MISTAKES = (Status.FAILED, Status.INVALID)


def _told(records: list[Record]) -> str:
    first = records[0]
    place = " ".join(filter(None, (first.domain, first.split, first.task, first.planner)))
    seed = "" if first.seed is None else f" seed {first.seed}"
    more = f" (and {len(records) - 1:,} more)" if len(records) > 1 else ""
    lines = first.message.strip().splitlines() or ["no message"]
    return f"{place}{seed}{more}: {first.status.value}: {lines[-1]}"


_DEFINITIONS = (
    "PLI is 100 · (⟨BK⟩ − x) / ⟨BK⟩ for a plan of x actions, where ⟨BK⟩ is the mean number of "
    "actions in the plans that the rules alone find for the task, over their seeds. NPLI is PLI "
    "divided by the PLI of an optimal plan, times 100: 0 for the mean of the rules, 100 for an "
    "optimal plan, never more, and without a limit below.",
    "The optimum of a task is known if a planner or an exact method has proved its plan optimal, "
    "or if the least cost of a plan equals the greatest lower bound that was proved. Where the "
    "actions of a task do not all cost 1, the shortest length is not known from that.",
    "NPLI is taken over all pairs of task and seed, where the optimum is known, the rules have "
    "found a plan with every seed, and their mean is not optimal already. Runs without a plan "
    "are left out of it; coverage and scores count them. Standard deviations are those of "
    "the values themselves (divided by n, not by n − 1).",
)
