"""Tables as values that every output format can render."""

from __future__ import annotations

from collections.abc import Iterator
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
