"""The command as a process of its own, and domains for the tests of `planlog ipc`."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from planlog.cli.plan_files import numbered_files
from planlog.network.model_file import Model

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


@contextmanager
def process(*arguments: str | Path | int, before: str = "") -> Iterator[subprocess.Popen[str]]:
    """Start `planlog` in a process that runs some code `before`, and kill it at the end."""
    program = f"import sys, planlog.cli\n{before}\nsys.exit(planlog.cli.main())"
    started = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


def run_process(*arguments: str | Path | int, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run `planlog` in a process of its own; its output must not hold a traceback."""
    command = [sys.executable, "-m", "planlog", *map(str, arguments)]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    result = subprocess.run(command, text=True, timeout=120, **{**streams, **options})
    assert "Traceback" not in (result.stderr or "")
    return result


def wait_for(file: Path, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not file.exists():
        assert time.monotonic() < deadline, file
        time.sleep(0.01)


def assert_whole(dk: Path) -> dict[int, Path]:
    """All files of knowledge can be read and are numbered from 1 on."""
    found = numbered_files(dk)
    assert sorted(found) == list(range(1, len(found) + 1))
    for file in found.values():
        Model.read(file)
    return found
