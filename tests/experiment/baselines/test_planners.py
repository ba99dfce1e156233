"""External planners: their plans are valid, their bounds agree, their limits hold."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog import Domain, domains
from planlog.cli import main
from planlog.errors import UnknownNameError
from planlog.experiment.baselines import downward
from planlog.experiment.baselines.installed import (
    DRIVER,
    PLANNERS,
    SCORPION,
    MissingPlannerError,
    available,
    planner,
)
from planlog.experiment.baselines.solution import Solution
from planlog.experiment.process_limits import Limits
from planlog.experiment.records import Status
from planlog.pddl.task import Action
from planlog.statespace.space import expand
from planlog.validation import validate
from support.marked_processes import MARK, alive

MIB = 1024 * 1024
ENOUGH = Limits(seconds=60, memory=2048 * MIB)
TINY = [
    ("ferry", {"cars": 2, "locations": 3}),
    pytest.param("blocksworld", {"blocks": 4}, marks=pytest.mark.slow),
]


def written(folder: Path, domain: str, task: str) -> tuple[Path, Path]:
    files = folder / "domain.pddl", folder / "task.pddl"
    for file, text in zip(files, (domain, task), strict=True):
        file.write_text(text)
    return files


def generated(folder: Path, name: str, **sizes: int) -> tuple[Path, Path]:
    """Return the files of a generated task whose goal does not hold initially."""
    domain = (domains.path(name) / "domain.pddl").read_text()
    for seed in range(20):
        [(_, task)] = domains.generate(name, seed=seed, count=1, sizes=sizes)
        if not validate(domain, task, "").valid:
            return written(folder, domain, task)
    raise AssertionError("the goals of all tasks hold initially")


@pytest.fixture
def scorpion(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a stand-in for Scorpion."""
    folder = tmp_path_factory.mktemp("scorpion")
    shutil.copy(Path(__file__).parents[2] / "support" / "scorpion_standin.py", folder / DRIVER)
    return folder


def check_plans(solution: Solution, files: tuple[Path, Path]) -> None:
    domain, task = (file.read_text() for file in files)
    lengths = [len(found.actions) for found in solution.plans]
    assert lengths == sorted(set(lengths), reverse=True)
    times = [found.seconds for found in solution.plans]
    assert times == sorted(times)
    assert all(0 <= seconds <= solution.seconds for seconds in times)
    for found in solution.plans:
        report = validate(domain, task, "\n".join(map(str, found.actions)))
        assert report.valid, report.reason


@pytest.mark.parametrize("name, sizes", TINY)
def test_all_planners_on_tiny_tasks(
    tmp_path: Path, scorpion: Path, name: str, sizes: dict[str, int]
) -> None:
    files = generated(tmp_path, name, **sizes)
    optimum = int(expand(Domain.read(files[0]).read_task(files[1])).goal_distances[0])
    for chosen in PLANNERS:
        solution = planner(chosen, scorpion=scorpion).solve(*files, ENOUGH)
        assert solution.status is Status.SOLVED, (chosen, solution.message)
        assert solution.message == ""
        check_plans(solution, files)
        assert solution.cpu_seconds > 0.01
        assert 8 * MIB < solution.memory < ENOUGH.memory
        assert "Fast Downward" in solution.version
        found = len(solution.plans[-1].actions)
        assert found >= optimum
        if chosen == "lama-first":
            assert len(solution.plans) == 1
        else:
            # LAMA exhausts the search space of a tiny task.
            assert (solution.optimal, solution.lower_bound, found) == (True, optimum, optimum)
        if solution.lower_bound is not None:
            assert solution.lower_bound <= optimum


SWITCHES = """
(define (domain switches)
  (:requirements :strips {requirements})
  (:predicates (off ?s) (lit ?s) (broken ?s)) {functions}
  (:action press :parameters (?s) :precondition (and (off ?s) (not (broken ?s)))
    :effect (and (lit ?s) (not (off ?s)) {press}))
  (:action shake :parameters (?s) :precondition (broken ?s)
    :effect (and (not (broken ?s)) {shake}))
  (:action mend :parameters (?s) :precondition (off ?s)
    :effect (and (lit ?s) (not (off ?s)) {mend})))
"""
TWO = """
(define (problem two) (:domain switches)
  (:objects a b) (:init (off a) (off b) (broken a) {init}) (:goal (and (lit a) (lit b))) {metric})
"""
CHEAP = {
    "requirements": ":negative-preconditions :action-costs",
    "functions": "(:functions (total-cost))",
    "press": "(increase (total-cost) 1)",
    "shake": "(increase (total-cost) 1)",
    "mend": "(increase (total-cost) 7)",
}
FREE = {
    "requirements": ":negative-preconditions",
    **dict.fromkeys(["functions", "press", "shake", "mend"], ""),
}


@pytest.mark.parametrize("chosen", ["lmcut", pytest.param("symk", marks=pytest.mark.slow)])
def test_bounds_with_action_costs(tmp_path: Path, chosen: str) -> None:
    """A bound on the cost is no bound on the number of actions."""
    task = TWO.format(init="(= (total-cost) 0)", metric="(:metric minimize (total-cost))")
    solution = planner(chosen).solve(*written(tmp_path, SWITCHES.format(**CHEAP), task), ENOUGH)
    assert solution.optimal
    assert sorted(map(str, solution.plans[-1].actions)) == ["(press a)", "(press b)", "(shake a)"]
    assert solution.lower_bound is None
    task = TWO.format(init="", metric="; (:metric minimize (total-cost))\n")
    solution = planner(chosen).solve(*written(tmp_path, SWITCHES.format(**FREE), task), ENOUGH)
    assert (solution.lower_bound, len(solution.plans[-1].actions)) == (2, 2)


@pytest.mark.parametrize("chosen", PLANNERS)
def test_tasks_without_a_plan(tmp_path: Path, scorpion: Path, chosen: str) -> None:
    task = "(define (problem p) (:domain switches) (:objects a) (:init) (:goal (lit a)))"
    files = written(tmp_path, SWITCHES.format(**FREE), task)
    solution = planner(chosen, scorpion=scorpion).solve(*files, ENOUGH)
    assert (solution.status, solution.plans) == (Status.UNSOLVABLE, ())
    assert not solution.optimal


def test_failures(tmp_path: Path, scorpion: Path) -> None:
    files = written(tmp_path, "(define (domain", "(define")
    for chosen in ("lmcut", "scorpion"):
        solution = planner(chosen, scorpion=scorpion).solve(*files, ENOUGH)
        assert solution.status is Status.FAILED
        assert "exit code 3" in solution.message or "exit code 1" in solution.message
        assert len(solution.message.splitlines()) > 2


# Limits


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A task that no planner solves optimally in seconds."""
    return generated(tmp_path_factory.mktemp("large"), "blocksworld", blocks=18)


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    """The mark of all processes of a test."""
    monkeypatch.setenv(MARK, mark := uuid.uuid4().hex)
    return mark


@pytest.mark.slow
def test_time_limit(large: tuple[Path, Path], mark: str) -> None:
    solution = planner("lmcut").solve(*large, Limits(seconds=4))
    assert (solution.status, solution.plans, solution.optimal) == (Status.TIME, (), False)
    assert solution.seconds >= 4
    # There is a bound, unless the machine was too busy.
    if solution.cpu_seconds > 1:
        assert solution.lower_bound is not None and 10 < solution.lower_bound < 100
    assert alive(mark) == []


@pytest.mark.slow
def test_anytime_planner_at_time_limit(tmp_path: Path, mark: str) -> None:
    files = generated(tmp_path, "blocksworld", blocks=10)
    solution = planner("lama").solve(*files, Limits(seconds=4))
    assert solution.status is Status.SOLVED
    assert solution.seconds >= 4
    assert len(solution.plans) > 1
    assert solution.plans[0].seconds < solution.plans[-1].seconds
    assert not solution.optimal
    check_plans(solution, files)
    assert alive(mark) == []


@pytest.mark.parametrize("chosen, mib", [("lama-first", 12), ("symk", 200)])
def test_memory_limit(large: tuple[Path, Path], mark: str, chosen: str, mib: int) -> None:
    """In the translator and in the search."""
    solution = planner(chosen).solve(*large, Limits(seconds=60, memory=mib * MIB))
    assert (solution.status, solution.plans) == (Status.MEMORY, ())
    assert mib * MIB < solution.memory < 4 * mib * MIB
    assert alive(mark) == []


# Scripted drivers

SCRIPT = """
import os, sys, time
if "--version" in sys.argv:
    print("Fast Downward 0.0")
    sys.exit()
plan = sys.argv[sys.argv.index("--plan-file") + 1]
print("[t=0.1s, 1000 KB] f = 2, 3 evaluated", flush=True)
"""
COMPLETE = "(press a)\\n(press b)\\n; cost = 2 (unit cost)\\n"
LONGER = "(shake a)\\n(press a)\\n(press b)\\n; cost = 3 (unit cost)\\n"


def acting(folder: Path, script: str, limits: Limits = ENOUGH) -> Solution:
    """Return the solution of a driver that runs this script."""
    driver = folder / DRIVER
    driver.write_text(SCRIPT + script)
    files = written(folder, SWITCHES.format(**FREE), TWO.format(init="", metric=""))
    return planner("scorpion", scorpion=driver).solve(*files, limits)


@pytest.mark.parametrize(
    "code, status",
    [
        *((code, Status.UNSOLVABLE) for code in (10, 11)),
        (12, Status.NO_PLAN),
        *((code, Status.MEMORY) for code in (20, 22, 24)),
        *((code, Status.TIME) for code in (21, 23)),
        *((code, Status.FAILED) for code in (0, 2, 30, 32, 250)),
    ],
)
def test_exit_codes(tmp_path: Path, code: int, status: Status) -> None:
    solution = acting(tmp_path, f"sys.exit({code})")
    assert (solution.status, solution.plans, solution.optimal) == (status, (), False)
    assert solution.lower_bound == 2
    assert (f"exit code {code}" in solution.message) == (status is Status.FAILED)
    assert ("f = 2" in solution.message) == (status is Status.FAILED)


@pytest.mark.parametrize("code, optimal", [(0, True), (1, False), (2, False), (35, False)])
def test_plans_before_the_end(tmp_path: Path, code: int, optimal: bool) -> None:
    """Plans count with any exit code, but are not optimal after a failure."""
    solution = acting(tmp_path, f"open(plan, 'w').write('{LONGER}'); sys.exit({code})")
    assert (solution.status, solution.optimal) == (Status.SOLVED, optimal)
    assert solution.lower_bound == (3 if optimal else 2)
    solution = acting(tmp_path, f"open(plan, 'w').write('{COMPLETE}'); sys.exit({code})")
    assert solution.optimal  # equals the bound


def test_incomplete_plans_at_the_time_limit(tmp_path: Path) -> None:
    script = f"""
open(plan + ".1", "w").write("{LONGER}")
time.sleep(0.3)
file = open(plan + ".2", "w")
file.write("{COMPLETE}"[:-1])
file.flush()
time.sleep(60)
"""
    solution = acting(tmp_path, script, Limits(seconds=1.5))
    assert solution.status is Status.SOLVED
    [found] = solution.plans
    assert [str(action) for action in found.actions] == ["(shake a)", "(press a)", "(press b)"]
    assert found.seconds < solution.seconds
    assert not solution.optimal
    assert solution.lower_bound == 2


steps = st.lists(st.sampled_from([Action("Sail", ("a", "B")), Action("go", ())]), max_size=5)


@given(steps, st.integers(0, 120), st.sampled_from(["unit", "general"]))
def test_incomplete_plan_files(actions: list[Action], cost: int, kind: str) -> None:
    text = "".join(f"{action}\n" for action in actions) + f"; cost = {cost} ({kind} cost)\n"
    lower = tuple(Action(a.name.lower(), tuple(map(str.lower, a.arguments))) for a in actions)
    assert downward.complete_plan(text) == lower
    for end in range(len(text)):
        assert downward.complete_plan(text[:end]) is None
    assert downward.complete_plan("nonsense\n" + text) is None


@pytest.mark.parametrize("chosen", ["lama", "lmcut", "symk"])
def test_bounds_in_truncated_logs(
    tmp_path: Path, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = generated(tmp_path, "satellite", satellites=1, instruments=2, modes=2, directions=3)
    logs: list[bytes] = []
    original = downward.lower_bound
    monkeypatch.setattr(downward, "lower_bound", lambda log: logs.append(log) or original(log))
    solution = planner(chosen).solve(*files, ENOUGH)
    optimum = int(expand(Domain.read(files[0]).read_task(files[1])).goal_distances[0])
    assert len(solution.plans[-1].actions) == solution.lower_bound == optimum
    [log] = logs
    bounds = [original(log[:cut]) or 0 for cut in [*range(0, len(log), 9), len(log)]]
    assert bounds == sorted(bounds)
    assert 0 == bounds[0] < bounds[-1] == optimum


# Installation


def test_scorpion_is_found(scorpion: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SCORPION, raising=False)
    with pytest.raises(MissingPlannerError, match=SCORPION):
        planner("scorpion")
    for place in (scorpion, scorpion / DRIVER):
        assert planner("scorpion", scorpion=place).kind.optimal
    monkeypatch.setenv(SCORPION, str(scorpion))
    assert planner("scorpion").kind.optimal
    monkeypatch.setenv("HOME", str(scorpion.parent))
    assert planner("scorpion", scorpion=Path("~") / scorpion.name).kind.optimal
    with pytest.raises(MissingPlannerError, match="nowhere"):
        planner("scorpion", scorpion=scorpion / "nowhere")
    with pytest.raises(MissingPlannerError, match="executable"):
        (scorpion / "container").write_text("#!/bin/sh\necho Fast Downward 7\n")
        planner("scorpion", scorpion=scorpion / "container")
    (scorpion / "container").chmod(0o755)
    container = planner("scorpion", scorpion=scorpion / "container")
    assert container.version == "Scorpion, Fast Downward 7"


def test_drivers_that_were_not_built(tmp_path: Path) -> None:
    unbuilt = "Fast Downward 1\\ngit revision [release]: Build not found. Please run './build.py'."
    (tmp_path / "unbuilt.py").write_text(f'print("{unbuilt}")')
    with pytest.raises(MissingPlannerError, match=r"Please run './build\.py'"):
        _ = planner("scorpion", scorpion=tmp_path / "unbuilt.py").version
    (tmp_path / "broken.py").write_text("1 / 0")
    with pytest.raises(MissingPlannerError, match="ZeroDivisionError"):
        _ = planner("scorpion", scorpion=tmp_path / "broken.py").version


def test_missing_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match="lama-first, lama, lmcut"):
        planner("lamma")
    monkeypatch.delenv(SCORPION, raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    for name in ("lama", "symk"):
        with pytest.raises(MissingPlannerError, match=r"pip install 'planlog\[baselines\]'"):
            planner(name)
    assert all(text.startswith("missing: ") for text in available().values())


def test_packages_are_not_imported() -> None:
    program = (
        "import sys; from planlog.experiment.baselines.installed import planner; planner('symk'); "
        "planner('lama'); print([m for m in sys.modules if m.startswith(('up_', 'unified'))])"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.stdout.strip() == "[]", ended.stderr


def test_versions(
    scorpion: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture
) -> None:
    """In `planlog doctor` and in solutions."""
    monkeypatch.setenv(SCORPION, str(scorpion))
    assert main(["doctor"]) == 0
    text = capfd.readouterr().out
    assert "lmcut: up-fast-downward" in text
    version = planner("scorpion").version
    assert version == "Scorpion, Fast Downward 23.06+ (0123abcde)"
    assert f"scorpion: {version}" in text
    files = generated(tmp_path, "blocksworld", blocks=2)
    assert planner("scorpion").solve(*files, ENOUGH).version == version
