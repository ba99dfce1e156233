"""Ranges of numbers: the one way in which numbers of a user are read and checked."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

# Longer texts are no numbers that anybody means, and are not repeated in messages.
MOST_CHARACTERS = 40

_WHOLE = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class Range:
    """The numbers from `least` to `most`, whole ones if both are.

    >>> Range(1, 1024).read("8")
    8
    """

    least: int | float
    most: int | float

    @property
    def whole(self) -> bool:
        """Whether the numbers are whole numbers."""
        return isinstance(self.least, int) and isinstance(self.most, int)

    def __str__(self) -> str:
        least, most = (_shown(value) for value in (self.least, self.most))
        return f"a {'whole ' if self.whole else ''}number from {least} to {most}"

    def __contains__(self, value: object) -> bool:
        kinds = (int,) if self.whole else (int, float)
        return type(value) in kinds and self.least <= value <= self.most  # type: ignore[operator]

    def read(self, text: str) -> int | float:
        """Return the number that a text means; raise ValueError that states the range."""
        text = text.strip()
        pattern = _WHOLE if self.whole else _DECIMAL
        if len(text) <= MOST_CHARACTERS and pattern.fullmatch(text):
            value = int(text) if self.whole else float(text)
            if value in self and math.isfinite(value):
                return value
        raise ValueError(f"expected {self}, got '{clipped(text)}'")

    def check(self, value: object, name: str) -> None:
        """Raise ValueError that states the range unless a value is in it."""
        if value not in self:
            raise ValueError(f"{name}: expected {self}, got {clipped(repr(value))}")


def clipped(text: str) -> str:
    """Return the beginning of a text for a message."""
    return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + "…"


def _shown(value: int | float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.12g}"
