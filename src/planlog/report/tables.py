"""The tables of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from planlog.experiment.records import Family, Record, Status
from planlog.report.metrics import Comparison, Grounds, Measures, Planner
from planlog.report.naming import (
    NONE,
    all_settings,
    count,
    domain_label,
    full_label,
    megabytes,
    number,
    planner_label,
    seconds,
    settings_label,
    spread,
)
from planlog.report.published import published_npli
from planlog.report.table import Cell, Group, Table


def grouped(comparison: Comparison, *, proving: bool) -> list[tuple[str, list[Planner]]]:
    """Planners under titles: those that learn nothing, then the learned ones by their settings;
    without those that prove optimality unless `proving`."""
    wanted = [p for p in comparison.planners if proving or not p.proves]
    groups = [("", [p for p in wanted if p.family is not Family.LEARNED])]
    for settings in all_settings(comparison):
        learned = [p for p in wanted if p.network is not None and p.settings == settings]
        groups.append((f"Learned, {settings_label(settings)}" if settings else "Learned", learned))
    others = [p for p in wanted if p.family is Family.LEARNED and p.network is None]
    groups.append(("Learned beforehand", others))
    return [(title, planners) for title, planners in groups if planners]


def _rows(comparison: Comparison, cells: Callable[[Planner], list[str]]) -> tuple[Group, ...]:
    """A row for each planner that has been run on a task; cells without its name."""
    return tuple(
        Group(title, tuple((Cell(planner_label(p)), *map(Cell, cells(p))) for p in planners))
        for title, planners in grouped(comparison, proving=True)
    )


def _ranked(
    comparison: Comparison,
    values: Callable[[Planner], list[float | None]],
    text: Callable[[float], str],
    *,
    proving: bool,
) -> tuple[Group, ...]:
    """A row for each planner, the greatest value of each column marked as the best."""
    groups = grouped(comparison, proving=proving)
    columns = zip(*(values(p) for _, planners in groups for p in planners), strict=True)
    # What looks the same is equally good.
    best = [text(max(known)) if (known := [v for v in c if v is not None]) else "" for c in columns]

    def row(planner: Planner) -> tuple[Cell, ...]:
        texts = [NONE if value is None else text(value) for value in values(planner)]
        cells = (Cell(t, best=t == b) for t, b in zip(texts, best, strict=True))
        return (Cell(planner_label(planner)), *cells)

    return tuple(Group(title, tuple(map(row, planners))) for title, planners in groups)


_PAPER = "paper"


def npli_table(comparison: Comparison) -> Table:
    """The table of the paper: NPLI of each planner in each domain, beside the paper's figures."""
    groups = grouped(comparison, proving=False)
    shown = [planner for _, planners in groups for planner in planners]
    means: dict[str, list[str]] = {}
    for domain in comparison.domains:
        known = (comparison.measures[p.name, domain].npli for p in shown)
        means[domain] = [number(value.mean) for value in known if value is not None]
    top = {d: max(m, key=_value) if m else "" for d, m in means.items()}
    beside = {d for d in comparison.domains if any(published_npli(p, d) for p in shown)}

    def row(planner: Planner) -> tuple[Cell, ...]:
        cells = [Cell(planner_label(planner))]
        for domain in comparison.domains:
            value = comparison.measures[planner.name, domain].npli
            best = value is not None and number(value.mean) == top[domain]
            cells.append(Cell(spread(value), best))
            if domain in beside:
                cells.append(Cell(spread(published_npli(planner, domain))))
        return tuple(cells)

    header = ["Planner"]
    for domain in comparison.domains:
        header += [domain_label(domain), _PAPER] if domain in beside else [domain_label(domain)]
    return Table(
        "npli",
        "Normalised plan-length improvement (NPLI)",
        "0 is the mean length of the plans of the rules alone, 100 the optimum. Mean ± standard "
        "deviation over all tasks with a known optimum and all seeds; the best mean of each domain "
        "is bold. Beside it, what the paper reports for its own tasks and training.",
        tuple(header),
        tuple(Group(title, tuple(map(row, planners))) for title, planners in groups),
        frozenset(i for i, name in enumerate(header) if name == _PAPER),
    )


def _value(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))


def grounds_table(comparison: Comparison) -> Table:
    """The tasks that NPLI is taken over, and those left out."""
    grounds = {domain: Grounds.of(comparison.tasks[domain]) for domain in comparison.domains}
    names = {
        "tasks": "tasks",
        "unknown_optimum": "left out: optimum not known",
        "unsolved_by_rules": "left out: not solved by the rules with every seed",
        "optimal_rules": "left out: the rules are optimal already",
        "used": "used",
    }
    rows = tuple(
        (Cell(text), *(Cell(str(getattr(grounds[d], name))) for d in comparison.domains))
        for name, text in names.items()
    )
    return Table(
        "grounds",
        "Tasks that NPLI is taken over",
        "For each task that is left out, the first reason counts.",
        ("", *map(domain_label, comparison.domains)),
        (Group("", rows),),
    )


def _score_table(
    comparison: Comparison,
    name: str,
    title: str,
    caption: str,
    value: Callable[[Measures], float],
) -> Table:
    def values(planner: Planner) -> list[float | None]:
        measures = [comparison.measures[planner.name, domain] for domain in comparison.domains]
        known = [value(m) if m.runs else None for m in measures]
        return [*known, sum(v for v in known if v is not None)]

    tasks = [len(comparison.tasks[domain]) for domain in comparison.domains]
    names = [f"{domain_label(d)} ({n})" for d, n in zip(comparison.domains, tasks, strict=True)]
    text = count if name == "coverage" else lambda v: number(v, 2)
    groups = _ranked(comparison, values, text, proving=True)
    return Table(name, title, caption, ("Planner", *names, f"Sum ({sum(tasks)})"), groups)


def coverage_table(comparison: Comparison) -> Table:
    return _score_table(
        comparison,
        "coverage",
        "Coverage",
        "Tasks solved (of the number in brackets); a mean over the seeds.",
        lambda measures: measures.coverage,
    )


def satisficing_table(comparison: Comparison) -> Table:
    return _score_table(
        comparison,
        "satisficing",
        "IPC satisficing score",
        "The sum of C*/C over the tasks, where C is the cost of the plan "
        "and C* the optimum, or else the least cost of all plans here; 0 for a task without a "
        "plan. A mean over the seeds.",
        lambda measures: measures.quality,
    )


def agile_table(comparison: Comparison) -> Table:
    return _score_table(
        comparison,
        "agile",
        "IPC agile score",
        "For each task 1 if the first plan was there within a second, then "
        "1 − log T / log 1800 after T seconds; 0 without a plan. A mean over the seeds.",
        lambda measures: measures.agility,
    )


def longer_table(comparison: Comparison) -> Table:
    """How often plans are worse than those of the rules alone."""

    def cells(planner: Planner) -> list[str]:
        found = [comparison.measures[planner.name, domain] for domain in comparison.domains]
        return [f"{m.longer} of {m.compared}" if m.compared else NONE for m in found]

    groups = (
        Group(title, tuple((Cell(planner_label(p)), *map(Cell, cells(p))) for p in some))
        for title, planners in grouped(comparison, proving=False)
        if (some := [p for p in planners if p.family is not Family.RULES])
    )
    return Table(
        "longer",
        "Longer plans than by the rules alone",
        "Tasks whose plans are on average longer than those of the rules alone, of the tasks that "
        "both solve with every seed.",
        ("Planner", *map(domain_label, comparison.domains)),
        tuple(groups),
    )


def time_table(comparison: Comparison) -> Table:
    def cell(m: Measures) -> str:
        if m.seconds is None:
            return NONE
        return f"{seconds(m.seconds.mean)} / {seconds(m.most_seconds)}"

    about = "Of the runs that found a plan, from start to end: mean / longest."
    return _usage_table(comparison, "time", "Time", about, cell)


def memory_table(comparison: Comparison) -> Table:
    def cell(m: Measures) -> str:
        return NONE if m.memory is None else f"{megabytes(m.memory)} / {megabytes(m.most_memory)}"

    about = "Most memory held at once by the runs that found a plan: mean / most."
    return _usage_table(comparison, "memory", "Memory", about, cell)


def _usage_table(
    comparison: Comparison, name: str, title: str, about: str, cell: Callable[[Measures], str]
) -> Table:
    def cells(planner: Planner) -> list[str]:
        return [cell(comparison.measures[planner.name, domain]) for domain in comparison.domains]

    domains = map(domain_label, comparison.domains)
    return Table(name, title, about, ("Planner", *domains), _rows(comparison, cells))


def runs_table(comparison: Comparison) -> Table:
    """How many runs there are, so that an experiment that is still running is no surprise."""

    def cells(planner: Planner) -> list[str]:
        texts = []
        for domain in comparison.domains:
            runs = comparison.measures[planner.name, domain].runs
            expected = len(comparison.tasks[domain]) * len(seeds[planner.name])
            texts.append(f"{runs:,}" if runs >= expected else f"{runs:,} of {expected:,}")
        return texts

    seeds: dict[str, set[int | None]] = {planner.name: set() for planner in comparison.planners}
    for record in comparison.records:
        seeds[record.planner].add(record.seed)
    return Table(
        "runs",
        "Runs",
        "Runs in these results; of how many, where a planner has not been run on every task with "
        "every seed that the results speak of.",
        ("Planner", *map(domain_label, comparison.domains)),
        _rows(comparison, cells),
    )


def endings_table(comparison: Comparison) -> Table:
    """How the runs ended."""
    statuses = [status for status in Status if status is not Status.TRAINED]

    def cells(planner: Planner) -> list[str]:
        total: Counter[Status] = Counter()
        for domain in comparison.domains:
            total.update(comparison.measures[planner.name, domain].statuses)
        return [f"{total[status]:,}" if total[status] else NONE for status in statuses]

    return Table(
        "endings",
        "How the runs ended",
        "Plans that our validator refuses are invalid; failed runs did not do their work.",
        ("Planner", *(status.value for status in statuses)),
        _rows(comparison, cells),
    )


def training_table(comparison: Comparison) -> Table:
    """What the trainings learned from, how long they took, and what came out."""
    planners = {planner.name: planner for planner in comparison.planners}
    groups = []
    for domain in comparison.domains:
        by_planner: dict[str, list[Record]] = {}
        for record in comparison.trainings[domain]:
            if record.status is Status.TRAINED and record.training:
                by_planner.setdefault(record.planner, []).append(record)
        rows = (
            (Cell(full_label(planners[name])), *map(Cell, _training_cells(by_planner[name])))
            for name in planners
            if name in by_planner
        )
        groups.append(Group(domain_label(domain), tuple(rows)))
    return Table(
        "training",
        "Trainings",
        "Of the seeds, the least and the greatest value.",
        ("Model", "seeds", "tasks", "labelled states", "data", "training", "best accuracy", "F1"),
        tuple(group for group in groups if group.rows),
    )


def _training_cells(records: list[Record]) -> list[str]:
    def of(*path: str) -> list[float]:
        found = []
        for record in records:
            value: object = record.training
            for key in path:
                value = value.get(key) if isinstance(value, dict) else None
            if isinstance(value, list):
                value = len(value)
            if isinstance(value, int | float):
                found.append(float(value))
        return found

    def span(values: list[float], text: Callable[[float], str]) -> str:
        texts = list(dict.fromkeys(map(text, (min(values), max(values))))) if values else [NONE]
        return " to ".join(texts)

    def percent(value: float) -> str:
        return f"{100 * value:.1f} %"

    return [
        str(len(records)),
        span(of("tasks"), count),
        span(of("labelled_states"), count),
        span(of("seconds", "data"), seconds),
        span(of("seconds", "training"), seconds),
        span(of("best", "accuracy"), percent),
        span(of("best", "f1"), lambda value: number(value, 3)),
    ]
