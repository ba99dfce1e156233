"""Figures as PNG, PDF and SVG, by matplotlib; the same figure gives the same bytes."""

from __future__ import annotations

import io
import math
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from planlog.report.figures import Figure, Panel

_SETTINGS: dict[Any, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.unicode_minus": True,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "pdf.fonttype": 42,  # TrueType: text can be searched, and publishers take it
    "svg.fonttype": "none",
    "svg.hashsalt": "planlog",
}
# Without dates and versions.
_METADATA: dict[str, dict[str, str | None]] = {
    "png": {"Software": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "svg": {"Creator": None, "Date": None},
}


@dataclass(frozen=True)
class Style:
    """How a line looks; no two of a figure differ by colour alone."""

    colour: str
    marker: str = ""


# Colours that people with any kind of colour vision can tell apart (Okabe and Ito), and some
# more for what is seldom shown. Each name looks the same in all figures.
_STYLES = {
    "rules alone": Style("#000000"),
    "optimal": Style("#D55E00", "."),
    "exact method": Style("#D55E00", "P"),
    "LAMA, first plan": Style("#009E73", "."),
    "LRNN L=1 H=8": Style("#0072B2", "o"),
    "LRNN L=1 H=16": Style("#56B4E9", "s"),
    "LRNN L=2 H=8": Style("#CC79A7", "^"),
    "LRNN L=2 H=16": Style("#E69F00", "D"),
    "shipped model": Style("#4D4D4D", "v"),
    "A* with LM-cut": Style("#8B5A2B", "x"),
    "SymK": Style("#7A3E9D", "+"),
    "Scorpion": Style("#7F7F7F", "*"),
}
_OTHERS = (
    Style("#5F5F5F", "1"),
    Style("#005F45", "<"),
    Style("#8F3F00", ">"),
    Style("#004D73", "p"),
)
_BARS = ("#0072B2", "#F3C26B", "#E69F00", "#B36B00", "#7A4900")  # learned from; tested


def draw(figure: Figure, formats: Collection[str]) -> dict[str, bytes]:
    """The figure as a file of each of the formats png, pdf and svg."""
    with _settings():
        canvas = paint(figure)
        files = {}
        for kind in formats:
            data = io.BytesIO()
            canvas.savefig(data, format=kind, dpi=200, metadata=_METADATA[kind])
            files[kind] = data.getvalue()
    return files


@contextmanager
def _settings() -> Iterator[None]:
    """Ours, whatever the user has chosen for other figures."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        yield


# In inches.
_LEFT, _TOP, _BOTTOM, _LEGEND = 0.62, 0.3, 0.55, 1.5
_GAP, _SHARED_GAP, _ROW_GAP = 0.62, 0.22, 0.75


def paint(figure: Figure) -> Canvas:
    """The figure in matplotlib's terms, laid out in inches: quicker than to let it find out."""
    rows, columns = len(figure.panels), max(map(len, figure.panels))
    width, height = _panel_size(figure, columns)
    gap = _SHARED_GAP if figure.share_y else _GAP
    handles = list(_handles(figure))
    right = _LEGEND if handles else 0.25
    left = _LEFT if any(panel.lines for row in figure.panels for panel in row) else 0.85
    total = (
        left + columns * width + (columns - 1) * gap + right,
        _TOP + rows * height + (rows - 1) * _ROW_GAP + _BOTTOM,
    )
    canvas = Canvas(figsize=total)
    axes = canvas.subplots(rows, columns, squeeze=False, sharey="all" if figure.share_y else "none")
    canvas.subplots_adjust(
        left=left / total[0],
        right=1 - right / total[0],
        bottom=_BOTTOM / total[1],
        top=1 - _TOP / total[1],
        wspace=gap / width,
        hspace=_ROW_GAP / height,
    )
    styles = _styles(figure)
    for i, row in enumerate(figure.panels):
        for j, panel in enumerate(row):
            at = axes[i][j]
            if panel.bars:
                _paint_bars(at, panel)
            else:
                _paint_lines(at, panel, styles)
            at.set_title(panel.title, loc="left")
            if j == 0 or not figure.share_y:
                at.set_ylabel(panel.y_label)
            if i == rows - 1:
                at.set_xlabel(panel.x_label, labelpad=12 if panel.parts else None)
    if handles:
        anchor = (1 - (right - 0.1) / total[0], 0.5)
        canvas.legend(handles=handles, loc="center left", bbox_to_anchor=anchor, handlelength=2.8)
    return canvas


def _panel_size(figure: Figure, columns: int) -> tuple[float, float]:
    if bars := max(len(panel.bars) for row in figure.panels for panel in row):
        return 4.2, 0.19 * bars + 0.3
    return {1: (4.6, 2.5), 2: (3.3, 2.1)}.get(columns, (2.1, 1.9))


def _styles(figure: Figure) -> dict[str, Style]:
    """Of the lines, by their labels."""
    styles: dict[str, Style] = {}
    others = cycle(_OTHERS)
    for row in figure.panels:
        for panel in row:
            for line in panel.lines:
                if line.label not in styles:
                    styles[line.label] = _STYLES.get(line.label) or next(others)
    return styles


def _handles(figure: Figure) -> Iterator[Line2D]:
    """The legend, with each label once."""
    styles = _styles(figure)
    lines = (line for row in figure.panels for panel in row for line in panel.lines)
    for line in {line.label: line for line in lines}.values():
        yield Line2D([], [], label=line.label, **_look(styles[line.label], line.learned))
    bars = (bar for row in figure.panels for panel in row for bar in panel.bars)
    for label, colour in zip(dict.fromkeys(bar.label for bar in bars), cycle(_BARS), strict=False):
        yield Line2D([], [], label=label, color=colour, linewidth=5)


def _look(style: Style, learned: bool) -> dict[str, Any]:
    return {
        "color": style.colour,
        "linestyle": (0, (1.2, 1.3)) if learned else "-",
        "linewidth": 1.2 if learned else 1.1,
        "marker": style.marker,
        "markersize": 3,
        "markeredgewidth": 0.8,
    }


_MARKERS = 12  # of a line at most, where points are dense


def _paint_lines(axes: Axes, panel: Panel, styles: dict[str, Style]) -> None:
    if not panel.lines:
        axes.text(0.5, 0.5, "no runs yet", transform=axes.transAxes, ha="center", color="#5a5a5a")
        return
    if panel.x_log:
        axes.set_xscale("log")
    if panel.y_log:
        axes.set_yscale("log")
    for order, line in enumerate(panel.lines):
        style = styles[line.label]
        every = 1 if style.marker == "." else math.ceil(len(line.x) / _MARKERS)
        # Markers of different lines stand at different places.
        marks = (order % every, every)
        axes.plot(line.x, line.y, markevery=marks, **_look(style, line.learned), zorder=3)
        if line.low:
            axes.fill_between(line.x, line.low, line.high, color=style.colour, alpha=0.15, lw=0)
    if panel.y_range is not None:
        axes.set_ylim(panel.y_range)
    if panel.parts:
        axes.set_xlim(panel.parts[0].start, panel.parts[-1].end)
        for part in panel.parts[1:]:
            axes.axvline(part.start, color="#9a9a9a", linewidth=0.8)
        for part in panel.parts:
            middle = (part.start + part.end) / 2
            below = axes.get_xaxis_transform()
            axes.annotate(
                part.label,
                (middle, 0),
                xycoords=below,
                xytext=(0, -24),
                textcoords="offset points",
                ha="center",
                va="center",
            )
    if panel.ticks:
        places, names = zip(*panel.ticks, strict=True)
        axes.set_xticks(places, names)
    elif panel.x_log:
        _plain_ticks(axes)
    if panel.note:
        axes.text(0.01, 0.02, panel.note, transform=axes.transAxes, fontsize=6.5, color="#404040")


def _plain_ticks(axes: Axes) -> None:
    """Numbers as people write them at 1, 2, 5, 10, …; powers of ten where these are too many."""
    low, high = axes.get_xlim()
    wide = high / low > 200
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _paint_bars(axes: Axes, panel: Panel) -> None:
    colours = dict(zip(dict.fromkeys(bar.label for bar in panel.bars), cycle(_BARS), strict=False))
    axes.set_xscale("log")
    heights: dict[str, list[float]] = {}
    y = 0.0
    for bar, before in zip(panel.bars, (None, *panel.bars), strict=False):
        y += 1.0 if before is None or before.row == bar.row else 1.7
        heights.setdefault(bar.row, []).append(y)
        axes.plot(
            [bar.low, bar.high],
            [y, y],
            color=colours[bar.label],
            linewidth=6,
            solid_capstyle="butt",
            marker="|",  # a range may be but a point
            markersize=6,
            markeredgewidth=1.5,
        )
        text = f"{bar.low:g}–{bar.high:g}" if bar.low < bar.high else f"{bar.low:g}"
        axes.annotate(
            text, (bar.high, y), (5, 0), textcoords="offset points", va="center", fontsize=7
        )
    axes.set_yticks([sum(ys) / len(ys) for ys in heights.values()], list(heights))
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_ylim(y + 0.8, 0.2)
    low, high = axes.get_xlim()
    axes.set_xlim(low, high * (high / low) ** 0.12)  # room for the numbers
    _plain_ticks(axes)
