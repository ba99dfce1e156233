"""Figures as PNG, PDF and SVG, drawn by matplotlib; the same figure gives the same bytes."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from planlog.report.document import Figure, Panel

_SETTINGS: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # shipped with matplotlib
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
    "text.parse_math": False,  # names may contain dollar signs
    "pdf.fonttype": 42,  # TrueType: searchable text, as publishers require
    "svg.fonttype": "none",
    "svg.hashsalt": "planlog",
}
# No dates and versions, so that files are reproducible.
_OPTIONS: dict[str, dict[str, Any]] = {
    # Stronger compression would take longer than drawing.
    "png": {"metadata": {"Software": None}, "pil_kwargs": {"compress_level": 2}},
    "pdf": {"metadata": {"Creator": None, "Producer": None, "CreationDate": None}},
    "svg": {"metadata": {"Creator": None, "Date": None}},
}


@dataclass(frozen=True)
class Style:
    """Style of a line; no two lines of a figure differ by colour alone."""

    colour: str
    marker: str = ""
    hollow: bool = False  # the marker


# The palette of Okabe and Ito, which suits all kinds of colour vision, and a few more colours.
# A label has the same style in all figures.
_STYLES = {
    "rules alone": Style("#000000"),
    "rules": Style("#000000", "d"),
    "optimal": Style("#D55E00", "."),
    "exact method": Style("#D55E00", "P"),
    "LAMA, first plan": Style("#009E73", "."),
    "LAMA": Style("#009E73", "h"),
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
_BARS = ("#0072B2", "#F3C26B", "#E69F00", "#B36B00", "#7A4900")  # training; test splits


def draw(figure: Figure, formats: Collection[str]) -> dict[str, bytes]:
    """Return the figure as a file in each of the formats (png, pdf, svg)."""
    with house_style():
        canvas = paint(figure)
        files = {}
        for kind in formats:
            data = io.BytesIO()
            canvas.savefig(data, format=kind, dpi=200, **_OPTIONS[kind])
            files[kind] = data.getvalue()
    return files


def house_style() -> AbstractContextManager[None]:
    """Set matplotlib's parameters for reports, and restore those of the user afterwards."""
    return matplotlib.style.context(["default", _SETTINGS])


# Inches.
_LEFT, _TOP, _BOTTOM = 0.6, 0.25, 0.42
_GAP, _ROW_GAP = 0.25, 0.5
_SCALE = 0.3  # for tick labels


def paint(figure: Figure) -> Canvas:
    """Return the figure in matplotlib's terms, laid out in inches, faster than by its engine."""
    rows, columns = len(figure.panels), len(figure.panels[0])
    panels = [panel for row in figure.panels for panel in row]
    width, height = _panel_size(panels, columns)
    gap = _GAP if figure.share_y else _GAP + _SCALE
    handles = list(_handles(panels))
    longest = max(len(str(handle.get_label())) for handle in handles)
    right = 0.6 + 0.078 * longest  # the legend
    left = 0.85 if panels[0].bars else _LEFT
    top = _TOP if any(panel.title or panel.note for panel in panels) else 0.08
    bottom = _BOTTOM + (0.15 if panels[0].parts else 0)
    total = (
        left + columns * width + (columns - 1) * gap + right,
        top + rows * height + (rows - 1) * _ROW_GAP + bottom,
    )
    canvas = Canvas(figsize=total)
    axes = canvas.subplots(rows, columns, squeeze=False, sharey="row" if figure.share_y else "none")
    canvas.subplots_adjust(
        left=left / total[0],
        right=1 - right / total[0],
        bottom=bottom / total[1],
        top=1 - top / total[1],
        wspace=gap / width,
        hspace=_ROW_GAP / height,
    )
    styles = _styles(panels)
    for i, (place, panel) in enumerate(zip(axes.flat, panels, strict=True)):
        if panel == Panel():
            place.axis("off")
            continue
        if panel.bars:
            _paint_bars(place, panel)
        else:
            _paint_lines(place, panel, styles)
        # Given positions save matplotlib their computation.
        place.set_title(panel.title, loc="left", y=1 + 0.05 / height)
        if i % columns == 0:
            place.set_ylabel(panel.y_label)
            place.yaxis.set_label_coords(-0.42 / width, 0.5)
        if panels[i + columns : i + columns + 1] in ([], [Panel()]):  # lowest of its column
            place.set_xlabel(panel.x_label)
            place.xaxis.set_label_coords(0.5, (0.16 - bottom) / height)
    anchor = (1 - (right - 0.1) / total[0], 0.5)
    canvas.legend(handles=handles, loc="center left", bbox_to_anchor=anchor, handlelength=2.8)
    return canvas


def _panel_size(panels: Sequence[Panel], columns: int) -> tuple[float, float]:
    if bars := max(len(panel.bars) for panel in panels):
        return 4.2, 0.19 * bars + 0.3
    return {1: (4.6, 2.4), 2: (3.3, 2.1)}.get(columns, (1.9, 1.7))


def _styles(panels: Sequence[Panel]) -> dict[str, Style]:
    """Return the styles of lines by label; a planner that postprocesses has hollow markers."""
    styles: dict[str, Style] = {}
    others = cycle(_OTHERS)
    for label in dict.fromkeys(line.label for panel in panels for line in panel.lines):
        style = _STYLES.get(label)
        if style is None and (same := _STYLES.get(_POSTPROCESSED.sub("", label))):
            style = replace(same, hollow=True)
        if style is None or style in styles.values():
            style = next(others)
        styles[label] = style
    return styles


_POSTPROCESSED = re.compile(r", (actions eliminated|[\d.e+]+ s)$")


def _bar_colours(panels: Sequence[Panel]) -> dict[str, str]:
    labels = dict.fromkeys(bar.label for panel in panels for bar in panel.bars)
    return dict(zip(labels, cycle(_BARS), strict=False))


def _handles(panels: Sequence[Panel]) -> Iterator[Line2D]:
    """Yield the entries of the legend, each label once."""
    styles = _styles(panels)
    for line in {line.label: line for panel in panels for line in panel.lines}.values():
        yield Line2D([], [], label=line.label, **_look(styles[line.label], line.learned))
    for label, colour in _bar_colours(panels).items():
        yield Line2D([], [], label=label, color=colour, linewidth=5)


def _look(style: Style, learned: bool) -> dict[str, Any]:
    return {
        "color": style.colour,
        "linestyle": (0, (1.2, 1.3)) if learned else "-",
        "linewidth": 1.2 if learned else 1.1,
        "marker": style.marker,
        "markersize": 3,
        "markeredgewidth": 0.8,
        "markerfacecolor": "white" if style.hollow else style.colour,
    }


_MARKERS = 12  # maximum number on a line


def _paint_lines(axes: Axes, panel: Panel, styles: dict[str, Style]) -> None:
    if not panel.lines:
        axes.text(0.5, 0.5, "nothing yet", transform=axes.transAxes, ha="center", color="#5a5a5a")
        axes.grid(visible=False)
        axes.set_xticks([])
        return
    for order, line in enumerate(panel.lines):
        style = styles[line.label]
        every = 1 if style.marker == "." else math.ceil(len(line.x) / _MARKERS)
        # Markers of different lines have different offsets.
        marks = (order % every, every)
        axes.plot(
            line.x,
            line.y,
            drawstyle="steps-post" if line.steps else "default",
            markevery=marks,
            **_look(style, line.learned),
            zorder=3,
        )
        if line.low:
            axes.fill_between(line.x, line.low, line.high, color=style.colour, alpha=0.15, lw=0)
    if panel.x_log:
        _logarithmic(axes, "x")
    if panel.y_log:
        _logarithmic(axes, "y")
    if panel.y_range is not None:
        axes.set_ylim(panel.y_range)
    if panel.parts:
        axes.set_xlim(panel.parts[0].start, panel.parts[-1].end)
    for part in panel.parts:
        if part is not panel.parts[0]:
            axes.axvline(part.start, color="#9a9a9a", linewidth=0.8)
        axes.annotate(
            part.label,
            ((part.start + part.end) / 2, 0),
            xycoords=axes.get_xaxis_transform(),
            xytext=(0, -21),
            textcoords="offset points",
            ha="center",
            va="center",
        )
    if panel.ticks:
        places, names = zip(*panel.ticks, strict=True)
        axes.set_xticks(places, names)
    if panel.note:
        axes.annotate(
            panel.note,
            (1, 1.02),
            xycoords="axes fraction",
            ha="right",
            va="bottom",
            fontsize=6.5,
            color="#404040",
        )


def _logarithmic(axes: Axes, name: str) -> None:
    """Set a logarithmic scale with ticks at 1, 2, 5, 10, …, or at powers of ten if too many."""
    axes.set(**{f"{name}scale": "log"})
    axis = axes.xaxis if name == "x" else axes.yaxis
    low, high = axis.get_view_interval()
    few = high / low > 150
    axis.set_major_locator(LogLocator(subs=(1.0,) if few else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def _paint_bars(axes: Axes, panel: Panel) -> None:
    colours = _bar_colours([panel])
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
            marker="|",  # visible for a range of one value
            markersize=6,
            markeredgewidth=1.5,
        )
        text = f"{bar.low:g} to {bar.high:g}" if bar.low < bar.high else f"{bar.low:g}"
        axes.annotate(
            text, (bar.high, y), (5, 0), textcoords="offset points", va="center", fontsize=7
        )
    axes.set_yticks([sum(ys) / len(ys) for ys in heights.values()], list(heights))
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_ylim(y + 0.8, 0.2)
    _logarithmic(axes, "x")
    low, high = axes.get_xlim()
    axes.set_xlim(low, high * (high / low) ** 0.12)  # room for labels
