"""Nothing that a file, a model or a command line contains reaches the terminal raw."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from planlog import domains
from support.commands import run_process
from support.model_files import forge

# Colours and titles, a bell, returning to the start of the line, NUL, C1 controls, marks of
# direction and of zero width, an unassigned character, a lone surrogate and a raw byte.
NASTY = "\x1b[31m\x1b]0;title\x07\r\x08\x00\x7f\x85\x9b1m\u202e\u2066\u200b\ufeff\u2028\U000e0041"
IN_A_NAME = os.fsdecode(b"n\xff\x1b[31m\x07\r\n\xc2\x9b\xe2\x80\xae")
# Control characters make a file binary, and commands refuse binary files before reading them.
FEW = "\x1b[31m\u202e\x9b1m"

DOMAIN = (domains.path("ferry") / "domain.pddl").read_text()
PROBLEM = """(define (problem p) (:domain ferry) (:objects a b - location c - car)
  (:init (at-ferry a) (at c a) (empty-ferry)) (:goal (at c b)))"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    filler = "; comment\n" * 500
    texts = {
        "domain.pddl": DOMAIN,
        "p.pddl": PROBLEM,
        "plan": f"(sail a b)\n(fly {FEW} b)\n",
        "text.plan": f"what {NASTY}\n",
        "bad-domain.pddl": filler + DOMAIN.replace("(at-ferry ?l", f"({FEW} ?l"),
        "bad.pddl": filler + PROBLEM.replace("(at c a)", f"(at{FEW} {FEW} a)"),
        "rules.dl": filler.replace(";", "%") + f"sail(X, Y) :- p{FEW}(X), {FEW}, 'q{FEW}'(Y).\n",
        "warned.dl": filler.replace(";", "%") + f"p(X) :- location(X), object(Y). % {FEW}\n",
    }
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8", newline="")
    for name in (f"{IN_A_NAME}.pddl", f"{IN_A_NAME}.dl", f"{IN_A_NAME}.safetensors", IN_A_NAME):
        Path(name).write_text(f"({NASTY}", encoding="utf-8")
    Path("records").mkdir()
    Path("records/r.jsonl").write_text('{"run": "1", "family": "rules", "status": "\\u001b[31m"}\n')

    def change(description: dict[str, object]) -> None:
        description.update(domain=f"ferry{NASTY}", versions={f"v{NASTY}": NASTY})
        description.update(training={f"k{NASTY}": [NASTY, {NASTY: NASTY}]})
        description.update(rules=f"{description['rules']}\n% {NASTY}\n")

    forge(tmp_path / "model.safetensors", change)
    return tmp_path


COMMANDS = {
    "info": ["info", "model.safetensors"],
    "info of no model": ["info", f"{IN_A_NAME}.safetensors"],
    "model of another domain": ["solve", "p.pddl", "--model", "model.safetensors"],
    "domain": ["solve", "bad-domain.pddl", "p.pddl"],
    "problem": ["solve", "domain.pddl", "bad.pddl"],
    "rules": ["solve", "p.pddl", "--policy", "rules.dl"],
    "warnings": ["solve", "p.pddl", "--policy", "warned.dl"],
    "policy word": ["solve", "p.pddl", "--policy", f"shipped:{NASTY}".replace("\0", "")],
    "missing file": ["solve", f"{IN_A_NAME}x.pddl"],
    "odd file": ["solve", "domain.pddl", f"{IN_A_NAME}.pddl"],
    "option value": ["solve", "p.pddl", "--seed", IN_A_NAME],
    "option name": ["solve", "p.pddl", f"--{IN_A_NAME}"],
    "command": [IN_A_NAME],
    "plan": ["validate", "domain.pddl", "p.pddl", "plan"],
    "plan of text": ["validate", "domain.pddl", "p.pddl", "text.plan"],
    "validated domain": ["validate", "bad-domain.pddl", "p.pddl", "plan"],
    "validated problem": ["validate", "domain.pddl", "bad.pddl", "plan"],
    "plan file": ["solve", "p.pddl", "--plan-file", f"{IN_A_NAME}.d/plan"],
    "check": ["check", "bad.pddl", "--policy", "rules.dl"],
    "check of a folder": ["check", f"{IN_A_NAME}.pddl", "--policy", "none"],
    "check property": ["check", "p.pddl", "--property", NASTY.replace("\0", "")],
    "template": ["template", "domain.pddl", "--policy", "rules.dl"],
    "template domain": ["template", f"{IN_A_NAME}.pddl"],
    "train": ["train", "p.pddl", "--settings", f"small+{IN_A_NAME}=1", "--out", "m"],
    "train out": ["train", "p.pddl", "--out", f"{IN_A_NAME}.d/m"],
    "generate": ["generate", IN_A_NAME],
    "generate out": ["generate", "ferry", "--out", f"{IN_A_NAME}/x"],
    "report": ["report", "."],
    "report of nothing": ["report", IN_A_NAME],
    "ipc plan": ["ipc", "plan", "model.safetensors", "domain.pddl", "p.pddl", "out.plan"],
    "ipc learn": ["ipc", "learn", f"{IN_A_NAME}.d/dk", "domain.pddl", "p.pddl"],
    "experiment": ["experiment", "--out", f"{IN_A_NAME}.d/r", "--tasks", IN_A_NAME],
    "experiment planner": ["experiment", "--out", "r", "--planners", IN_A_NAME],
    "completion": ["completion", IN_A_NAME],
}


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_reaches_the_terminal_raw(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes], name: str, as_json: bool
) -> None:
    from planlog.cli import main

    with_json = ("solve", "info", "check", "validate", "train", "generate", "experiment")
    if as_json and COMMANDS[name][0] not in with_json:
        return
    code = main([*COMMANDS[name], *(["--json"] if as_json else [])])
    streams = capfdbinary.readouterr()
    assert code in (0, 1, 12, 31, 36)
    assert streams.out + streams.err
    for stream in streams:
        text = stream.decode()  # UTF-8 without surrogates
        left = text.replace("\n", "").replace("\t", "")
        assert left.isprintable(), [c for c in left if not c.isprintable()]
        assert "Traceback" not in text
    if as_json and streams.out:
        json.loads(streams.out)


def test_a_line_break_in_a_name_begins_no_line(folder: Path) -> None:
    done = run_process("solve", "nothing\nplanlog: all is well.pddl")
    assert done.returncode in (31, 36)
    assert not [line for line in done.stderr.splitlines() if line.startswith("planlog: all")]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-16"])
def test_streams_of_other_encodings(folder: Path, encoding: str) -> None:
    """What the encoding lacks is escaped instead of ending in an exception."""
    for arguments in (["info", "model.safetensors"], ["solve", "domain.pddl", "bad.pddl"]):
        done = subprocess.run(
            [sys.executable, "-m", "planlog", *arguments],
            capture_output=True,
            env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
        )
        assert done.returncode in (0, 31), done.stderr
        assert b"Traceback" not in done.stderr


def test_a_model_cannot_flood_the_terminal(folder: Path) -> None:
    """Long keys do not widen every row, and deep values do not exhaust the stack."""
    deep: object = 1
    for _ in range(300):
        deep = [deep]
    training = {"k" * 100_000: 1, "deep": deep} | {f"key{i}": "v" * 5_000 for i in range(100)}

    def change(description: dict[str, object]) -> None:
        description.update(training=training, versions={"v" * 50_000: "1"})

    done = run_process("info", forge(folder / "large.safetensors", change))
    assert done.returncode == 0
    assert len(done.stdout) < 1_000_000
