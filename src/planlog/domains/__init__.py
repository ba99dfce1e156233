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
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from planlog.domains import sizes as _sizes
from planlog.domains.sizes import SPLITS, Size, SizeError
from planlog.errors import UnknownNameError

if TYPE_CHECKING:
    from planlog.pddl.task import Task

__all__ = [
    "SPLITS",
    "Size",
    "SizeError",
    "find",
    "generate",
    "model_path",
    "names",
    "parameters",
    "path",
    "policy_path",
    "problem_notes",
    "split_sizes",
    "variants",
]


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
    """Return the sizes of a split's tasks, small to large; by default as many as in the IPC."""
    generator = _generator(name)
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
        number = 1 if count is None else count
        if number < 1:
            raise SizeError(f"the number of tasks must be at least 1, not {number}")
        rows = [_sizes.complete(parameters(name), sizes or {})] * number
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
