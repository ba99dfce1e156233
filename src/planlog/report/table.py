"""A table as a value that every format can write."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """A text in a table."""

    text: str
    best: bool = False  # of its column


@dataclass(frozen=True)
class Group:
    """Rows under a title, which may be empty; the first cell of a row is its name."""

    title: str
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Table:
    """Columns, and rows in groups. The first column holds names, the others numbers."""

    name: str
    title: str
    caption: str
    header: tuple[str, ...]
    groups: tuple[Group, ...]
    references: frozenset[int] = frozenset()  # columns of somebody else's results

    @property
    def rows(self) -> Iterator[tuple[Cell, ...]]:
        return (row for group in self.groups for row in group.rows)
