"""The command line as its users meet it: output, exit codes, and never a traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from planlog import domains
from planlog.cli import main
from planlog.validation import validate_files
from support.endless_domain import ENDLESS_DOMAIN, ENDLESS_PROBLEM


def planlog(*arguments: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "planlog", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        **options,  # type: ignore[call-overload]
    )


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tasks")
    assert main(["generate", "blocksworld", "--blocks", "6", "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    (tmp_path / "domain.pddl").write_text(ENDLESS_DOMAIN)
    problem = tmp_path / "p01.pddl"
    problem.write_text(ENDLESS_PROBLEM)
    return problem


# Solving


def test_solve_prints_a_valid_plan_and_nothing_else(tasks: Path, tmp_path: Path) -> None:
    result = planlog("solve", tasks / "p01.pddl")
    assert result.returncode == 0, result.stderr
    assert "solved" in result.stderr
    (tmp_path / "plan").write_text(result.stdout)
    report = validate_files(tasks / "domain.pddl", tasks / "p01.pddl", tmp_path / "plan")
    assert report.valid
    assert report.complete


def test_solve_writes_a_plan_file(
    tasks: Path, tmp_path: Path, capfd: pytest.CaptureFixture
) -> None:
    plan = tmp_path / "plan"
    arguments = [str(tasks / "domain.pddl"), str(tasks / "p01.pddl"), "--plan-file", str(plan)]
    assert main(["solve", *arguments, "--validate"]) == 0
    out, err = capfd.readouterr()
    assert out == ""
    assert ", valid" in err
    assert validate_files(tasks / "domain.pddl", tasks / "p01.pddl", plan).valid


def test_the_same_seed_gives_the_same_plan(tasks: Path, capfd: pytest.CaptureFixture) -> None:
    plans = []
    for seed in (1, 1, 2, 3, 4):
        assert main(["solve", str(tasks / "p01.pddl"), "--policy", "none", f"--seed={seed}"]) == 0
        plans.append(capfd.readouterr().out)
    assert plans[0] == plans[1]
    assert len(set(plans)) > 1


@pytest.mark.parametrize("name", domains.names())
def test_solve_finds_the_shipped_policy(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture
) -> None:
    assert main(["generate", name, "--out", str(tmp_path)]) == 0
    capfd.readouterr()
    assert main(["solve", str(tmp_path / "p01.pddl"), "--json", "--validate"]) == 0
    answer = json.loads(capfd.readouterr().out)
    assert answer["outcome"] == "solved"
    assert answer["policy"] == f"shipped: {name}, learned"
    assert answer["valid"] is True
    assert answer["plan_length"] == answer["steps"] == answer["cost"] == len(answer["plan"])
    assert answer["goals_left"] == 0
    assert answer["seconds"] > 0


def test_without_a_shipped_policy_it_says_what_it_does(
    tmp_path: Path, capfd: pytest.CaptureFixture
) -> None:
    (tmp_path / "domain.pddl").write_text(ENDLESS_DOMAIN)
    (tmp_path / "p.pddl").write_text(ENDLESS_PROBLEM.replace("(treasure a)", "(at b)"))
    assert main(["solve", str(tmp_path / "p.pddl")]) == 0
    assert "no policy is shipped for the domain 'rooms'" in capfd.readouterr().err


def test_a_shipped_policy_that_does_not_fit_names_the_way_out(
    tmp_path: Path, capfd: pytest.CaptureFixture
) -> None:
    (tmp_path / "domain.pddl").write_text(ENDLESS_DOMAIN.replace("rooms", "ferry"))
    (tmp_path / "p.pddl").write_text(ENDLESS_PROBLEM.replace("rooms", "ferry"))
    assert main(["solve", str(tmp_path / "p.pddl")]) == 31
    assert "--policy none" in capfd.readouterr().err


def test_verbose_tells_rules_and_actions(tasks: Path) -> None:
    result = planlog("solve", tasks / "p01.pddl", "-v")
    assert result.returncode == 0
    plan = [line for line in result.stdout.splitlines() if line.startswith("(")]
    taken = [line.split(" ", 3)[-1] for line in result.stderr.splitlines() if "  takes " in line]
    assert taken == plan
    assert "well_placed" in result.stderr
    assert "goals left, " in result.stderr


def test_verbose_leaves_json_alone(tasks: Path) -> None:
    result = planlog("solve", tasks / "p01.pddl", "-v", "--json")
    assert json.loads(result.stdout)["outcome"] == "solved"


@pytest.mark.parametrize(
    ("options", "code", "outcome"),
    [
        (["--max-steps", "5"], 12, "step limit"),
        (["--time-limit", "2"], 23, "time limit"),
        (["--avoid-revisits"], 12, "cycle"),
    ],
)
def test_limits(endless: Path, options: list[str], code: int, outcome: str) -> None:
    result = planlog("solve", endless, "--json", *options)
    assert result.returncode == code
    answer = json.loads(result.stdout)
    assert (answer["outcome"], answer["plan"], answer["goals_left"]) == (outcome, None, 1)
    assert answer["steps"] > 0


@pytest.mark.slow
def test_too_little_memory_is_told_whenever_it_runs_out(tasks: Path, tmp_path: Path) -> None:
    # One megabyte is less than Python itself holds, 10,000 MB are enough for everything.
    plan = tmp_path / "plan"
    for megabytes in (1, 10, 20, 40):
        options = ["--memory-limit", str(megabytes), "--plan-file", str(plan)]
        result = planlog("solve", tasks / "p01.pddl", *options)
        assert result.returncode in (0, 22), result.stderr
        assert plan.exists() == (result.returncode == 0)
        assert "Traceback" not in result.stderr
    assert planlog("solve", tasks / "p01.pddl", "--memory-limit", "1").returncode == 22
    assert planlog("solve", tasks / "p01.pddl", "--memory-limit", "10000").returncode == 0


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_it_cleanly(endless: Path, tmp_path: Path, sent: int, code: int) -> None:
    plan = tmp_path / "plan"
    process = subprocess.Popen(
        [sys.executable, "-m", "planlog", "solve", endless, "--plan-file", plan],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert "no policy is shipped" in process.stderr.readline()  # so it has started
    time.sleep(1)
    process.send_signal(sent)
    _, error = process.communicate(timeout=20)
    assert process.returncode == code
    assert "interrupted" in error
    assert "steps, 1 goal left" in error
    assert "Traceback" not in error
    assert {file.name for file in tmp_path.iterdir()} == {"domain.pddl", "p01.pddl"}


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
    capfd: pytest.CaptureFixture,
    domain: str,
    problem: str,
    rules: str | None,
    code: int,
    message: str,
    as_json: bool,
) -> None:
    (tmp_path / "domain.pddl").write_text(domain)
    (tmp_path / "problem.pddl").write_text(problem)
    arguments = ["solve", str(tmp_path / "domain.pddl"), str(tmp_path / "problem.pddl")]
    if rules is not None:
        (tmp_path / "rules.dl").write_text(rules)
        arguments += ["--policy", str(tmp_path / "rules.dl")]
    assert main([*arguments, *(["--json"] if as_json else [])]) == code
    out, err = capfd.readouterr()
    if as_json:
        answer = json.loads(out)
        assert answer["outcome"] == ("unsupported" if code == 34 else "bad input")
        assert all(d["line"] >= 1 and d["column"] >= 1 for d in answer["diagnostics"])
        assert answer["diagnostics"]
        assert message in answer["message"]
    else:
        assert out == ""
        assert message in err
        assert "Traceback" not in err


@pytest.mark.parametrize("command", ["solve", "validate"])
@pytest.mark.parametrize("broken", ["domain.pddl", "p01.pddl", "rules.dl", "plan"])
@pytest.mark.parametrize("how", ["missing", "folder", "binary", "forbidden", "empty"])
def test_files_that_cannot_be_read(
    tasks: Path, tmp_path: Path, capfd: pytest.CaptureFixture, command: str, broken: str, how: str
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
    pddl = [str(tmp_path / "domain.pddl"), str(tmp_path / "p01.pddl")]
    if command == "solve":
        code = main(["solve", *pddl, "--policy", str(tmp_path / "rules.dl")])
        used = broken != "plan"
        # A policy without rules is one; it derives nothing.
        expected = {12} if how in ("empty", "forbidden") and broken == "rules.dl" else {31}
    else:
        code = main(["validate", *pddl, str(tmp_path / "plan")])
        used = broken != "rules.dl"
        expected = {1} if how in ("empty", "forbidden") and broken == "plan" else {31}
    if how == "forbidden" and os.geteuid() != 0:
        expected = {31}
    err = capfd.readouterr().err
    assert "Traceback" not in err
    if used:
        assert code in expected, err
        assert broken in err or code != 31
    else:
        assert code == (0 if command == "solve" else 1)


@pytest.mark.parametrize(
    "arguments",
    [
        ["solve"],
        ["solve", "a", "b", "c"],
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
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 36
    out, err = capfd.readouterr()
    assert out == ""
    assert "planlog" in err
    assert not list(tmp_path.iterdir())


def test_a_problem_without_a_domain_beside_it(
    tasks: Path, tmp_path: Path, capfd: pytest.CaptureFixture
) -> None:
    (tmp_path / "p.pddl").write_bytes((tasks / "p01.pddl").read_bytes())
    assert main(["solve", str(tmp_path / "p.pddl")]) == 36
    assert "domain.pddl" in capfd.readouterr().err


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
def test_a_full_disk_is_told(tasks: Path) -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "planlog", "solve", tasks / "p01.pddl"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert result.returncode == 35
    assert "cannot write the output" in result.stderr
    assert "Traceback" not in result.stderr


# The other commands


def test_validate_names_the_first_failing_step(
    tasks: Path, tmp_path: Path, capfd: pytest.CaptureFixture
) -> None:
    plan = tmp_path / "plan"
    assert main(["solve", str(tasks / "p01.pddl"), "--plan-file", str(plan)]) == 0
    assert main(["validate", str(tasks / "p01.pddl"), str(plan)]) == 0
    lines = plan.read_text().splitlines(keepends=True)
    plan.write_text("".join(lines[:1] + lines))  # the first step twice
    capfd.readouterr()
    assert main(["validate", str(tasks / "p01.pddl"), str(plan), "--json"]) == 1
    report = json.loads(capfd.readouterr().out)
    assert (report["valid"], report["step"], report["action"]) == (False, 2, lines[0].strip())
    plan.write_text("".join(lines[:1]))
    assert main(["validate", str(tasks / "p01.pddl"), str(plan)]) == 1
    assert main(["validate", str(tasks / "p01.pddl"), str(plan), "--prefix"]) == 0


def test_validate_reads_the_standard_input(tasks: Path) -> None:
    plan = planlog("solve", tasks / "p01.pddl").stdout
    result = planlog("validate", tasks / "p01.pddl", "-", input=plan)
    assert result.returncode == 0
    assert result.stdout.startswith("valid: ")


def test_generate_writes_the_same_files_for_the_same_seed(tmp_path: Path) -> None:
    def files(folder: str, seed: int) -> dict[str, str]:
        arguments = ["--split", "easy", "--count", "3", "--seed", str(seed)]
        assert main(["generate", "rover", *arguments, "--out", str(tmp_path / folder)]) == 0
        return {file.name: file.read_text() for file in (tmp_path / folder).iterdir()}

    first = files("a", 1)
    assert sorted(first) == ["domain.pddl", "p01.pddl", "p02.pddl", "p03.pddl"]
    assert files("b", 1) == first
    assert files("c", 2) != first


def test_generate_tells_all_sizes() -> None:
    text = planlog("generate", "--help").stdout
    for name in domains.names():
        for size in domains.parameters(name):
            assert f"--{size.name}" in text


def test_doctor_says_that_it_works(capfd: pytest.CaptureFixture) -> None:
    assert main(["doctor"]) == 0
    assert "works" in capfd.readouterr().out
    assert main(["doctor", "--json"]) == 0
    answer = json.loads(capfd.readouterr().out)
    assert answer["works"] is True
    assert all(answer["packages"].values())


def test_doctor_says_what_is_broken(
    capfd: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    import planlog.policy.policy

    monkeypatch.delattr(planlog.policy.policy, "Policy")
    assert main(["doctor"]) == 35
    assert "BROKEN" in capfd.readouterr().out


def test_version() -> None:
    assert planlog("--version").stdout.split() == ["planlog", "0.1.0"]
