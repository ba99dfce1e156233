"""The sections of a report, from the records of an experiment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from planlog.experiment.records import Record, Status
from planlog.report import tables
from planlog.report.comparison import Comparison, grouped
from planlog.report.document import Document, Item, Listing, Section, Table
from planlog.report.figures import objects_figure, pli_figure, time_figure
from planlog.report.formatting import domain_label, duration, plural
from planlog.report.learning import learning_figures
from planlog.report.published import TRAINING_SECONDS
from planlog.report.quality import quality_figure


def write(comparison: Comparison, about: Mapping[str, Any]) -> Document:
    """Return the report on an experiment; `about` is the content of its `experiment.json`."""
    sections = []
    for title, found in _sections(comparison, about):
        items = tuple(item for item in found if item is not None and not _is_empty(item))
        if items:
            sections.append(Section(title, items))
    return Document("Report on an experiment", tuple(sections))


def _is_empty(item: Item) -> bool:
    return isinstance(item, Table) and not any(item.rows)


def _sections(
    comparison: Comparison, about: Mapping[str, Any]
) -> Iterator[tuple[str, Iterable[Item | None]]]:
    """Yield titles and items; an item may be None if there is nothing to show."""
    domains = comparison.domains
    yield "What was run", _summary(comparison, about)
    if any(comparison.tasks.values()):
        yield (
            "Plan length",
            [
                tables.npli_table(comparison),
                tables.eligibility_table(comparison),
                _without_plans(comparison),
                tables.longer_table(comparison),
                *(pli_figure(comparison, domain) for domain in domains),
            ],
        )
        quality = (quality_figure(comparison, domain) for domain in domains)
        yield "Coverage and scores", [*tables.score_tables(comparison), *quality]
        yield "Time and memory", [*tables.usage_tables(comparison), time_figure(comparison)]
    if any(comparison.trainings.values()):
        fast, slow = TRAINING_SECONDS
        yield (
            "Training",
            [
                tables.training_table(comparison),
                f"The trainings of the paper took from {fast:,} to {slow:,} seconds.",
                *learning_figures(comparison),
            ],
        )
    yield "Sizes of the tasks", [objects_figure(comparison)]
    yield "All runs", _runs(comparison)
    yield "How the numbers are made", _DEFINITIONS


_SHOWN_CONTRADICTIONS = 3


def warnings(comparison: Comparison) -> Iterator[str]:
    """Yield facts that change how to read the numbers."""
    if empty := [domain for domain in comparison.domains if not comparison.tasks[domain]]:
        yield f"Nothing has been run yet in {', '.join(map(domain_label, empty))}."
    if missing := comparison.incomplete:
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
    if wrong := comparison.contradictions:
        places = ", ".join(
            f"{t.domain} {t.split} {t.task} (a plan of cost {t.best:g}, but {t.bound:g} proved)"
            for t in wrong[:_SHOWN_CONTRADICTIONS]
        )
        others = len(wrong) - _SHOWN_CONTRADICTIONS
        yield (
            "Contradictions: plans are better than what was said to be proved optimal, so the "
            f"optimum of {plural(len(wrong), 'task')} counts as unknown: {places}"
            f"{f' and {others:,} more' if others > 0 else ''}."
        )


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
    yield _total_time(list(comparison.records))
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


def _total_time(records: Sequence[Record]) -> str:
    """Return the total run time, and the time between the first start and the last end."""
    text = f"Together they took {duration(sum(record.seconds for record in records))}"
    starts, ends = [], []
    for record in records:
        with suppress(ValueError):  # a missing or foreign time stamp
            start = datetime.fromisoformat(record.started).timestamp()
            starts.append(start)
            ends.append(start + record.seconds)
    if not starts:
        return f"{text}."
    passed = duration(max(ends) - min(starts))
    return f"{text}; from the first start to the last end {passed} passed."


def _machine(machine: object) -> str:
    """Return a description of a machine; empty if it is not known."""
    match machine:
        case {"processors": int(processors), "memory": int(memory), "system": str(system)}:
            size = f"{memory / 2**30:.1f} GiB of memory"
            return f"{plural(processors, 'processor')}, {size}, {system}"
    return ""


def _without_plans(comparison: Comparison) -> str | None:
    """Return the planners whose mean NPLI covers fewer runs than that of others."""
    parts = [
        f"{planner.full_label} in {domain_label(domain)} ({missing})"
        for planner in comparison.planners
        for domain in comparison.domains
        if (missing := comparison.measures[planner.name, domain].npli_unsolved)
        and not planner.proves
    ]
    if not parts:
        return None
    return (
        "Runs without a plan have no NPLI and are not in the means, on tasks that are otherwise "
        f"used: {'; '.join(parts)}."
    )


_SHOWN_MESSAGES = 20


def _runs(comparison: Comparison) -> Iterator[Item]:
    yield tables.runs_table(comparison)
    yield tables.outcomes_table(comparison)
    errors = (Status.FAILED, Status.INVALID)
    failed = [record for record in comparison.records if record.status in errors]
    if failed:
        kinds = grouped(failed, lambda record: (record.planner, record.message))
        yield f"Failed or refused: {plural(len(failed), 'run')}. What they said:"
        lines = [_message(records) for records in kinds.values()]
        others = len(lines) - _SHOWN_MESSAGES
        more = [f"… and {others:,} more"] if others > 0 else []
        yield Listing((*lines[:_SHOWN_MESSAGES], *more))


def _message(records: Sequence[Record]) -> str:
    """Return the message that all these records share."""
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
