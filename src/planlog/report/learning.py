"""Figures of learning curves."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from dataclasses import replace

from planlog.experiment.records import Status
from planlog.report.comparison import Comparison
from planlog.report.document import Figure, Line, Panel, in_columns
from planlog.report.formatting import domain_label, figure_name, number
from planlog.report.planners import settings_label


def learning_figures(comparison: Comparison) -> Iterator[Figure]:
    """Yield loss and accuracy by epoch: a figure for each settings, a column for each domain."""
    domains = [domain for domain in comparison.domains if comparison.trainings[domain]]
    for settings in comparison.settings:
        losses, accuracies = [], []
        for domain in domains:
            title = domain_label(domain)
            lines = tuple(_curves(comparison, domain, settings, "loss"))
            losses.append(Panel(title, "epoch", "loss", lines, y_log=True))
            lines = tuple(_curves(comparison, domain, settings, "accuracy"))
            accuracies.append(Panel("", "epoch", "accuracy", lines))
        if not any(panel.lines for panel in (*losses, *accuracies)):
            continue
        final = (
            f"{domain_label(domain)}: "
            + ", ".join(f"{line.label} {number(line.y[-1], 3)}" for line in panel.lines if line.y)
            for domain, panel in zip(domains, accuracies, strict=True)
        )
        yield Figure(
            figure_name("learning", settings),
            f"Learning curves, {settings_label(settings) or 'learned'}: loss and accuracy (states "
            "in which the action with the highest score is optimal). Mean over the seeds, with a "
            "band from minimum to maximum. The scale of the accuracy ignores the first epochs.",
            f"Line charts of loss and accuracy by epochs. Last accuracies: {'; '.join(final)}.",
            in_columns([losses, _without_first_epochs(accuracies)]),
            share_y=True,
        )


def _without_first_epochs(panels: list[Panel]) -> list[Panel]:
    """Return panels whose scale ignores the first twentieth of the epochs."""
    lines = [line for panel in panels for line in panel.lines if line.y]
    if not lines:
        return panels
    bands = (line.low or line.y for line in lines)
    low = min(min(band[math.ceil(len(band) / 20) :] or band) for band in bands)
    high = max(max(line.high or line.y) for line in lines)
    margin = 0.06 * (high - low) or 0.01
    return [replace(panel, y_range=(low - margin, high + margin)) for panel in panels]


_POINTS = 250  # of a curve: the resolution of a figure


def _curves(comparison: Comparison, domain: str, settings: str, key: str) -> Iterator[Line]:
    """Yield the mean curve of each network with these settings, with a band over its seeds."""
    for planner in comparison.planners:
        curves = [
            [math.nan if value is None else float(value) for value in values]
            for record in comparison.trainings[domain]
            if record.planner == planner.name and record.status is Status.TRAINED
            if (values := (record.training or {}).get(key))
        ]
        if planner.network is None or planner.settings != settings or not curves:
            continue
        length = max(map(len, curves))
        known = {}
        for epoch in range(0, length, max(1, math.ceil(length / _POINTS))):
            values = [c[epoch] for c in curves if epoch < len(c) and math.isfinite(c[epoch])]
            if values:
                known[epoch] = values
        yield Line(
            planner.label,
            tuple(map(float, known)),
            tuple(map(statistics.fmean, known.values())),
            learned=True,
            low=tuple(map(min, known.values())) if len(curves) > 1 else (),
            high=tuple(map(max, known.values())) if len(curves) > 1 else (),
        )
