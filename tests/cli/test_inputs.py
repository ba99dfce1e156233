"""Files and policies that a command line names: found in the same way by every command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planlog import domains
from planlog.policy.policy import Policy
from support.commands import Run

DOMAIN = """
(define (domain corridor)
  (:predicates (at ?x) (next ?x ?y))
  (:action go :parameters (?x ?y) :precondition (and (at ?x) (next ?x ?y))
    :effect (and (not (at ?x)) (at ?y))))
"""
TASK = """
(define (problem two) (:domain corridor) (:objects a b c)
  (:init (at a) (next a b) (next b a) (next b c)) (:goal (at c)))
"""
RULES = "go(X, Y) :- next(X, Y), at@ug(Z), next(Y, Z).\ngo(X, Y) :- next(X, Y), at@ug(Y).\n"
SOLVED = "(go a b)\n(go b c)\n; cost = 2 (unit cost)\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A domain with tasks two folders below, as in the repository of the IPC."""
    monkeypatch.chdir(tmp_path)
    Path("domain.pddl").write_text(DOMAIN)
    Path("rules.dl").write_text(RULES)
    Path("binary").write_bytes(bytes(range(256)) * 8)
    Path("coded").write_bytes(bytes(range(1, 32)) * 8)  # control characters without a zero
    Path("plan").write_text(SOLVED)
    Path("tasks/easy").mkdir(parents=True)
    for name in ("p1", "p2", "p10"):
        Path(f"tasks/easy/{name}.pddl").write_text(TASK)
    Path("tasks/easy/notes.pddl").write_text("; no problem\n")
    Path("empty").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        "tasks/easy/p1.pddl --policy rules.dl",
        "rules.dl tasks/easy/p1.pddl",
        "domain.pddl rules.dl tasks/easy/p1.pddl",
        "domain.pddl tasks/easy/p1.pddl --policy rules.dl",
        "rules.dl tasks/easy/p*1.pddl",
    ],
)
def test_the_same_arguments_everywhere(folder: Path, planlog: Run, arguments: str) -> None:
    words = arguments.split()
    assert planlog("solve", *words)[:2] == (0, SOLVED)
    code, out, _ = planlog("check", *words, "--json")
    answer = json.loads(out)
    assert (code, answer["outcome"], answer["policy"]) == (0, "proved", "rules.dl")
    assert [task["file"] for task in answer["tasks"]] == ["tasks/easy/p1.pddl"]
    code, _, err = planlog("train", *words, "-o", "model", "--settings", "small")
    assert (code, "nothing to learn" in err) == (12, True)
    code, out, _ = planlog("ipc", "learn", "dk", *words, "--trainings", 1)
    assert (code, out.splitlines()[-1]) == (0, "dk: the same as dk.1")


@pytest.mark.parametrize("given", ["tasks/easy", "tasks/easy/p*.pddl", "tasks/**/*.pddl"])
def test_folders_and_patterns_are_tasks_in_natural_order(
    folder: Path, planlog: Run, given: str
) -> None:
    answer = json.loads(planlog("check", given, "--policy", "rules.dl", "--json")[1])
    names = [f"tasks/easy/{name}.pddl" for name in ("p1", "p2", "p10")]
    assert [task["file"] for task in answer["tasks"]] == names
    assert answer["domain"] == str(folder / "domain.pddl")
    # Of many tasks, each has one line.
    _, out, _ = planlog("check", given, "--policy", "rules.dl")
    line = f"{names[0]}: 3 states, of which the policy reaches 3; 1 proved, 2 proved, 3 proved"
    assert out.splitlines()[0] == line
    assert len(planlog("check", given, "--policy", "rules.dl", "-v")[1]) > len(out)
    code, _, err = planlog("solve", given, "--policy", "rules.dl")
    assert (code, "expected one task, got 3" in err) == (36, True)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            "solve tasks/easy/p1.pddl domain.pddl",
            31,
            "DOMAIN must be a PDDL domain, but this is a ",
        ),
        ("solve domain.pddl domain.pddl", 31, "TASK must be a PDDL problem, but this is a PDDL do"),
        ("solve domain.pddl", 36, "no TASK is given: domain.pddl is a PDDL domain"),
        ("solve empty", 31, "empty: no PDDL problem found there"),
        ("solve no/p*.pddl", 31, "no/p*.pddl: no PDDL problem found there"),
        ("solve no.pddl", 31, "no.pddl: No such file"),
        ("solve binary", 31, "TASK must be a PDDL problem, but this is a binary file"),
        ("solve tasks/easy/p1.pddl --policy binary", 31, "must be a rule file, but this is a bina"),
        ("solve tasks/easy/p1.pddl --policy coded", 31, "must be a rule file, but this is a bina"),
        ("solve tasks/easy/p1.pddl --policy MODEL", 31, "must be a rule file, but this is a model"),
        ("solve tasks/easy/p1.pddl --policy plan", 31, "must be a rule file, but this is a plan"),
        ("solve tasks/easy/p1.pddl --model rules.dl", 31, "help: rules are given with --policy FI"),
        ("solve tasks/easy/p1.pddl --model binary", 31, "a model file, but this is a binary file"),
        ("solve rules.dl tasks/easy/p1.pddl --model MODEL", 36, "give --policy or --model, not bo"),
        ("solve rules.dl tasks/easy/p1.pddl --policy none", 36, "the policy is given twice"),
        ("check domain.pddl MODEL tasks/easy", 31, "TASK must be a PDDL problem, but this is a mo"),
        ("check rules.dl", 36, "no TASK is given"),
        ("train plan tasks/easy -o model", 31, "DOMAIN must be a PDDL domain, but this is a plan"),
        ("validate tasks/easy/p1.pddl rules.dl", 31, "PLAN must be a plan, but this is a rule fil"),
        ("ipc plan MODEL tasks/easy/p1.pddl domain.pddl out", 31, "DOMAIN must be a PDDL domain,"),
        ("ipc plan rules.dl domain.pddl tasks/easy/p1.pddl out", 31, "must be a model file, but "),
        ("info rules.dl", 31, "MODEL must be a model file, but this is a rule file"),
        ("template tasks/easy/p1.pddl none", 31, "DOMAIN must be a PDDL domain, but this is a PDD"),
        ("train tasks/easy -o rules.dl", 36, "--out: rules.dl is a rule file, and would be overwr"),
    ],
)
def test_a_file_of_another_kind_is_named(
    folder: Path, planlog: Run, arguments: str, code: int, message: str
) -> None:
    before = {file: file.stat().st_mtime_ns for file in folder.rglob("*")}
    words = arguments.replace("MODEL", str(domains.model_path("ferry"))).split()
    found, out, err = planlog(*words)
    assert (found, out) == (code, ""), err
    assert message in err
    assert len(err) < 1000
    assert before == {file: file.stat().st_mtime_ns for file in folder.rglob("*")}


def test_without_a_domain_file(tmp_path: Path, planlog: Run) -> None:
    (tmp_path / "p.pddl").write_text(TASK)
    for command in (["solve"], ["check"], ["train", "-o", tmp_path / "model"]):
        code, _, err = planlog(*command, tmp_path / "p.pddl")
        assert (code, "no DOMAIN is given, and there is no" in err) == (36, True)


@pytest.mark.parametrize("as_json", [False, True])
def test_diagnostics_are_few_and_short(folder: Path, planlog: Run, as_json: bool) -> None:
    long = "x" * 5000
    Path("rules.dl").write_text(f"go(X, Y) :- {long}(X), next(X, Y).\n" * 300)
    options = ["--json"] if as_json else []
    code, out, err = planlog("solve", "tasks/easy/p1.pddl", "--policy", "rules.dl", *options)
    assert code == 31
    text = json.loads(out)["message"] if as_json else err
    assert "… and at least 30 more" in text
    assert max(map(len, text.splitlines())) < 500
    assert len(text.splitlines()) < 100
    if as_json:
        answer = json.loads(out)
        assert (len(answer["diagnostics"]), answer["diagnostic_count"]) == (20, 50)


@pytest.mark.parametrize("word", ["shipped", "ferry", "shipped:policy"])
def test_shipped_means_the_same_everywhere(
    tmp_path: Path, planlog: Run, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    monkeypatch.chdir(tmp_path)
    sizes = ("--cars", 2, "--locations", 3)
    assert planlog("generate", "ferry", *sizes, "--out", "ferry")[0] == 0
    name = "shipped: ferry/policy" if ":" in word else "shipped: ferry"
    for command in (["solve"], ["check"], ["train", "-o", "m", "--settings=small", "--epochs=1"]):
        _, out, err = planlog(*command, "ferry/p01.pddl", "--policy", word, "--json")
        assert json.loads(out)["policy"] == name, err
    code, _, err = planlog("solve", "ferry/p01.pddl", "--policy", "shipped:best")
    assert (code, "no policy 'best' for ferry" in err) == (31, True)


def test_a_shipped_model_needs_no_rule_file(
    tmp_path: Path, planlog: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert planlog("generate", "ferry", "--out", tmp_path)[0] == 0

    def read(*_: Any, **__: Any) -> Policy:
        raise AssertionError("the rules are read")

    monkeypatch.setattr(Policy, "read", read)
    code, out, _ = planlog("solve", tmp_path / "p01.pddl", "--json")
    assert (code, json.loads(out)["policy"]) == (0, "shipped: ferry, learned")
