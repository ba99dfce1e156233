"""`planlog train` as its users meet it: what it writes and says, and that nothing is ever lost."""

from __future__ import annotations

import errno
import json
import math
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save

from planlog.cli import main
from planlog.cli.progress import TrainingProgress
from planlog.files import OutputError
from planlog.learning.checkpoint import Checkpoint, _checksum
from planlog.network.model_file import Model
from planlog.network.settings import TemplateSettings
from planlog.ranges import Range
from planlog.validation import validate_files
from support.commands import Run

QUICK = ("--width", "4", "--epochs", "12")


@pytest.fixture(scope="module")
def tasks(generate: Callable[..., Path]) -> Path:
    return generate("blocksworld", "--blocks", 4, "--count", 2)


@pytest.fixture
def train(
    tasks: Path, tmp_path: Path, planlog: Run, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    """Train quickly, into `model` unless told otherwise; return exit code, output and messages."""
    # However slow the machine, no line of progress is due.
    monkeypatch.setattr(TrainingProgress, "LINE_SECONDS", math.inf)

    def run(*options: object, files: tuple[Path, ...] | None = None) -> tuple[int, str, str]:
        files = files or (tasks / "domain.pddl", tasks / "p01.pddl", tasks / "p02.pddl")
        return planlog("train", *files, "-o", tmp_path / "model", *QUICK, *options)

    return run


def same_weights(left: Path, right: Path) -> bool:
    one, other = Model.read(left).weights, Model.read(right).weights
    return one.keys() == other.keys() and all(
        np.array_equal(one[name], other[name]) for name in one
    )


# --- The model ---------------------------------------------------------------------------


def test_the_model_solves_tasks(
    train: Callable[..., Any], tasks: Path, tmp_path: Path, capfd: pytest.CaptureFixture
) -> None:
    code, out, err = train()
    assert code == 0
    assert err == ""
    assert f"model in {tmp_path / 'model'}" in out
    assert "of 12 epochs" in out
    plan = tmp_path / "plan"
    for problem in (tasks / "p01.pddl", tasks / "p02.pddl"):
        arguments = [str(problem), "--model", str(tmp_path / "model"), "--plan-file", str(plan)]
        assert main(["solve", *arguments]) == 0
        assert validate_files(tasks / "domain.pddl", problem, plan).valid
    capfd.readouterr()
    assert main(["info", str(tmp_path / "model"), "--json"]) == 0
    answer = json.loads(capfd.readouterr().out)
    assert answer["network"]["width"] == 3 * 4  # of all members together
    assert answer["training"]["epochs"] == 12
    assert list(tmp_path.glob("*model*")) == [tmp_path / "model"]


def test_the_same_seed_gives_the_same_weights(train: Callable[..., Any], tmp_path: Path) -> None:
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert train("-o", tmp_path / name, "--seed", seed)[0] == 0
    assert same_weights(tmp_path / "a", tmp_path / "b")
    assert not same_weights(tmp_path / "a", tmp_path / "c")


def test_json(train: Callable[..., Any], tmp_path: Path) -> None:
    code, out, err = train("--json")
    assert (code, err) == (0, "")
    answer = json.loads(out)
    assert answer.keys() == {"outcome", "model", "policy", "seconds", "training"}
    assert answer["outcome"] == "trained"
    assert answer["model"] == str(tmp_path / "model")
    assert answer["policy"] == "shipped: blocksworld"
    assert answer["training"] == Model.read(tmp_path / "model").training
    training = answer["training"]
    assert len(training["loss"]) == len(training["accuracy"]) == len(training["f1"]) == 13
    assert training["best"]["loss"] == pytest.approx(min(training["loss"]), rel=1e-5)


def test_the_paper_s_settings(train: Callable[..., Any], tmp_path: Path) -> None:
    assert train("--settings", "paper", "--epochs", "2")[0] == 0
    used = Model.read(tmp_path / "model").training["settings"]
    assert used["loss"] == "binary"
    assert used["learning_rate"] == 1e-4
    assert used["select_by"] == "f1"
    assert used["only_informative"] is False
    assert used["epochs"] == 2


@pytest.mark.slow
def test_every_option_has_its_effect(train: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "rules.dl").write_text("putdown(A).  stack(A, B).  unstack(A, B).  pickup(A).")
    options = {
        "--policy": tmp_path / "rules.dl",
        "--layers": 2,
        "--aggregation": "sum",
        "--activation": "leaky_relu",
        "--loss": "binary",
        "--batch": 50,
        "--learning-rate": 0.125,
        "--schedule": "constant",
        "--select-by": "f1",
        "--max-tasks": 1,
        "--ensemble-size": 1,
        "--iterations": 0,
        "--seed": 9,
        "--epochs": 2,
    }
    code, _, err = train(*(word for pair in options.items() for word in pair), "--derived-messages")
    assert (code, err) == (0, "")
    model = Model.read(tmp_path / "model")
    assert model.rules == (tmp_path / "rules.dl").read_text()
    assert model.template.layers == 2
    assert model.template.derived_messages
    assert model.network.aggregation.value == "sum"
    assert model.network.message_activation.value == "leaky_relu"
    assert model.network.atom_activation.value == "leaky_relu"
    assert model.training["settings"] == {
        "loss": "binary",
        "epochs": 2,
        "batch": 50,
        "learning_rate": 0.125,
        "schedule": "constant",
        "select_by": "f1",
        "weight_decay": 0.0,
        "only_informative": True,
    }
    assert len(model.training["tasks"]) == 1
    assert model.training["seed"] == 9
    assert len(model.training["ensemble"]) == 1


def test_ensemble_size(
    train: Callable[..., Any], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, out, err = train("--ensemble-size", "2", "--iterations", "0")
    assert (code, err) == (0, "")
    assert "2 networks, the first of them best after " in out
    model = Model.read(tmp_path / "model")
    assert model.training["ensemble"] == [0, 1]
    assert model.network.width == 2 * 4
    assert main(["info", str(tmp_path / "model")]) == 0
    assert "ensemble 2" in " ".join(capfd.readouterr().out.split())
    # The option wins over the settings.
    assert train("--settings", "small+ensemble_size=3", "--ensemble-size", "1")[0] == 0
    model = Model.read(tmp_path / "model")
    assert (model.training["ensemble"], model.network.width) == ([0], 4)


def test_settings_with_values_of_their_own(train: Callable[..., Any], tmp_path: Path) -> None:
    text = "small+ensemble_size=2+weight_decay=0.5+exact_states=70"
    text += "+derived_messages=yes+batch=40+epochs=30"
    assert train("--settings", text, "--layers", "0")[0] == 0
    model = Model.read(tmp_path / "model")
    assert model.template == TemplateSettings(0, derived_messages=True)
    used = model.training["settings"]
    assert (used["weight_decay"], used["batch"]) == (0.5, 40)
    assert used["epochs"] == 12  # the option wins
    assert model.training["search_labels"]["exact_states"] == 70
    assert model.training["ensemble"] == [0, 1]


def test_iterations(train: Callable[..., Any], tmp_path: Path) -> None:
    """Both tasks are beyond the limit, so that all labels are by search."""
    options = (
        "--policy",
        "none",
        "--limit",
        "2",
        "--states-per-iteration",
        "5",
        "--expansions-per-step",
        "1",
    )
    code, out, err = train(*options, "--iterations", "1", "--layers", "0", "--epochs", "2")
    assert (code, err) == (0, "")
    first, second, *_ = out.splitlines()
    training = Model.read(tmp_path / "model").training
    states = training["labelled_states"]
    assert states >= 5
    assert first.startswith(f"iteration 1: {states} labelled states by search, from plans of cost ")
    assert second.startswith(f"learned from {states} of {states} labelled states of ")
    used = training["search_labels"]
    assert [
        used[name] for name in ("iterations", "states_per_iteration", "expansions_per_step")
    ] == [1, 5, 1]
    assert training["tasks"] == []
    code, _, err = train(*options, "--iterations", "0")
    assert code == 12
    assert "nothing to learn" in err


def test_the_default_of_the_network(train: Callable[..., Any], tmp_path: Path) -> None:
    assert train("--epochs", "1")[0] == 0
    assert Model.read(tmp_path / "model").template == TemplateSettings(1, derived_messages=True)
    assert train("--epochs", "1", "--no-derived-messages", "--layers", "2")[0] == 0
    assert Model.read(tmp_path / "model").template == TemplateSettings(2)
    assert train("--epochs", "1", "--settings", "paper")[0] == 0
    assert Model.read(tmp_path / "model").template == TemplateSettings(1)


def test_without_rules(train: Callable[..., Any], tasks: Path, tmp_path: Path) -> None:
    assert train("--policy", "none", "--max-states", "130", "--iterations", "0")[0] == 0
    model = Model.read(tmp_path / "model")
    assert model.rules is None
    assert model.training["labelled_states"] <= 130


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "first_bytes"),
    [("curve.png", b"\x89PNG"), ("curve.pdf", b"%PDF"), ("curve.SVG", b"<?xml")],
)
def test_the_curve(
    name: str,
    first_bytes: bytes,
    train: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("matplotlib")
    # A training that goes astray: there are losses that are no numbers.
    monkeypatch.setattr(Range, "__contains__", lambda *_: True)
    code, _, err = train("--curve", tmp_path / name, "--learning-rate", "1e38")
    assert (code, err) == (0, "")
    assert (tmp_path / name).read_bytes().startswith(first_bytes)
    assert all(
        np.isfinite(weight).all() for weight in Model.read(tmp_path / "model").weights.values()
    )


# --- Interrupts and checkpoints ----------------------------------------------------------


def after(
    epochs: int, act: Callable[[], None], monkeypatch: pytest.MonkeyPatch, *, write: bool = True
) -> None:
    """Do something after so many epochs, once the checkpoint is written."""

    def wrapped(self: Checkpoint, arrays: Mapping[str, Any]) -> None:
        if write:
            self.write(arrays)
        if len(arrays["0: history"]) == epochs + 1:
            act()

    monkeypatch.setattr(Checkpoint, "write_now_and_then", wrapped)


def stop() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def crash() -> None:
    sys.exit(99)


@pytest.mark.slow
@pytest.mark.parametrize("epochs", [0, 5, 12])
@pytest.mark.parametrize("settings", ["default", "paper"])
@pytest.mark.parametrize("end", [stop, crash])
def test_going_on_ends_as_if_nothing_had_happened(
    end: Callable[[], None],
    settings: str,
    epochs: int,
    train: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    interruptible: None,
) -> None:
    if end is crash and settings == "paper":
        pytest.skip("as with the default")
    options = ["--settings", settings, "--learning-rate", "0.01", "--batch", "20"]
    assert train(*options, "-o", tmp_path / "whole")[0] == 0
    with monkeypatch.context() as patched:
        after(epochs, end, patched, write=end is crash)
        code, out, _ = train(*options)
    assert (tmp_path / "model.checkpoint").exists()
    if end is stop:
        assert code == 130
        assert "best model so far" in out
        assert Model.read(tmp_path / "model").training["epochs"] == epochs
    else:
        assert code == 99
        assert not (tmp_path / "model").exists()
    code, out, err = train(*options, "--resume")
    assert (code, err) == (0, "")
    assert same_weights(tmp_path / "whole", tmp_path / "model")
    whole, model = (Model.read(tmp_path / name).training for name in ("whole", "model"))
    assert whole["loss"] == model["loss"]
    assert not (tmp_path / "model.checkpoint").exists()


def test_ctrl_c_writes_the_best_so_far(
    train: Callable[..., Any],
    tasks: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    interruptible: None,
) -> None:
    after(3, stop, monkeypatch, write=False)
    code, out, _ = train("--json")
    assert code == 130
    assert json.loads(out)["outcome"] == "interrupted"
    assert Model.read(tmp_path / "model").training["interrupted"] is True
    assert main(["solve", str(tasks / "p01.pddl"), "--model", str(tmp_path / "model")]) == 0


def test_the_time_limit_writes_the_best_so_far(
    train: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interruptible: None
) -> None:
    code, out, err = train("--time-limit", 0)
    assert (code, out) == (23, "")
    assert "out of time" in err
    assert list(tmp_path.iterdir()) == []
    after(3, lambda: signal.raise_signal(signal.SIGALRM), monkeypatch, write=False)
    code, out, _ = train("--time-limit", 600, "--json")
    assert (code, json.loads(out)["outcome"]) == (23, "time limit")
    assert Model.read(tmp_path / "model").training["epochs"] == 3
    assert (tmp_path / "model.checkpoint").exists()


@pytest.mark.slow
def test_sigterm_ends_a_process_in_good_order(tasks: Path, tmp_path: Path) -> None:
    program = (
        "import sys, planlog.cli, planlog.learning.checkpoint as checkpoint\n"
        "checkpoint.SECONDS = 0.01\n"
        "sys.exit(planlog.cli.main())"
    )
    arguments = ["train", tasks / "domain.pddl", tasks / "p01.pddl", "-o", tmp_path / "model"]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments), *QUICK, "--epochs", "1000000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "model.checkpoint").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, err) == (143, "")
    assert "best model so far" in out
    assert Model.read(tmp_path / "model").training["interrupted"] is True
    assert {file.name for file in tmp_path.iterdir()} == {"model", "model.checkpoint"}


def interrupt(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


def test_an_interrupt_before_the_first_epoch(
    train: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planlog.learning.learn.build_dataset", interrupt)
    code, out, err = train()
    assert (code, out) == (130, "")
    assert "nothing is written" in err
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_in_the_first_epoch(
    train: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("planlog.learning.trainer._Training._update", interrupt)
        assert train()[0] == 130
    assert Model.read(tmp_path / "model").training["epochs"] == 0
    code, _, err = train("--resume")
    assert code == 0
    assert "begins anew" in err or err == ""


@pytest.fixture
def stopped(
    train: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    interruptible: None,
) -> Path:
    """The checkpoint of an interrupted training."""
    with monkeypatch.context() as patched:
        after(3, stop, patched)
        assert train()[0] == 130
    return tmp_path / "model.checkpoint"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--seed", "1"], "seed"),
        (["--epochs", "13"], "settings"),
        (["--layers", "0"], "settings"),
        (["--policy", "shipped:paper"], "rules"),
    ],
)
def test_a_checkpoint_of_another_training(
    options: list[str], named: str, train: Callable[..., Any], stopped: Path
) -> None:
    before = {file: file.read_bytes() for file in stopped.parent.iterdir()}
    code, out, err = train("--resume", *options)
    assert (code, out) == (31, "")
    assert f"with other {named};" in err
    assert before == {file: file.read_bytes() for file in stopped.parent.iterdir()}


def test_a_checkpoint_of_other_tasks(train: Callable[..., Any], tasks: Path, stopped: Path) -> None:
    code, _, err = train("--resume", files=(tasks / "domain.pddl", tasks / "p02.pddl"))
    assert code == 31
    assert "with other tasks;" in err


def test_a_damaged_checkpoint(train: Callable[..., Any], stopped: Path) -> None:
    good = stopped.read_bytes()
    model = stopped.with_name("model").read_bytes()
    flipped = bytearray(good)
    flipped[-5] ^= 1
    for damaged in (b"", good[:100], good[:-1], bytes(flipped), model, b"no tensors " * 100):
        stopped.write_bytes(damaged)
        code, out, err = train("--resume")
        assert (code, out) == (31, ""), err
        assert "model.checkpoint is no checkpoint, or" in err
        assert stopped.read_bytes() == damaged
        assert stopped.with_name("model").read_bytes() == model
    stopped.write_bytes(good)
    assert train("--resume")[0] == 0


def rewritten(file: Path, change: Callable[[dict[str, Any]], None]) -> bytes:
    """The checkpoint with other arrays and a checksum that fits them."""
    with safe_open(file, framework="numpy") as opened:
        made_for = opened.metadata()["made_for"]
        arrays = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    change(arrays)
    return save(arrays, metadata={"made_for": made_for, "checksum": _checksum(made_for, arrays)})


@pytest.mark.slow
def test_a_forged_checkpoint(train: Callable[..., Any], stopped: Path) -> None:
    good = stopped.read_bytes()

    def cut(arrays: dict[str, Any]) -> None:
        arrays["0: means"] = arrays["0: means"][:-1]

    def drop(arrays: dict[str, Any]) -> None:
        del arrays["0: squares"]

    def other_type(arrays: dict[str, Any]) -> None:
        arrays["0: weights"] = arrays["0: weights"].astype("f8")

    def unknown_type(arrays: dict[str, Any]) -> None:
        arrays["0: weights"] = arrays["0: weights"].astype("f2")

    def negative(arrays: dict[str, Any]) -> None:
        arrays["0: updates"] = np.array(-1000)

    def long(arrays: dict[str, Any]) -> None:
        arrays["0: history"] = np.repeat(arrays["0: history"], 100, axis=0)

    pickled = b"\x80\x04cos\nsystem\n(S'touch forged'\ntR."
    forged = [rewritten(stopped, each) for each in (cut, drop, other_type, negative, long)]
    forged += [rewritten(stopped, unknown_type), pickled, b"PK\x03\x04" + pickled * 10]
    for made_for in ("[" * 100_000, "3", '"text"', "{"):
        checksum = _checksum(made_for, {})
        forged.append(save({}, metadata={"made_for": made_for, "checksum": checksum}))
    for data in forged:
        stopped.write_bytes(data)
        code, out, err = train("--resume")
        assert (code, out) == (31, ""), err
        assert "checkpoint" in err
        assert not Path("forged").exists()
    stopped.unlink()
    stopped.mkdir()
    for options in ([], ["--resume"]):
        code, out, err = train(*options)
        assert (code, out) == (36, "")
        assert "model.checkpoint is a folder" in err
    stopped.rmdir()
    stopped.write_bytes(good)
    assert train("--resume")[0] == 0


def test_a_forgotten_checkpoint_is_told(train: Callable[..., Any], stopped: Path) -> None:
    code, _, err = train()
    assert code == 0
    assert "--resume would continue it" in err
    assert not stopped.exists()


def test_a_training_survives_that_checkpoints_cannot_be_written(
    train: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planlog.learning.checkpoint.SECONDS", 0.0)

    def full(path: Path, content: bytes) -> None:
        raise OutputError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr("planlog.learning.checkpoint.write_atomically", full)
    code, _, err = train()
    assert code == 0
    assert err.count("no checkpoints are written") == 1
    assert Model.read(tmp_path / "model").training["epochs"] == 12


# --- Mistakes, and what cannot be learned ------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--settings", "best"], "expected one of default, small, paper, got 'best'"),
        (["--settings", "default+epoch=3"], "--settings: there is no setting 'epoch'"),
        (["--settings", "default+__init__=3"], "--settings: there is no setting '__init__'"),
        (
            ["--settings", "default+epochs=many"],
            "epochs: expected a whole number from 1 to 1,000,000, got 'many'",
        ),
        (
            ["--settings", "default+epochs"],
            "epochs: expected a whole number from 1 to 1,000,000, got ''",
        ),
        (
            ["--settings", "default+ensemble_size=0"],
            "--settings: ensemble_size: expected a whole number from 1 to 100",
        ),
        (["--settings", "default+loss=square"], "loss: expected one of binary, listwise"),
        (
            ["--settings", "default+weight_decay=50", "--learning-rate", "1"],
            "--settings: weight_decay times learning_rate must be",
        ),
        (["--ensemble-size", "0"], "--ensemble-size"),
        (["--ensemble-size", "some"], "--ensemble-size"),
        (["--learning-rate", "0"], "--learning-rate': expected a number from 1e-12 to 10"),
        (["--learning-rate", "nan"], "--learning-rate': expected a number from 1e-12 to 10"),
        (["--learning-rate", "inf"], "--learning-rate': expected a number from 1e-12 to 10"),
        (["--epochs", "0"], "epochs"),
        (["--iterations", "-1"], "iterations"),
        (["--states-per-iteration", "0"], "states-per-iteration"),
        (["--layers", "101"], "layers"),
        (["--width", "0"], "width"),
        (["--width", "100000"], "width 100000: the weights would take"),
        (["--aggregation", "median"], "median"),
        (["--seed", "-1"], "seed"),
        (["-o", "no/such/folder/model"], "--out: there is no folder no/such/folder"),
        (["-o", "."], "--out: . is a folder"),
        (["--curve", "curve.txt"], "--curve: the name must end in"),
        (["--curve", "no/curve.png"], "--curve: there is no folder no"),
    ],
)
def test_bad_usage(
    options: list[str],
    message: str,
    train: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = train(*options)
    assert (code, out) == (36, "")
    assert message in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="everything can be written")
def test_an_unwritable_folder(train: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    code, _, err = train("-o", folder / "model")
    assert code == 73
    assert "Permission denied" in err


@pytest.mark.parametrize(
    ("module", "options", "extra"),
    [("torch", [], "planlog[train]"), ("matplotlib", ["--curve", "c.png"], "planlog[report]")],
)
def test_what_is_not_installed_is_named(
    module: str,
    options: list[str],
    extra: str,
    train: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    code, out, err = train(*options)
    assert (code, out) == (36, "")
    assert f"needs {module}: pip install '{extra}'" in err


NEVER_OPTIMAL = "pickup(A) :- on-table@ag(A)."


@pytest.mark.parametrize(
    ("rules", "options", "settings"),
    [
        ("shipped", ["--limit", "2"], "default"),  # too large
        ("shipped", ["--limit", "2"], "paper"),
        ("putdown(A) :- holding@ag(A).", [], "default"),  # derives nothing
        ("putdown(A) :- holding@ag(A).", [], "paper"),
        (NEVER_OPTIMAL, [], "default"),
        (NEVER_OPTIMAL, [], "paper"),
    ],
)
def test_nothing_to_learn(
    rules: str, options: list[str], settings: str, train: Callable[..., Any], tmp_path: Path
) -> None:
    if rules != "shipped":
        (tmp_path / "rules.dl").write_text(rules)
        options = ["--policy", str(tmp_path / "rules.dl"), *options]
    code, out, err = train("--settings", settings, *options)
    assert (code, out) == (12, "")
    assert "nothing to learn" in err
    code, out, err = train("--settings", settings, *options, "--json")
    assert code == 12
    assert json.loads(out)["outcome"] == "nothing to learn"
    assert not (tmp_path / "model").exists()


def test_bad_input(train: Callable[..., Any], tasks: Path, tmp_path: Path) -> None:
    domain = tasks / "domain.pddl"
    (tmp_path / "wrong.pddl").write_text("(define (problem p) (:domain blocksworld) (:objects")
    (tmp_path / "wrong.dl").write_text("fly(A) :- wings(A).")
    for files, options in (
        ((domain, tmp_path / "missing.pddl"), []),
        ((domain, tmp_path / "wrong.pddl"), []),
        ((tasks / "p01.pddl", domain), []),
        ((domain, tasks / "p01.pddl"), ["--policy", tmp_path / "wrong.dl"]),
        ((domain, tasks / "p01.pddl"), ["--policy", "shipped:none-such"]),
    ):
        code, out, err = train(*options, files=files)
        assert (code, out) == (31, "")
        assert err
    assert not (tmp_path / "model").exists()


def test_out_of_memory(train: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def learn(*_: Any, **__: Any) -> None:
        raise RuntimeError(
            "DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"
        )

    monkeypatch.setattr("planlog.learning.learn.learn", learn)
    code, _, err = train()
    assert code == 22
    assert "out of memory" in err


# --- Progress ----------------------------------------------------------------------------


def test_lines_of_progress_without_a_terminal(
    train: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TrainingProgress, "LINE_SECONDS", 0.0)
    code, _, err = train("--epochs", 3, "--settings", "small")
    assert code == 0
    lines = err.splitlines()
    assert re.fullmatch(r"[a-z ]+: [\d,]+ states", lines[0])
    assert re.fullmatch(r"epoch 3 of 3: loss [\d.e-]+, accuracy [\d.]+%", lines[-1])


@pytest.mark.slow
def test_progress_is_shown_on_a_terminal(tasks: Path, tmp_path: Path) -> None:
    terminal, end = pty.openpty()
    arguments = [tasks / "domain.pddl", tasks / "p01.pddl", "-o", tmp_path / "model", *QUICK]
    process = subprocess.Popen(
        [sys.executable, "-m", "planlog", "train", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=end,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    )
    os.close(end)
    shown = b""
    try:
        while part := os.read(terminal, 4096):
            shown += part
    except OSError:  # how the end of a terminal is told
        pass
    out, _ = process.communicate(timeout=60)
    os.close(terminal)
    assert process.returncode == 0
    assert b"epoch 12 of 12: loss " in shown
    assert b"epoch 12 of" not in out
