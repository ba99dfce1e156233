"""Numbers and names as text."""

from __future__ import annotations

import math
import re

NONE = "–"


def domain_label(domain: str) -> str:
    return domain[:1].upper() + domain[1:]


def figure_name(kind: str, of: str) -> str:
    """Return a file name for the figure of a domain or of settings, whatever its characters."""
    return f"{kind}-" + re.sub(r"[^\w.-]", "_", of) if of else kind


def number(value: float, digits: int = 1) -> str:
    """Format a number with a typographic minus sign, and zero without a sign."""
    text = f"{value:,.{digits}f}"
    if not any(digit in text for digit in "123456789"):
        text = text.lstrip("-")
    return text.replace("-", "−")


def count(value: float) -> str:
    """Format a number of tasks, which is a mean over seeds and need not be whole."""
    return number(value, 0 if abs(value - round(value)) < 1e-9 else 1)


def seconds(value: float) -> str:
    """Format seconds with two significant digits, as in "0.012 s", "3.4 s" or "1,234 s"."""
    if value <= 0:
        return "0 s"
    digits = max(0, 1 - math.floor(math.log10(value)))
    return f"{value:,.{min(digits, 3)}f} s"


def duration(value: float) -> str:
    """Format seconds, as in "3.4 s", "12 min 3 s" or "5 h 12 min"."""
    if value < 60:
        return seconds(value)
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60:,} h {minutes % 60} min"


def plural(value: int, noun: str) -> str:
    """Format a number with its noun, as in "1 task" and "2,000 tasks"."""
    return f"{value:,} {noun}" if value == 1 else f"{value:,} {noun}s"
