"""The tasks of an experiment, for each domain: those to learn from, and those to solve."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from planlog import domains
from planlog.errors import PlanlogError
from planlog.files import write_atomically
from planlog.pddl.task import Domain

TRAINING = "training"


class SuiteError(PlanlogError):
    """A folder that an experiment cannot take its tasks from."""


@dataclass(frozen=True)
class TestTask:
    """A task to solve."""

    split: str  # such as easy
    name: str  # such as p01
    file: Path


@dataclass(frozen=True)
class Suite:
    """All files of a domain."""

    domain: str  # what to call it
    domain_file: Path
    policy_file: Path
    model_file: Path | None  # that is shipped for the domain
    training: tuple[Path, ...]
    tests: tuple[TestTask, ...]


def generate(
    folder: Path, name: str, splits: Collection[str], *, seed: int, count: int | None = None
) -> Suite:
    """Write tasks of a shipped domain into a folder for it, unless they are there already.

    `count` is the number of tasks in each split; training tasks are always as many as usual.
    """
    folder = folder / name
    domain_file, policy_file = folder / "domain.pddl", folder / "policy.dl"
    _keep(domain_file, domains.path(name).joinpath("domain.pddl").read_text(encoding="utf-8"))
    _keep(policy_file, domains.policy_path(name).read_text(encoding="utf-8"))
    files: dict[str, list[Path]] = {}
    for split in (TRAINING, *splits):
        number = None if split == TRAINING else count
        files[split] = []
        for file, text in domains.generate(name, seed=seed, split=split, count=number):
            _keep(folder / split / file, text)
            files[split].append(folder / split / file)
    tests = tuple(TestTask(split, file.stem, file) for split in splits for file in files[split])
    model_file = domains.model_path(name)
    return Suite(name, domain_file, policy_file, model_file, tuple(files[TRAINING]), tests)


def _keep(file: Path, text: str) -> None:
    """Write a file, or make sure that it has this content."""
    if file.exists():
        if file.read_text(encoding="utf-8") != text:
            raise SuiteError(
                f"{file} is there already, with another content: the folder holds the results of "
                "another experiment, so choose a new one"
            )
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, text)


def find(
    folder: Path,
    names: Collection[str] = (),
    splits: Collection[str] = (),
    count: int | None = None,
) -> list[Suite]:
    """The domains of an IPC-style folder: one folder each, or just one that is the folder itself.

    A domain's folder holds `domain.pddl`, perhaps rules as `policy.dl` (else they are those that
    are shipped for the domain of this name), and the tasks in folders such as `training`,
    `testing_easy` or `testing/easy`. Empty `names` and `splits` mean all; `count` is the number
    of tasks from each split, spread evenly.
    """
    if not folder.is_dir():
        raise SuiteError(f"{folder}: there is no such folder")
    found = [folder] if (folder / "domain.pddl").exists() else sorted(_domain_folders(folder))
    if not found:
        raise SuiteError(f"{folder}: neither here nor in a folder below is a domain.pddl")
    known = [place.resolve().name for place in found]
    for name in names:
        if name not in known:
            raise SuiteError(f"{folder}: no domain '{name}' here; there are: {', '.join(known)}")
    return [
        _suite(place, name, splits, count)
        for place, name in zip(found, known, strict=True)
        if not names or name in names
    ]


def _domain_folders(folder: Path) -> Iterator[Path]:
    return (place for place in folder.iterdir() if (place / "domain.pddl").exists())


def _suite(folder: Path, name: str, splits: Collection[str], count: int | None) -> Suite:
    domain_file = folder / "domain.pddl"
    files: dict[str, list[Path]] = {}
    for file in sorted(folder.rglob("*.pddl")):
        if file != domain_file and file.name != "domain.pddl":
            files.setdefault(_split(file.parent.relative_to(folder)), []).append(file)
    training = tuple(files.pop(TRAINING, ()))
    for split in splits:
        if split not in files:
            there = ", ".join(files) or "none"
            raise SuiteError(f"{folder}: no tasks of the split '{split}'; the splits are: {there}")
    tests = tuple(
        TestTask(split, file.stem, file)
        for split in (splits or files)
        for file in _spread(files[split], count)
    )
    shipped = domains.find(Domain.read(domain_file).name)
    policy_file = _policy_file(folder, shipped)
    model_file = domains.model_path(shipped) if shipped else None
    return Suite(name, domain_file, policy_file, model_file, training, tests)


def _split(place: Path) -> str:
    """`training/easy` is training; `testing_easy` and `testing/easy` are easy."""
    words = [word for part in place.parts for word in part.split("_")]
    if TRAINING in words:
        return TRAINING
    rest = [word for word in words if word not in ("testing", "test")]
    return "-".join(rest) or "test"


def _spread(files: list[Path], count: int | None) -> list[Path]:
    if count is None or count >= len(files):
        return files
    return [files[i * (len(files) - 1) // max(1, count - 1)] for i in range(count)]


def _policy_file(folder: Path, shipped: str | None) -> Path:
    own = folder / "policy.dl"
    if own.exists():
        return own
    if shipped is None:
        raise SuiteError(
            f"{folder}: no rules for this domain are shipped; write some as {own.name} there"
        )
    return domains.policy_path(shipped)
