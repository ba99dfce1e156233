"""`planlog solve --improve`: a plan at once, then better ones, whatever ends the search."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planlog.api.solve import improve
from planlog.cli import main
from planlog.cli.plan_files import numbered_files
from planlog.cli.progress import ImproveProgress
from planlog.policy.execution import Outcome, PlanResult
from planlog.validation import Report, validate, validate_files
from support.commands import wait_for
from support.waiting import wait_until


@pytest.fixture(scope="module")
def task(generate: Callable[..., Path]) -> Path:
    """A task whose plans by the rules can be improved."""
    return generate("blocksworld", "--blocks", 25, "--seed", 3) / "p01.pddl"


def solve(task: Path, *options: str | Path | int) -> int:
    return main(["solve", str(task), "--no-model", *map(str, options)])


def written(task: Path, plan: Path) -> list[Report]:
    """What the validator says about all files, which are numbered from 1 on."""
    found = numbered_files(plan)
    assert sorted(found) == list(range(1, len(found) + 1))
    files = [plan, *(found[i] for i in sorted(found))]
    return [validate_files(task.parent / "domain.pddl", task, file) for file in files]


def costs(reports: list[Report]) -> list[float]:
    """Of plans that are all valid, in whole files and cheaper and cheaper."""
    assert all(report.valid and report.complete and not report.warnings for report in reports)
    found = [report.cost for report in reports]
    assert found == sorted(set(found), reverse=True)
    return found


def test_better_plans_have_numbers(
    task: Path, tmp_path: Path, capfd: pytest.CaptureFixture
) -> None:
    plan = tmp_path / "plan"
    for name in ("plan", "plan.1", "plan.99", "plan.txt"):
        (tmp_path / name).write_text("of an earlier run")
    assert solve(task, "--plan-file", plan, "--improve", 20, "--expansions", 20_000) == 0
    out, err = capfd.readouterr()
    assert out == ""
    found = costs(written(task, plan))
    assert len(found) > 2
    assert (tmp_path / "plan.txt").exists()
    *lines, last = err.splitlines()
    told = [
        re.fullmatch(r"solved: \d+ actions, cost (\d+), [\d.]+ s(, valid)?, plan in (.*)", line)
        for line in lines
    ]
    assert [line and (float(line[1]), Path(line[3]).name) for line in told] == [
        (cost, f"plan.{i}" if i else "plan") for i, cost in enumerate(found)
    ]
    assert all(line and line[2] for line in told[1:])
    assert re.fullmatch(rf"best: cost {found[-1]:g} after [\d.]+ s, plan in {plan}\.\d+", last)


def test_plans_on_the_standard_output_follow_each_other(
    task: Path, capfd: pytest.CaptureFixture
) -> None:
    assert solve(task, "--expansions", 20_000, "--threads", 2) == 0
    out, err = capfd.readouterr()
    texts = re.findall(r"[^;]*; cost = .*\n", out)
    assert "".join(texts) == out
    domain, problem = ((task.parent / name).read_text() for name in ("domain.pddl", task.name))
    found = costs([validate(domain, problem, text) for text in texts])
    assert len(found) > 1
    assert err.count("solved: ") == len(found)
    assert f"best: cost {found[-1]:g} " in err


def test_the_same_again(task: Path, capfd: pytest.CaptureFixture) -> None:
    outputs = []
    for seed in (1, 1, 2):
        options = ("--seed", seed, "--expansions", 10_000, "--threads", 2)
        assert solve(task, *options) == 0
        outputs.append(capfd.readouterr().out)
    assert outputs[0] == outputs[1] != outputs[2]


def test_json_has_the_best_plan_and_the_way_to_it(task: Path, capfd: pytest.CaptureFixture) -> None:
    assert solve(task, "--expansions", 20_000, "--json") == 0
    out, err = capfd.readouterr()
    assert err == ""
    answer = json.loads(out)
    found = [plan["cost"] for plan in answer["plans"]]
    assert found == sorted(set(found), reverse=True)
    assert answer["cost"] == answer["plan_length"] == len(answer["plan"]) == found[-1] < found[0]
    assert answer["valid"] is True
    seconds = [plan["seconds"] for plan in answer["plans"]]
    assert seconds == sorted(seconds)
    assert seconds[-1] <= answer["seconds"]
    assert solve(task, "--json") == 0
    assert "plans" not in json.loads(capfd.readouterr().out)


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.usefixtures("interruptible")
def test_time_ends_the_search(task: Path, capfd: pytest.CaptureFixture) -> None:
    for options in (("--improve", 1), ("--improve", 600, "--time-limit", 2), ("--improve", 0)):
        assert solve(task, *options) == 0
        assert "best: cost" in capfd.readouterr().err


def test_the_learned_policy_is_improved_as_well(task: Path, capfd: pytest.CaptureFixture) -> None:
    assert main(["solve", str(task), "--expansions", "5000", "--json", "--validate"]) == 0
    answer = json.loads(capfd.readouterr().out)
    assert answer["policy"].endswith("learned")
    assert answer["cost"] <= answer["plans"][0]["cost"]


def test_lines_of_progress_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr("planlog.cli.progress.say", lines.append)
    monkeypatch.setattr(ImproveProgress, "LINE_SECONDS", 0.01)
    with ImproveProgress(60) as progress:
        assert wait_until(lambda: len(lines) > 0)
        assert re.fullmatch(r"improving: no better plan yet, [\d.]+ s of 1 min 0 s", lines[0])
        progress.on_plan(PlanResult(Outcome.SOLVED, (), 12, True, 0, 0, 0.0))
        assert wait_until(lambda: "best cost 12, " in lines[-1])


def test_out_of_memory_keeps_the_best(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture
) -> None:
    def out_of_memory(*arguments: Any, **options: Any) -> Iterator[PlanResult]:
        yield next(improve(*arguments, **options))
        raise MemoryError

    monkeypatch.setattr("planlog.cli.commands.solve.improve_plan", out_of_memory)
    assert solve(task, "--improve", 20, "--plan-file", tmp_path / "plan") == 0
    assert len(costs(written(task, tmp_path / "plan"))) == 2
    *_, note, last = capfd.readouterr().err.splitlines()
    assert note.startswith("note: out of memory")
    assert last.endswith(f", plan in {tmp_path / 'plan.1'}")


@pytest.mark.slow
def test_memory_limits_hold_in_the_search(task: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan"
    command = [sys.executable, "-m", "planlog", "solve", task, "--no-model", "--plan-file", plan]
    command += ["--improve", "1", "--threads", "2", "--memory-limit"]
    for megabytes in (55, 60, 65, 500):
        plan.unlink(missing_ok=True)
        result = subprocess.run(
            [*command, str(megabytes)],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert result.returncode in (0, 22), result.stderr
        assert "Traceback" not in result.stderr
        assert plan.exists() == (result.returncode == 0)
    assert len(costs(written(task, plan))) > 1


def test_a_plan_that_is_not_valid_never_appears(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture
) -> None:
    def wrong(*arguments: Any, **options: Any) -> Iterator[PlanResult]:
        for result in improve(*arguments, **options):
            yield replace(result, actions=result.actions[:-1])

    monkeypatch.setattr("planlog.cli.commands.solve.improve_plan", wrong)
    assert solve(task, "--improve", 20, "--plan-file", tmp_path / "plan") == 35
    assert "NOT VALID" in capfd.readouterr().err
    assert len(costs(written(task, tmp_path / "plan"))) == 1


def test_without_a_plan_there_is_nothing_to_improve(
    task: Path, capfd: pytest.CaptureFixture
) -> None:
    assert solve(task, "--improve", 20, "--max-steps", 3) == 12
    assert "not solved: step limit reached" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--threads", 2), "--threads is for --improve or --expansions"),
        (("--improve", 1, "--plan-file", "/dev/null"), "cannot hold several plans"),
    ],
)
def test_bad_usage(
    task: Path, options: tuple[str | int, ...], message: str, capfd: pytest.CaptureFixture
) -> None:
    assert solve(task, *options) == 36
    assert message in capfd.readouterr().err


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_signals_keep_the_best(task: Path, tmp_path: Path, sent: int) -> None:
    plan = tmp_path / "plan"
    arguments = [task, "--no-model", "--improve", "600", "--plan-file", plan]
    process = subprocess.Popen(
        [sys.executable, "-m", "planlog", "solve", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_for(tmp_path / "plan.1", 20)
        process.send_signal(sent)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert (process.returncode, out) == (0, "")
    assert "Traceback" not in err
    found = costs(written(task, plan))
    assert err.splitlines()[-1].startswith(f"best: cost {found[-1]:g} after ")
    assert {file.name for file in tmp_path.iterdir()} == {
        "plan",
        *(f"plan.{i}" for i in range(1, len(found))),
    }
