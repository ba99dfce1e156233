"""Reports as values: text, tables and figures, which every output format can render."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """A text, or a number with its standard deviation."""

    text: str
    std: str = ""  # rendered after ±
    best: bool = False  # of its column


@dataclass(frozen=True)
class Group:
    """Rows under a title, which may be empty; the first cell of a row is its name."""

    title: str
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Table:
    """Rows in groups; the first column holds names, the others numbers."""

    name: str
    title: str
    caption: str
    header: tuple[str, ...]
    groups: tuple[Group, ...]
    references: frozenset[int] = frozenset()  # columns with published results

    @property
    def rows(self) -> Iterator[tuple[Cell, ...]]:
        return (row for group in self.groups for row in group.rows)


@dataclass(frozen=True)
class Line:
    """Points in the order of x; a line has a gap where y is NaN."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    learned: bool = False  # drawn dotted
    low: tuple[float, ...] = ()  # band around the line
    high: tuple[float, ...] = ()
    steps: bool = False  # y is constant until the next x


@dataclass(frozen=True)
class Bar:
    """A range from low to high."""

    row: str
    label: str
    low: float
    high: float


@dataclass(frozen=True)
class Part:
    """A named part of the x-axis, from `start` to `end`."""

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
    note: str = ""  # on values outside of the axes


@dataclass(frozen=True)
class Figure:
    """Panels in rows of equal length, padded with empty panels, and one legend."""

    name: str  # of the file, without suffix
    caption: str
    description: str  # alternative text for readers who cannot see the figure
    panels: tuple[tuple[Panel, ...], ...]
    share_y: bool = False  # within each row


_COLUMNS = 4  # the width of a page


def in_columns(rows: Sequence[Sequence[Panel]]) -> tuple[tuple[Panel, ...], ...]:
    """Break rows of panels, one panel for each domain, at the width of a page."""
    columns = min(_COLUMNS, len(rows[0]))
    broken = []
    for start in range(0, len(rows[0]), columns):
        for row in rows:
            part = row[start : start + columns]
            broken.append((*part, *[Panel()] * (columns - len(part))))
    return tuple(broken)


@dataclass(frozen=True)
class Listing:
    """Preformatted lines, such as the output of programs."""

    lines: tuple[str, ...]


Item = str | Table | Figure | Listing  # a text is a paragraph


@dataclass(frozen=True)
class Section:
    """A title and the items under it."""

    title: str
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Document:
    """A report."""

    title: str
    sections: tuple[Section, ...]

    @property
    def tables(self) -> dict[str, Table]:
        """The tables by name."""
        items = (item for section in self.sections for item in section.items)
        return {item.name: item for item in items if isinstance(item, Table)}

    @property
    def figures(self) -> tuple[Figure, ...]:
        items = (item for section in self.sections for item in section.items)
        return tuple(item for item in items if isinstance(item, Figure))
