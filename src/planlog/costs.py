"""Exact costs: `int` if they are whole, `decimal.Decimal` otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Context, Decimal, localcontext
from typing import TypeAlias

Cost: TypeAlias = int | Decimal

LARGEST = 2**63 - 1  # in units of the last decimal of a task

# The limits of length keep hostile texts from becoming numbers of many megabytes.
_NUMBER = re.compile(r"[+-]?(?:\d{1,60}(?:\.\d{0,60})?|\.\d{1,60})(?:[eE][+-]?\d{1,2})?", re.ASCII)
_EXACT = Context(prec=400)  # digits enough for every number of this form, and for sums of them


def exact_cost(units: int, decimals: int) -> Cost:
    """Return units · 10^-decimals.

    >>> exact_cost(30, 2), exact_cost(300, 2)
    (Decimal('0.3'), 3)
    """
    whole, rest = divmod(units, 10**decimals)
    return _EXACT.normalize(Decimal(units).scaleb(-decimals, _EXACT)) if rest else whole


def parse_cost(text: str) -> Cost:
    """Return the cost that a text such as `12`, `0.5` or `2.5e-3` gives. Raises ValueError.

    >>> parse_cost("2.7e+16"), parse_cost("0.50")
    (27000000000000000, Decimal('0.5'))
    """
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"not a cost: {text[:60]!r}")
    value = Decimal(text)
    whole = int(value)
    return whole if whole == value else _EXACT.normalize(value)


def cost_text(cost: Cost) -> str:
    """Return a cost as a plan file writes it, without an exponent.

    >>> cost_text(Decimal("1E-7"))
    '0.0000001'
    """
    return str(cost) if isinstance(cost, int) else f"{cost:f}"


def cost_from_json(value: object) -> Cost:
    """Return a cost from JSON: a number or the text of a decimal. Raises ValueError.

    Files of earlier versions have floating-point numbers.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"not a cost: {str(value)[:60]}")
    return value if isinstance(value, int) else parse_cost(str(value))


def sum_costs(costs: Iterable[Cost]) -> Cost:
    """Return the sum of costs, whose tasks may have different units."""
    with localcontext(_EXACT):
        total = Decimal(0)
        for cost in costs:
            total += cost
        whole = int(total)
        return whole if whole == total else total.normalize()
