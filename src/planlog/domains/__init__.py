"""The domains that come with Planlog: PDDL, policies, models and task generators.

Every folder here that holds a `domain.pddl` is a shipped domain, so a new folder needs no code
elsewhere. It also holds
- `policy.dl`, the default policy, and perhaps other policies as `*.dl`,
- `model.safetensors`, a model trained for the default policy, if there is one,
- `generator.py` with `SIZES`, `SMALLEST` and `generate`,
- `__init__.py` with `GOALS`, the predicates of goals that the policy achieves, and perhaps
  `notes(task)`, notes for users of the policy about a task.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from planlog.errors import PlanlogError, UnknownNameError

if TYPE_CHECKING:
    from planlog.pddl.task import Task

# Number of tasks in a split of the IPC 2023 learning track.
SPLITS: Mapping[str, int] = {"training": 99, "easy": 30, "medium": 30, "hard": 30}


class SizeError(PlanlogError):
    """A split, size, count or seed with which no task can be generated."""


@dataclass(frozen=True)
class Size:
    """A number of objects in a task; in each split it grows linearly from `first` to `last`."""

    name: str
    help: str
    minimum: int
    default: int
    training: tuple[int, int]  # first, last
    easy: tuple[int, int]
    medium: tuple[int, int]
    hard: tuple[int, int]


@cache
def names() -> tuple[str, ...]:
    """Return the names of the shipped domains in alphabetical order."""
    return tuple(sorted(file.parent.name for file in Path(__file__).parent.glob("*/domain.pddl")))


def find(domain_name: str) -> str | None:
    """Return the shipped domain for a PDDL domain of this name, or None."""
    name = domain_name.lower()
    return name if name in names() else None


def path(name: str) -> Path:
    """Return the folder of a shipped domain."""
    if name not in names():
        known = ", ".join(names())
        raise UnknownNameError(f"no domain '{name}' comes with Planlog; there are: {known}")
    return Path(__file__).parent / name


def variants(name: str) -> tuple[str, ...]:
    """Return the policies shipped for a domain; `policy` is the default one and comes first."""
    found = {file.stem for file in path(name).glob("*.dl")}
    return ("policy", *sorted(found - {"policy"}))


def policy_path(name: str, variant: str = "policy") -> Path:
    """Return the rule file of a shipped policy."""
    if variant not in variants(name):
        known = ", ".join(variants(name))
        raise UnknownNameError(f"no policy '{variant}' for {name}; there are: {known}")
    return path(name) / f"{variant}.dl"


def model_path(name: str) -> Path | None:
    """Return the file of the model trained for the domain's policy, if there is one."""
    file = path(name) / "model.safetensors"
    return file if file.exists() else None


def parameters(name: str) -> tuple[Size, ...]:
    """Return the sizes that the domain's generator takes."""
    return tuple(_generator(name).SIZES)


def split_sizes(name: str, split: str, count: int | None = None) -> list[dict[str, int]]:
    """Return the sizes of a split's tasks, small to large; by default as many as in the IPC.

    The training split begins with the generator's `SMALLEST` tasks, whose state spaces are tiny; a
    `count` other than the usual one picks evenly among the usual tasks.
    """
    if split not in SPLITS:
        raise SizeError(f"unknown split '{split}'; the splits are {', '.join(SPLITS)}")
    number = SPLITS[split] if count is None else _at_least_one(count)
    sizes = parameters(name)
    rows: list[tuple[int, ...]] = []
    total = number
    if split == "training":
        rows += _generator(name).SMALLEST
        total = SPLITS[split]
    series = [linear(getattr(size, split), total - len(rows)) for size in sizes]
    rows += zip(*series, strict=True)
    picked = (rows[i] for i in linear((0, total - 1), number))
    return [dict(zip([size.name for size in sizes], row, strict=True)) for row in picked]


def linear(ends: tuple[int, int], count: int) -> list[int]:
    """Return `count` integers that grow linearly from the first to the last of `ends`."""
    first, last = ends
    return [first + (last - first) * i // max(1, count - 1) for i in range(count)]


def _at_least_one(count: int) -> int:
    if count < 1:
        raise SizeError(f"the number of tasks must be at least 1, not {count}")
    return count


def _complete(sizes: tuple[Size, ...], given: Mapping[str, int]) -> dict[str, int]:
    """Return the given sizes, with defaults for the others; raise SizeError for invalid ones."""
    known = {size.name: size for size in sizes}
    for name in given:
        if name not in known:
            raise SizeError(f"unknown size '{name}'; the sizes are {', '.join(known)}")
    values = {name: int(given.get(name, size.default)) for name, size in known.items()}
    for name, value in values.items():
        if value < known[name].minimum:
            raise SizeError(f"{name} must be at least {known[name].minimum}, not {value}")
    return values


def generate(
    name: str,
    *,
    seed: int,
    split: str | None = None,
    count: int | None = None,
    sizes: Mapping[str, int] | None = None,
) -> Iterator[tuple[str, str]]:
    """Yield (file name, PDDL text) of the tasks of a split, or of `count` tasks of one size.

    A text depends only on the domain, the seed, the split, the sizes and the task's number.
    """
    if seed < 0:
        raise SizeError(f"the seed must not be negative, but is {seed}")
    if split is not None:
        if sizes:
            raise SizeError("give either a split or sizes, not both")
        rows = split_sizes(name, split, count)
    else:
        number = 1 if count is None else _at_least_one(count)
        rows = [_complete(parameters(name), sizes or {})] * number
    width = max(2, len(str(len(rows))))
    stream = zlib.crc32(f"{name}/{split or ''}".encode())

    def file_of(number: int, row: dict[str, int]) -> tuple[str, str]:
        rng = np.random.default_rng([seed, stream, number])
        text = _generator(name).generate(rng, f"{name}-{number:0{width}}", **row)
        facts = {**row, **({"split": split} if split else {}), "number": number, "seed": seed}
        header = ", ".join(f"{key}={value}" for key, value in facts.items())
        return f"p{number:0{width}}.pddl", f"; {header}\n{text}"

    return itertools.starmap(file_of, enumerate(rows, start=1))


def problem_notes(name: str, task: Task) -> list[str]:
    """Return notes about a task for users of the shipped policy; usually there are none."""
    package = import_module(f"{__name__}.{path(name).name}")
    found = []
    known = {str(atom) for atom in task.goal_atoms if atom.name in package.GOALS}
    other = [goal for goal in task.goals if goal not in known]
    if other:
        shown = ", ".join(other[:3]) + (", …" if len(other) > 3 else "")
        found.append(f"the shipped policy does not work towards these goals: {shown}")
    if hasattr(package, "notes"):
        found += package.notes(task)
    return found


def _generator(name: str) -> ModuleType:
    return import_module(f"{__name__}.{path(name).name}.generator")
