"""Kills at random moments, small disks, folders that cannot be written, and changing inputs.

`PLANLOG_FAULTS=N` kills each command N times; by default a few times.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from planlog.cli import main
from planlog.cli.plan_files import numbered_files
from planlog.experiment.records import read_records
from planlog.network.model_file import Model
from planlog.validation import validate_files
from support.commands import process, run_process, wait_for
from support.waiting import wait_until

FAULTS = os.environ.get("PLANLOG_FAULTS", "3")
KILLS = 100 if FAULTS == "all" else int(FAULTS)


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tasks")
    options = ["--blocks", "25", "--seed", "3", "--out", str(folder)]
    assert main(["generate", "blocksworld", *options]) == 0
    assert main(["generate", "blocksworld", "--blocks", "4", "--out", str(folder / "small")]) == 0
    return folder


def assert_plans(tasks: Path, plan: Path) -> None:
    """All plan files are whole and valid, and numbered from 1 on."""
    found = numbered_files(plan)
    assert sorted(found) == list(range(1, len(found) + 1))
    for file in [*plan.parent.glob(plan.name), *found.values()]:
        report = validate_files(tasks / "domain.pddl", tasks / "p01.pddl", file)
        assert report.valid and report.complete


# --- Kills -------------------------------------------------------------------------------


def kill(arguments: list[str | Path], rng: random.Random, longest: float) -> tuple[int, str]:
    """Run a command, and end it after a random time by a random signal."""
    sent = rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
    with process(*arguments) as running:
        try:
            running.wait(rng.uniform(0.05, longest))
        except subprocess.TimeoutExpired:
            running.send_signal(sent)
        _, err = running.communicate(timeout=60)
    if sent != signal.SIGINT:  # which may arrive while Python starts
        assert "Traceback" not in err, err
    return running.returncode, err


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_kills_of_solve(tasks: Path, tmp_path: Path) -> None:
    rng = random.Random(1)
    plan = tmp_path / "plan"
    search: list[str | Path] = ["--no-model", "--improve", "1", "--plan-file", plan]
    command = ["solve", tasks / "p01.pddl", *search]
    for _ in range(KILLS):
        kill(command, rng, 2.0)
        assert_plans(tasks, plan)
    assert run_process(*command).returncode == 0
    assert_plans(tasks, plan)
    left = [file.name for file in tmp_path.iterdir() if file.name.endswith(".lock")]
    assert not left, "the last run removes the lock that killed ones have left"


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_kills_of_train(tasks: Path, tmp_path: Path) -> None:
    rng = random.Random(2)
    model = tmp_path / "model"
    command = ["train", tasks / "small" / "p01.pddl", "-o", model, "--settings", "small"]
    for i in range(KILLS):
        code, err = kill([*command, *(["--resume"] if i % 2 else [])], rng, 5.0)
        assert code != 31, err  # a checkpoint is whole
        if model.exists():
            Model.read(model)
    assert run_process(*command, "--resume").returncode == 0
    assert Model.read(model).training["interrupted"] is False
    assert not (tmp_path / "model.checkpoint").exists()


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_kills_of_generate(tmp_path: Path) -> None:
    rng = random.Random(3)
    command = ["generate", "ferry", "--split", "easy", "--out", tmp_path / "new"]
    assert run_process(*command[:-1], tmp_path / "whole").returncode == 0
    whole = {file.name: file.read_text() for file in (tmp_path / "whole").iterdir()}
    for _ in range(KILLS):
        kill(command, rng, 0.7)
        for file in (tmp_path / "new").glob("*.pddl"):
            assert file.read_text() == whole[file.name]
    assert run_process(*command).returncode == 0
    assert {f.name: f.read_text() for f in (tmp_path / "new").glob("*.pddl")} == whole


# --- Disks -------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """Mount a small file system, where the test may."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = []

    def mount(kilobytes: int) -> Path:
        command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", str(place)]
        if shutil.which("mount") is None or subprocess.run(command, stderr=-1).returncode:
            pytest.skip("this test may not mount a file system")
        mounted.append(place)
        return place

    yield mount
    for each in mounted:
        subprocess.run(["umount", str(each)], check=True)


def fill(disk: Path, leave: int) -> None:
    """Fill a disk up to some blocks."""
    free = os.statvfs(disk)
    (disk / "ballast").write_bytes(bytes((free.f_bavail - leave) * free.f_bsize))


def test_a_disk_that_fills_up(tasks: Path, small_disk: Callable[[int], Path]) -> None:
    disk = small_disk(256)
    plan = disk / "plan"
    command = ["solve", tasks / "p01.pddl", "--plan-file", plan]
    improve = ["--no-model", "--expansions", "20000"]
    assert run_process(*command, *improve).returncode == 0
    series = {file.name: file.read_text() for file in disk.glob("plan*")}
    assert len(series) > 1
    # Full from the start: known before the work, and the old plans stay.
    fill(disk, 0)
    for options in ([], improve):
        result = run_process(*command, *options)
        assert (result.returncode, result.stdout) == (73, "")
        assert "No space left on device: free some space" in result.stderr
        assert {file.name: file.read_text() for file in disk.glob("plan*")} == series
    # Full in the middle of a series: the remaining plans go to the standard output.
    (disk / "ballast").unlink()
    for file in disk.glob("plan*"):
        file.unlink()
    fill(disk, 3)  # two plans, and the lock
    result = run_process(*command, *improve)
    assert result.returncode == 73
    assert "the plan is on the standard output" in result.stderr
    assert_plans(tasks, plan)
    last = disk.parent / "last"
    last.write_text(result.stdout.split("(unit cost)\n")[-2] + "(unit cost)\n")
    assert validate_files(tasks / "domain.pddl", tasks / "p01.pddl", last).valid
    assert not list(disk.glob(".planlog*"))


def test_a_disk_that_is_too_small_for_the_tasks(small_disk: Callable[[int], Path]) -> None:
    disk = small_disk(64)
    result = run_process("generate", "ferry", "--split", "easy", "--out", disk / "tasks")
    assert result.returncode == 73
    assert "No space left" in result.stderr
    assert list(disk.iterdir()) == []


@pytest.mark.slow
def test_a_model_outlives_a_full_disk(
    tasks: Path, small_disk: Callable[[int], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    disk = small_disk(64)
    fill(disk, 2)
    task = tasks / "small" / "p01.pddl"
    result = run_process("train", task, "-o", disk / "model", "--settings", "small", "--epochs=2")
    assert result.returncode == 73
    (saved,) = tmp_path.glob("planlog-*.safetensors")
    assert f"saved in {saved}" in result.stderr
    assert f"model in {saved}" in result.stdout
    assert Model.read(saved).domain == "blocksworld"
    assert [file.name for file in disk.iterdir()] == ["ballast"]


@pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="needs a folder that nobody can write")
@pytest.mark.parametrize(
    "command",
    [
        "solve TASKS/p01.pddl --plan-file /sys/kernel/plan",
        "check TASKS/p01.pddl --plan-dir /sys/kernel",
        "train TASKS/p01.pddl -o /sys/kernel/model",
        "generate ferry --out /sys/kernel",
        "experiment -o /sys/kernel/results",
        "ipc learn /sys/kernel/dk TASKS/p01.pddl",
        "ipc plan TASKS/dk TASKS/domain.pddl TASKS/p01.pddl /sys/kernel/plan",
    ],
)
def test_a_folder_that_even_root_cannot_write(
    command: str, tasks: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(command.replace("TASKS", str(tasks)).split()) == 73
    out, err = capfd.readouterr()
    assert out == ""
    assert "Permission denied: change the permissions, or write to another folder" in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("solve TASKS/p01.pddl --plan-file OUT", "is a folder"),
        ("solve TASKS/p01.pddl --plan-file LONG", "File name too long: choose a shorter name"),
        ("solve TASKS/p01.pddl --improve 1 --plan-file NEARLY", "File name too long"),
        ("train TASKS/p01.pddl -o NEARLY", "File name too long"),
        ("train TASKS/p01.pddl -o OUT/none/model", "there is no folder"),
        ("ipc learn NEARLY TASKS/p01.pddl", "File name too long"),
        ("check TASKS/p01.pddl --plan-dir TASKS/p01.pddl", "is not a folder"),
        ("check TASKS/p01.pddl --plan-dir LONG", "File name too long"),
        ("generate ferry --out TASKS/p01.pddl", "is not a folder"),
        ("generate ferry --out TASKS/p01.pddl/new", "Not a directory"),
        ("experiment -o TASKS/p01.pddl", "is not a folder"),
    ],
)
def test_names_that_cannot_be_written_are_known_before_the_work(
    command: str, message: str, tasks: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    names = {"TASKS": tasks, "OUT": tmp_path, "LONG": tmp_path / ("x" * 300)}
    names["NEARLY"] = tmp_path / ("x" * 251)
    for name, place in names.items():
        command = command.replace(name, str(place))
    assert main(command.split()) == 36
    out, err = capfd.readouterr()
    assert (out, message in err) == ("", True), err
    assert list(tmp_path.iterdir()) == []


# --- Two runs ----------------------------------------------------------------------------


def test_two_runs_do_not_write_the_same_plan(tasks: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan"
    command = ["solve", tasks / "p01.pddl", "--no-model", "--plan-file", plan]
    with process(*command, "--improve", "60") as first:
        wait_for(plan)
        for options in ([], ["--improve", "1"]):
            second = run_process(*command, *options)
            assert (second.returncode, second.stdout) == (73, "")
            assert f"another run is writing there (process {first.pid} on " in second.stderr
        assert run_process(*command[:-1], tmp_path / "other").returncode == 0
        first.send_signal(signal.SIGTERM)
        first.communicate(timeout=30)
    assert_plans(tasks, plan)
    assert run_process(*command).returncode == 0


def test_two_experiments_do_not_write_the_same_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ["--domains", "ferry", "--splits", "easy", "--count", "1", "--layers", "none"]
    command = ["experiment", "-o", out, *options, "--planners", "none", "--seeds", "1"]
    holder = "from planlog.locks import locked; import time; from pathlib import Path"
    out.mkdir()
    program = f"{holder}\nwith locked(Path({str(out)!r})):\n print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as first:
        assert first.stdout is not None and first.stdout.readline()
        second = run_process(*command)
        first.kill()
    assert second.returncode == 73
    assert f"another run is writing there (process {first.pid} on " in second.stderr
    assert [file.name for file in out.iterdir()] == [".planlog.lock"]
    assert run_process(*command).returncode == 0
    assert len(list(read_records(out))) == 1
    assert not (out / ".planlog.lock").exists()


# --- Inputs ------------------------------------------------------------------------------


def test_inputs_may_change_while_the_command_runs(tasks: Path, tmp_path: Path) -> None:
    for name in ("domain.pddl", "p01.pddl"):
        shutil.copy(tasks / name, tmp_path)
    plan = tmp_path / "plan"
    options = ("--no-model", "--improve", "2", "--plan-file", plan)
    with process("solve", tmp_path / "p01.pddl", *options) as solving:
        wait_for(plan)
        (tmp_path / "p01.pddl").write_text("(define (problem other) (:domain other))")
        (tmp_path / "domain.pddl").unlink()
        _, err = solving.communicate(timeout=60)
    assert solving.returncode == 0, err
    assert ", valid, plan in " in err
    assert_plans(tasks, plan)


def through_pipe(file: Path, pipe: Path) -> Path:
    """Make a pipe that gives the content of a file once."""
    os.mkfifo(pipe)
    threading.Thread(target=lambda: pipe.write_bytes(file.read_bytes()), daemon=True).start()
    return pipe


def test_every_input_may_be_a_pipe(
    tasks: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan"
    rules = tmp_path / "rules.dl"
    shutil.copy(tasks / "p01.pddl", tmp_path / "task.pddl")
    from planlog import domains

    shutil.copy(domains.policy_path("blocksworld"), rules)
    inputs = [
        through_pipe(file, tmp_path / f"pipe{i}")
        for i, file in enumerate((tasks / "domain.pddl", rules, tasks / "p01.pddl"))
    ]
    words = [str(each) for each in inputs]
    assert main(["solve", *words, "--validate", "--plan-file", str(plan)]) == 0
    assert ", valid" in capfd.readouterr().err
    pddl = [tasks / "domain.pddl", tasks / "p01.pddl", plan]
    again = [through_pipe(file, tmp_path / f"again{i}") for i, file in enumerate(pddl)]
    assert main(["validate", *map(str, again)]) == 0


def test_a_pipe_that_nobody_writes_ends_with_a_signal(tasks: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for sent, code in ((signal.SIGTERM, (143, -15)), (signal.SIGINT, (130,))):
        with process("solve", tasks / "domain.pddl", tmp_path / "pipe") as solving:
            time.sleep(1.0)
            solving.send_signal(sent)
            start = time.monotonic()
            _, err = solving.communicate(timeout=20)
        assert solving.returncode in code
        assert time.monotonic() - start < 2
        assert "Traceback" not in err


def test_an_endless_input_is_refused(tasks: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for words in (
        ["solve", tasks / "domain.pddl", "/dev/zero"],
        ["solve", tasks / "p01.pddl", "--policy", "/dev/zero"],
        ["validate", tasks / "p01.pddl", "/dev/zero"],
    ):
        assert main([str(word) for word in words]) == 31
        assert "/dev/zero: too large: more than 268,435,456 bytes" in capfd.readouterr().err


def test_a_task_that_changes_during_an_experiment_is_a_failure(tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ["--domains", "ferry", "--splits", "easy", "--count", "1", "--layers", "none"]
    command = ["experiment", "-o", str(out), *options, "--planners", "none", "--seeds", "1"]
    change = "planlog.experiment.runner"
    before = (
        f"import {change} as runner, pathlib\n"
        "real = runner.run\n"
        "def run(jobs, done, folder, *rest, **options):\n"
        "    for file in pathlib.Path(folder).rglob('p01.pddl'):\n"
        "        file.write_text(file.read_text() + '; changed\\n')\n"
        "    return real(jobs, done, folder, *rest, **options)\n"
        "import planlog.cli.commands.experiment as command\n"
        "command.run = run"
    )
    with process(*command, before=before) as running:
        text, err = running.communicate(timeout=60)
    assert running.returncode == 12, err
    assert "p01.pddl has changed since the experiment began" in text
    assert wait_until(lambda: not (out / ".planlog.lock").exists())
