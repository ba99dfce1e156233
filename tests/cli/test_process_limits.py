"""Limits and signals in real processes: they hold in every phase, start-up included."""

from __future__ import annotations

import itertools
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from planlog._core import resident_memory
from planlog.cli import main
from support.processes import Ended, run_to_end

DOMAIN = """
(define (domain wide) (:predicates (p ?x) (q ?x ?y) (done))
  (:action go :parameters (?a ?b ?c) :precondition (and (p ?a) (p ?b) (p ?c)) :effect (q ?a ?b))
  (:action stop :parameters (?a) :precondition (p ?a) :effect (done)))
"""
# Seconds that a process may take after a limit or a signal. It takes 0.4 at most, but other
# processes of a test machine want to run as well.
SLACK = 2.0

Case = Callable[[Path], list[str]]


def _problem(folder: Path, objects: int) -> list[str]:
    names = [f"o{i}" for i in range(objects)]
    atoms = " ".join(f"(p {name})" for name in names)
    (folder / "domain.pddl").write_text(DOMAIN)
    (folder / "p.pddl").write_text(
        f"(define (problem x) (:domain wide) (:objects {' '.join(names)})"
        f" (:init {atoms}) (:goal (done)))"
    )
    return [str(folder / "domain.pddl"), str(folder / "p.pddl")]


def _rules(folder: Path, text: str) -> list[str]:
    (folder / "rules.dl").write_text(text)
    return ["--policy", str(folder / "rules.dl")]


def many_objects(folder: Path) -> list[str]:
    """Reading: no interruption points."""
    return ["solve", *_problem(folder, 1_000_000), "--policy", "none"]


def long_rule(folder: Path) -> list[str]:
    """Compiling a rule, in Python."""
    body = ", ".join(f"p(X{i})" for i in range(100_000))
    return ["solve", *_problem(folder, 30), *_rules(folder, f"stop(X0) :- {body}.\n")]


def long_join(folder: Path) -> list[str]:
    """A join without answers."""
    body = ", ".join(f"r(X{i}, X{i + 1})" for i in range(1, 40))
    rules = f"r(X, Y) :- p(X), p(Y).\nstop(X1) :- {body}, not r(X40, X1).\n"
    return ["solve", *_problem(folder, 30), *_rules(folder, rules)]


def many_actions(folder: Path) -> list[str]:
    """Very large answers: 216 million applicable actions."""
    return ["solve", *_problem(folder, 600), "--policy", "none"]


def many_atoms(folder: Path) -> list[str]:
    """Very large derived relations."""
    rules = "big(X, Y, Z) :- p(X), p(Y), p(Z).\nstop(X) :- big(X, X, X).\n"
    return ["solve", *_problem(folder, 600), *_rules(folder, rules)]


def checking(folder: Path) -> list[str]:
    """State spaces, on threads."""
    return ["check", *_problem(folder, 100), "--policy", "none", "--limit", "1000000"]


def endless_validation(folder: Path) -> list[str]:
    """Pure Python, without a result."""
    return ["validate", *_problem(folder, 300_000), "/dev/null"]


PHASES = [many_objects, long_rule, long_join, many_actions, many_atoms, checking]
QUICK = [long_join, many_atoms]


def _is_slow(phase: Case) -> object:
    return phase if phase in QUICK else pytest.param(phase, marks=pytest.mark.slow)


@pytest.mark.parametrize("phase", [_is_slow(case) for case in PHASES])
def test_the_time_limit_holds(phase: Case, tmp_path: Path) -> None:
    ended = run_to_end(*phase(tmp_path), "--time-limit", 1, folder=tmp_path)
    assert ended.code == 23, ended
    assert "time" in ended.err
    assert ended.seconds < 1 + SLACK


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("phase", [_is_slow(case) for case in [*PHASES, endless_validation]])
def test_signals_end_every_phase(phase: Case, number: signal.Signals, tmp_path: Path) -> None:
    ended = run_to_end(*phase(tmp_path), folder=tmp_path, number=number, delay=0.8)
    assert ended.code == 128 + number, ended
    assert ended.seconds < SLACK
    assert "interrupted" in ended.err
    assert "Traceback" not in ended.err


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tasks")
    assert main(["generate", "ferry", "--out", str(folder)]) == 0
    return folder / "p01.pddl"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("delay", [step / 50 for step in range(20)])
def test_a_signal_during_start_up(
    delay: float, number: signal.Signals, task: Path, tmp_path: Path
) -> None:
    ended = run_to_end("solve", task, folder=tmp_path, number=number, delay=delay)
    assert ended.seconds < SLACK
    if ended.code == 128 + number:
        assert "interrupted" in ended.err
        assert "Traceback" not in ended.err
    elif ended.code != 0:  # Planlog may be done already
        # The interpreter has not come to Planlog: the signal itself, or its own handler, ends it.
        assert ended.code in (1, -number), ended
        assert str(Path(main.__code__.co_filename).parents[1]) not in ended.err


def test_the_time_counts_from_the_start_of_the_process(task: Path, tmp_path: Path) -> None:
    slow_start = "import time; time.sleep(1)"
    ended = run_to_end("solve", task, "--time-limit", 0.9, folder=tmp_path, before=slow_start)
    assert ended.code == 23
    assert "out of time" in ended.err


def test_a_json_object_is_printed_at_every_end(tmp_path: Path) -> None:
    for phase in (many_atoms, many_objects):
        ended = run_to_end(*phase(tmp_path), "--json", "--time-limit", 0.6, folder=tmp_path)
        assert (ended.code, json.loads(ended.out)["outcome"]) == (23, "time limit")


def test_the_watchdog_ends_work_that_never_listens(task: Path, tmp_path: Path) -> None:
    deaf = (
        "import time, planlog.policy.execution as execution\n"
        "def deaf(*_, **__):\n"
        "    while True:\n"
        "        try: time.sleep(60)\n"
        "        except BaseException: pass\n"
        "execution.Policy.start = deaf\n"
    )
    ended = run_to_end("solve", task, "--time-limit", 1, folder=tmp_path, before=deaf)
    assert (ended.code, ended.err) == (23, "planlog: out of time\n")
    assert ended.seconds < 1 + SLACK


def test_the_watchdog_waits_for_a_result_that_is_being_written(task: Path, tmp_path: Path) -> None:
    slow = (
        "import os, signal, time, planlog.pddl.plan as plan\n"
        "text = plan.Plan.__str__\n"
        "def slowly(self):\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    time.sleep(1)\n"
        "    return text(self)\n"
        "plan.Plan.__str__ = slowly\n"
    )
    ended = run_to_end("solve", task, folder=tmp_path, before=slow)
    assert ended.code == 0, ended
    assert ended.out.startswith("(")
    assert "solved" in ended.err


@pytest.mark.slow
def test_a_plan_is_delivered_when_the_search_for_better_ones_runs_out_of_time(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "tasks"
    assert main(["generate", "blocksworld", "--blocks", "60", "--out", str(folder)]) == 0
    options = ("--improve", 100, "--time-limit", 5, "--json")
    ended = run_to_end("solve", folder / "p01.pddl", *options, folder=tmp_path)
    assert ended.code == 0, ended
    assert json.loads(ended.out)["outcome"] == "solved"
    assert ended.seconds < 5 + SLACK


@pytest.mark.parametrize("number", [signal.SIGALRM, signal.SIGTERM])
@pytest.mark.parametrize("command", [("train", "--out"), ("ipc", "learn")], ids=" ".join)
def test_no_exception_is_raised_while_torch_is_imported(
    command: tuple[str, ...], number: signal.Signals, task: Path, tmp_path: Path
) -> None:
    """Exceptions of signal handlers in the C++ code of torch would abort the process."""
    before = (
        "import os, sys, time\n"
        "class Finder:\n"
        "    def find_spec(name, path=None, target=None):\n"
        "        if name == 'torch.version':\n"
        "            try:\n"
        f"                os.kill(os.getpid(), {int(number)})\n"
        "                time.sleep(0.01)\n"
        "            except BaseException: os.write(2, b'raised')\n"
        "sys.meta_path.insert(0, Finder)\n"
    )
    ended = run_to_end(*command, tmp_path / "out", task, folder=tmp_path, before=before)
    assert ended.code == (23 if number == signal.SIGALRM else 128 + number), ended
    assert "raised" not in ended.err
    assert "Traceback" not in ended.err


SLOW_VALIDATION = (
    "import time, planlog.validation as validation\n"
    "validation.Validator.replay = lambda *_: time.sleep(60)\n"
)


def test_the_time_of_the_search_for_better_plans_bounds_their_validation(
    task: Path, tmp_path: Path
) -> None:
    plan = tmp_path / "plan"
    options = ("--no-model", "--plan-file", plan, "--improve", 1)
    ended = run_to_end("solve", task, *options, folder=tmp_path, before=SLOW_VALIDATION)
    assert ended.code == 0, ended
    assert ended.seconds < 1 + SLACK
    assert (tmp_path / "plan.1").read_text().startswith("(")
    assert ", valid" not in ended.err


@pytest.mark.parametrize("number", [None, signal.SIGINT, signal.SIGTERM])
def test_a_plan_is_delivered_when_its_validation_is_cut_off(
    number: signal.Signals | None, task: Path, tmp_path: Path
) -> None:
    limit = ("--time-limit", 1.5) if number is None else ()
    ended = run_to_end(
        *("solve", task, "--validate", "--json", *limit),
        folder=tmp_path,
        before=SLOW_VALIDATION,
        number=number,
        delay=1.5,
    )
    assert ended.code == 0, ended
    assert ended.seconds < 1.5 + SLACK
    found = json.loads(ended.out)
    assert (found["outcome"], found["valid"]) == ("solved", None)
    assert found["plan"]


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        *itertools.product(("domain", "task", "policy"), (None, signal.SIGINT)),
        ("plan", signal.SIGINT),  # `validate` has no limits
    ],
)
def test_a_pipe_that_nobody_writes(
    kind: str, number: signal.Signals | None, task: Path, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    domain = task.with_name("domain.pddl")
    limit = ("--time-limit", 1) if number is None else ()
    arguments = {
        "domain": ("solve", pipe, task, *limit),
        "task": ("solve", domain, pipe, *limit),
        "policy": ("solve", domain, task, "--policy", pipe, *limit),
        "plan": ("validate", domain, task, pipe),
    }[kind]
    ended = run_to_end(*arguments, folder=tmp_path, number=number, delay=0.8)
    assert ended.code == (23 if number is None else 128 + number), ended
    assert ended.seconds < 1 + SLACK
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("kind", ["domain", "task", "policy"])
def test_an_endless_device_is_read_within_the_limits(kind: str, task: Path, tmp_path: Path) -> None:
    files = {"domain": str(task.with_name("domain.pddl")), "task": str(task), "policy": "none"}
    files[kind] = "/dev/zero"
    command = ("solve", files["domain"], files["task"], "--policy", files["policy"])
    ended = run_to_end(*command, "--time-limit", 10, "--memory-limit", 100, folder=tmp_path)
    assert ended.code == 22, ended
    ended = run_to_end(*command, "--time-limit", 20, folder=tmp_path)
    assert ended.code == 31, ended
    assert "too large" in ended.err


# --- Memory --------------------------------------------------------------------------------


def _with_memory(phase: Case, megabytes: int, folder: Path) -> Ended:
    limits = ("--memory-limit", megabytes, "--time-limit", 30)
    return run_to_end(*phase(folder), *limits, folder=folder)


@pytest.mark.parametrize("phase", [_is_slow(case) for case in [many_objects, many_atoms]])
def test_the_memory_limit_holds(phase: Case, tmp_path: Path) -> None:
    for megabytes in (64, 100, 220, 400):
        ended = _with_memory(phase, megabytes, tmp_path)
        assert ended.code == 22, ended
        assert "memory" in ended.err
        # 1.06 on a machine of its own; the watchdog of a busy machine gets its turn later.
        assert ended.peak < megabytes * 2**20 * 1.3


def test_the_memory_limit_holds_while_a_file_is_read(task: Path, tmp_path: Path) -> None:
    large = tmp_path / "large.pddl"
    large.write_bytes(b"(define" + b" " * 60 * 2**20)
    domain = task.with_name("domain.pddl")
    for megabytes in (50, 60, 70):
        limit = ("--memory-limit", megabytes)
        ended = run_to_end("solve", domain, large, *limit, folder=tmp_path)
        assert (ended.code, ended.err) == (22, "planlog: out of memory\n")
        assert ended.peak < megabytes * 2**20 * 1.1


@pytest.mark.parametrize("megabytes", [*range(1, 60, 7)])
def test_hardly_any_memory(megabytes: int, task: Path, tmp_path: Path) -> None:
    ended = run_to_end("solve", task, "--memory-limit", megabytes, folder=tmp_path)
    assert ended.code in (0, 22), ended
    if ended.code == 22:
        assert "out of memory" in ended.err or "memory limit reached" in ended.err, ended
    if megabytes == 1:
        assert "MB to start" in ended.err


def test_resident_memory_grows_with_what_is_used() -> None:
    before = resident_memory()
    block = bytearray(b"x" * 2**25)
    assert resident_memory() - before > 2**24
    del block
