"""External planners that are installed on this machine: Fast Downward, SymK and Scorpion.

`docs/bibliography.md` cites the planners and their heuristics.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import sys
import tempfile
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from planlog.errors import PlanlogError, UnknownNameError
from planlog.experiment.baselines import downward
from planlog.experiment.baselines.solution import Solution
from planlog.experiment.process_limits import Limits, run

SCORPION = "SCORPION"  # environment variable with the path of Scorpion
DRIVER = "fast-downward.py"


class MissingPlannerError(PlanlogError):
    """A planner that is not installed, or not found at the given path."""


@dataclass(frozen=True)
class PlannerKind:
    """A supported planner, installed or not."""

    package: tuple[str, str] | None  # its Python package, and the folder of the driver in there
    optimal: bool = False  # its plan is optimal if it ends by itself
    anytime: bool = False  # it improves its plans until they are optimal
    options: tuple[str, ...] = ()  # before the files
    search: tuple[str, ...] = ()  # after the files


@dataclass(frozen=True)
class InstalledPlanner:
    """A planner on this machine: a driver with the command line of Fast Downward."""

    kind: PlannerKind
    driver: tuple[str, ...]  # command
    package: str  # name and version

    @property
    def version(self) -> str:
        """The versions of package and driver: `up-symk 1.3, Fast Downward 22.12 (991768db1)`."""
        return f"{self.package}, {_ask_version(self.driver)}"

    def solve(self, domain_file: Path, task_file: Path, limits: Limits) -> Solution:
        """Run the planner on a task; failures are solutions too.

        Raise MissingPlannerError if the planner cannot be started.
        """
        version = self.version
        solution = downward.solve(
            self.driver,
            self.kind.options,
            self.kind.search,
            domain_file,
            task_file,
            limits,
            proves_optimality=self.kind.optimal,
        )
        return replace(solution, version=version)


@cache
def _ask_version(driver: tuple[str, ...]) -> str:
    with tempfile.TemporaryFile() as output:
        try:
            ended = run([*driver, "--version"], Limits(seconds=30), stdout=output)
        except OSError as error:
            raise MissingPlannerError(f"{driver[-1]}: {error.strerror}") from None
        output.seek(0)
        said = output.read().decode(errors="replace").strip()
    lines = said.splitlines() or ["nothing"]
    if ended.returncode != 0 or "not found" in said:
        raise MissingPlannerError(f"{driver[-1]}: no version; its output ends with: {lines[-1]}")
    revision = re.search(r"revision.*: (\w+)$", said, re.MULTILINE)
    return f"{lines[0]} ({revision[1]})" if revision else lines[0]


_FAST_DOWNWARD, _SYMK = ("up_fast_downward", "downward"), ("up_symk", "symk")
_KINDS = {
    "lama-first": PlannerKind(_FAST_DOWNWARD, options=("--alias", "lama-first")),
    "lama": PlannerKind(_FAST_DOWNWARD, anytime=True, options=("--alias", "lama")),
    "lmcut": PlannerKind(_FAST_DOWNWARD, optimal=True, options=("--alias", "seq-opt-lmcut")),
    "symk": PlannerKind(_SYMK, optimal=True, search=("--search", "sym_bd()")),
    "scorpion": PlannerKind(None, optimal=True, options=("--alias", "scorpion")),
}

PLANNERS = tuple(_KINDS)


def planner(name: str, *, scorpion: Path | None = None) -> InstalledPlanner:
    """Return the planner of this name; raise MissingPlannerError if it is not installed.

    The path of Scorpion defaults to the environment variable SCORPION.
    """
    if name not in _KINDS:
        raise UnknownNameError(f"no planner '{name}'; there are: {', '.join(PLANNERS)}")
    kind = _KINDS[name]
    if kind.package is None:
        return InstalledPlanner(kind, _scorpion(scorpion), "Scorpion")
    package, folder = kind.package
    distribution = package.replace("_", "-")
    spec = importlib.util.find_spec(package)  # without a slow import of the package
    for place in (spec and spec.submodule_search_locations) or ():
        driver = Path(place) / folder / DRIVER
        if driver.exists():
            version = importlib.metadata.version(distribution)
            command = sys.executable, str(driver)
            return InstalledPlanner(kind, command, f"{distribution} {version}")
    missing = f"no {DRIVER} in the package" if spec else "not installed"
    raise MissingPlannerError(
        f"{distribution}: {missing}; install it with: pip install 'planlog[baselines]'"
    )


def _scorpion(place: Path | None) -> tuple[str, ...]:
    """Return the command of Scorpion, given by its folder, its script, or an executable."""
    if place is None and os.environ.get(SCORPION):
        place = Path(os.environ[SCORPION])
    if place is None:
        raise MissingPlannerError(
            "Scorpion is in no package registry: build it from its sources, and give its folder "
            f"or {DRIVER} in the environment variable {SCORPION} or with --scorpion"
        )
    place = place.expanduser()
    driver = (place / DRIVER if place.is_dir() else place).resolve()
    if not driver.is_file():
        raise MissingPlannerError(f"Scorpion not found: {driver}")
    if driver.suffix == ".py":
        return sys.executable, str(driver)
    if not os.access(driver, os.X_OK):
        raise MissingPlannerError(f"{driver}: neither {DRIVER} nor an executable")
    return (str(driver),)


def available(*, scorpion: Path | None = None) -> dict[str, str]:
    """Return the version of each planner, or the reason why it is missing."""
    found = {}
    for name in PLANNERS:
        try:
            found[name] = planner(name, scorpion=scorpion).version
        except MissingPlannerError as error:
            found[name] = f"missing: {error}"
    return found
