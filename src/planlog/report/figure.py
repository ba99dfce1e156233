"""A figure as a value that can be drawn (or tested, or read out)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

NAN = math.nan


@dataclass(frozen=True)
class Line:
    """Points (x, y) in order; where y is not a number the line has a gap."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    learned: bool = False  # dotted
    low: tuple[float, ...] = ()  # the band around the line, if any
    high: tuple[float, ...] = ()
    steps: bool = False  # each y holds until the next x


@dataclass(frozen=True)
class Bar:
    """A range from low to high."""

    row: str
    label: str
    low: float
    high: float


@dataclass(frozen=True)
class Part:
    """A part of the x-axis with a name, from `start` to `end`."""

    label: str
    start: float
    end: float


@dataclass(frozen=True)
class Panel:
    """One pair of axes: either lines or bars."""

    title: str = ""
    x_label: str = ""
    y_label: str = ""
    lines: tuple[Line, ...] = ()
    bars: tuple[Bar, ...] = ()
    x_log: bool = False
    y_log: bool = False
    y_range: tuple[float, float] | None = None
    parts: tuple[Part, ...] = ()
    ticks: tuple[tuple[float, str], ...] = ()
    note: str = ""  # of what the axes do not show


@dataclass(frozen=True)
class Figure:
    """Panels in rows of equal length (filled up with empty ones), with one legend for all."""

    name: str  # of the file, without its ending
    caption: str
    description: str  # for those who do not see it
    panels: tuple[tuple[Panel, ...], ...]
    share_y: bool = False  # the panels of a row have the same scale


_COLUMNS = 4  # more would be wider than a page


def in_columns(rows: Sequence[Sequence[Panel]]) -> tuple[tuple[Panel, ...], ...]:
    """Rows of a panel for each domain, broken where they are too long."""
    columns = min(_COLUMNS, len(rows[0]))
    broken = []
    for start in range(0, len(rows[0]), columns):
        for row in rows:
            part = row[start : start + columns]
            broken.append((*part, *[Panel()] * (columns - len(part))))
    return tuple(broken)
