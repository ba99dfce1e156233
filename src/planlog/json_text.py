"""JSON as Planlog reads and writes it: texts follow the standard, and costs stay exact."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from decimal import Decimal
from itertools import chain
from typing import Any

MOST_DEPTH = 100  # of nested values that are read; far below what the call stack allows


def to_json(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON.

    A Decimal becomes a text, since most readers of JSON would round a number. Numbers that are not
    finite, which JSON lacks, become null.

    >>> to_json({"cost": Decimal("0.3"), "loss": float("nan")})
    '{"cost": "0.3", "loss": null}'
    """
    try:
        return json.dumps(value, indent=indent, allow_nan=False, default=_decimal_text)
    except ValueError:
        return json.dumps(_finite(value), indent=indent, allow_nan=False, default=_decimal_text)


def read_json(text: str | bytes) -> Any:
    """Return the value of a JSON text without `NaN` and infinite numbers. Raises ValueError.

    What is read can be written again: values nested more than `MOST_DEPTH` deep are refused.
    """

    def refuse(number: str) -> float:
        raise ValueError(f"'{number}' is no number of JSON")

    def finite(number: str) -> float:
        return value if math.isfinite(value := float(number)) else refuse(number)

    try:
        value = json.loads(text, parse_constant=refuse, parse_float=finite)
        if not _is_deep(value):
            return value
    except RecursionError:
        pass
    raise ValueError(f"nested too deeply: more than {MOST_DEPTH} levels")


def _is_deep(value: Any) -> bool:
    """Return whether a value is nested more than `MOST_DEPTH` deep; level by level."""
    level = [value]
    for _ in range(MOST_DEPTH + 1):
        inner = [
            each.values() if isinstance(each, dict) else each
            for each in level
            if isinstance(each, dict | list)
        ]
        level = list(chain.from_iterable(inner))
    return bool(level)


def _decimal_text(value: object) -> str:
    if isinstance(value, Decimal):
        return f"{value:f}"
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def _finite(value: Any) -> Any:
    """Return the value with None for each number that is not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(each) for key, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list | tuple) else value
