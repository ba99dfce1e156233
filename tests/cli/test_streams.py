"""Standard files that are closed, full or not read: honest exit codes, and no tracebacks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from planlog import domains
from planlog.cli import main

SOLVE = "solve {task}"
COMMANDS = [
    "--help",
    "--version",
    "solve --help",
    SOLVE,
    "solve {task} --json",
    "check {task} --policy shipped --property 1 --limit 10 --walks 1",
    "validate {task} {plan}",
    "template {domain}",
    "info {model}",
    "info {model} --json",
    "generate ferry --out {folder}/made",
    "completion bash",
    "doctor",
]
QUICK = [COMMANDS[0], SOLVE, "completion bash"]
OUTPUT, BROKEN_PIPE = 73, 141


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("tasks")
    assert main(["generate", "ferry", "--out", str(folder)]) == 0
    task, plan = folder / "p01.pddl", folder / "plan"
    assert main(["solve", str(task), "--plan-file", str(plan)]) == 0
    model = next(domains.path("ferry").glob("*.safetensors"))
    domain = folder / "domain.pddl"
    return {"folder": folder, "task": task, "plan": plan, "model": model, "domain": domain}


def shell(
    files: dict[str, Path], command: str, redirection: str
) -> subprocess.CompletedProcess[str]:
    """Run `planlog` with redirections, such as `>&-`."""
    line = f"{sys.executable} -m planlog {command.format(**files)} {redirection}"
    result = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=os.environ | {"TMPDIR": str(files["folder"])},  # where a plan is saved
    )
    assert "Traceback" not in result.stderr
    assert "Exception ignored" not in result.stderr
    return result


def _is_slow(command: str) -> object:
    return command if command in QUICK else pytest.param(command, marks=pytest.mark.slow)


@pytest.mark.parametrize("command", [_is_slow(case) for case in COMMANDS])
def test_an_output_that_cannot_be_written(command: str, files: dict[str, Path]) -> None:
    for redirection, reason in ((">&-", "it is closed"), (">/dev/full", "No space left")):
        result = shell(files, command, redirection)
        assert result.returncode == OUTPUT, (redirection, result)
        message = f"planlog: cannot write to the standard output: {reason}"
        assert f"\n{message}" in f"\n{result.stderr}"
        assert "solved" not in result.stderr
    assert shell(files, command, ">&- 2>&-").returncode == OUTPUT
    assert shell(files, command, ">/dev/full 2>/dev/full").returncode == OUTPUT
    assert shell(files, command, "0<&- >/dev/full 2>&-").returncode == OUTPUT


@pytest.mark.parametrize("command", [_is_slow(case) for case in COMMANDS])
def test_a_reader_that_has_finished(command: str, files: dict[str, Path]) -> None:
    # The reader is gone before the command has started.
    late = f"sleep 0.2; {sys.executable} -m planlog {command.format(**files)}"
    result = subprocess.run(
        ["bash", "-c", f"({late}; echo $? >&2) | (exec <&-)"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.stderr.splitlines()[-1] == str(BROKEN_PIPE)
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_messages_that_cannot_be_written(redirection: str, files: dict[str, Path]) -> None:
    result = shell(files, SOLVE, redirection)
    assert result.returncode == 0
    assert result.stdout.startswith("(")
    assert "solved" not in result.stdout
    assert shell(files, "solve nowhere.pddl", redirection).returncode in (31, 36)
    assert shell(files, "solve --seed x", redirection).returncode == 36
    found = json.loads(shell(files, "solve {task} --json", redirection).stdout)
    assert found["outcome"] == "solved"


def test_a_plan_in_a_file_is_safe(files: dict[str, Path]) -> None:
    plan = files["folder"] / "other"
    result = shell(files, f"solve {{task}} --plan-file {plan}", ">&- 0<&-")
    assert result.returncode == 0
    assert plan.read_text() == files["plan"].read_text()
