"""The command line as its users meet it: output, exit codes, and never a traceback."""

from __future__ import annotations

import json
import os
import pkgutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planlog import domains
from planlog.validation import validate_files
from planlog.validation.sexpr import Source
from support.commands import Run, process, run_process
from support.endless_domain import ENDLESS_DOMAIN, ENDLESS_PROBLEM


@pytest.fixture(scope="module")
def tasks(generate: Callable[..., Path]) -> Path:
    return generate("blocksworld", "--blocks", 6)


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    (tmp_path / "domain.pddl").write_text(ENDLESS_DOMAIN)
    problem = tmp_path / "p01.pddl"
    problem.write_text(ENDLESS_PROBLEM)
    return problem


# Solving


def test_solve_prints_a_valid_plan_and_nothing_else(tasks: Path, tmp_path: Path) -> None:
    result = run_process("solve", tasks / "p01.pddl")
    assert result.returncode == 0, result.stderr
    assert "solved" in result.stderr
    (tmp_path / "plan").write_text(result.stdout)
    report = validate_files(tasks / "domain.pddl", tasks / "p01.pddl", tmp_path / "plan")
    assert report.valid
    assert report.complete


def test_solve_writes_a_plan_file(planlog: Run, tasks: Path, tmp_path: Path) -> None:
    pddl, plan = (tasks / "domain.pddl", tasks / "p01.pddl"), tmp_path / "plan"
    code, out, err = planlog("solve", *pddl, "--plan-file", plan, "--validate")
    assert (code, out) == (0, "")
    assert ", valid" in err
    assert validate_files(*pddl, plan).valid


def test_a_plan_is_kept_if_the_validator_cannot_read_the_task(
    planlog: Run, tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: Source, domain: object) -> None:
        source.fail_at_token(2, "this validator refuses problems")

    monkeypatch.setattr("planlog.validation.replay.read_problem", refuse)
    pddl, plan = (tasks / "domain.pddl", tasks / "p01.pddl"), tmp_path / "plan"
    code, out, err = planlog("solve", *pddl, "--plan-file", plan, "--validate")
    assert (code, out) == (0, "")
    assert f"{pddl[1]}:" in err
    assert "this validator refuses problems" in err
    assert "solved" in err
    assert ", valid" not in err
    assert plan.read_text().startswith("(")


def test_the_same_seed_gives_the_same_plan(planlog: Run, generate: Callable[..., Path]) -> None:
    task = generate("ferry", "--cars", 3, "--locations", 3) / "p01.pddl"
    options = ("--no-model", "--seed")
    plans = [planlog("solve", task, *options, seed)[1] for seed in (1, 1, 2, 3, 4)]
    assert plans[0] == plans[1]
    assert len(set(plans)) > 1


@pytest.mark.parametrize("name", domains.names())
def test_solve_finds_the_shipped_policy(
    name: str, planlog: Run, generate: Callable[..., Path]
) -> None:
    code, out, _ = planlog("solve", generate(name) / "p01.pddl", "--json", "--validate")
    answer = json.loads(out)
    assert (code, answer["outcome"]) == (0, "solved")
    assert answer["policy"] == f"shipped: {name}, learned"
    assert answer["valid"] is True
    assert answer["plan_length"] == answer["steps"] == answer["cost"] == len(answer["plan"])
    assert answer["goals_left"] == 0
    assert answer["seconds"] > 0


def test_without_a_shipped_policy_it_says_what_it_does(planlog: Run, endless: Path) -> None:
    endless.write_text(ENDLESS_PROBLEM.replace("(treasure a)", "(at b)"))
    code, _, err = planlog("solve", endless)
    assert code == 0
    assert "no policy is shipped for the domain 'rooms'" in err


def test_a_shipped_policy_that_does_not_fit_names_the_way_out(planlog: Run, endless: Path) -> None:
    for file in (endless, endless.with_name("domain.pddl")):
        file.write_text(file.read_text().replace("rooms", "ferry"))
    code, _, err = planlog("solve", endless)
    assert code == 31
    assert "--policy none" in err


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_verbose_tells_rules_and_actions(planlog: Run, tasks: Path, options: list[str]) -> None:
    code, out, err = planlog("solve", tasks / "p01.pddl", "-v", *options)
    assert code == 0
    plan = json.loads(out)["plan"] if options else out.splitlines()[:-1]
    taken = [line.split(" ", 3)[-1] for line in err.splitlines() if "  takes " in line]
    assert taken == plan
    assert "well_placed" in err
    assert "goals left, " in err


@pytest.mark.parametrize(
    ("options", "code", "outcome"),
    [
        (["--max-steps", "5"], 12, "step limit"),
        (["--time-limit", "0.5", "--no-search"], 23, "time limit"),
        (["--avoid-revisits"], 12, "cycle"),
    ],
)
def test_limits(planlog: Run, endless: Path, options: list[str], code: int, outcome: str) -> None:
    found, out, _ = planlog("solve", endless, "--json", *options)
    answer = json.loads(out)
    assert (found, answer["outcome"]) == (code, outcome)
    assert (answer["plan"], answer["goals_left"]) == (None, 1)
    assert answer["steps"] > 0


@pytest.mark.slow
def test_too_little_memory_is_told_whenever_it_runs_out(tasks: Path, tmp_path: Path) -> None:
    # One megabyte is less than Python itself holds, 10,000 MB are enough for everything.
    plan = tmp_path / "plan"
    for megabytes in (1, 10, 20, 40, 10_000):
        plan.unlink(missing_ok=True)
        options = ("--memory-limit", megabytes, "--plan-file", plan)
        code = run_process("solve", tasks / "p01.pddl", *options).returncode
        assert code in {1: (22,), 10_000: (0,)}.get(megabytes, (0, 22))
        assert plan.exists() == (code == 0)


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_it_cleanly(endless: Path, tmp_path: Path, sent: int, code: int) -> None:
    options = ("--no-search", "--plan-file", tmp_path / "plan")
    with process("solve", endless, *options) as solving:
        assert solving.stderr is not None
        assert "no policy is shipped" in solving.stderr.readline()  # so it has started
        time.sleep(1)
        solving.send_signal(sent)
        _, error = solving.communicate(timeout=20)
    assert solving.returncode == code
    assert "interrupted" in error
    assert "steps, 1 goal left" in error
    assert "Traceback" not in error
    assert {file.name for file in tmp_path.iterdir()} == {"domain.pddl", "p01.pddl"}


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(
    "place",
    [
        "planlog.policy.execution._Execution.push",  # after the last action
        "planlog.pddl.task.Task.decode",  # while the result is made
        "planlog.api.solve.eliminate_redundant_actions",
        "planlog.cli.plan_files.PlanManager.add",  # before it is reported
    ],
)
def test_an_interrupt_after_the_last_action_loses_no_plan(
    planlog: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (tmp_path / "domain.pddl").write_text(ENDLESS_DOMAIN)
    (tmp_path / "p.pddl").write_text(ENDLESS_PROBLEM.replace("(treasure a)", "(at b)"))
    (tmp_path / "rules.dl").write_text("go(X, b).")
    original = pkgutil.resolve_name(place)

    def interrupted(*arguments: Any, **options: Any) -> Any:
        monkeypatch.setattr(place, original)
        if place.endswith("push"):
            original(*arguments)
        signal.raise_signal(signal.SIGINT)
        return original(*arguments, **options)

    monkeypatch.setattr(place, interrupted)
    code, out, err = planlog("solve", tmp_path / "rules.dl", tmp_path / "p.pddl")
    assert (code, out) == (0, "(go a b)\n; cost = 1 (unit cost)\n"), err


# Users' mistakes

BROKEN_DOMAIN = ENDLESS_DOMAIN.replace("(at ?x) :effect", "(att ?x) :effect")
NUMERIC_DOMAIN = ENDLESS_DOMAIN.replace("(:action", "(:functions (fuel)) (:action", 1)
DURATIVE_DOMAIN = "(define (domain rooms) (:requirements :durative-actions))"


@pytest.mark.parametrize(
    ("domain", "problem", "rules", "code", "message"),
    [
        (BROKEN_DOMAIN, ENDLESS_PROBLEM, None, 31, "domain.pddl:3:"),
        (DURATIVE_DOMAIN, ENDLESS_PROBLEM, None, 34, "durative"),
        (ENDLESS_DOMAIN, "(define (problem p", None, 31, "problem.pddl:1:"),
        (ENDLESS_DOMAIN, ENDLESS_PROBLEM, "go(X) :- at(X).", 31, "rules.dl:1:"),
        (ENDLESS_DOMAIN, "", None, 31, "problem.pddl"),
        ("", ENDLESS_PROBLEM, None, 31, "domain.pddl"),
        (ENDLESS_DOMAIN, ENDLESS_DOMAIN, None, 31, "problem.pddl"),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_errors_in_files_are_located(
    tmp_path: Path,
    planlog: Run,
    domain: str,
    problem: str,
    rules: str | None,
    code: int,
    message: str,
    as_json: bool,
) -> None:
    (tmp_path / "domain.pddl").write_text(domain)
    (tmp_path / "problem.pddl").write_text(problem)
    arguments: list[object] = [tmp_path / "domain.pddl", tmp_path / "problem.pddl"]
    if rules is not None:
        (tmp_path / "rules.dl").write_text(rules)
        arguments += ["--policy", tmp_path / "rules.dl"]
    found, out, err = planlog("solve", *arguments, *(["--json"] if as_json else []))
    assert found == code
    if as_json:
        answer = json.loads(out)
        assert answer["outcome"] == ("unsupported" if code == 34 else "bad input")
        assert all(d["line"] >= 1 and d["column"] >= 1 for d in answer["diagnostics"])
        assert answer["diagnostics"]
        assert message in answer["message"]
    else:
        assert out == ""
        assert message in err


@pytest.mark.parametrize("command", ["solve", "validate"])
@pytest.mark.parametrize("broken", ["domain.pddl", "p01.pddl", "rules.dl", "plan"])
@pytest.mark.parametrize("how", ["missing", "folder", "binary", "forbidden", "empty"])
def test_files_that_cannot_be_read(
    tasks: Path, tmp_path: Path, planlog: Run, command: str, broken: str, how: str
) -> None:
    for name in ("domain.pddl", "p01.pddl"):
        (tmp_path / name).write_bytes((tasks / name).read_bytes())
    (tmp_path / "rules.dl").write_bytes(domains.policy_path("blocksworld").read_bytes())
    (tmp_path / "plan").write_text("; cost = 0 (unit cost)\n")
    target = tmp_path / broken
    target.unlink()
    match how:
        case "folder":
            target.mkdir()
        case "binary":
            target.write_bytes(bytes(range(256)) * 8)
        case "forbidden":
            target.write_text("")
            target.chmod(0)
        case "empty":
            target.write_text("")
    pddl = [tmp_path / "domain.pddl", tmp_path / "p01.pddl"]
    if command == "solve":
        code, _, err = planlog("solve", *pddl, "--policy", tmp_path / "rules.dl")
        used = broken != "plan"
        # A policy without rules is one; it derives nothing.
        expected = {12} if how in ("empty", "forbidden") and broken == "rules.dl" else {31}
    else:
        code, _, err = planlog("validate", *pddl, tmp_path / "plan")
        used = broken != "rules.dl"
        expected = {1} if how in ("empty", "forbidden") and broken == "plan" else {31}
    if how == "forbidden" and os.geteuid() != 0:
        expected = {31}
    if used:
        assert code in expected, err
        assert broken in err or code != 31
    else:
        assert code == (0 if command == "solve" else 1)


@pytest.mark.parametrize(
    "arguments",
    [
        ["solve"],
        ["solve", "--seed", "x", "p.pddl"],
        ["solve", "--seed", "-1", "p.pddl"],
        ["solve", "--time-limit", "-1", "p.pddl"],
        ["solve", "--no-such-option", "p.pddl"],
        ["solve", "p.pddl", "--plan-file", "no/such/folder/plan"],
        ["solve", "p.pddl", "--plan-file", "."],
        ["validate", "p.pddl"],
        ["validate", "a", "b", "c", "d"],
        ["generate"],
        ["generate", "chess", "--out", "x"],
        ["generate", "ferry"],
        ["generate", "ferry", "--blocks", "3", "--out", "x"],
        ["generate", "ferry", "--cars", "many", "--out", "x"],
        ["generate", "ferry", "--cars", "--out", "x"],
        ["generate", "ferry", "--cars", "0", "--out", "x"],
        ["generate", "ferry", "--split", "huge", "--out", "x"],
        ["generate", "ferry", "--split", "easy", "--cars", "3", "--out", "x"],
        ["generate", "ferry", "more", "--out", "x"],
        ["fly"],
        ["--no-such-option"],
    ],
    ids=" ".join,
)
def test_bad_usage(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, planlog: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = planlog(*arguments)
    assert (code, out) == (36, "")
    assert "planlog" in err
    assert not list(tmp_path.iterdir())


# The surroundings


def test_a_reader_that_goes_away_is_no_error(tasks: Path) -> None:
    command = f"{sys.executable} -m planlog solve {tasks / 'p01.pddl'}"
    result = subprocess.run(
        ["bash", "-c", f"{command} | true; exit ${{PIPESTATUS[0]}}"], capture_output=True, text=True
    )
    # 0 if the plan was written before the reader went away.
    assert result.returncode in (0, 141)
    assert "Traceback" not in result.stderr
    assert "BrokenPipe" not in result.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told(tasks: Path, tmp_path: Path) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with Path("/dev/full").open("w") as full:
        result = run_process("solve", tasks / "p01.pddl", stdout=full, env=environment)
    (saved,) = tmp_path.iterdir()
    assert f"the plan is saved in {saved}" in result.stderr
    assert validate_files(tasks / "domain.pddl", tasks / "p01.pddl", saved).valid
    assert result.returncode == 73
    assert "cannot write to the standard output" in result.stderr


# The other commands


def test_validate_names_the_first_failing_step(planlog: Run, tasks: Path, tmp_path: Path) -> None:
    task, plan = tasks / "p01.pddl", tmp_path / "plan"
    assert planlog("solve", task, "--plan-file", plan)[0] == 0
    assert planlog("validate", task, plan)[0] == 0
    lines = plan.read_text().splitlines(keepends=True)
    plan.write_text("".join(lines[:1] + lines))  # the first step twice
    code, out, _ = planlog("validate", task, plan, "--json")
    report = json.loads(out)
    assert (code, report["valid"], report["step"]) == (1, False, 2)
    assert report["action"] == lines[0].strip()
    plan.write_text("".join(lines[:1]))
    assert planlog("validate", task, plan)[0] == 1
    assert planlog("validate", task, plan, "--prefix")[0] == 0


def test_validate_reads_the_standard_input(tasks: Path) -> None:
    plan = run_process("solve", tasks / "p01.pddl").stdout
    result = run_process("validate", tasks / "p01.pddl", "-", input=plan)
    assert result.returncode == 0
    assert result.stdout.startswith("valid: ")


def test_generate_writes_the_same_files_for_the_same_seed(generate: Callable[..., Path]) -> None:
    first, second, other = (
        {
            file.name: file.read_text()
            for file in generate("rover", "--split", "easy", "--count", 3, "--seed", seed).iterdir()
        }
        for seed in (1, 1, 2)
    )
    assert sorted(first) == ["domain.pddl", "p01.pddl", "p02.pddl", "p03.pddl"]
    assert first == second != other


def test_generate_tells_all_sizes(planlog: Run) -> None:
    _, text, _ = planlog("generate", "--help")
    for name in domains.names():
        for size in domains.parameters(name):
            assert f"--{size.name}" in text


def test_doctor_says_that_it_works(planlog: Run) -> None:
    code, out, _ = planlog("doctor")
    assert code == 0
    assert "works" in out
    answer = json.loads(planlog("doctor", "--json")[1])
    assert answer["works"] is True
    assert all(answer["packages"].values())


def test_doctor_says_what_is_broken(planlog: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("planlog.policy.policy.Policy")
    code, out, _ = planlog("doctor")
    assert code == 35
    assert "BROKEN" in out


def test_version(planlog: Run) -> None:
    assert planlog("--version") == (0, "planlog 0.1.0\n", "")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("solve --policy s", ["shipped", "satellite"]),
        ("generate f", ["ferry"]),
        ("generate ferry --split m", ["medium"]),
        ("train --settings p", ["paper"]),
        ("train --settings default+ep", ["default+epochs="]),
        ("experiment --planners lama,lm", ["lama,lmcut"]),
    ],
)
def test_completion(words: str, found: list[str]) -> None:
    arguments = ["planlog", *words.split()]
    environment = {"COMP_WORDS": " ".join(arguments), "COMP_CWORD": str(len(arguments) - 1)}
    complete = {**os.environ, **environment, "_PLANLOG_COMPLETE": "bash_complete"}
    result = run_process(env=complete)
    assert result.stdout.split() == [f"plain,{word}" for word in found]


def test_rules_that_derive_very_many_actions_are_named(tmp_path: Path, planlog: Run) -> None:
    (tmp_path / "domain.pddl").write_text(
        """(define (domain triples) (:predicates (p ?x) (done))
        (:action take :parameters (?x ?y ?z) :precondition (and (p ?x) (p ?y) (p ?z))
          :effect (done)))"""
    )
    names = [f"o{i}" for i in range(11)]
    task, rules = tmp_path / "p01.pddl", tmp_path / "rules.dl"
    task.write_text(
        f"(define (problem p) (:domain triples) (:objects {' '.join(names)})"
        f" (:init {' '.join(f'(p {name})' for name in names)}) (:goal (done)))"
    )
    rules.write_text("take(X, Y, Z).\n")
    code, out, err = planlog("solve", task, "--policy", rules, "-v")
    assert code == 0
    assert "1,331 actions; 'any X' keeps one of equal ones" in err
    assert len(err.splitlines()) < 10
    code, out, _ = planlog("check", task, "--policy", rules, "--property", "1")
    assert "the rule in line 1 derives 1,331 actions in a state" in out
    rules.write_text("take(X, Y, Z) :- any X, Y, Z.\n")
    code, out, _ = planlog("check", task, "--policy", rules, "--property", "1")
    assert "actions in a state" not in out


def test_no_plan_inside_the_rules_is_told_from_a_limit(tmp_path: Path, planlog: Run) -> None:
    (tmp_path / "domain.pddl").write_text(ENDLESS_DOMAIN)
    task = tmp_path / "p01.pddl"
    task.write_text(ENDLESS_PROBLEM)
    code, out, err = planlog("solve", task, "--policy", "none")
    assert (code, out) == (12, "")
    assert "without rules, this is a search among all applicable actions" in err
    assert "no plan inside the rules" in err
    code, out, _ = planlog("solve", task, "--policy", "none", "--json")
    answer = json.loads(out)
    assert (code, answer["outcome"]) == (12, "no plan inside the rules")
    assert answer["searched_states"] > 0
    assert answer["goals_left"] is None
