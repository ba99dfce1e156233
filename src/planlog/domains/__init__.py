"""The domains that come with Planlog: PDDL, background knowledge and task generators."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from planlog.domains import sizes as _sizes
from planlog.domains.blocksworld import generator as _blocksworld
from planlog.domains.ferry import generator as _ferry
from planlog.domains.rover import generator as _rover
from planlog.domains.satellite import generator as _satellite
from planlog.domains.sizes import SPLITS, Size, SizeError
from planlog.errors import UnknownNameError

if TYPE_CHECKING:
    from planlog.task import Task

__all__ = [
    "SPLITS",
    "Size",
    "SizeError",
    "find",
    "generate",
    "names",
    "parameters",
    "path",
    "policy_path",
    "problem_notes",
    "split_sizes",
    "variants",
]

_GENERATORS: Mapping[str, ModuleType] = {
    "blocksworld": _blocksworld,
    "ferry": _ferry,
    "rover": _rover,
    "satellite": _satellite,
}

# Goals that the shipped policies work towards (or keep, such as `arm-empty`).
_PURSUED: Mapping[str, frozenset[str]] = {
    "blocksworld": frozenset({"on", "on-table", "clear", "arm-empty"}),
    "ferry": frozenset({"at", "at-ferry", "empty-ferry"}),
    "rover": frozenset(
        {"communicated_soil_data", "communicated_rock_data", "communicated_image_data"}
    ),
    "satellite": frozenset({"have_image", "pointing"}),
}


def names() -> tuple[str, ...]:
    """The shipped domains, in alphabetical order."""
    return tuple(_GENERATORS)


def find(domain_name: str) -> str | None:
    """The shipped domain for a PDDL domain of this name, or None."""
    name = domain_name.lower()
    return name if name in _GENERATORS else None


def path(name: str) -> Path:
    """The folder of a shipped domain; it holds `domain.pddl` and the policies."""
    return Path(__file__).parent / _known(name)


def variants(name: str) -> tuple[str, ...]:
    """The policies shipped for a domain; `policy` is the default one and comes first."""
    found = {file.stem for file in path(name).glob("*.dl")}
    return ("policy", *sorted(found - {"policy"}))


def policy_path(name: str, variant: str = "policy") -> Path:
    """The rule file of a shipped policy."""
    if variant not in variants(name):
        known = ", ".join(variants(name))
        raise UnknownNameError(f"no policy '{variant}' for {name}; there are: {known}")
    return path(name) / f"{variant}.dl"


def model_path(name: str) -> Path | None:
    """The trained model for the domain's policy, if there is one."""
    file = path(name) / "model.safetensors"
    return file if file.exists() else None


def parameters(name: str) -> tuple[Size, ...]:
    """The sizes that the domain's generator takes."""
    return tuple(_GENERATORS[_known(name)].SIZES)


def split_sizes(name: str, split: str, count: int | None = None) -> list[dict[str, int]]:
    """The sizes of the tasks of a split, small to large; by default as many as in the IPC."""
    generator = _GENERATORS[_known(name)]
    number = SPLITS.get(split, 1) if count is None else count
    return _sizes.split_sizes(generator.SIZES, generator.SMALLEST, split, number)


def generate(
    name: str,
    *,
    seed: int,
    split: str | None = None,
    count: int | None = None,
    sizes: Mapping[str, int] | None = None,
) -> Iterator[tuple[str, str]]:
    """Yields (file name, PDDL text) of the tasks of a split, or of `count` tasks of one size.

    A text depends on the domain, the seed, the split, the sizes and the task's number only.
    """
    if seed < 0:
        raise SizeError(f"the seed must not be negative, but is {seed}")
    if split is not None:
        if sizes:
            raise SizeError("give either a split or sizes, not both")
        rows = split_sizes(name, split, count)
    else:
        number = 1 if count is None else count
        if number < 1:
            raise SizeError(f"the number of tasks must be at least 1, not {number}")
        rows = [_sizes.complete(parameters(name), sizes or {})] * number
    return _texts(name, seed, split, rows)


def _texts(
    name: str, seed: int, split: str | None, rows: list[dict[str, int]]
) -> Iterator[tuple[str, str]]:
    width = max(2, len(str(len(rows))))
    stream = zlib.crc32(f"{name}/{split or ''}".encode())
    for number, row in enumerate(rows, start=1):
        rng = np.random.default_rng([seed, stream, number])
        task = f"{name}-{number:0{width}}"
        facts = {**row, **({"split": split} if split else {}), "number": number, "seed": seed}
        header = ", ".join(f"{key}={value}" for key, value in facts.items())
        yield (
            f"p{number:0{width}}.pddl",
            f"; {header}\n" + _GENERATORS[name].generate(rng, task, **row),
        )


def problem_notes(name: str, task: Task) -> list[str]:
    """What a user of the shipped policy should know about this task; usually nothing."""
    notes = []
    pursued = _PURSUED[_known(name)]
    other = [goal for goal in task.goals if _predicate(goal) not in pursued]
    if other:
        shown = ", ".join(other[:3]) + (", …" if len(other) > 3 else "")
        notes.append(f"the shipped policy does not work towards these goals: {shown}")
    if name == "blocksworld":
        positioned = {
            goal.strip("()").split()[1]
            for goal in task.goals
            if _predicate(goal) in ("on", "on-table")
        }
        free = [block for block in task.objects if block not in positioned]
        if free:
            shown = ", ".join(free[:5]) + (", …" if len(free) > 5 else "")
            notes.append(
                f"the goal gives no position to {len(free)} of {len(task.objects)} blocks "
                f"({shown}): they stay where they are unless they are in the way"
            )
    return notes


def _predicate(goal: str) -> str:
    """The predicate of a ground atom as text; `not` for a negative literal."""
    return goal.strip("()").split()[0]


def _known(name: str) -> str:
    if name not in _GENERATORS:
        known = ", ".join(_GENERATORS)
        raise UnknownNameError(f"no domain '{name}' comes with Planlog; there are: {known}")
    return name
