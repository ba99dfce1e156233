"""Tasks to learn from, and knowledge to plan with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from planlog import Domain, Policy, domains
from planlog.cli.commands.ipc.learn import rules_alone
from planlog.errors import NothingToLearnError
from support.commands import CORRIDOR, ENDLESS, LAMPS, ROOMS, Run, process


@pytest.fixture
def planlog(planlog: Run) -> Run:
    """Run `planlog ipc`."""
    return partial(planlog, "ipc")


@pytest.fixture(scope="module")
def files(generate: Callable[..., Path]) -> tuple[Path, ...]:
    """Domain and tasks to learn from."""
    folder = generate("ferry", "--cars", 3, "--locations", 3, "--count", 3)
    return (folder / "domain.pddl", *sorted(folder.glob("p*.pddl")))


@pytest.fixture(scope="module")
def learned(files: tuple[Path, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The knowledge of two trainings; what was printed is in `printed` beside it."""
    dk = tmp_path_factory.mktemp("learned") / "dk"
    with process("ipc", "learn", dk, *files, "--trainings", 2, "--seed", 5) as learning:
        out, err = learning.communicate(timeout=300)
    assert (learning.returncode, err) == (0, "")
    (dk.parent / "printed").write_text(out)
    return dk


@pytest.fixture
def rules(files: tuple[Path, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Knowledge that there is without learning."""
    policy = Policy.read(domains.policy_path("ferry"), Domain.read(files[0]))
    dk = tmp_path_factory.mktemp("rules") / "dk"
    rules_alone(policy).write(dk)
    return dk


@pytest.fixture
def no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it does not matter whether something is learned, which takes time."""

    def learn(*_: Any, **__: Any) -> None:
        raise NothingToLearnError("nothing to learn")

    monkeypatch.setattr("planlog.learning.learn.learn", learn)


@pytest.fixture
def rooms(tmp_path: Path) -> tuple[Path, Path]:
    """Domain and task."""
    (tmp_path / "rooms.pddl").write_text(ROOMS)
    (tmp_path / "corridor.pddl").write_text(CORRIDOR)
    return tmp_path / "rooms.pddl", tmp_path / "corridor.pddl"


@pytest.fixture
def endless(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Knowledge, domain and task: a search that ends only after all states of sixty lamps."""
    (tmp_path / "lamps.pddl").write_text(LAMPS)
    (tmp_path / "endless.pddl").write_text(ENDLESS)
    domain = Domain.read(tmp_path / "lamps.pddl")
    rules_alone(Policy.applicable(domain)).write(tmp_path / "lamps-dk")
    return tmp_path / "lamps-dk", tmp_path / "lamps.pddl", tmp_path / "endless.pddl"
