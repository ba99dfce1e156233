"""The tables of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from planlog.experiment.records import Family, Record, Status
from planlog.report.comparison import Comparison, grouped
from planlog.report.document import Cell, Group, Table
from planlog.report.formatting import NONE, count, domain_label, megabytes, number, seconds
from planlog.report.metrics import Exclusion, MeanMax, MeanStd, Measures
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


def _domain_table(
    comparison: Comparison,
    name: str,
    title: str,
    caption: str,
    text: Callable[[Measures], str],
    planners: Iterable[Planner] | None = None,
) -> Table:
    """Return a table with a row for each planner and a column for each domain."""

    def cells(planner: Planner) -> list[Cell]:
        return [Cell(text(comparison.measures[planner.name, d])) for d in comparison.domains]

    header = ("Planner", *map(domain_label, comparison.domains))
    groups = _groups(comparison.planners if planners is None else planners, cells)
    return Table(name, title, caption, header, groups)


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
    columns: list[list[MeanStd | None]] = []
    for domain in comparison.domains:
        header.append(domain_label(domain))
        columns.append([comparison.measures[p.name, domain].npli for p in planners])
        published = [published_npli(p, domain) for p in planners]
        if any(published):
            references.add(len(header))
            header.append("paper")
            columns.append(published)
    values = {
        planner.name: [found and (found.mean, number(found.std)) for found in row]
        for planner, row in zip(planners, zip(*columns, strict=True), strict=True)
    }
    return Table(
        "npli",
        "Normalised plan-length improvement (NPLI)",
        "0 is the mean length of the plans of the rules alone, 100 the optimum. Mean ± standard "
        "deviation over all tasks with a known optimum and all seeds; the best mean of each domain "
        "is bold. Beside it, what the paper reports for its own tasks and training.",
        tuple(header),
        _ranking(planners, values, number, references),
        frozenset(references),
    )


def eligibility_table(comparison: Comparison) -> Table:
    """Return the numbers of tasks with and without an NPLI."""
    domains = comparison.domains
    found = [Counter(task.exclusion for task in comparison.tasks[domain]) for domain in domains]
    rows = {
        "tasks": [reasons.total() for reasons in found],
        **{f"left out: {e.value}": [reasons[e] for reasons in found] for e in Exclusion},
        "used": [reasons[None] for reasons in found],
    }
    return Table(
        "grounds",
        "Tasks that NPLI is taken over",
        "For each task that is left out, the first reason counts.",
        ("", *map(domain_label, domains)),
        (Group("", tuple((Cell(text), *map(Cell, map(str, row))) for text, row in rows.items())),),
    )


def score_tables(comparison: Comparison) -> tuple[Table, ...]:
    """Return coverage, the IPC satisficing score and the IPC agile score."""
    return (
        _score_table(
            comparison,
            "coverage",
            "Coverage",
            "Tasks solved (of the number in brackets); a mean over the seeds.",
            lambda measures: measures.coverage,
            count,
        ),
        _score_table(
            comparison,
            "satisficing",
            "IPC satisficing score",
            "The sum of C*/C over the tasks, where C is the cost of the plan and C* the optimum, "
            "or else the least cost of all plans here; 0 for a task without a plan. A mean over "
            "the seeds.",
            lambda measures: measures.quality,
        ),
        _score_table(
            comparison,
            "agile",
            "IPC agile score",
            "For each task 1 if the first plan was there within a second, then "
            "1 − log T / log 1800 after T seconds; 0 without a plan. A mean over the seeds.",
            lambda measures: measures.agility,
        ),
    )


def _score_table(
    comparison: Comparison,
    name: str,
    title: str,
    caption: str,
    score: Callable[[Measures], float],
    text: Callable[[float], str] = lambda value: number(value, 2),
) -> Table:
    """Return a table with the sum over all domains."""
    values = {}
    for planner in comparison.planners:
        measures = [comparison.measures[planner.name, domain] for domain in comparison.domains]
        known = [(score(m), "") if m.runs else None for m in measures]
        values[planner.name] = [*known, (sum(pair[0] for pair in known if pair), "")]
    tasks = {domain: len(comparison.tasks[domain]) for domain in comparison.domains}
    names = (f"{domain_label(domain)} ({number})" for domain, number in tasks.items())
    header = ("Planner", *names, f"Sum ({sum(tasks.values())})")
    return Table(name, title, caption, header, _ranking(comparison.planners, values, text))


def longer_table(comparison: Comparison) -> Table:
    """Return how often plans are longer than those of the rules alone."""
    return _domain_table(
        comparison,
        "longer",
        "Longer plans than by the rules alone",
        "Tasks whose plans are on average longer than those of the rules alone, of the tasks that "
        "both solve with every seed.",
        lambda m: f"{m.longer} of {m.compared}" if m.compared else NONE,
        [p for p in comparison.planners if not p.proves and p.family is not Family.RULES],
    )


def usage_tables(comparison: Comparison) -> tuple[Table, Table]:
    """Return the tables of time and memory."""

    def both(found: MeanMax | None, text: Callable[[float], str]) -> str:
        return f"{text(found.mean)} / {text(found.max)}" if found else NONE

    return (
        _domain_table(
            comparison,
            "time",
            "Time",
            "Of the runs that found a plan, from start to end: mean / longest.",
            lambda measures: both(measures.seconds, seconds),
        ),
        _domain_table(
            comparison,
            "memory",
            "Memory",
            "Most memory held at once by the runs that found a plan: mean / most.",
            lambda measures: both(measures.memory, megabytes),
        ),
    )


def runs_table(comparison: Comparison) -> Table:
    """Return the numbers of runs; those of an unfinished experiment with the expected number."""
    return _domain_table(
        comparison,
        "runs",
        "Runs",
        "Runs in these results; of how many, where a planner has not been run on every task with "
        "every seed that the results speak of.",
        lambda m: f"{m.runs:,} of {m.expected:,}" if m.runs < m.expected else f"{m.runs:,}",
    )


def outcomes_table(comparison: Comparison) -> Table:
    """Return the numbers of runs by outcome."""
    statuses = [status for status in Status if status is not Status.TRAINED]

    def cells(planner: Planner) -> list[Cell]:
        total: Counter[Status] = Counter()
        for domain in comparison.domains:
            total.update(comparison.measures[planner.name, domain].statuses)
        return [Cell(f"{total[status]:,}" if total[status] else NONE) for status in statuses]

    return Table(
        "endings",
        "How the runs ended",
        "Plans that our validator refuses are invalid; failed runs did not do their work.",
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
        "Trainings",
        "Of the seeds, the least and the greatest value.",
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
