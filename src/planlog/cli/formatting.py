"""Numbers and lists as people write them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, as in "1 state" and "12,345 states"."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def percent(number: int, of: int) -> str:
    """Return a percentage such as "1.20 %"; only none at all is 0 %, and only all are 100 %."""
    if number == 0 or number == of:
        return "0 %" if number == 0 else "100 %"
    value = 100 * number / of
    if value < 0.01:
        return "less than 0.01 %"
    return "more than 99.99 %" if value > 99.99 else f"{value:.2f} %"


def duration(seconds: float) -> str:
    """Return a duration such as "12.3 s", "5 min 7 s" or "2 h 5 min"."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def wrapped(words: Sequence[str], indent: str, most: int, width: int = 100) -> str:
    """Wrap words, which may contain spaces, in lines; count those after the first `most`."""
    shown = [word.replace(" ", "\0") for word in words[:most]]
    if len(words) > most:
        shown.append(f"…\0and\0{len(words) - most:,}\0more")
    lines = textwrap.wrap(
        " ".join(shown), width - len(indent), break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(indent + line.replace("\0", " ") for line in lines)
