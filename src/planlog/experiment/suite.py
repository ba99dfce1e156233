"""Suites: the domains of an experiment with their training and test tasks."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from planlog import domains
from planlog.errors import PlanlogError
from planlog.files import make_folder, write_atomically
from planlog.pddl.task import Domain

TRAINING = "training"


class SuiteError(PlanlogError):
    """A folder without the tasks that an experiment needs."""


@dataclass(frozen=True)
class TestTask:
    """A test task."""

    split: str  # such as easy
    name: str  # such as p01
    file: Path


@dataclass(frozen=True)
class Suite:
    """All files of a domain."""

    domain: str  # name in records
    domain_file: Path
    policy_file: Path
    model_file: Path | None  # the shipped model
    training: tuple[Path, ...]
    tests: tuple[TestTask, ...]


def generate(
    folder: Path, name: str, splits: Collection[str], *, seed: int, count: int | None = None
) -> Suite:
    """Write tasks of a shipped domain to `folder / name`; existing files stay.

    `count` is the number of tasks in each test split. Raise SuiteError if an existing file has
    another content.
    """
    folder = folder / name
    domain_file, policy_file = folder / "domain.pddl", folder / "policy.dl"
    _write_or_compare(domain_file, (domains.path(name) / "domain.pddl").read_text(encoding="utf-8"))
    _write_or_compare(policy_file, domains.policy_path(name).read_text(encoding="utf-8"))

    def written(split: str, count: int | None) -> Iterator[Path]:
        for file, text in domains.generate(name, seed=seed, split=split, count=count):
            _write_or_compare(folder / split / file, text)
            yield folder / split / file

    training = tuple(written(TRAINING, None))
    tests = tuple(TestTask(s, file.stem, file) for s in splits for file in written(s, count))
    return Suite(name, domain_file, policy_file, domains.model_path(name), training, tests)


def _write_or_compare(file: Path, text: str) -> None:
    """Write a new file; raise SuiteError if an existing file has another content."""
    if not file.exists():
        make_folder(file.parent)
        write_atomically(file, text, durable=False)
    elif file.read_text(encoding="utf-8") != text:
        raise SuiteError(
            f"{file} already exists with another content: the folder holds the results of another "
            "experiment, so choose a new one"
        )


def find(
    folder: Path,
    names: Collection[str] = (),
    splits: Collection[str] = (),
    count: int | None = None,
) -> list[Suite]:
    """Return the suites of an IPC-style folder: a subfolder for each domain, or one domain itself.

    The folder of a domain holds `domain.pddl`, optionally `policy.dl` (default: the shipped
    policy of a domain with this name), and the tasks in folders such as `training`,
    `testing_easy` or `testing/easy`. Empty `names` and `splits` select all; `count` is
    the number of tasks taken from each split, at equal distances.
    """
    if not folder.is_dir():
        raise SuiteError(f"{folder}: no such folder")
    candidates = [folder] if (folder / "domain.pddl").exists() else sorted(folder.iterdir())
    found = {c.resolve().name: c for c in candidates if (c / "domain.pddl").exists()}
    if not found:
        raise SuiteError(f"{folder}: no domain.pddl in this folder or in one of its folders")
    for name in names:
        if name not in found:
            raise SuiteError(f"{folder}: no domain '{name}'; there are: {', '.join(found)}")
    return [
        _suite(place, name, splits, count)
        for name, place in found.items()
        if not names or name in names
    ]


def _suite(folder: Path, name: str, splits: Collection[str], count: int | None) -> Suite:
    domain_file = folder / "domain.pddl"
    files: dict[str, list[Path]] = {}
    for file in sorted(folder.rglob("*.pddl")):
        if file.name != "domain.pddl":
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
    policy_file = folder / "policy.dl"
    if not policy_file.exists():
        if shipped is None:
            raise SuiteError(f"{folder}: no policy is shipped for this domain; add a policy.dl")
        policy_file = domains.policy_path(shipped)
    model_file = domains.model_path(shipped) if shipped else None
    return Suite(name, domain_file, policy_file, model_file, training, tests)


def _split(place: Path) -> str:
    """Return the split: `training` for `training/easy`, `easy` for `testing_easy`."""
    words = [word for part in place.parts for word in part.split("_")]
    if TRAINING in words:
        return TRAINING
    return "-".join(word for word in words if word not in ("testing", "test")) or "test"


def _spread(files: list[Path], count: int | None) -> list[Path]:
    if count is None or count >= len(files):
        return files
    return [files[i * (len(files) - 1) // max(1, count - 1)] for i in range(count)]
