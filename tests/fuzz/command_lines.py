"""Command lines: an exit code that is documented, bounded and printable output, no traceback.

An input is JSON: the arguments, and texts that replace files of the folder in which they run.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import click

from fuzz.mutations import change_text
from planlog import domains
from planlog.cli import main
from planlog.cli.app import app
from planlog.cli.exit_codes import ExitCode

MOST_OUTPUT = 2_000_000  # characters
# Nothing interrupts the commands, or closes their output, and none may fail by itself.
CODES = set(ExitCode) - {ExitCode.CRITICAL, ExitCode.INTERRUPTED, ExitCode.BROKEN_PIPE}
NAMES = (
    "domain.pddl", "p1.pddl", "rules.dl", "plan", "model.safetensors", "folder", "empty", "binary",
    "missing", "no/such/folder/file", "results", "weird\x1b[31m\n\u202e.pddl", "/dev/null", "", ".",
    "*.pddl", "-", "x" * 300, "none", "shipped", "ferry", "shipped:best", "\udcff.pddl",
)  # fmt: skip
NUMBERS = (
    "0", "1", "2", "3", "-1", "1.5", "1e-9", "1e300", "nan", "inf", "-inf", "", "x", "0x10", "١",
    "9" * 30, "9" * 5000, "1_000", " 1", "+1",
)  # fmt: skip
WORDS = (
    "default",
    "small",
    "epochs=1",
    "none",
    "easy",
    "1,2",
    ",",
    "md",
    "=",
    "a=b",
    "\x1b[0m",
    "",
)
# Command lines that succeed, to which options are added.
CORRECT = (
    "solve domain.pddl p1.pddl", "solve p1.pddl --json",
    "solve p1.pddl --policy rules.dl --validate",
    "solve p1.pddl --model model.safetensors", "solve p1.pddl --plan-file out",
    "validate domain.pddl p1.pddl plan", "validate domain.pddl p1.pddl plan --json",
    "check p1.pddl --policy rules.dl --limit 100 --walks 2 --walk-steps 20 --jobs 1",
    "template domain.pddl --policy rules.dl", "info model.safetensors", "report results",
    "generate ferry --cars 2 --locations 3 --out new", "completion bash",
    "ipc plan model.safetensors domain.pddl p1.pddl out",
)  # fmt: skip
# They run for long, or start many processes: only their first checks are reached.
BRIEF = {
    "experiment": ["--domains", "no-such-domain"],
    "train": ["--out", "folder"],
    "demo": ["--no-such-option"],
    "doctor": ["--no-such-option"],
}
LIMITS = {"solve": ["--time-limit", "0.5"], "ipc plan": ["--time-limit", "0.5"]}


@cache
def _commands() -> dict[str, list[click.Parameter]]:
    """Return the parameters of all commands, by their names on the command line."""
    found: dict[str, list[click.Parameter]] = {}
    context = click.Context(app)

    def add(path: str, command: click.Command) -> None:
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                inner = command.get_command(context, name)
                assert inner is not None
                add(f"{path} {name}".strip(), inner)
        else:
            found[path] = command.params

    add("", app)
    return found


def make(rng: Random) -> bytes:
    commands = _commands()
    correct = rng.random() < 0.6
    arguments = rng.choice(CORRECT).split() if correct else rng.choice(list(commands)).split()
    name = " ".join(arguments[:2]) if arguments[0] == "ipc" else arguments[0]
    known = [option for option in commands[name] if isinstance(option, click.Option)]
    for option in rng.choices(known, k=rng.randrange(2 if correct else 5)) if known else ():
        arguments.append(rng.choice(option.opts))
        if not option.is_flag and rng.random() < 0.95:
            arguments.append(_value(option, rng))
    for _ in range(0 if correct else rng.randrange(5)):
        arguments.insert(rng.randrange(1, len(arguments) + 1), rng.choice(NAMES))
    if rng.random() < 0.1:
        arguments = [change_text(a, ["--", "-", "--json", "="], rng) for a in arguments]
    files = {}
    if rng.random() < 0.4:
        changed = rng.choice(["domain.pddl", "p1.pddl", "rules.dl", "plan"])
        files[changed] = change_text(_texts()[changed], ["(", ")", "\x1b", "not", "-"], rng)
    usable = [a.replace("\0", "") for a in arguments]
    return json.dumps({"arguments": usable, "files": files}).encode()


def _value(option: click.Option, rng: Random) -> str:
    if isinstance(option.type, click.Choice) and rng.random() < 0.7:
        return str(rng.choice(list(option.type.choices)))
    return rng.choice(rng.choice([NUMBERS, NUMBERS, NAMES, WORDS]))


@cache
def _texts() -> dict[str, str]:
    ferry = domains.path("ferry")
    return {
        "domain.pddl": (ferry / "domain.pddl").read_text(),
        "p1.pddl": "(define (problem p) (:domain ferry) (:objects a b - location c - car)\n"
        "  (:init (at-ferry a) (at c a) (empty-ferry)) (:goal (at c b)))\n",
        "rules.dl": (ferry / "policy.dl").read_text(),
        "plan": "(board c a)\n(sail a b)\n(debark c b)\n; cost = 3 (unit cost)\n",
    }


def check(data: bytes) -> str:
    try:
        value = json.loads(data)
        arguments = [str(a).replace("\0", "") for a in value["arguments"]]
        files = {str(k): str(v) for k, v in value["files"].items() if k in _texts()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return "no input"
    command = " ".join(arguments[:2]) if arguments[:1] == ["ipc"] else "".join(arguments[:1])
    arguments += BRIEF.get(command, LIMITS.get(command, []))
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    before = Path.cwd()
    with tempfile.TemporaryDirectory(dir=place) as name:
        _fill(Path(name), files)
        os.chdir(name)
        try:
            # Some run in a process of their own, which takes much longer.
            run = run_process if sum(data) % 100 == 0 else run_command
            code, _, _ = run(arguments)
        finally:
            os.chdir(before)
    return f"{command if command in _commands() else '?'} {code}"


def _fill(folder: Path, files: dict[str, str]) -> None:
    for name, text in {**_texts(), **files}.items():
        (folder / name).write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
    (folder / "folder").mkdir()
    (folder / "results" / "records").mkdir(parents=True)
    (folder / "empty").touch()
    (folder / "binary").write_bytes(bytes(range(256)))
    (folder / "weird\x1b[31m\n\u202e.pddl").write_text(_texts()["p1.pddl"])
    shutil.copy(domains.path("ferry") / "model.safetensors", folder)


def run_command(arguments: list[str]) -> tuple[int, str, str]:
    """Run a command in this process and check its streams and its exit code."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        code = main(arguments)
    out, err = (_flushed(stream).decode() for stream in streams)
    return check_answer(code, out, err)


def _flushed(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    buffer: Any = stream.buffer
    content: bytes = buffer.getvalue()
    return content


def run_process(arguments: list[str]) -> tuple[int, str, str]:
    """Run a command in a process of its own and check its streams and its exit code."""
    command = [sys.executable, "-m", "planlog", *map(os.fsencode, arguments)]
    done = subprocess.run(command, capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
    return check_answer(done.returncode, done.stdout.decode(), done.stderr.decode())


def check_answer(code: int, out: str, err: str) -> tuple[int, str, str]:
    assert "Traceback" not in err, err[-2000:]
    assert code in CODES, (code, err)
    assert len(out) + len(err) < MOST_OUTPUT
    shown = re.sub("[\n\t]", "", out + err)
    assert shown.isprintable(), [c for c in shown if not c.isprintable()]
    assert code in (0, 1) or out or err, code
    return code, out, err
