"""`planlog ipc` and the mistakes of its users: a message, and nothing is written."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from planlog.errors import ModelError
from planlog.network.model_file import Model
from support.commands import ROOMS, Run


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("learn", 36, "DK"),
        ("learn {here}/dk", 36, "DOMAIN"),
        ("learn {here}/dk {domain}", 36, "TASK"),
        ("learn {here} {domain} {task}", 36, "DK: {here} is a folder"),
        ("learn {here}/no/dk {domain} {task}", 36, "DK: there is no folder"),
        ("learn {here}/dk {domain} {task} --trainings 0", 36, "trainings"),
        ("learn {here}/dk {domain} {task} --time-limit -1", 36, "time-limit"),
        ("learn {here}/dk {domain} {task} --memory-limit 0", 36, "memory-limit"),
        ("learn {here}/dk {domain} {task} --policy {here}/none.dl", 31, "none.dl: No such file"),
        ("learn {here}/dk {domain} {task} --policy {here}/bad.dl", 31, "bad.dl:1:1"),
        ("learn {here}/dk {here}/none {task}", 31, "none: No such file"),
        ("learn {here}/dk {task} {domain}", 31, "p01.pddl:"),
        ("learn {here}/dk {domain} {here}/bytes", 31, "bytes:1:1"),
        ("learn {here}/dk {here}/numbers.pddl {task}", 34, "numbers.pddl:"),
        ("plan {dk} {domain} {task}", 36, "PLAN"),
        ("plan {dk} {domain} {task} {here}", 36, "PLAN: {here} is a folder"),
        ("plan {dk} {domain} {task} {here}/no/plan", 36, "PLAN: there is no folder"),
        ("plan {dk} {domain} {task} {here}/plan --seed -1", 36, "seed"),
        ("plan {here}/none {domain} {task} {here}/plan", 31, "none: No such file"),
        ("plan {here}/no/dk {domain} {task} {here}/plan", 31, "No such file"),
        ("plan {here} {domain} {task} {here}/plan", 31, "{here}"),
        ("plan {here}/bytes {domain} {task} {here}/plan", 31, "the model must be a model file"),
        ("plan {dk} {here}/rooms.pddl {task} {here}/plan", 31, "not for 'rooms'"),
        ("plan {dk} {domain} {here}/none {here}/plan", 31, "none: No such file"),
        ("plan {dk} {domain} {here}/bytes {here}/plan", 31, "bytes:1:1"),
        ("plan {dk} {here}/numbers.pddl {task} {here}/plan", 34, "numbers.pddl:"),
    ],
)
def test_mistakes(
    arguments: str,
    code: int,
    message: str,
    planlog: Run,
    rules: Path,
    files: tuple[Path, ...],
    tmp_path: Path,
) -> None:
    (tmp_path / "bytes").write_bytes(bytes(range(256)))
    (tmp_path / "bad.dl").write_text("fly(A) :- wings(A).")
    (tmp_path / "rooms.pddl").write_text(ROOMS)
    (tmp_path / "numbers.pddl").write_text(
        "(define (domain ferry) (:requirements :durative-actions) (:predicates (p)))"
    )
    before = set(tmp_path.iterdir())
    names = {"here": tmp_path, "dk": rules, "domain": files[0], "task": files[1]}
    found, out, err = planlog(*(word.format(**names) for word in arguments.split()))
    assert (found, out) == (code, ""), err
    assert message.format(**names) in err
    assert set(tmp_path.iterdir()) == before


def test_learning_needs_torch_but_planning_does_not(
    planlog: Run,
    rules: Path,
    files: tuple[Path, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    code, _, err = planlog("learn", tmp_path / "dk", *files)
    assert code == 36
    assert "learning needs torch: pip install 'planlog[train]'" in err
    assert planlog("plan", rules, files[0], files[1], tmp_path / "plan")[0] == 0


def test_knowledge_of_a_file_that_was_cut_short(
    planlog: Run, rules: Path, files: tuple[Path, ...], tmp_path: Path
) -> None:
    data = rules.read_bytes()
    for length in (0, 7, 100, len(data) // 2, len(data) - 1):
        (tmp_path / "dk").write_bytes(data[:length])
        with pytest.raises(ModelError):
            Model.read(tmp_path / "dk")
        arguments = (tmp_path / "dk", files[0], files[1], tmp_path / "plan")
        assert planlog("plan", *arguments)[0] == 31
    assert not (tmp_path / "plan").exists()
