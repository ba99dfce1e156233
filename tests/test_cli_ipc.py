"""`planlog ipc` as the competition meets it: signals at any time, whole files, only valid plans."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog import Domain, Policy, domains
from planlog.cli import main
from planlog.cli.ipc_learn import rules_alone, scores
from planlog.cli.ipc_plan import TEMPERATURES
from planlog.cli.limits import Interrupts
from planlog.cli.numbered import numbered, remove
from planlog.errors import ModelError, NothingToLearnError
from planlog.execution import Outcome, PlanResult, execute
from planlog.model import Model
from planlog.validate import validate_files

# No policy is shipped for it. Whoever takes the first door by name goes to and fro for ever.
ROOMS = """
(define (domain rooms) (:predicates (door ?x ?y) (at ?x) (treasure ?x))
  (:action go :parameters (?x ?y) :precondition (and (at ?x) (door ?x ?y))
    :effect (and (not (at ?x)) (at ?y))))
"""
DOORS = " ".join(f"(door r{i} r{i + 1}) (door r{i + 1} r{i})" for i in range(1, 9))
NAMES = " ".join(f"r{i}" for i in range(1, 10))
CORRIDOR = f"""
(define (problem corridor) (:domain rooms) (:objects {NAMES})
  (:init (at r4) {DOORS}) (:goal (at r9)))
"""
# There is no treasure, but many states to search for it: any number of lamps is lit.
LAMPS = """
(define (domain lamps) (:predicates (lit ?x) (treasure ?x))
  (:action on :parameters (?x) :precondition (not (lit ?x)) :effect (lit ?x))
  (:action off :parameters (?x) :precondition (lit ?x) :effect (not (lit ?x))))
"""
ENDLESS = f"""
(define (problem endless) (:domain lamps) (:objects {" ".join(f"l{i}" for i in range(60))})
  (:init (lit l0)) (:goal (treasure l1)))
"""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def planlog(capfd: pytest.CaptureFixture) -> Run:
    """Runs `planlog ipc` here; exit code, output and messages."""

    def run(*arguments: str | Path | int) -> tuple[int, str, str]:
        capfd.readouterr()
        code = main(["ipc", *map(str, arguments)])
        out, err = capfd.readouterr()
        assert "Traceback" not in err, err
        return code, out, err

    return run


@contextmanager
def process(*arguments: str | Path | int, before: str = "") -> Iterator[subprocess.Popen[str]]:
    """`planlog ipc` as a process of its own, which first does something else."""
    program = f"import sys, planlog.cli\n{before}\nsys.exit(planlog.cli.main())"
    started = subprocess.Popen(
        [sys.executable, "-c", program, "ipc", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


def wait_for(file: Path, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not file.exists():
        assert time.monotonic() < deadline, file
        time.sleep(0.01)


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tasks")
    arguments = ["--cars", "3", "--locations", "3", "--count", "3", "--out", str(folder)]
    assert main(["generate", "ferry", *arguments]) == 0
    return folder


@pytest.fixture(scope="module")
def files(tasks: Path) -> tuple[Path, ...]:
    """Domain and tasks to learn from."""
    return (tasks / "domain.pddl", *sorted(tasks.glob("p*.pddl")))


@pytest.fixture(scope="module")
def learned(files: tuple[Path, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The knowledge of two trainings; what was printed is in `printed` beside it."""
    dk = tmp_path_factory.mktemp("learned") / "dk"
    with process("learn", dk, *files, "--trainings", 2, "--seed", 5) as learning:
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

    monkeypatch.setattr("planlog.learn.learn", learn)


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


def assert_whole(dk: Path) -> dict[int, Path]:
    """All files of knowledge can be read and are numbered from 1 on."""
    found = numbered(dk)
    assert sorted(found) == list(range(1, len(found) + 1))
    for file in found.values():
        Model.read(file)
    return found


# --- Learning ----------------------------------------------------------------------------


def test_knowledge_gets_better_and_ends_as_dk(learned: Path, files: tuple[Path, ...]) -> None:
    found = assert_whole(learned)
    assert len(found) >= 2
    assert learned.read_bytes() == found[len(found)].read_bytes()
    assert {file.name for file in learned.parent.iterdir()} == {
        "dk",
        "printed",
        *(f"dk.{i}" for i in range(1, len(found) + 1)),
    }
    domain = Domain.read(files[0])
    costs = [
        [
            execute(
                Model.read(file).policy(domain),
                domain.read_task(task),
                rng=None,
                avoid_revisits=True,
            ).cost
            for task in files[1:]
        ]
        for file in found.values()
    ]
    for old, new in pairwise(costs):
        ours, theirs = scores(new, old)
        assert ours >= theirs
    first, last = Model.read(found[1]), Model.read(learned)
    assert first.training == {"note": "the rules alone"}
    assert not any(weight.any() for weight in first.weights.values())
    assert last.training["epochs"] in (50, 200)
    assert first.rules == last.rules
    assert last.rules is not None


def test_what_it_says(learned: Path) -> None:
    lines = (learned.parent / "printed").read_text().splitlines()
    assert lines[0].startswith("dk.1: the rules alone; plans for 3 of 3 tasks, cost ")
    assert "trained briefly, score " in lines[1]
    assert "trained with 1 layer, seed 5, score " in lines[2]
    assert "trained with 2 layers, seed 5, score " in lines[3]
    last = max(numbered(learned))
    assert lines[4:] == [f"{learned}: the same as dk.{last}"]
    assert sum(line.startswith("dk.") for line in lines) == last


def test_an_earlier_run_leaves_nothing(
    planlog: Run, files: tuple[Path, ...], tmp_path: Path, no_training: None
) -> None:
    for name in ("dk", "dk.1", "dk.7", "dk.12", "dk.07", "dk.x", "dk.3.old", "other.1"):
        (tmp_path / name).write_text("earlier")
    # What is left stays until the new knowledge can take its place.
    assert planlog("learn", tmp_path / "dk", files[0], tmp_path / "missing.pddl")[0] == 31
    assert (tmp_path / "dk.12").read_text() == "earlier"
    assert planlog("learn", tmp_path / "dk", *files, "--trainings", 1)[0] == 0
    assert_whole(tmp_path / "dk")
    kept = {file.name for file in tmp_path.iterdir() if file.read_bytes() == b"earlier"}
    assert kept == {"dk.07", "dk.x", "dk.3.old", "other.1"}


def test_nothing_to_learn(planlog: Run, files: tuple[Path, ...], tmp_path: Path) -> None:
    rules = tmp_path / "rules.dl"
    rules.write_text("sail(A, B) :- at-ferry(A), at-ferry@ag(B).  % derives nothing")
    code, out, err = planlog("learn", tmp_path / "dk", *files, "--policy", rules)
    assert code == 0
    assert "there is nothing to learn" in err
    assert "the same as dk.1" in out
    assert Model.read(tmp_path / "dk").rules == rules.read_text()
    assert sorted(assert_whole(tmp_path / "dk")) == [1]
    # What the rules cannot do is still done.
    code, _, err = planlog("plan", tmp_path / "dk", files[0], files[1], tmp_path / "plan")
    assert code == 0
    assert "search without rules: solved" in err
    assert validate_files(files[0], files[1], tmp_path / "plan").valid


def test_a_domain_without_a_policy(planlog: Run, rooms: tuple[Path, Path], tmp_path: Path) -> None:
    domain, task = rooms
    code, out, err = planlog("learn", tmp_path / "dk", domain, task, "--trainings", 1)
    assert code == 0
    assert "no policy is shipped for the domain 'rooms', so any applicable action" in err
    assert Model.read(tmp_path / "dk").rules is None
    assert "dk.2: trained briefly" in out
    code, _, err = planlog("plan", tmp_path / "dk", domain, task, tmp_path / "plan")
    assert code == 0
    assert "solved: 5 actions" in err
    # Without what was learned, it takes a search.
    code, _, err = planlog("plan", tmp_path / "dk.1", domain, task, tmp_path / "plan")
    assert code == 0
    assert "search by scores: solved: " in err
    assert validate_files(domain, task, tmp_path / "plan").valid


def test_a_policy_that_does_not_fit_the_domain_of_its_name(
    planlog: Run, rooms: tuple[Path, Path], tmp_path: Path, no_training: None
) -> None:
    for file in rooms:
        file.write_text(
            re.sub(
                r"\(domain rooms\)|:domain rooms",
                lambda m: m[0].replace("rooms", "ferry"),
                file.read_text(),
            )
        )
    code, _, err = planlog("learn", tmp_path / "dk", *rooms, "--trainings", 1)
    assert code == 0
    assert "the policy shipped for 'ferry' does not fit this domain, so any applicable" in err
    assert planlog("plan", tmp_path / "dk", *rooms, tmp_path / "plan")[0] == 0


costs = st.lists(st.one_of(st.none(), st.integers(1, 50).map(float)), max_size=6)


@given(costs, costs)
def test_scores_of_two_planners(new: list[float | None], old: list[float | None]) -> None:
    both = min(len(new), len(old))
    ours, theirs = scores(new, old)
    assert (theirs, ours) == scores(old, new)
    assert scores(new, new)[0] == scores(new, new)[1] == sum(cost is not None for cost in new)
    assert 0 <= ours <= both
    assert scores(new[:both], old[:both]) == (ours, theirs)
    if all(b is None or (a is not None and a <= b) for a, b in zip(new, old, strict=False)):
        assert ours >= theirs
        assert ours == sum(cost is not None for cost in new[:both])
    # A plan more, or a cheaper one, is better.
    for i, cost in enumerate(new):
        if cost is None and i < both:
            more = [*new[:i], 1.0, *new[i + 1 :]]
            assert scores(more, old)[0] > ours


def test_models_are_judged_by_the_tasks_that_time_allows(
    planlog: Run, files: tuple[Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from planlog.learn import Learned

    solved, out_of_time = Outcome.SOLVED, Outcome.TIME_LIMIT
    ends = [solved, out_of_time, solved, solved, Outcome.STEP_LIMIT, solved, out_of_time]

    def executed(*_: Any, time_limit: float, **__: Any) -> PlanResult:
        assert 0 < time_limit <= 60
        return PlanResult(ends.pop(0), (), 7.0, True, 7, 0, 0.0)

    monkeypatch.setattr("planlog.execution.execute", executed)
    monkeypatch.setattr(
        "planlog.learn.learn", lambda rules, *_, **__: Learned(rules_alone(rules), False, {})
    )
    code, out, _ = planlog("learn", tmp_path / "dk", *files, "--trainings", 1)
    assert (code, ends) == (0, [])
    lines = out.splitlines()
    assert "dk.1: the rules alone; plans for 1 of 1 task, cost 7, " in lines[0]
    assert "dk.2: trained briefly, score 1.00 to 1.00; plans for 2 of 3 tasks, cost 14" in lines[1]
    assert "not better: trained with 1 layer, seed 0, score 1.00 to 1.00; plans" in lines[2]


def test_half_the_cost_is_twice_as_good() -> None:
    assert scores([0.0, 0.0], [0.0, 3.0]) == (2.0, 1.0)
    assert scores([10.0, 4.0, None], [5.0, 8.0, 3.0]) == (1.5, 2.5)


# --- The end of learning, by signals and limits ------------------------------------------


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signals_end_learning_in_good_order(
    number: int, code: int, files: tuple[Path, ...], tmp_path: Path, planlog: Run
) -> None:
    dk = tmp_path / "dk"
    with process("learn", dk, *files, "--trainings", 10**6) as learning:
        wait_for(tmp_path / "dk.2")
        assert not dk.exists()
        learning.send_signal(number)
        learning.send_signal(number)  # as a driver does that signals the group and the process
        out, err = learning.communicate(timeout=120)
    assert (learning.returncode, err) == (code, "")
    found = assert_whole(dk)
    assert dk.read_bytes() == found[len(found)].read_bytes()
    assert f"the same as dk.{len(found)}" in out
    assert {file.name for file in tmp_path.iterdir()} == {"dk", *(f.name for f in found.values())}
    assert planlog("plan", dk, files[0], files[1], tmp_path / "plan")[0] == 0


def interrupt_at(epoch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the first training that gets so far."""
    from planlog.cli.progress import TrainingProgress

    def on_epoch(self: Any, done: Any) -> None:
        if done.epoch == epoch:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(TrainingProgress, "on_epoch", on_epoch)


def test_the_best_of_an_interrupted_training_is_kept(
    planlog: Run,
    files: tuple[Path, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    interruptible: None,
) -> None:
    interrupt_at(30, monkeypatch)
    code, out, _ = planlog("learn", tmp_path / "dk", *files)
    assert code == 143
    assert "dk.2: trained briefly, interrupted, score " in out
    model = Model.read(tmp_path / "dk")
    assert model.training["interrupted"] is True
    assert model.training["epochs"] == 30
    assert sorted(assert_whole(tmp_path / "dk")) == [1, 2]


def test_an_interrupt_when_there_is_nothing_but_the_rules(
    planlog: Run, files: tuple[Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def learn(*_: Any, **__: Any) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("planlog.learn.learn", learn)
    code, out, err = planlog("learn", tmp_path / "dk", *files)
    assert (code, err) == (130, "")
    assert out.splitlines()[-1] == f"{tmp_path / 'dk'}: the same as dk.1"
    assert planlog("plan", tmp_path / "dk", files[0], files[1], tmp_path / "plan")[0] == 0


# Learning that does nothing but write knowledge, faster than any real one.
HASTE = """
import planlog.learn, planlog.cli.ipc_learn as ipc
from planlog.learn import Learned
from planlog.model import Model
ipc.Knowledge._judge = lambda self, *_: [1 / (self._number + 1)]
planlog.learn.learn = lambda rules, *_, **__: Learned(ipc.rules_alone(rules), False, {})
"""


@pytest.mark.parametrize("number", [1, 30])
def test_a_kill_leaves_whole_files(
    number: int, files: tuple[Path, ...], tmp_path: Path, planlog: Run
) -> None:
    dk = tmp_path / "dk"
    with process("learn", dk, *files, "--trainings", 10**6, before=HASTE) as learning:
        wait_for(tmp_path / f"dk.{number}")
        learning.kill()
        learning.wait()
    assert len(assert_whole(dk)) >= number
    assert not dk.exists()
    assert planlog("plan", dk, files[0], files[1], tmp_path / "plan")[0] == 0


def test_the_time_limit_of_learning(
    planlog: Run, files: tuple[Path, ...], tmp_path: Path, interruptible: None
) -> None:
    dk = tmp_path / "dk"
    code, _, err = planlog("learn", dk, *files, "--time-limit", 0)
    assert code == 23
    assert "nothing is written" in err
    assert list(tmp_path.iterdir()) == []
    start = time.monotonic()
    code, _, err = planlog("learn", dk, *files, "--time-limit", 2, "--trainings", 10**6)
    assert (code, err) == (23, "")
    assert time.monotonic() - start < 30
    found = assert_whole(dk)
    assert dk.read_bytes() == found[len(found)].read_bytes()


def test_the_memory_limit_of_learning(
    planlog: Run, files: tuple[Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dk = tmp_path / "dk"
    code, out, err = planlog("learn", dk, *files, "--memory-limit", 1)
    assert (code, out) == (22, "")
    assert "out of memory" in err
    assert list(tmp_path.iterdir()) == []
    for message in ("[enforce fail] can't allocate memory", "can't start new thread"):

        def learn(*_: Any, message: str = message, **__: Any) -> None:
            raise RuntimeError(message)

        monkeypatch.setattr("planlog.learn.learn", learn)
        code, out, _ = planlog("learn", dk, *files)
        assert code == 22
        assert "the same as dk.1" in out
        assert dk.read_bytes() == (tmp_path / "dk.1").read_bytes()


# --- Planning ----------------------------------------------------------------------------


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
        *(file for _, file in sorted(numbered(tmp_path / "plan").items())),
    ]
    assert sorted(numbered(tmp_path / "plan")) == list(range(1, len(written)))
    reports = [validate_files(domain, task, file) for file in written]
    assert all(report.valid and report.complete for report in reports)
    found = [report.cost for report in reports]
    assert found == sorted(set(found), reverse=True)
    assert found[-1] == 1
    assert len(found) > 1
    assert any(f"temperature {t}: solved" in err for t in TEMPERATURES)


def test_signals_end_the_search_for_better_plans(
    rules: Path, files: tuple[Path, ...], tmp_path: Path
) -> None:
    plan = tmp_path / "plan"
    with process("plan", rules, files[0], files[1], plan, "--anytime") as planning:
        wait_for(plan)
        planning.send_signal(signal.SIGTERM)
        out, err = planning.communicate(timeout=120)
    assert (planning.returncode, out) == (0, "")
    assert "Traceback" not in err
    for file in (plan, *numbered(plan).values()):
        report = validate_files(files[0], files[1], file)
        assert report.valid
        assert report.complete


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signals_end_planning_without_a_plan(
    number: int, code: int, endless: tuple[Path, ...], tmp_path: Path
) -> None:
    (tmp_path / "plan").write_text("earlier")
    with process("plan", *endless, tmp_path / "plan") as planning:
        deadline = time.monotonic() + 60
        while (tmp_path / "plan").exists() and time.monotonic() < deadline:
            time.sleep(0.01)  # it goes when planning begins
        planning.send_signal(number)
        out, err = planning.communicate(timeout=120)
    assert (planning.returncode, out) == (code, "")
    assert err == "planlog: no plan: interrupted\n"
    assert not list(tmp_path.glob("*plan*"))


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

    monkeypatch.setattr("planlog.execution.execute", ignoring)
    code, _, _ = planlog("plan", *endless, tmp_path / "plan", "--time-limit", 30)
    assert code == 143
    assert len(calls) == 1


def test_limits_of_planning(
    planlog: Run, endless: tuple[Path, ...], tmp_path: Path, interruptible: None
) -> None:
    for limit in (0, 1):
        start = time.monotonic()
        code, _, err = planlog("plan", *endless, tmp_path / "plan", "--time-limit", limit)
        assert code == 23
        assert "time" in err
        assert time.monotonic() - start < 20
    code, _, err = planlog("plan", *endless, tmp_path / "plan", "--memory-limit", 1)
    assert code == 22
    assert "memory" in err
    assert not list(tmp_path.glob("*plan*"))


def test_out_of_memory_in_the_midst_of_the_search(
    endless: tuple[Path, ...], tmp_path: Path
) -> None:
    with process("plan", *endless, tmp_path / "plan", "--memory-limit", 70) as planning:
        _, err = planning.communicate(timeout=300)
    assert planning.returncode == 22, err
    assert "memory limit reached" in err
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

    monkeypatch.setattr("planlog.execution.execute", wrong)
    code, _, err = planlog("plan", rules, files[0], files[1], tmp_path / "plan")
    assert code == 35
    assert "NOT VALID" in err
    assert list(tmp_path.iterdir()) == []


def test_ways_are_tried_by_turns_with_more_and_more_steps() -> None:
    from planlog.cli.ipc_plan import SEEDS, Way, _results

    tried: list[tuple[str, int, bool]] = []

    def run(policy: Any, steps: int, search: bool) -> PlanResult:
        tried.append((policy, steps, search))
        outcome = ends.get((policy, search), Outcome.STEP_LIMIT)
        return PlanResult(outcome, (), 0, True, 0, None, 0.0)

    ways: list[Any] = [
        Way("a", "learned", by_rules=True),
        Way("b", "learned", by_rules=True, search=True),
        Way("c", "rules", by_rules=True, draws=SEEDS),
        Way("d", "all", by_rules=False, search=True),
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


# --- Mistakes ----------------------------------------------------------------------------


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
        ("plan {here}/bytes {domain} {task} {here}/plan", 31, "is no model file"),
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


# --- The parts ---------------------------------------------------------------------------


def test_only_the_first_interrupt_interrupts(interruptible: None) -> None:
    done: list[str] = []
    with Interrupts(None) as interrupts:
        with interrupts.end():
            try:
                with interrupts.wait():
                    signal.raise_signal(signal.SIGTERM)
                    done.append("what was begun")
                done.append("too much")
            finally:
                signal.raise_signal(signal.SIGINT)
                done.append("the ending")
        signal.raise_signal(signal.SIGTERM)
        done.append("what follows")
    assert done == ["what was begun", "the ending", "what follows"]
    assert interrupts.received == [signal.SIGTERM, signal.SIGINT, signal.SIGTERM]
    assert interrupts.code == 143


def test_an_interrupt_that_was_ignored_comes_again(interruptible: None) -> None:
    with Interrupts(None) as interrupts, interrupts.end():
        with suppress(BaseException):
            signal.raise_signal(signal.SIGTERM)
        interrupts.check()
        raise AssertionError
    assert interrupts.received == [signal.SIGTERM]


def test_the_end_of_the_time_interrupts(interruptible: None) -> None:
    before = signal.getsignal(signal.SIGALRM)
    with Interrupts(0.02) as interrupts, interrupts.end():
        time.sleep(30)
        raise AssertionError
    assert interrupts.out_of_time
    assert interrupts.code == 23
    assert signal.getsignal(signal.SIGALRM) is before


def test_signals_that_are_ignored_stay_so() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interrupts(None) as interrupts, interrupts.end():
            signal.raise_signal(signal.SIGINT)
        assert interrupts.received == []
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@given(st.sets(st.integers(1, 2000), max_size=8))
def test_numbered_files(values: set[int]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for other in ("a+b", "a+b.0", "a+b.01", "a+b.x", "aab.1", "a+b.1.2", ".a+b.3.99"):
            (folder / other).touch()
        (folder / "a+b.77777").mkdir()
        for value in values:
            (folder / f"a+b.{value}").touch()
        assert set(numbered(folder / "a+b")) == values
        remove(folder / "a+b")
        assert numbered(folder / "a+b") == {}
        assert not (folder / "a+b").exists()
        assert len(list(folder.iterdir())) == 7
