"""External planners that are installed on this machine: Fast Downward, SymK and Scorpion."""

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

SCORPION = "SCORPION"  # environment variable with the path of Scorpion
DRIVER = "fast-downward.py"


class MissingPlannerError(PlanlogError):
    """A planner that is not installed, or not found at the given path."""


@dataclass(frozen=True)
class _Driver:
    """A driver with the command line of Fast Downward."""

    command: tuple[str, ...]
    package: str  # name and version

    @property
    def version(self) -> str:
        """The package and the version of the driver, as in `Fast Downward 24.06 (991768db1)`."""
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
        raise MissingPlannerError(f"{driver}: no version; its output ends with: {lines[-1]}")
    revision = re.search(r"revision.*: (\w+)$", said, re.MULTILINE)
    return f"{lines[0]} ({revision[1]})" if revision else lines[0]


@dataclass(frozen=True)
class PlannerKind:
    """A supported planner, installed or not."""

    find: Callable[[Path | None], _Driver]
    optimal: bool = False  # its plan is optimal if it ends by itself
    anytime: bool = False  # it improves its plans until they are optimal
    options: tuple[str, ...] = ()  # before the files
    search: tuple[str, ...] = ()  # after the files


@dataclass(frozen=True)
class InstalledPlanner:
    """A planner on this machine."""

    kind: PlannerKind
    driver: _Driver

    def solve(self, domain_file: Path, task_file: Path, limits: Limits) -> Solution:
        """Run the planner on a task; failures are solutions too.

        Raise MissingPlannerError if the planner cannot be started.
        """
        version = self.driver.version
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
    """Return the driver in an installed package, without a slow import of the package."""
    name = package.replace("_", "-")
    spec = importlib.util.find_spec(package)
    for place in (spec and spec.submodule_search_locations) or ():
        driver = Path(place) / folder / DRIVER
        if driver.exists():
            version = importlib.metadata.version(name)
            return _Driver((sys.executable, str(driver)), f"{name} {version}")
    missing = f"no {DRIVER} in the package" if spec else "not installed"
    raise MissingPlannerError(
        f"{name}: {missing}; install it with: pip install 'planlog[baselines]'"
    )


def _scorpion(place: Path | None) -> _Driver:
    """Return the driver of Scorpion, given by its folder, its script, or an executable."""
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
    """Return the planner of this name; raise MissingPlannerError if it is not installed.

    The path of Scorpion defaults to the environment variable SCORPION.
    """
    if name not in _KINDS:
        raise UnknownNameError(f"no planner '{name}'; there are: {', '.join(PLANNERS)}")
    kind = _KINDS[name]
    return InstalledPlanner(kind, kind.find(scorpion))


def available(*, scorpion: Path | None = None) -> dict[str, str]:
    """Return the version of each planner, or the reason why it is missing."""
    found = {}
    for name in PLANNERS:
        try:
            found[name] = planner(name, scorpion=scorpion).driver.version
        except MissingPlannerError as error:
            found[name] = f"missing: {error}"
    return found
