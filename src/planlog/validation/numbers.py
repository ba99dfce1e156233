"""Exact numbers of PDDL files and plans, within the limits that the planner has, too."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

LARGEST = 2**63 - 1
MOST_DECIMALS = 18

_NUMBER = re.compile(r"[+-]?(?:(\d+)\.?(\d*)|\.(\d+))(?:e([+-]?\d+))?", re.ASCII)
_HUGE = 10**9  # an exponent that no number of digits makes up for


def is_zero(text: str) -> bool:
    """Return whether a number is 0."""
    return set(text.partition("e")[0]) <= set("+-.0")


def is_number(text: str) -> bool:
    """Return whether a text such as `12`, `.5` or `2.5e-3` is a number."""
    return _NUMBER.fullmatch(text) is not None


@dataclass
class Numbers:
    """The numbers of a task read so far: the most decimals of one, and the largest."""

    decimals: int = 0
    largest: Fraction = Fraction(0)

    def read(self, text: str) -> Fraction:
        """Return the value of a number. Raises ValueError if a task cannot have it."""
        match = _NUMBER.fullmatch(text)
        if match is None:
            raise ValueError("expected a number")
        whole, fraction = match[1] or "", match[2] or match[3] or ""
        digits = (whole + fraction).lstrip("0")
        significant = digits.rstrip("0")
        if not significant:
            return Fraction(0)
        exponent = _exponent(match[4] or "0") - len(fraction) + len(digits) - len(significant)
        decimals = max(0, -exponent)
        if decimals > MOST_DECIMALS:
            raise ValueError(f"{text} is too precise: costs have at most {MOST_DECIMALS} decimals")
        if len(significant) + max(0, exponent) > 19 or (
            int(significant) * 10 ** max(0, exponent) > LARGEST
        ):
            raise ValueError(f"{text} is too large: costs are at most {LARGEST}")
        value = Fraction(int(significant)) * Fraction(10) ** exponent
        self.decimals = max(self.decimals, decimals)
        self.largest = max(self.largest, value)
        if self.largest * 10**self.decimals > LARGEST:
            limit = plain(Fraction(LARGEST, 10**self.decimals))
            plural = "s" * (self.decimals != 1)
            raise ValueError(
                f"a task whose costs have {self.decimals} decimal{plural} "
                f"can have costs of at most {limit}"
            )
        return -value if text.startswith("-") else value


def _exponent(text: str) -> int:
    digits = text.lstrip("+-").lstrip("0") or "0"
    value = int(digits) if len(digits) < 10 else _HUGE
    return -value if text.startswith("-") else value


def exact(value: Fraction) -> int | Decimal:
    """Return a value, which has at most 18 decimals, as `int` if it is whole."""
    if value.denominator == 1:
        return int(value)
    context = Context(prec=400)
    return context.normalize(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


def plain(value: Fraction) -> str:
    """Return a value without an exponent."""
    number = exact(value)
    return str(number) if isinstance(number, int) else f"{number:f}"
