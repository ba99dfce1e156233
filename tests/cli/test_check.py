"""`planlog check` as its users meet it: verdicts, counterexamples, exit codes, interruptions."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planlog import domains
from planlog.cli import main
from planlog.cli.formatting import counted, percent, wrapped
from support.commands import Run

# Rooms in a row with doors to the next and the one before it; from `pit` no door leads out.
DOMAIN = """
(define (domain rooms)
  (:predicates (at ?x) (next ?x ?y) (pit ?x) (been ?x))
  (:action ahead :parameters (?x ?y) :precondition (and (at ?x) (next ?x ?y))
    :effect (and (not (at ?x)) (at ?y)))
  (:action back :parameters (?x ?y) :precondition (and (at ?x) (next ?y ?x))
    :effect (and (not (at ?x)) (at ?y)))
  (:action jump :parameters (?x ?y) :precondition (and (at ?x) (pit ?y))
    :effect (and (not (at ?x)) (at ?y))))
"""
TASK = """
(define (problem four) (:domain rooms) (:objects a b c d hole)
  (:init (at b) (next a b) (next b c) (next c d) (pit hole)) (:goal (at d)))
"""
RIGHT = "ahead(X, Y)."
STUCK = "ahead(X, c)."  # ends in c
FALLS = "ahead(X, Y).\njump(c, Y)."
LOOPS = "ahead(X, Y).\nback(c, Y)."
SLOW = "ahead(X, Y) :- not at(a).\nback(b, a) :- at(b).\njump(a, Y)."
KEYS = {
    "outcome complete problem domain policy limit walks walk_steps seed seconds tasks summary "
    "rules",
    "file task minimises verdict unsolvable states states_complete solvable reached "
    "reached_complete properties fond dead rules walks",
    "title verdict scope states failing failing_reached counterexample plan_file",
    "reason trace under_policy shortest state goals distance dead_end derived derived_by_rule "
    "optimal cycle ending plan",
    "rule actions",
    "properties fond states tasks_with_all_states failing failing_reached",
    "scope states rules never_fired mean_actions choice mixed",
    "rule line derives_action states derivations",
    "seed walks steps states solved stuck probes",
    "weak strong_cyclic strong",
    "number of percent",
    "goal holds",
    "1 2 3",
}


@pytest.fixture
def rooms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("domain.pddl").write_text(DOMAIN)
    Path("four.pddl").write_text(TASK)
    policies = {"right": RIGHT, "stuck": STUCK, "falls": FALLS, "loops": LOOPS, "slow": SLOW}
    for name, rules in policies.items():
        Path(f"{name}.dl").write_text(rules + "\n")
    return tmp_path


@pytest.fixture(scope="module")
def blocks(generate: Callable[..., Path]) -> Path:
    folder = generate("blocksworld", "--blocks", 4, "--count", 3)
    generate("blocksworld", "--blocks", 12).rename(folder / "large")
    return folder


def test_goals_that_rules_cannot_see_get_one_warning(rooms: Path, planlog: Run) -> None:
    Path("goals.dl").write_text("ahead(X, Y) :- at@ug(_), not been@un(Y).\n")
    for name in ("five", "six"):
        task = TASK.replace("four", name).replace("(:goal (at d))", "(:goal (or (at c) (at d)))")
        Path(f"{name}.pddl").write_text(task)
    _, _, messages = planlog("check", "goals.dl", "four.pddl")
    assert "warning" not in messages
    _, _, messages = planlog("check", "goals.dl", "four.pddl", "five.pddl", "six.pddl")
    assert messages.count("warning") == 1
    assert messages.startswith("goals.dl:1:16: warning: at@ug has no atoms for a part of the goal")
    assert "task 'five' and 1 other task: (or (at c) (at d))" in messages


def check_json(planlog: Run, *arguments: object) -> tuple[int, dict[str, Any]]:
    code, out, _ = planlog("check", *arguments, "--json")
    return code, json.loads(out)


# Verdicts and exit codes


@pytest.mark.parametrize(
    ("policy", "verdicts"),
    [
        ("right", ["proved", "proved", "proved"]),
        ("stuck", ["refuted", "proved", "refuted"]),
        ("falls", ["refuted", "proved", "proved"]),
        ("loops", ["proved", "refuted", "proved"]),
        ("none", ["refuted", "refuted", "proved"]),
    ],
)
def test_verdicts_are_those_of_each_property(
    rooms: Path, policy: str, verdicts: list[str], planlog: Run
) -> None:
    file = "none" if policy == "none" else f"{policy}.dl"
    refuted = "refuted" in verdicts
    code, out, _ = planlog("check", "domain.pddl", file, "four.pddl")
    assert code == refuted
    assert (
        re.findall(r"^  [123] [a-z ]+? +(proved|refuted|undecided)\b", out, re.MULTILINE)
        == verdicts
    )
    code, answer = check_json(planlog, "domain.pddl", file, "four.pddl")
    assert code == refuted
    assert answer["outcome"] == ("refuted" if refuted else "proved")
    assert list(answer["summary"]["properties"].values()) == verdicts
    for number, verdict in enumerate(verdicts, 1):
        asked = ["domain.pddl", file, "four.pddl", "--property", number]
        assert planlog("check", *asked)[0] == (verdict == "refuted")


def test_the_counterexample_is_all_one_needs(rooms: Path, planlog: Run) -> None:
    _, out, _ = planlog("check", "domain.pddl", "falls.dl", "four.pddl")
    _, _, example = out.partition("Counterexample to 1 goal achieving, four.pddl:\n")
    expected = """\
  no action is derived here
  after 2 actions from the initial state, under the policy (no trace is shorter):
      1  (ahead b c)
      2  (jump c hole)
  the state, without static atoms:
    (at hole)
  unachieved goals, 1 of 1:
    (at d)
"""
    assert example.startswith(expected)
    assert "derived actions: none" in example


@pytest.mark.parametrize("policy", ["stuck", "falls", "loops", "slow"])
def test_the_json_object_has_all_that_the_text_shows(
    rooms: Path, policy: str, planlog: Run
) -> None:
    arguments = ["domain.pddl", f"{policy}.dl", "four.pddl"]
    _, out, _ = planlog("check", *arguments)
    (task,) = check_json(planlog, *arguments)[1]["tasks"]
    for number, finding in task["properties"].items():
        example = finding["counterexample"]
        if example is None:
            assert f"Counterexample to {number}" not in out
            continue
        _, _, text = out.partition(f"Counterexample to {number} {finding['title']}, four.pddl:\n")
        lines = text.partition("\n\n")[0].splitlines()
        steps = example["trace"] + example["cycle"] + (example["ending"] or [])
        shown = [line.split(maxsplit=1)[1] for line in lines if re.match(r" +\d+  \(", line)]
        assert shown == steps
        by_rule = example["derived_by_rule"]
        blocks = [[f"    {r['rule']}", f"      {' '.join(r['actions'])}"] for r in by_rule]
        blocks += [["  optimal actions:", f"    {' '.join(example['optimal'])}"]] * bool(
            example["optimal"]
        )
        blocks += [[f"    {' '.join(example['state'])}"]]
        blocks += [[f"    {g['goal']}"] for g in example["goals"] if not g["holds"]]
        for block in blocks:
            assert "\n".join(block) in "\n".join(lines)
        assert {action for rule in by_rule for action in rule["actions"]} == set(example["derived"])
        # No other rule is in the text.
        assert sum(line.endswith(".") for line in lines) == len(by_rule)


def test_a_cycle_is_shown(rooms: Path, planlog: Run) -> None:
    _, answer = check_json(planlog, "domain.pddl", "loops.dl", "four.pddl", "--property", "2")
    (task,) = answer["tasks"]
    assert list(task["properties"]) == ["2"]
    example = task["properties"]["2"]["counterexample"]
    assert example["trace"] == []
    assert example["cycle"] == ["(ahead b c)", "(back c b)"]
    assert example["plan"].splitlines()[:2] == example["cycle"]
    _, out, _ = planlog("check", "domain.pddl", "loops.dl", "four.pddl")
    assert "the cycle back to this state, 2 actions:\n      1  (ahead b c)" in out
    assert "    ahead(X, Y).\n      (ahead b c)" in out  # the rule, and what it derives


def test_a_lost_optimum_off_the_policys_ways(rooms: Path, planlog: Run) -> None:
    Path("rare.dl").write_text("ahead(X, Y) :- not at(a).\n")
    code, answer = check_json(planlog, "domain.pddl", "rare.dl", "four.pddl")
    assert code == 1
    finding = answer["tasks"][0]["properties"]["3"]
    assert finding["failing"] == {"number": 1, "of": 3, "percent": pytest.approx(100 / 3)}
    assert finding["failing_reached"] == {"number": 0, "of": 2, "percent": 0.0}
    example = finding["counterexample"]
    assert (example["trace"], example["under_policy"]) == (["(back b a)"], False)
    assert (example["optimal"], example["distance"]) == (["(ahead a b)"], 3)
    assert answer["summary"]["failing"] == finding["failing"]
    _, out, _ = planlog("check", "domain.pddl", "rare.dl", "four.pddl")
    assert "by actions the policy does not derive" in out


def test_undecided_within_the_limit(blocks: Path, planlog: Run) -> None:
    arguments = [blocks / "domain.pddl", "shipped", blocks / "large/p01.pddl", "--limit", "20"]
    code, out, _ = planlog("check", *arguments, "--walks", 5)
    assert code == 12
    assert "more than 20 states; the policy reaches more than 20" in out
    assert re.search(
        r"1 goal achieving +undecided within the limit: \d+ states seen, no counterexample; "
        r"5 random walks \(seed 0, \d+ steps, \d+ states\) found none",
        out,
    )
    assert "FOND solution            weak proved, strong-cyclic undecided, strong undecided" in out
    code, answer = check_json(planlog, *arguments, "--walks", 0, "--property", "1")
    assert code == 12
    assert answer["tasks"][0]["walks"] is None
    assert answer["tasks"][0]["states"] is None
    # What the policy reaches is enough for the first two properties.
    assert planlog("check", *arguments[:-1], 10_000, "--property", "1,2")[0] == 0


def test_walks_refute_where_there_are_too_many_states(
    blocks: Path, planlog: Run, tmp_path: Path
) -> None:
    domain, task = blocks / "domain.pddl", blocks / "large/p01.pddl"
    rules = tmp_path / "tables.dl"
    rules.write_text("unstack(A, B).\nputdown(A).\n")  # all on the table, and there it ends
    arguments = [domain, rules, task, "--limit", "5", "--property", "1"]
    code, out, _ = planlog("check", *arguments)
    assert code == 1
    assert re.search(r"1 goal achieving +refuted: found by 1 random walk \(seed 0, ", out)
    assert "a shorter trace may exist" in out
    answers = []
    for seed in (3, 3, 4):
        _, answer = check_json(planlog, *arguments, "--seed", seed)
        answers.append({k: v for k, v in answer.items() if k not in ("seed", "seconds")})
    assert answers[0] == answers[1]
    assert answers[0] != answers[2]


def test_a_task_without_a_plan(rooms: Path, planlog: Run) -> None:
    Path("hopeless.pddl").write_text(TASK.replace("(at b)", "(at hole)"))
    code, out, _ = planlog("check", "domain.pddl", "right.dl", "hopeless.pddl", "--property", "1")
    assert code == 1
    assert "this task is unsolvable" in out
    assert "a dead end: no goal is reachable" in out


# Many tasks


def test_many_tasks_have_a_summary(rooms: Path, planlog: Run) -> None:
    for name, start in [("from-a", "(at a)"), ("from-c", "(at c)"), ("done", "(at d)")]:
        Path(f"{name}.pddl").write_text(TASK.replace("(at b)", start, 1))
    tasks = ["from-a.pddl", "four.pddl", "from-c.pddl", "done.pddl"]
    code, out, _ = planlog("check", "domain.pddl", "stuck.dl", *tasks, "--jobs", 2)
    assert code == 1
    # The shortest trace in full, the others in a line.
    assert out.count("Counterexample to 1") == 1
    assert "Counterexample to 1 goal achieving, from-a.pddl:\n  no action is derived here\n" in out
    assert "  four.pddl: no goal can be reached from here under the policy, in the initial" in out
    assert "  1 goal achieving         refuted on 3 tasks, proved on 1 task" in out
    assert (
        planlog("check", "domain.pddl", "stuck.dl", *tasks, "-v")[1].count("Counterexample to 1")
        == 3
    )
    _, answer = check_json(planlog, "domain.pddl", "stuck.dl", *tasks)
    assert [task["file"] for task in answer["tasks"]] == tasks
    failing = [task["properties"]["3"]["failing"] for task in answer["tasks"]]
    total = answer["summary"]["failing"]
    assert total["number"] == sum(share["number"] for share in failing)
    assert total["of"] == sum(share["of"] for share in failing)
    assert answer["rules"]["states"] == sum(task["rules"]["states"] for task in answer["tasks"])


def test_shares_count_only_tasks_with_all_states(blocks: Path, planlog: Run) -> None:
    small, large = blocks / "p01.pddl", blocks / "large/p01.pddl"
    arguments = [blocks / "domain.pddl", "none", "--limit", 200, "--walks", 0]
    _, alone = check_json(planlog, *arguments, small)
    _, both = check_json(planlog, *arguments, small, large)
    assert both["summary"]["tasks_with_all_states"] == 1
    assert both["summary"]["failing"] == alone["summary"]["failing"] != None  # noqa: E711
    assert check_json(planlog, *arguments, large)[1]["summary"]["failing"] is None


def test_rules_that_never_fire_are_named(rooms: Path, planlog: Run) -> None:
    Path("idle.dl").write_text("ahead(X, Y).\n\njump(d, Y).\n")
    _, out, _ = planlog("check", "domain.pddl", "idle.dl", "four.pddl")
    assert re.search(r"^ +3 +3 +1  ahead\(X, Y\)\.$", out, re.MULTILINE)
    assert re.search(r"^ +0 +0 +3  jump\(d, Y\)\.$", out, re.MULTILINE)
    assert "never fired: 1 rule, in line 3" in out
    assert check_json(planlog, "domain.pddl", "idle.dl", "four.pddl")[1]["rules"][
        "never_fired"
    ] == [3]


def test_the_keys_of_the_json_object_are_those_documented(blocks: Path, planlog: Run) -> None:
    tasks = [blocks / "p01.pddl", blocks / "large/p01.pddl"]
    found: set[frozenset[str]] = set()

    def collect(value: object) -> None:
        if isinstance(value, dict):
            found.add(frozenset(value))
        if isinstance(value, dict | list):
            for part in value.values() if isinstance(value, dict) else value:
                collect(part)

    for policy in ("none", "shipped"):
        arguments = [blocks / "domain.pddl", policy, *tasks, "--limit", 1000, "--walks", 3]
        collect(check_json(planlog, *arguments)[1])
    assert found == {frozenset(keys.split()) for keys in KEYS}
    page = (Path(__file__).parents[2] / "docs/check.md").read_text()
    for keys in KEYS:
        for key in keys.split():
            assert f"`{key}`" in page, key


# Plan files


@pytest.mark.parametrize("policy", ["stuck", "falls", "loops", "slow"])
def test_plan_files_are_replayed(rooms: Path, policy: str, planlog: Run) -> None:
    arguments = ["domain.pddl", f"{policy}.dl", "four.pddl", "--plan-dir", "found/here"]
    code, answer = check_json(planlog, *arguments)
    assert code == 1
    refuted = {
        number: finding
        for number, finding in answer["tasks"][0]["properties"].items()
        if finding["verdict"] == "refuted"
    }
    plans = {f"found/here/four.p{number}.plan" for number in refuted}
    assert {str(path) for path in Path("found/here").iterdir()} == plans
    for finding in refuted.values():
        plan = finding["plan_file"]
        assert Path(plan).read_text() == finding["counterexample"]["plan"]
        assert main(["validate", "domain.pddl", "four.pddl", plan, "--prefix"]) == 0
    # The text tells how to do that.
    for command in re.findall(r"replay: planlog (.*)", planlog("check", *arguments)[1]):
        assert main(command.split()) == 0


def test_long_traces_are_shown_in_part(blocks: Path, planlog: Run, tmp_path: Path) -> None:
    large = tmp_path / "large"
    assert main(["generate", "blocksworld", "--blocks", "30", f"--out={large}"]) == 0
    rules = tmp_path / "tables.dl"
    rules.write_text("unstack(A, B).\nputdown(A).\n")
    arguments = [large / "domain.pddl", rules, large / "p01.pddl", "--limit", 5, "--property", 1]
    _, out, _ = planlog("check", *arguments)
    _, answer = check_json(planlog, *arguments)
    trace = answer["tasks"][0]["properties"]["1"]["counterexample"]["trace"]
    assert len(trace) > 30
    assert f"…  {counted(len(trace) - 30, 'action')} more: see --plan-dir or --json" in out
    assert f"{len(trace):>7}  {trace[-1]}" in out


# Mistakes


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["no.pddl", "right.dl", "four.pddl"], 31, "no.pddl: No such file"),
        (["domain.pddl", "no.dl", "four.pddl"], 31, "no.dl: No such file"),
        (["domain.pddl", "right.dl", "four.pddl", "no.pddl"], 31, "no.pddl: No such file"),
        (["domain.pddl", "wrong.dl", "four.pddl"], 31, "wrong.dl:1:5: error: variable X"),
        (["domain.pddl", "right.dl", "four.pddl", "bad.pddl"], 31, "bad.pddl:2:"),
        (["domain.pddl", "right.dl", "other.pddl"], 31, "is of domain 'houses'"),
        (["domain.pddl", "object.dl", "four.pddl"], 31, "has no object 'cellar'"),
        (["domain.pddl", "right.dl", "timed.pddl"], 34, "timed.pddl"),
        (
            ["domain.pddl", "shipped", "four.pddl"],
            31,
            "no policy is shipped for the domain 'rooms'",
        ),
        (["domain.pddl", "right.dl", "four.pddl", "--property", "1,4"], 36, "--property"),
        (["domain.pddl", "right.dl", "four.pddl", "--property", ""], 36, "--property"),
        (["domain.pddl", "right.dl", "four.pddl", "--limit", "0"], 36, "--limit"),
        (["domain.pddl", "right.dl", "four.pddl", "--plan-dir", "four.pddl"], 36, "not a folder"),
        (["domain.pddl", "right.dl", "four.pddl", "--plan-dir", "four.pddl/x"], 36, "--plan-dir"),
        (["domain.pddl", "right.dl", "four.pddl", "./four.pddl", "--plan-dir=d"], 36, "2 tasks"),
        (["domain.pddl", "right.dl"], 36, "TASK"),
    ],
)
def test_mistakes_are_told_and_nothing_is_printed(
    rooms: Path, arguments: list[str], code: int, message: str, planlog: Run
) -> None:
    Path("wrong.dl").write_text("fly(X, Y).\n")
    Path("object.dl").write_text("ahead(X, cellar).\n")
    Path("bad.pddl").write_text("\n(define (problem x) (:domain rooms) (:goal (under a)))\n")
    Path("other.pddl").write_text(TASK.replace("rooms", "houses"))
    Path("timed.pddl").write_text(TASK.replace("(:goal", "(:constraints (always (at a))) (:goal"))
    found, out, err = planlog("check", *arguments)
    assert found == code, err
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_mistakes_as_json(rooms: Path, planlog: Run) -> None:
    Path("bad.pddl").write_text("(define (problem x) (:domain rooms) (:goal (under a)))")
    code, answer = check_json(planlog, "domain.pddl", "right.dl", "four.pddl", "bad.pddl")
    assert code == 31
    assert answer["outcome"] == "bad input"
    assert answer["diagnostics"][0]["file"] == "bad.pddl"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_plan_folder_that_cannot_be_written(rooms: Path, planlog: Run) -> None:
    Path("locked").mkdir(mode=0o500)
    code, _, err = planlog("check", "domain.pddl", "right.dl", "four.pddl", "--plan-dir", "locked")
    assert (code, "Permission denied" in err) == (73, True)


def test_warnings_and_notes_go_to_the_standard_error(tmp_path: Path, planlog: Run) -> None:
    sizes = ["--cars", "2", "--locations", "3"]
    assert main(["generate", "ferry", *sizes, "--out", str(tmp_path)]) == 0
    task = tmp_path / "p01.pddl"
    rules = tmp_path / "rules.dl"
    rules.write_text("sail(A, B) :- at-ferry(A), at(C, B).\n")
    _, out, err = planlog("check", tmp_path / "domain.pddl", rules, task)
    assert "warning: " in err
    assert "warning: " not in out
    for variant in ("shipped", "shipped:policy"):
        assert planlog("check", tmp_path / "domain.pddl", variant, task)[0] == 0


# Signals and terminals


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_what_was_found_is_told_when_interrupted(
    blocks: Path, number: signal.Signals, code: int
) -> None:
    large = blocks / "large/p01.pddl"
    plans = blocks / f"plans{code}"
    arguments = [blocks / "domain.pddl", "none", blocks / "p02.pddl", large]
    options = ["--limit", "1000000000", "--jobs", "1", "--plan-dir", plans]
    process = subprocess.Popen(
        [sys.executable, "-m", "planlog", "check", *map(str, arguments + options)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for _ in range(200):
        if (plans / "p02.p2.plan").exists():  # the first task is done
            break
        time.sleep(0.05)
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert process.returncode == code
    assert err == ""
    assert "p02.pddl: 125 states" in out
    assert out.endswith("INCOMPLETE, interrupted: results of 1 of 2 tasks\n")


def test_a_bar_on_a_terminal_and_nothing_elsewhere(blocks: Path) -> None:
    command = [sys.executable, "-m", "planlog", "check", str(blocks / "domain.pddl"), "none"]
    command += [str(blocks / "p01.pddl"), "--property", "3"]
    quiet = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (quiet.returncode, quiet.stderr) == (0, "")
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    result = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=theirs, text=True, timeout=60, env=environment
    )
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert result.stdout == quiet.stdout
    assert "of 1 task, " in shown


# Words


def test_numbers_in_words() -> None:
    assert [counted(n, "state") for n in (0, 1, 12_345)] == ["0 states", "1 state", "12,345 states"]
    assert [percent(n, 10**6) for n in (0, 1, 12_000, 999_999, 10**6)] == [
        "0 %",
        "less than 0.01 %",
        "1.20 %",
        "more than 99.99 %",
        "100 %",
    ]
    assert percent(0, 0) == "0 %"
    words = [f"(on b{i} b{i + 1})" for i in range(30)]
    lines = wrapped(words, "  ", most=20, width=40).splitlines()
    assert all(len(line) <= 40 and line.startswith("  ") for line in lines)
    assert " ".join(line.strip() for line in lines) == " ".join(words[:20]) + " … and 10 more"


def test_shipped_policies_pass(tmp_path: Path, planlog: Run) -> None:
    for name in domains.names():
        folder = tmp_path / name
        assert (
            main(["generate", name, "--split", "training", "--count", "1", f"--out={folder}"]) == 0
        )
        assert planlog("check", folder / "domain.pddl", "shipped", folder / "p01.pddl")[0] == 0
