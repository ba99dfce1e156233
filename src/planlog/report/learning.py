"""Figures of learning curves."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from planlog.experiment.records import Record, Status
from planlog.report.comparison import Comparison
from planlog.report.document import Figure, Line, Panel, in_columns
from planlog.report.formatting import domain_label, figure_name, number
from planlog.report.planners import settings_label


def learning_figures(comparison: Comparison) -> Iterator[Figure]:
    """Yield loss and accuracy by epoch: a figure for each settings, a column for each domain."""
    domains = [domain for domain in comparison.domains if comparison.trainings[domain]]
    for settings in comparison.settings:
        rows: list[list[Panel]] = [[], []]
        for row, key in zip(rows, ("loss", "accuracy"), strict=True):
            for domain in domains:
                lines = tuple(_curves(comparison, domain, settings, key))
                title = domain_label(domain) if key == "loss" else ""
                row.append(Panel(title, "epoch", key, lines, y_log=key == "loss"))
        if not any(panel.lines for row in rows for panel in row):
            continue
        rows[1] = _without_first_epochs(rows[1])
        final = (f"{top.title}: {_final(panel.lines)}" for top, panel in zip(*rows, strict=True))
        yield Figure(
            figure_name("learning", settings),
            f"Learning curves, {settings_label(settings) or 'learned'}: loss and accuracy (states "
            "in which the action with the highest score is optimal). Mean over the seeds; the band "
            "reaches from the least to the greatest value. Accuracies in the first epochs may be "
            "lower than what is shown.",
            f"Line charts of loss and accuracy by epochs. Last accuracies: {'; '.join(final)}.",
            in_columns(rows),
            share_y=True,
        )


def _without_first_epochs(panels: list[Panel]) -> list[Panel]:
    """Return panels whose scale ignores the first twentieth of the epochs."""
    bands = [line.low or line.y for panel in panels for line in panel.lines]
    values = [value for band in bands for value in band[math.ceil(len(band) / 20) :] or band]
    if not values:
        return panels
    tops = (line.high or line.y for panel in panels for line in panel.lines)
    low, high = min(values), max(max(top) for top in tops if top)
    margin = 0.06 * (high - low) or 0.01
    return [replace(panel, y_range=(low - margin, high + margin)) for panel in panels]


def _curves(comparison: Comparison, domain: str, settings: str, key: str) -> Iterator[Line]:
    for planner in comparison.planners:
        if planner.network is not None and planner.settings == settings:
            records = [r for r in comparison.trainings[domain] if r.planner == planner.name]
            if line := _curve(planner.label, records, key):
                yield line


_POINTS = 250  # of a curve: the resolution of a figure


def _curve(label: str, records: Sequence[Record], key: str) -> Line | None:
    curves = [
        [math.nan if value is None else float(value) for value in values]
        for record in records
        if record.status is Status.TRAINED and (values := (record.training or {}).get(key))
    ]
    if not curves:
        return None
    length = max(map(len, curves))
    epochs = range(0, length, max(1, math.ceil(length / _POINTS)))
    known = {}
    for epoch in epochs:
        values = [c[epoch] for c in curves if epoch < len(c) and math.isfinite(c[epoch])]
        if values:
            known[epoch] = values
    return Line(
        label,
        tuple(map(float, known)),
        tuple(map(statistics.fmean, known.values())),
        learned=True,
        low=tuple(map(min, known.values())) if len(curves) > 1 else (),
        high=tuple(map(max, known.values())) if len(curves) > 1 else (),
    )


def _final(lines: Iterable[Line]) -> str:
    return ", ".join(f"{line.label} {number(line.y[-1], 3)}" for line in lines if line.y)
