"""The sections of a report, from the records of an experiment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from planlog.experiment.records import Family, Record, Status
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
    domains, planners = comparison.domains, comparison.planners
    yield "Summary", _summary(comparison, about)
    if any(comparison.tasks.values()):
        others = [p for p in planners if not p.proves and p.family is not Family.RULES]
        yield (
            "Plan length",
            [
                tables.npli_table(comparison),
                tables.exclusions_table(comparison),
                _without_plans(comparison),
                tables.text_table(comparison, "longer", others),
                *(pli_figure(comparison, domain) for domain in domains),
            ],
        )
        scores = [tables.score_table(comparison, s) for s in ("coverage", "satisficing", "agile")]
        quality = (quality_figure(comparison, domain) for domain in domains)
        yield "Coverage and scores", [*scores, *quality]
        usage = [tables.text_table(comparison, name, planners) for name in ("time", "memory")]
        yield "Time and memory", [*usage, time_figure(comparison)]
    if any(comparison.trainings.values()):
        fast, slow = TRAINING_SECONDS
        paper = f"Training took {fast:,} to {slow:,} seconds in the paper."
        training = tables.training_table(comparison)
        yield "Training", [training, paper, *learning_figures(comparison)]
    yield "Task sizes", [objects_figure(comparison)]
    yield "All runs", _runs(comparison)
    yield "Definitions", _DEFINITIONS


_SHOWN_CONTRADICTIONS = 3


def warnings(comparison: Comparison) -> Iterator[str]:
    """Yield facts that change how to read the numbers."""
    if empty := [domain for domain in comparison.domains if not comparison.tasks[domain]]:
        yield f"No runs yet in {', '.join(map(domain_label, empty))}."
    if missing := comparison.incomplete:
        yield (
            f"Results are not complete: {len(missing)} of "
            f"{plural(len(comparison.planners), 'planner')} have not run on every task (see the "
            "table of runs). Sums and means cover the runs so far."
        )
    if comparison.replaced:
        yield (
            f"{plural(comparison.replaced, 'record')} left out: a later run with other limits or "
            "files replaces each of them."
        )
    if wrong := comparison.contradictions:
        places = [
            f"{t.domain} {t.split} {t.task} (plan of cost {t.best}, proved bound {t.bound})"
            for t in wrong[:_SHOWN_CONTRADICTIONS]
        ]
        others = len(wrong) - len(places)
        yield (
            "Contradictions: plans cost less than a proved lower bound. The optimum of "
            f"{plural(len(wrong), 'task')} counts as unknown: {', '.join(places)}"
            f"{f' and {others:,} more' if others else ''}."
        )


def _summary(comparison: Comparison, about: Mapping[str, Any]) -> Iterator[Item]:
    tasks = sum(map(len, comparison.tasks.values()))
    runs = sum(measures.runs for measures in comparison.measures.values())
    trainings = sum(map(len, comparison.trainings.values()))
    yield (
        f"{plural(runs, 'run')} of {plural(len(comparison.planners), 'planner')} on "
        f"{plural(tasks, 'task')} of {plural(len(comparison.domains), 'domain')} "
        f"({', '.join(map(domain_label, comparison.domains))}), and "
        f"{plural(trainings, 'training run')}."
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
    text = f"Total run time: {duration(sum(record.seconds for record in records))}"
    starts, ends = [], []
    for record in records:
        with suppress(ValueError):  # a missing or foreign time stamp
            start = datetime.fromisoformat(record.started).timestamp()
            starts.append(start)
            ends.append(start + record.seconds)
    if not starts:
        return f"{text}."
    return f"{text}; from the first start to the last end: {duration(max(ends) - min(starts))}."


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
    return f"Means exclude runs without a plan: {'; '.join(parts)}." if parts else None


_SHOWN_MESSAGES = 20


def _runs(comparison: Comparison) -> Iterator[Item]:
    yield tables.text_table(comparison, "runs", comparison.planners)
    yield tables.outcomes_table(comparison)
    errors = (Status.FAILED, Status.INVALID)
    if failed := [record for record in comparison.records if record.status in errors]:
        yield f"{plural(len(failed), 'run')} failed or returned an invalid plan. Messages:"
        kinds = grouped(failed, lambda record: (record.planner, record.message))
        lines = [_message(records) for records in kinds.values()]
        if len(lines) > _SHOWN_MESSAGES:
            lines[_SHOWN_MESSAGES:] = [f"… and {len(lines) - _SHOWN_MESSAGES:,} more"]
        yield Listing(tuple(lines))


def _message(records: Sequence[Record]) -> str:
    """Return the message that all these records share."""
    first = records[0]
    place = " ".join(filter(None, (first.domain, first.split, first.task, first.planner)))
    seed = "" if first.seed is None else f" seed {first.seed}"
    more = f" (and {len(records) - 1:,} more)" if len(records) > 1 else ""
    lines = first.message.strip().splitlines() or ["no message"]
    return f"{place}{seed}{more}: {first.status.value}: {lines[-1]}"


_DEFINITIONS = (
    "The plan-length improvement of a plan of x actions is PLI = 100 · (⟨BK⟩ − x) / ⟨BK⟩, where "
    "⟨BK⟩ is the mean length of the plans that the rules alone find for the task, over their "
    "seeds. NPLI is 100 times PLI divided by the PLI of an optimal plan: 0 for the mean of the "
    "rules, 100 for an optimal plan, which is the maximum, and unbounded below.",
    "The optimum of a task is known if a planner or an exact method has proved its plan optimal, "
    "or if the lowest cost of a plan equals the highest proved lower bound. If actions have other "
    "costs than 1, the optimal length counts as unknown.",
    "The mean NPLI covers all pairs of task and seed with a plan, on tasks whose optimum is known, "
    "which the rules solve with every seed, and on which their mean is not optimal already. "
    "Coverage and scores count runs without a plan, too. Standard deviations are population "
    "standard deviations.",
)
