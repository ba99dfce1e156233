"""`planlog ipc plan`: only valid plans, in whole files, whatever ends the planning."""

from __future__ import annotations

import re
import signal
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planlog import Domain, Policy
from planlog.cli.commands.ipc.learn import rules_alone
from planlog.cli.plan_files import numbered_files
from planlog.policy.execution import Outcome, PlanResult, execute
from planlog.validation import validate_files
from support.commands import CORRIDOR, Run, process, wait_for
from support.waiting import wait_until


def test_plans_are_valid_and_nothing_else_is_written(
    planlog: Run, rules: Path, files: tuple[Path, ...], tmp_path: Path
) -> None:
    for task in files[1:]:
        code, out, err = planlog("plan", rules, files[0], task, tmp_path / "plan")
        assert (code, out) == (0, "")
        assert re.match(r"learned policy: solved: \d+ actions, .*, valid, plan in ", err)
        report = validate_files(files[0], task, tmp_path / "plan")
        assert report.valid
        assert report.complete
        assert list(tmp_path.iterdir()) == [tmp_path / "plan"]


def test_the_highest_number_is_taken_where_there_is_no_dk(
    planlog: Run, rules: Path, files: tuple[Path, ...], tmp_path: Path
) -> None:
    arguments = (files[0], files[1], tmp_path / "plan")
    code, _, err = planlog("plan", tmp_path / "dk", *arguments)
    assert code == 31
    assert "dk: No such file" in err
    for name in ("dk.2", "dk.9", "dk.010"):
        (tmp_path / name).write_text("no model")
    assert planlog("plan", tmp_path / "dk", *arguments)[0] == 31
    (tmp_path / "dk.10").write_bytes(rules.read_bytes())
    assert planlog("plan", tmp_path / "dk", *arguments)[0] == 0
    (tmp_path / "dk").write_text("no model")
    assert planlog("plan", tmp_path / "dk", *arguments)[0] == 31


def test_plans_of_an_earlier_run_are_removed(
    planlog: Run, rules: Path, files: tuple[Path, ...], tmp_path: Path
) -> None:
    for name in ("plan", "plan.1", "plan.13", "plan.txt"):
        (tmp_path / name).write_text("(fly)\n; cost = 1 (unit cost)\n")
    assert planlog("plan", rules, files[0], tmp_path / "none.pddl", tmp_path / "plan")[0] == 31
    assert (tmp_path / "plan.13").exists()
    assert planlog("plan", rules, files[0], files[1], tmp_path / "plan")[0] == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["plan", "plan.txt"]
    assert validate_files(files[0], files[1], tmp_path / "plan").valid


def test_better_plans_have_numbers(planlog: Run, rooms: tuple[Path, Path], tmp_path: Path) -> None:
    # By the names of rooms, the way through them all comes before the short one.
    domain, task = rooms
    task.write_text(CORRIDOR.replace("(at r4)", "(at r1) (door r1 r9)"))
    rules_alone(Policy.applicable(Domain.read(domain))).write(tmp_path / "dk")
    code, _, err = planlog(
        "plan", tmp_path / "dk", domain, task, tmp_path / "plan", "--anytime", "--time-limit", 2
    )
    assert code == 0
    written = [
        tmp_path / "plan",
        *(file for _, file in sorted(numbered_files(tmp_path / "plan").items())),
    ]
    assert sorted(numbered_files(tmp_path / "plan")) == list(range(1, len(written)))
    reports = [validate_files(domain, task, file) for file in written]
    assert all(report.valid and report.complete for report in reports)
    found = [report.cost for report in reports]
    assert found == sorted(set(found), reverse=True)
    assert found[-1] == 1
    assert len(found) > 1
    assert err.count("improved: solved: ") == len(found) - 1


def test_signals_end_the_search_for_better_plans(
    rules: Path, files: tuple[Path, ...], tmp_path: Path
) -> None:
    plan = tmp_path / "plan"
    with process("ipc", "plan", rules, files[0], files[1], plan, "--anytime") as planning:
        wait_for(plan)
        planning.send_signal(signal.SIGTERM)
        out, err = planning.communicate(timeout=120)
    assert (planning.returncode, out) == (0, "")
    assert "Traceback" not in err
    for file in (plan, *numbered_files(plan).values()):
        report = validate_files(files[0], files[1], file)
        assert report.valid
        assert report.complete


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signals_end_planning_without_a_plan(
    number: int, code: int, endless: tuple[Path, ...], tmp_path: Path
) -> None:
    (tmp_path / "plan").write_text("earlier")
    with process("ipc", "plan", *endless, tmp_path / "plan") as planning:
        assert wait_until(lambda: list(tmp_path.glob(".planlog-*.lock")))  # planning has begun
        planning.send_signal(number)
        out, err = planning.communicate(timeout=120)
    assert (planning.returncode, out) == (code, "")
    assert err == "planlog: no plan: interrupted\n"
    assert [file.name for file in tmp_path.glob("*plan*")] == ["plan"]
    assert (tmp_path / "plan").read_text() == "earlier"


@pytest.mark.usefixtures("interruptible")
def test_a_signal_before_the_plan_is_written_loses_no_plan(
    planlog: Run,
    rules: Path,
    files: tuple[Path, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_: Any) -> None:
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr("planlog.cli.commands.ipc.plan.eliminate_redundant_actions", interrupted)
    code, _, err = planlog("plan", rules, *files[:2], tmp_path / "plan")
    assert code == 0, err
    assert validate_files(*files[:2], tmp_path / "plan").valid


def test_planning_ends_though_a_library_ignores_the_interrupt(
    planlog: Run,
    endless: tuple[Path, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    interruptible: None,
) -> None:
    calls = []

    def ignoring(*arguments: Any, **options: Any) -> PlanResult:
        calls.append(options)
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        return execute(*arguments, **options)

    monkeypatch.setattr("planlog.cli.commands.ipc.plan.execute", ignoring)
    code, _, _ = planlog("plan", *endless, tmp_path / "plan", "--time-limit", 30)
    assert code == 143
    assert len(calls) == 1


def test_limits_of_planning(
    planlog: Run, endless: tuple[Path, ...], tmp_path: Path, interruptible: None
) -> None:
    for limit in (0, 1):
        code, _, err = planlog("plan", *endless, tmp_path / "plan", "--time-limit", limit)
        assert code == 23
        assert "time" in err
    code, _, err = planlog("plan", *endless, tmp_path / "plan", "--memory-limit", 1)
    assert code == 22
    assert "memory" in err
    assert not list(tmp_path.glob("*plan*"))


@pytest.mark.slow
def test_out_of_memory_in_the_midst_of_the_search(
    endless: tuple[Path, ...], tmp_path: Path
) -> None:
    with process("ipc", "plan", *endless, tmp_path / "plan", "--memory-limit", 70) as planning:
        _, err = planning.communicate(timeout=300)
    assert planning.returncode == 22, err
    assert "out of memory" in err or "memory limit reached" in err
    assert not (tmp_path / "plan").exists()


def test_a_goal_that_nothing_reaches(
    planlog: Run, rooms: tuple[Path, Path], tmp_path: Path
) -> None:
    domain, task = rooms
    task.write_text(CORRIDOR.replace("(at r9)))", "(treasure r9)))"))
    rules_alone(Policy.applicable(Domain.read(domain))).write(tmp_path / "dk")
    code, _, err = planlog("plan", tmp_path / "dk", domain, task, tmp_path / "plan")
    assert code == 12
    assert "not solved: the policy leads back to states already seen" in err
    assert not (tmp_path / "plan").exists()


def test_a_plan_that_is_not_valid_never_appears(
    planlog: Run,
    rules: Path,
    files: tuple[Path, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def wrong(*arguments: Any, **options: Any) -> PlanResult:
        result = execute(*arguments, **options)
        return replace(result, actions=result.actions[:-1])

    monkeypatch.setattr("planlog.cli.commands.ipc.plan.execute", wrong)
    code, _, err = planlog("plan", rules, files[0], files[1], tmp_path / "plan")
    assert code == 35
    assert "NOT VALID" in err
    assert list(tmp_path.iterdir()) == []


def test_ways_are_tried_by_turns_with_more_and_more_steps() -> None:
    from planlog.cli.commands.ipc.plan import SEEDS, Strategy, _results

    tried: list[tuple[str, int, bool]] = []

    def run(policy: Any, steps: int, search: bool) -> PlanResult:
        tried.append((policy, steps, search))
        outcome = ends.get((policy, search), Outcome.STEP_LIMIT)
        return PlanResult(outcome, (), 0, True, 0, None, 0.0)

    ways: list[Any] = [
        Strategy("a", "learned", by_rules=True),
        Strategy("b", "learned", by_rules=True, search=True),
        Strategy("c", "rules", by_rules=True, draws=SEEDS),
        Strategy("d", "all", by_rules=False, search=True),
    ]

    def names(rounds: int) -> list[str]:
        tried.clear()
        found = []
        for _, name in _results(list(ways), run):
            found.append(name)
            if len({steps for _, steps, _ in tried}) > rounds:
                return found[:-1]
        return found

    ends: dict[tuple[str, bool], Outcome] = {}
    assert "".join(names(2)) == "abcccd" * 2
    ends = {("learned", False): Outcome.CYCLE, ("rules", False): Outcome.NO_ACTION}
    assert "".join(names(2)) == "abcccd" + "bcccd"
    ends |= {("learned", True): Outcome.CYCLE}
    assert "".join(names(3)) == "ab" + "d" * 3
    ends |= {("all", True): Outcome.NO_ACTION}
    assert "".join(names(5)) == "abd"
    for outcome in (Outcome.TIME_LIMIT, Outcome.MEMORY_LIMIT, Outcome.INTERRUPTED):
        ends = {("rules", False): outcome}
        assert "".join(names(5)) == "abc"
