"""Figures of plan length, task size and time."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from planlog.costs import Cost
from planlog.experiment.records import Family
from planlog.report.comparison import Comparison
from planlog.report.document import Bar, Figure, Line, Panel, Part, in_columns
from planlog.report.formatting import domain_label, figure_name, number, seconds
from planlog.report.metrics import TaskRuns, is_solved, pli
from planlog.report.planners import settings_label


def pli_figure(comparison: Comparison, domain: str) -> Figure | None:
    """Return PLI by task, from easy to difficult, with a panel for each of the settings."""
    tasks = [task for task in comparison.tasks[domain] if task.baseline]
    if not tasks:
        return None
    panels = tuple(_pli_panel(comparison, tasks, s) for s in comparison.settings)
    # Equal ranges make the panels comparable.
    low = min(panel.y_range[0] for panel in panels if panel.y_range)
    high = max(panel.y_range[1] for panel in panels if panel.y_range)
    panels = tuple(_within(panel, low, high) for panel in panels)
    lines = list(dict.fromkeys(line.label for panel in panels for line in panel.lines))
    return Figure(
        figure_name("pli", domain),
        f"{domain_label(domain)}: plan-length improvement (PLI) over the mean plan length of the "
        "rules, by task from easy to difficult; mean over the seeds. Solid: baselines. Dotted: "
        "learned policies. Gaps: no plan, or optimum unknown.",
        f"Line chart over {len(tasks)} tasks of {domain_label(domain)}. Lines: {', '.join(lines)}. "
        + " ".join(f"{panel.title or 'PLI'}, {_means(panel.lines)}" for panel in panels),
        (panels,),
        share_y=True,
    )


def _pli_panel(comparison: Comparison, tasks: Sequence[TaskRuns], settings: str) -> Panel:
    x = tuple(float(i) for i in range(1, len(tasks) + 1))

    def line(label: str, costs: Iterable[Cost | float | None], learned: bool = False) -> Line:
        pairs = ((task.baseline, cost) for task, cost in zip(tasks, costs, strict=True))
        y = (math.nan if b is None or cost is None else pli(b, float(cost)) for b, cost in pairs)
        return Line(label, x, tuple(y), learned)

    lines = [
        line("rules alone", (task.baseline for task in tasks)),
        line("optimal", (task.optimum for task in tasks)),
    ]
    for planner in comparison.with_settings(settings):
        if planner.family is not Family.RULES and not planner.proves:
            costs = (task.mean_cost(planner.name) for task in tasks)
            lines.append(line(planner.label, costs, planner.learned))
    lines = [each for each in lines if _known(each)]
    everything = [y for each in lines for y in _known(each)]
    near = [y for each in lines if each.learned or each.label == "optimal" for y in _known(each)]
    low = min(*near, 0.0) if near else min(everything)
    high = max(*everything, 1.0)
    # Clip a planner far below the others, which would flatten their lines.
    low = max(min(everything), low - 0.5 * (high - low))
    margin = 0.06 * (high - low)
    return Panel(
        title=settings_label(settings),
        x_label="task",
        y_label="PLI (%)",
        lines=tuple(lines),
        y_range=(low - margin, high + margin),
        parts=tuple(_parts(tasks)),
        ticks=tuple(_ticks(tasks)),
    )


def _known(line: Line) -> list[float]:
    """Return the values of a line without its gaps."""
    return [y for y in line.y if not math.isnan(y)]


def _within(panel: Panel, low: float, high: float) -> Panel:
    """Return the panel with a range of y, and with a note on lines that leave it."""
    least = {line.label: min(_known(line)) for line in panel.lines}
    below = [f"{label}: down to {number(y, 0)}" for label, y in least.items() if y < low]
    return replace(panel, y_range=(low, high), note="\n".join(below))


def _parts(tasks: Sequence[TaskRuns]) -> Iterator[Part]:
    """Yield the splits as parts of the x-axis."""
    start = 0
    for i, task in enumerate(tasks):
        if i + 1 == len(tasks) or tasks[i + 1].split != task.split:
            yield Part(task.split, start + 0.5, i + 1.5)
            start = i + 1


def _ticks(tasks: Sequence[TaskRuns]) -> Iterator[tuple[float, str]]:
    """Yield ticks for the first task, and for some of each split at equal distances."""
    step = 1 if len(tasks) <= 10 else 10 * math.ceil(len(tasks) / 80)
    for part in _parts(tasks):
        first, last = int(part.start + 0.5), int(part.end - 0.5)
        for x in range(first, last + 1):
            position = x - first + 1
            if position % step == 0 or x == 1 or (position == 1 and last - first < step):
                yield float(x), tasks[x - 1].task


def _means(lines: Iterable[Line], text: Callable[[float], str] = number) -> str:
    """Describe lines by their means."""
    means = (f"{line.label} {text(statistics.fmean(_known(line)))}" for line in lines)
    return f"means: {'; '.join(means)}."


def objects_figure(comparison: Comparison) -> Figure | None:
    """Return the ranges of task sizes, for training and test tasks."""
    bars = []
    for domain in comparison.domains:
        sizes: dict[str, list[int]] = defaultdict(list)
        for record in comparison.trainings[domain]:
            sizes["training"] += filter(None, (record.training or {}).get("objects") or [])
        for task in comparison.tasks[domain]:
            if task.objects:
                sizes[f"test: {task.split}" if task.split else "test"].append(task.objects)
        for label, some in sizes.items():
            if some:
                bars.append(Bar(domain_label(domain), label, min(some), max(some)))
    if not bars:
        return None
    ranges = (f"{bar.row}, {bar.label}: {bar.low:g} to {bar.high:g}" for bar in bars)
    return Figure(
        "objects",
        "Numbers of objects in the training tasks and in the test tasks.",
        f"Ranges on a logarithmic scale. {'; '.join(ranges)}.",
        ((Panel(x_label="objects", bars=tuple(bars), x_log=True),),),
    )


def time_figure(comparison: Comparison) -> Figure | None:
    """Return time by number of objects, with a column for each domain and a row for each settings.

    Planners that improve their plans until a time limit are omitted.
    """
    rows = []
    for settings in comparison.settings:
        row = []
        for domain in comparison.domains:
            title = domain_label(domain) + (f", {settings}" if settings else "")
            lines = tuple(_time_lines(comparison, domain, settings))
            row.append(Panel(title, "objects", "seconds", lines, x_log=True, y_log=True))
        rows.append(row)
    drawn = [panel for row in rows for panel in row if panel.lines]
    if not drawn:
        return None
    means = (f"{panel.title}: {_means(panel.lines, seconds)}" for panel in drawn)
    return Figure(
        "time",
        "Time of the runs that found a plan, by the number of objects of the task: mean over the "
        "seeds and over tasks with equally many objects.",
        f"Line charts, both scales logarithmic. {' '.join(means)}",
        in_columns(rows),
        share_y=True,
    )


def _time_lines(comparison: Comparison, domain: str, settings: str) -> Iterator[Line]:
    for planner in comparison.with_settings(settings):
        times: dict[int, list[float]] = defaultdict(list)
        for task in comparison.tasks[domain]:
            solved = [run.seconds for run in task.runs.get(planner.name, ()) if is_solved(run)]
            if task.objects and solved:
                times[task.objects] += solved
        if times and not planner.postprocesses:
            x = sorted(times)
            # Zero has no logarithm.
            y = (max(1e-4, statistics.fmean(times[objects])) for objects in x)
            yield Line(planner.label, tuple(map(float, x)), tuple(y), planner.learned)
