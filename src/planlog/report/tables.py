"""The tables of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from planlog.experiment.records import Record, Status
from planlog.report.comparison import Comparison, grouped
from planlog.report.document import Cell, Group, Table
from planlog.report.formatting import NONE, count, domain_label, number, seconds
from planlog.report.metrics import Exclusion, Measures, Statistics
from planlog.report.planners import Planner, settings_label
from planlog.report.published import published_npli


def _groups(
    planners: Iterable[Planner], cells: Callable[[Planner], Iterable[Cell]]
) -> tuple[Group, ...]:
    """Return a row for each planner: untrained ones first, then learned ones by settings."""
    rows: dict[str, list[tuple[Cell, ...]]] = {"": []}
    others: list[tuple[Cell, ...]] = []
    for planner in planners:
        row = (Cell(planner.label), *cells(planner))
        if not planner.learned:
            rows[""].append(row)
        elif planner.network is None:
            others.append(row)
        else:
            label = settings_label(planner.settings)
            rows.setdefault(f"Learned, {label}" if label else "Learned", []).append(row)
    rows["Learned beforehand"] = others
    return tuple(Group(title, tuple(some)) for title, some in rows.items() if some)


def _mean_and_max(found: Statistics | None, text: Callable[[float], str]) -> str:
    return f"{text(found.mean)} / {text(found.max)}" if found else NONE


# Tables of texts: title, caption, and the text for a planner in a domain.
_TEXTS: dict[str, tuple[str, str, Callable[[Measures], str]]] = {
    "longer": (
        "Plans longer than those of the rules",
        "Tasks on which the mean plan is longer than that of the rules alone, of the tasks that "
        "both solve with every seed.",
        lambda m: f"{m.longer} of {m.compared}" if m.compared else NONE,
    ),
    "time": (
        "Time",
        "Wall-clock time of the runs that found a plan: mean / maximum.",
        lambda m: _mean_and_max(m.seconds, seconds),
    ),
    "memory": (
        "Memory",
        "Peak memory of the runs that found a plan: mean / maximum.",
        lambda m: _mean_and_max(m.memory, lambda value: f"{value / 1e6:,.0f} MB"),
    ),
    "runs": (
        "Runs",
        "Number of runs, and the expected number if runs of some task or seed are missing.",
        lambda m: f"{m.runs:,} of {m.expected:,}" if m.runs < m.expected else f"{m.runs:,}",
    ),
}


def text_table(comparison: Comparison, name: str, planners: Iterable[Planner]) -> Table:
    """Return a table of texts with a row for each planner and a column for each domain."""
    title, caption, text = _TEXTS[name]

    def cells(planner: Planner) -> list[Cell]:
        return [Cell(text(comparison.measures[planner.name, d])) for d in comparison.domains]

    header = ("Planner", *map(domain_label, comparison.domains))
    return Table(name, title, caption, header, _groups(planners, cells))


def _ranking(
    planners: Iterable[Planner],
    values: Mapping[str, Sequence[tuple[float, str] | None]],
    text: Callable[[float], str],
    references: Collection[int] = (),
) -> tuple[Group, ...]:
    """Return rows of numbers in which the best of each column is marked.

    `values` maps the name of a planner to its numbers and their standard deviations as text. The
    columns in `references`, counted from 1, have no best.
    """
    known = ([pair[0] for pair in column if pair] for column in zip(*values.values(), strict=True))
    best = [text(max(column)) if column else None for column in known]

    def cells(planner: Planner) -> Iterable[Cell]:
        for i, (pair, top) in enumerate(zip(values[planner.name], best, strict=True), start=1):
            if pair is None:
                yield Cell(NONE)
            else:
                shown = text(pair[0])  # values that look the same are equally good
                yield Cell(shown, pair[1], shown == top and i not in references)

    return _groups(planners, cells)


def npli_table(comparison: Comparison) -> Table:
    """Return the table of the paper: NPLI of each planner in each domain, beside the paper's."""
    planners = [planner for planner in comparison.planners if not planner.proves]
    header = ["Planner"]
    references = set()
    columns = []
    for domain in comparison.domains:
        header.append(domain_label(domain))
        found = (comparison.measures[p.name, domain].npli for p in planners)
        columns.append([npli and (npli.mean, npli.std) for npli in found])
        published = [published_npli(p, domain) for p in planners]
        if any(published):
            references.add(len(header))
            header.append("paper")
            columns.append(published)
    values = {
        planner.name: [pair and (pair[0], number(pair[1])) for pair in row]
        for planner, row in zip(planners, zip(*columns, strict=True), strict=True)
    }
    return Table(
        "npli",
        "Normalised plan-length improvement (NPLI)",
        "0 is the mean plan length of the rules alone, 100 the optimum. Mean ± standard deviation "
        "over all tasks with a known optimum and all seeds; the best mean of each domain is bold. "
        'The "paper" columns hold the results of the paper on its own tasks.',
        tuple(header),
        _ranking(planners, values, number, references),
        frozenset(references),
    )


def exclusions_table(comparison: Comparison) -> Table:
    """Return the numbers of tasks with and without an NPLI."""
    domains = comparison.domains
    found = [Counter(task.exclusion for task in comparison.tasks[domain]) for domain in domains]
    rows = {
        "tasks": [reasons.total() for reasons in found],
        **{f"excluded: {e.value}": [reasons[e] for reasons in found] for e in Exclusion},
        "included": [reasons[None] for reasons in found],
    }
    return Table(
        "exclusions",
        "Tasks with an NPLI",
        "A task is excluded for the first reason that applies.",
        ("", *map(domain_label, domains)),
        (Group("", tuple((Cell(text), *map(Cell, map(str, row))) for text, row in rows.items())),),
    )


def _hundredths(value: float) -> str:
    return number(value, 2)


# Tables of scores: title, caption, score of a planner in a domain, and its text.
_SCORES: dict[str, tuple[str, str, Callable[[Measures], float], Callable[[float], str]]] = {
    "coverage": (
        "Coverage",
        "Solved tasks, out of the number in brackets; mean over the seeds.",
        lambda measures: measures.coverage,
        count,
    ),
    "satisficing": (
        "IPC satisficing score",
        "Sum of C*/C over the tasks, where C is the cost of the plan and C* the optimum or, if it "
        "is unknown, the lowest cost of all plans; 0 for a task without a plan. Mean over the "
        "seeds.",
        lambda measures: measures.quality,
        _hundredths,
    ),
    "agile": (
        "IPC agile score",
        "Sum over the tasks: 1 if the first plan is found within a second, 1 − log T / log 1800 "
        "after T seconds, 0 without a plan. Mean over the seeds.",
        lambda measures: measures.agility,
        _hundredths,
    ),
}


def score_table(comparison: Comparison, name: str) -> Table:
    """Return a table of scores with a column for each domain and one for their sum."""
    title, caption, score, text = _SCORES[name]
    values = {}
    for planner in comparison.planners:
        measures = [comparison.measures[planner.name, domain] for domain in comparison.domains]
        known = [(score(m), "") if m.runs else None for m in measures]
        values[planner.name] = [*known, (sum(pair[0] for pair in known if pair), "")]
    tasks = {domain: len(comparison.tasks[domain]) for domain in comparison.domains}
    names = (f"{domain_label(domain)} ({number})" for domain, number in tasks.items())
    header = ("Planner", *names, f"Sum ({sum(tasks.values())})")
    return Table(name, title, caption, header, _ranking(comparison.planners, values, text))


def outcomes_table(comparison: Comparison) -> Table:
    """Return the numbers of runs by outcome."""
    statuses = [status for status in Status if status is not Status.TRAINED]

    def cells(planner: Planner) -> list[Cell]:
        total: Counter[Status] = Counter()
        for domain in comparison.domains:
            total.update(comparison.measures[planner.name, domain].statuses)
        return [Cell(f"{total[status]:,}" if total[status] else NONE) for status in statuses]

    return Table(
        "outcomes",
        "Outcomes",
        "Number of runs by outcome. The validator rejects invalid plans; failed runs ended with an "
        "error.",
        ("Planner", *(status.value for status in statuses)),
        _groups(comparison.planners, cells),
    )


def training_table(comparison: Comparison) -> Table:
    """Return data, time and accuracy of the trainings."""
    groups = []
    for domain in comparison.domains:
        trainings = comparison.trainings[domain]
        done = (r for r in trainings if r.status is Status.TRAINED and r.training)
        trained = grouped(done, lambda record: record.planner)
        rows = tuple(
            (Cell(planner.full_label), *map(Cell, _training_texts(trained[planner.name])))
            for planner in comparison.planners
            if planner.name in trained
        )
        if rows:
            groups.append(Group(domain_label(domain), rows))
    return Table(
        "training",
        "Training runs",
        "Minimum and maximum over the seeds.",
        ("Model", "seeds", "tasks", "labelled states", "data", "training", "best accuracy", "F1"),
        tuple(groups),
    )


def _training_texts(records: Sequence[Record]) -> list[str]:
    def span(text: Callable[[float], str], *path: str) -> str:
        """Return the range of the values under a path of keys; a list counts its items."""
        found = []
        for record in records:
            value: object = record.training
            for key in path:
                value = value.get(key) if isinstance(value, dict) else None
            if isinstance(value, list):
                value = len(value)
            if isinstance(value, int | float):
                found.append(float(value))
        if not found:
            return NONE
        return " to ".join(dict.fromkeys(map(text, (min(found), max(found)))))

    def percent(value: float) -> str:
        return f"{100 * value:.1f} %"

    return [
        str(len(records)),
        span(count, "tasks"),
        span(count, "labelled_states"),
        span(seconds, "seconds", "data"),
        span(seconds, "seconds", "training"),
        span(percent, "best", "accuracy"),
        span(lambda value: number(value, 3), "best", "f1"),
    ]
