"""Figures as PNG, PDF and SVG, drawn by matplotlib; the same figure gives the same bytes."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
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


# Colour and marker by label; no two lines of a figure differ by colour alone. The palette is that
# of Okabe and Ito, which suits all kinds of colour vision, with a few more colours.
_STYLES = {
    "rules alone": ("#000000", ""),
    "rules": ("#000000", "d"),
    "optimal": ("#D55E00", "."),
    "exact method": ("#D55E00", "P"),
    "LAMA, first plan": ("#009E73", "."),
    "LAMA": ("#009E73", "h"),
    "LRNN L=1 H=8": ("#0072B2", "o"),
    "LRNN L=1 H=16": ("#56B4E9", "s"),
    "LRNN L=2 H=8": ("#CC79A7", "^"),
    "LRNN L=2 H=16": ("#E69F00", "D"),
    "shipped model": ("#4D4D4D", "v"),
    "A* with LM-cut": ("#8B5A2B", "x"),
    "SymK": ("#7A3E9D", "+"),
    "Scorpion": ("#7F7F7F", "*"),
}
_OTHERS = (("#5F5F5F", "1"), ("#005F45", "<"), ("#8F3F00", ">"), ("#004D73", "p"))
_POSTPROCESSED = re.compile(r", (actions eliminated|[\d.e+]+ s)$")  # end of a label
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
    styles, colours = _styles(panels), _bar_colours(panels)
    right = 0.6 + 0.078 * max(map(len, [*styles, *colours]))  # the legend
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
    for i, (place, panel) in enumerate(zip(axes.flat, panels, strict=True)):
        if panel == Panel():
            place.axis("off")
            continue
        if panel.bars:
            _paint_bars(place, panel, colours)
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
    handles = [Line2D([], [], label=label, **style) for label, style in styles.items()]
    handles += [Line2D([], [], label=n, color=c, linewidth=5) for n, c in colours.items()]
    anchor = (1 - (right - 0.1) / total[0], 0.5)
    canvas.legend(handles=handles, loc="center left", bbox_to_anchor=anchor, handlelength=2.8)
    return canvas


def _bar_colours(panels: Sequence[Panel]) -> dict[str, str]:
    """Return the colours of bars by label."""
    labels = dict.fromkeys(bar.label for panel in panels for bar in panel.bars)
    return dict(zip(labels, cycle(_BARS), strict=False))


def _panel_size(panels: Sequence[Panel], columns: int) -> tuple[float, float]:
    if bars := max(len(panel.bars) for panel in panels):
        return 4.2, 0.19 * bars + 0.3
    return {1: (4.6, 2.4), 2: (3.3, 2.1)}.get(columns, (1.9, 1.7))


def _styles(panels: Sequence[Panel]) -> dict[str, dict[str, Any]]:
    """Return matplotlib's properties of the lines of a figure, by label.

    A planner that postprocesses plans has the style of the planner without it, but hollow markers.
    """
    styles: dict[str, dict[str, Any]] = {}
    used: set[tuple[str, str, bool]] = set()
    others = cycle(_OTHERS)
    for line in {line.label: line for panel in panels for line in panel.lines}.values():
        plain = line.label if line.label in _STYLES else _POSTPROCESSED.sub("", line.label)
        style = (*_STYLES[plain], plain != line.label) if plain in _STYLES else None
        if style is None or style in used:
            style = (*next(others), False)
        used.add(style)
        colour, marker, hollow = style
        styles[line.label] = {
            "color": colour,
            "linestyle": (0, (1.2, 1.3)) if line.learned else "-",
            "linewidth": 1.2 if line.learned else 1.1,
            "marker": marker,
            "markersize": 3,
            "markeredgewidth": 0.8,
            "markerfacecolor": "white" if hollow else colour,
        }
    return styles


_MARKERS = 12  # maximum number on a line


def _paint_lines(axes: Axes, panel: Panel, styles: dict[str, dict[str, Any]]) -> None:
    if not panel.lines:
        axes.text(0.5, 0.5, "no data", transform=axes.transAxes, ha="center", color="#5a5a5a")
        axes.grid(visible=False)
        axes.set_xticks([])
        return
    for order, line in enumerate(panel.lines):
        style = styles[line.label]
        every = 1 if style["marker"] == "." else math.ceil(len(line.x) / _MARKERS)
        marks = (order % every, every)  # markers of different lines have different offsets
        steps = "steps-post" if line.steps else "default"
        axes.plot(line.x, line.y, drawstyle=steps, markevery=marks, **style, zorder=3)
        if line.low:
            colour = style["color"]
            axes.fill_between(line.x, line.low, line.high, color=colour, alpha=0.15, lw=0)
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


def _paint_bars(axes: Axes, panel: Panel, colours: dict[str, str]) -> None:
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
