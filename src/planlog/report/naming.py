"""What planners, domains and numbers are called in reports."""

from __future__ import annotations

import math
import re

from planlog.experiment.records import Family
from planlog.report.metrics import Comparison, Planner, Spread

NONE = "–"

_PLANNERS = {
    "lama-first": "LAMA, first plan",
    "lama": "LAMA",
    "lmcut": "A* with LM-cut",
    "symk": "SymK",
    "scorpion": "Scorpion",
}


def planner_label(planner: Planner) -> str:
    """Without the settings of a training, which stand above."""
    if planner.family is Family.RULES:
        return "rules alone"
    label = _label(planner)
    if planner.seconds is not None:
        return f"{label}, {planner.seconds:g} s"
    return f"{label}, actions eliminated" if planner.configuration.get("eliminate") else label


def _label(planner: Planner) -> str:
    """Without the time that it has to improve its plans."""
    if planner.network is not None:
        layers, width = planner.network
        return f"LRNN L={layers} H={width}"
    if planner.family is Family.SEARCH:
        return "rules"
    if planner.family is Family.EXACT:
        return "exact method"
    if planner.configuration.get("kind") == "shipped":
        return "shipped model"
    return _PLANNERS.get(str(planner.configuration.get("planner", planner.name)), planner.name)


def full_label(planner: Planner) -> str:
    """With the settings."""
    return planner_label(planner) + (f", {planner.settings}" if planner.settings else "")


def settings_label(settings: str) -> str:
    return {
        "paper": "settings of the paper",
        "small": "from small tasks only",
        "default": "default settings",
    }.get(settings, f"settings {settings}" if settings else "learned")


def figure_name(kind: str, of: str) -> str:
    """A name for the files of a figure of a domain or of settings, whatever these are called."""
    return f"{kind}-" + re.sub(r"[^\w.-]", "_", of)


def domain_label(domain: str) -> str:
    return domain[:1].upper() + domain[1:]


def all_settings(comparison: Comparison) -> tuple[str, ...]:
    """The settings that networks were trained with; one empty name if there is none."""
    learned = (planner for planner in comparison.planners if planner.network is not None)
    return tuple(dict.fromkeys(planner.settings for planner in learned)) or ("",)


def number(value: float, digits: int = 1) -> str:
    """With a true minus sign, and no minus before zeros."""
    text = f"{value:,.{digits}f}"
    if not any(digit in text for digit in "123456789"):
        text = text.lstrip("-")
    return text.replace("-", "−")


def spread(value: Spread | tuple[float, float] | None) -> str:
    """As in "46.4 ± 34.1"."""
    if value is None:
        return NONE
    mean, deviation = (value.mean, value.deviation) if isinstance(value, Spread) else value
    return f"{number(mean)} ± {number(deviation)}"


def count(value: float) -> str:
    """A number of tasks, which need not be whole: it may be a mean over seeds."""
    return number(value, 0 if abs(value - round(value)) < 1e-9 else 1)


def seconds(value: float) -> str:
    """As in "0.012 s", "3.4 s" or "1,234 s": two digits that mean something."""
    if value <= 0:
        return "0 s"
    digits = max(0, 1 - math.floor(math.log10(value)))
    return f"{value:,.{min(digits, 3)}f} s"


def duration(value: float) -> str:
    """As in "3.4 s", "12 min 3 s" or "5 h 12 min"."""
    if value < 60:
        return seconds(value)
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60:,} h {minutes % 60} min"


def megabytes(value: float) -> str:
    return f"{value / 1e6:,.0f} MB"


def plural(value: int, noun: str) -> str:
    """As in "1 task" and "2,000 tasks"."""
    return f"{value:,} {noun}" if value == 1 else f"{value:,} {noun}s"
