"""Sizes of generated tasks: their limits, and their growth within a split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planlog.errors import PlanlogError

# Number of tasks in a split of the IPC 2023 learning track.
SPLITS: Mapping[str, int] = {"training": 99, "easy": 30, "medium": 30, "hard": 30}


class SizeError(PlanlogError):
    """A split, size, count or seed with which no task can be generated."""


@dataclass(frozen=True)
class Size:
    """A number of objects in a task; in each split it grows linearly from `first` to `last`."""

    name: str
    help: str
    minimum: int
    default: int
    training: tuple[int, int]  # first, last
    easy: tuple[int, int]
    medium: tuple[int, int]
    hard: tuple[int, int]

    def in_split(self, split: str, count: int) -> list[int]:
        """Return the size of each of `count` tasks."""
        first, last = getattr(self, split)
        return linear(first, last, count)


def linear(first: int, last: int, count: int) -> list[int]:
    """Return `count` integers that grow linearly from `first` to `last`."""
    return [first + (last - first) * i // max(1, count - 1) for i in range(count)]


def split_sizes(
    sizes: tuple[Size, ...], smallest: tuple[tuple[int, ...], ...], split: str, count: int
) -> list[dict[str, int]]:
    """Return the sizes of `count` tasks of a split, small to large.

    The training split begins with the `smallest` tasks, whose state spaces are tiny; a
    `count` other than the usual one picks evenly among the usual tasks.
    """
    if split not in SPLITS:
        raise SizeError(f"unknown split '{split}'; the splits are {', '.join(SPLITS)}")
    if count < 1:
        raise SizeError(f"the number of tasks must be at least 1, not {count}")
    names = [size.name for size in sizes]
    if split == "training":
        grown = SPLITS[split] - len(smallest)
        series = [size.in_split(split, grown) for size in sizes]
        rows = [*smallest, *zip(*series, strict=True)]
        picked = [rows[i] for i in linear(0, len(rows) - 1, count)]
    else:
        picked = list(zip(*(size.in_split(split, count) for size in sizes), strict=True))
    return [dict(zip(names, row, strict=True)) for row in picked]


def complete(sizes: tuple[Size, ...], given: Mapping[str, int]) -> dict[str, int]:
    """Return the given sizes, with defaults for the others; raise SizeError for invalid ones."""
    known = {size.name: size for size in sizes}
    for name in given:
        if name not in known:
            raise SizeError(f"unknown size '{name}'; the sizes are {', '.join(known)}")
    values = {name: int(given.get(name, size.default)) for name, size in known.items()}
    for name, value in values.items():
        if value < known[name].minimum:
            raise SizeError(f"{name} must be at least {known[name].minimum}, not {value}")
    return values
