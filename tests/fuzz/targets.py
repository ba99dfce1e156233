"""The fuzz targets: one module each, with `make(rng)`, which returns an input, and `check(input)`.

An input is a text or file as bytes that says everything, so that it can be saved, shrunk and
checked again. `check` returns a word for statistics. Any exception that it raises is a finding.
"""

from __future__ import annotations

import hashlib
import importlib
from pathlib import Path
from random import Random
from typing import Protocol, cast

NAMES = ("pddl", "rules", "plans", "models", "checkpoints", "records", "command_lines")
CORPUS = Path(__file__).parent / "corpus"


class Target(Protocol):
    """A module of this package."""

    def make(self, rng: Random) -> bytes: ...

    def check(self, data: bytes) -> str: ...


def target(name: str) -> Target:
    """Import a target by its name."""
    return cast(Target, importlib.import_module(f"fuzz.{name}"))


def corpus(name: str) -> list[Path]:
    """Return the files of a target's corpus: seeds, and every finding of the past, shrunk."""
    return sorted(file for file in (CORPUS / name).glob("*") if file.is_file())


def seeds(name: str) -> list[bytes]:
    """Return the inputs of a target's corpus."""
    return [file.read_bytes() for file in corpus(name)]


def input_number(name: str, seed: int, number: int) -> bytes:
    """Return an input, which depends on nothing but target, seed and number."""
    return target(name).make(Random(f"{name} {seed} {number}"))


def digest(data: bytes) -> str:
    """Return a short name for an input."""
    return hashlib.sha256(data).hexdigest()[:12]
