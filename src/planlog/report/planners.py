"""Planners as their records describe them, in the order and with the labels of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planlog.experiment.records import Family, Record
from planlog.report.metrics import is_solved

_PROGRAMS = {  # labels by program
    "lama-first": "LAMA, first plan",
    "lama": "LAMA",
    "scorpion": "Scorpion",
    "lmcut": "A* with LM-cut",
    "symk": "SymK",
    "shipped": "shipped model",
}
_OPTIMAL = ("scorpion", "lmcut", "symk")
_SETTINGS = {  # labels by settings
    "paper": "settings of the paper",
    "default": "default settings",
    "small": "from small tasks only",
}
_FAMILIES = (Family.RULES, Family.SEARCH, Family.PLANNER, Family.LEARNED, Family.EXACT)


@dataclass(frozen=True)
class Planner:
    """A planner or policy with its configuration."""

    name: str
    family: Family
    program: str = ""  # name without settings and time limit, such as lama or shipped
    settings: str = ""  # of the training; empty if nothing was trained
    network: tuple[int, int] | None = None  # layers and width of the trained network
    seconds: float | None = None  # time limit of a search for better plans
    eliminates: bool = False  # redundant actions
    proves: bool = False  # every plan that it returns is proved optimal
    seeds: int = 1  # number of seeds in the records

    @classmethod
    def of(cls, records: Sequence[Record]) -> Planner:
        """Return the planner of its records; `details` of old or foreign records may be missing."""
        described = (record.details.get("configuration") for record in records)
        values: Mapping[str, Any] = next((d for d in described if isinstance(d, dict)), {})
        name, family = records[0].planner, records[0].family
        program = "shipped" if values.get("kind") == "shipped" else str(values.get("planner", name))
        layers, width = values.get("layers"), values.get("width")
        seconds = values.get("seconds")
        solved = [run for run in records if is_solved(run)]
        proved = program in _OPTIMAL or (bool(solved) and all(run.optimal for run in solved))
        return cls(
            name,
            family,
            program,
            settings=str(values.get("settings", "")),
            network=None if layers is None or width is None else (int(layers), int(width)),
            seconds=None if seconds is None else float(seconds),
            eliminates=bool(values.get("eliminate")),
            proves=family is Family.EXACT or (family is Family.PLANNER and proved),
            seeds=len({record.seed for record in records}),
        )

    @property
    def learned(self) -> bool:
        return self.family is Family.LEARNED

    @property
    def postprocesses(self) -> bool:
        """Whether it changes the plans of a policy, by action elimination or by search."""
        return self.seconds is not None or self.eliminates

    @property
    def order(self) -> tuple[Any, ...]:
        """Sort key: rules, planners, learned policies, then optimal planners."""
        return (
            self.proves,
            _FAMILIES.index(self.family),
            self.network is None,
            rank(self.settings, ("paper", "default")),
            self.seconds or 0.0,
            self.network or (),
            rank(self.program, ("lama-first", "lama", *_OPTIMAL)),
            self.name,
        )

    @property
    def label(self) -> str:
        """Label without the settings of its training."""
        if self.family is Family.RULES:
            return "rules alone"
        label = _PROGRAMS.get(self.program, self.name)
        if self.network is not None:
            label = "LRNN L={} H={}".format(*self.network)
        elif self.family is Family.SEARCH:
            label = "rules"
        elif self.family is Family.EXACT:
            label = "exact method"
        if self.seconds is not None:
            return f"{label}, {self.seconds:g} s"
        return f"{label}, actions eliminated" if self.eliminates else label

    @property
    def full_label(self) -> str:
        """Label with the settings of its training."""
        return f"{self.label}, {self.settings}" if self.settings else self.label


def settings_label(settings: str) -> str:
    """Return the label of training settings; empty for no settings."""
    return _SETTINGS.get(settings, f"settings {settings}" if settings else "")


def rank(name: str, known: Sequence[str]) -> tuple[int, str]:
    """Return a sort key: known names in their order, then others alphabetically."""
    return (known.index(name) if name in known else len(known), name)
