"""Planners of other people, found where they are installed; all are relatives of Fast Downward."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from planlog.errors import PlanlogError, UnknownNameError
from planlog.experiment.baselines import downward
from planlog.experiment.baselines.solution import Solution
from planlog.experiment.process_limits import Limits, run

SCORPION = "SCORPION"  # the environment variable that says where Scorpion is
DRIVER = "fast-downward.py"


class MissingPlannerError(PlanlogError):
    """A planner that is not installed here, or not where it was said to be."""


@dataclass(frozen=True)
class _Driver:
    """A driver that works like Fast Downward's."""

    command: tuple[str, ...]
    package: str = ""  # that it came with, and its version

    @property
    def version(self) -> str:
        """Of the package, and what the driver says: `Fast Downward 24.06 (991768db1)`."""
        return ", ".join(filter(None, [self.package, _ask_version(self.command)]))


@cache
def _ask_version(command: tuple[str, ...]) -> str:
    driver = command[-1]
    with tempfile.TemporaryFile() as output:
        try:
            ended = run([*command, "--version"], Limits(seconds=30), stdout=output)
        except OSError as error:
            raise MissingPlannerError(f"{driver}: {error.strerror}") from None
        output.seek(0)
        said = output.read().decode(errors="replace").strip()
    lines = said.splitlines() or ["nothing"]
    if ended.returncode != 0 or "not found" in said:
        raise MissingPlannerError(f"{driver}: asked for its version it says: {lines[-1]}")
    revision = re.search(r"revision.*: (\w+)$", said, re.MULTILINE)
    return f"{lines[0]} ({revision[1]})" if revision else lines[0]


@dataclass(frozen=True)
class PlannerKind:
    """A planner that Planlog knows, installed or not."""

    find: Callable[[Path | None], _Driver]
    optimal: bool = False  # its plan is optimal when it ends by itself
    anytime: bool = False  # it looks for better plans until it has proved that there is none
    options: tuple[str, ...] = ()  # before the files
    search: tuple[str, ...] = ()  # after the files


@dataclass(frozen=True)
class InstalledPlanner:
    """A planner that is installed here."""

    kind: PlannerKind
    driver: _Driver

    def version(self) -> str:
        """Return the versions of the package and of the program in it."""
        return self.driver.version

    def solve(self, domain_file: Path, task_file: Path, limits: Limits) -> Solution:
        """Run the planner on a task; the solution also tells of failures.

        Raise MissingPlannerError if the planner cannot be started.
        """
        version = self.version()
        solution = downward.solve(
            self.driver.command,
            self.kind.options,
            self.kind.search,
            domain_file,
            task_file,
            limits,
            proves_optimality=self.kind.optimal,
        )
        return replace(solution, version=version)


def _fast_downward(_: Path | None) -> _Driver:
    return _packaged("up_fast_downward", "downward")


def _symk(_: Path | None) -> _Driver:
    return _packaged("up_symk", "symk")


def _packaged(package: str, folder: str) -> _Driver:
    """The driver in an installed package, which is not imported: that would take seconds."""
    name = package.replace("_", "-")
    spec = importlib.util.find_spec(package)
    for place in (spec and spec.submodule_search_locations) or ():
        driver = Path(place) / folder / DRIVER
        if driver.exists():
            version = importlib.metadata.version(name)
            return _Driver((sys.executable, str(driver)), f"{name} {version}")
    missing = "it has no " + DRIVER if spec else "it is not installed"
    raise MissingPlannerError(f"{name}: {missing}; get it with: pip install 'planlog[baselines]'")


def _scorpion(place: Path | None) -> _Driver:
    """Scorpion's driver, given by its folder, by itself, or as a program that works alike."""
    if place is None and os.environ.get(SCORPION):
        place = Path(os.environ[SCORPION])
    if place is None:
        raise MissingPlannerError(
            "Scorpion is in no registry: build it from its sources, then name the folder or its "
            f"{DRIVER} in the environment variable {SCORPION}, or with --scorpion"
        )
    place = place.expanduser()
    driver = (place / DRIVER if place.is_dir() else place).resolve()
    if not driver.is_file():
        raise MissingPlannerError(f"Scorpion is not there: {driver}")
    if driver.suffix == ".py":
        return _Driver((sys.executable, str(driver)), "Scorpion")
    if not os.access(driver, os.X_OK):
        raise MissingPlannerError(f"{driver}: neither {DRIVER} nor an executable")
    return _Driver((str(driver),), "Scorpion")


_KINDS = {
    "lama-first": PlannerKind(_fast_downward, options=("--alias", "lama-first")),
    "lama": PlannerKind(_fast_downward, anytime=True, options=("--alias", "lama")),
    "lmcut": PlannerKind(_fast_downward, optimal=True, options=("--alias", "seq-opt-lmcut")),
    "symk": PlannerKind(_symk, optimal=True, search=("--search", "sym_bd()")),
    "scorpion": PlannerKind(_scorpion, optimal=True, options=("--alias", "scorpion")),
}

PLANNERS = tuple(_KINDS)


def planner(name: str, *, scorpion: Path | None = None) -> InstalledPlanner:
    """The planner of this name; raises MissingPlannerError, which says what to install.

    Scorpion is looked for at the given place, else where the variable SCORPION says.
    """
    if name not in _KINDS:
        raise UnknownNameError(f"no planner '{name}'; there are: {', '.join(PLANNERS)}")
    kind = _KINDS[name]
    return InstalledPlanner(kind, kind.find(scorpion))


def available(*, scorpion: Path | None = None) -> dict[str, str]:
    """For each planner its version, or why it is missing."""
    found = {}
    for name in PLANNERS:
        try:
            found[name] = planner(name, scorpion=scorpion).version()
        except MissingPlannerError as error:
            found[name] = f"missing: {error}"
    return found
