"""Figures of plan quality over time."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from planlog.experiment.records import Record
from planlog.report.comparison import Comparison
from planlog.report.document import Figure, Line, Panel
from planlog.report.formatting import domain_label, figure_name, number
from planlog.report.metrics import TaskRuns, cost_of, is_solved, quality
from planlog.report.planners import Planner, settings_label

_FIRST = 0.01  # seconds at which earlier plans are shown
_POINTS = 50  # between two powers of ten


def quality_figure(comparison: Comparison, domain: str) -> Figure | None:
    """Return the mean of C*/C over time; None if no planner searches until a time limit.

    Each of the settings has a row of two panels, the second enlarged near the optimum.
    """
    tasks = comparison.tasks[domain]
    run = {name for task in tasks for name in task.runs}
    limits = [p.seconds for p in comparison.planners if p.name in run and p.seconds is not None]
    if not limits:
        return None
    end = max(*limits, 10 * _FIRST)
    panels = [_panel(comparison, tasks, s, end) for s in comparison.settings]
    low = _near_optimum([line for panel in panels for line in panel.lines])
    final = "; ".join(
        f"{panel.title or 'quality'}: "
        + ", ".join(f"{line.label} {number(line.y[-1], 3)}" for line in panel.lines)
        for panel in panels
    )
    return Figure(
        figure_name("quality", domain),
        f"{domain_label(domain)}: quality of the best plan so far over time: mean of C*/C over "
        "tasks and seeds (0 without a plan, 1 for an optimal plan). Solid: baselines. Dotted: "
        "learned policies. Right: the same, enlarged near the optimum.",
        f"Step chart over {len(tasks)} tasks of {domain_label(domain)}, times on a logarithmic "
        f"scale, up to {end:g} seconds. At the end, {final}.",
        tuple(
            (panel, replace(panel, title="near the optimum", y_range=(low, 1 + 0.04 * (1 - low))))
            for panel in panels
        ),
    )


def _panel(comparison: Comparison, tasks: Sequence[TaskRuns], settings: str, end: float) -> Panel:
    lines = []
    for planner in comparison.with_settings(settings):
        done = [(task, runs) for task in tasks if (runs := task.runs.get(planner.name))]
        if done and not planner.proves:
            lines.append(_line(planner, done, end))
    title, limits = settings_label(settings), (-0.04, 1.04)
    return Panel(title, "seconds", "mean C*/C", tuple(lines), x_log=True, y_range=limits)


def _near_optimum(lines: Sequence[Line]) -> float:
    """Return a lower limit at which learned policies, or else all, fill most of the height."""
    ends = [line.y[-1] for line in lines if line.learned] or [line.y[-1] for line in lines]
    low = 1 - 1.5 * (1 - min(ends, default=0.0))
    return min(max(0.0, low), 0.98)


def _line(planner: Planner, done: Sequence[tuple[TaskRuns, Sequence[Record]]], end: float) -> Line:
    """Return mean quality over time: the sum of the gains of all plans so far."""
    gains: dict[int, float] = defaultdict(float)  # by index of the point
    last = math.ceil(_POINTS * math.log10(end / _FIRST))
    for task, runs in done:
        weight = 1 / (len(runs) * len(done))
        for run in filter(is_solved, runs):
            assert task.best is not None
            before = 0.0
            for cost, seconds in run.plans or ((cost_of(run), run.seconds),):
                now = quality(task.best, cost)
                if seconds <= end:
                    # Round up: a plan is never shown before it was found.
                    steps = _POINTS * math.log10(max(seconds, _FIRST) / _FIRST)
                    gains[min(last, math.ceil(steps))] += weight * (now - before)
                before = now
    points = sorted({0, last, *gains})
    return Line(
        planner.label,
        tuple(min(end, _FIRST * 10 ** (point / _POINTS)) for point in points),
        tuple(accumulate(gains.get(point, 0.0) for point in points)),
        planner.learned,
        steps=True,
    )
