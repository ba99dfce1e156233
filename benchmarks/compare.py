"""Compare versions of Planlog: CPU seconds of the same commands, run by several interpreters.

    python benchmarks/compare.py --python OLD/bin/python --python NEW/bin/python

The command line drives all versions, with options that they share. They read the same files: tasks
that the first interpreter generates, and its policies and models. They take turns, so that other
work on the machine slows all of them alike, and the best repetition of each counts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from inputs import LARGEST, part_of

FILES = "from planlog import domains as d; print(d.policy_path('{0}'), d.model_path('{0}'))"

SMALL = {
    "blocksworld": "--blocks=6",
    "ferry": "--cars=4 --locations=4",
    "rover": "--rovers=1 --waypoints=3 --cameras=1 --objectives=1",
    "satellite": "--satellites=2 --instruments=2 --modes=2 --directions=3",
}


def cpu_seconds(python: str, arguments: list[str], folder: Path) -> float:
    """Run Planlog and return the user and system time of its process."""
    command = [python, "-m", "planlog", *arguments]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        # What `check` has refuted, or cannot decide, is a result like any other.
        if process.returncode not in ((0, 1, 12) if arguments[0] == "check" else (0,)):
            errors.seek(0)
            raise SystemExit(f"{' '.join(command)} failed:\n{errors.read().decode()}")
    return usage.ru_utime + usage.ru_stime


def commands(python: str, folder: Path, scale: float) -> Iterator[tuple[str, list[str]]]:
    """Yield titles and commands, after writing the files that they read."""

    def generated(name: str, out: str, *options: str) -> list[str]:
        """Return the domain file and the task files."""
        cpu_seconds(python, ["generate", name, *options, "--out", out], folder)
        return [str(file) for file in sorted(Path(folder, out).glob("*.pddl"))]

    def sized(name: str, part: float) -> list[str]:
        sizes = part_of(name, part * scale)
        return generated(name, f"{name}-{part}", *(f"--{key}={n}" for key, n in sizes.items()))

    yield "help", ["--help"]
    for name in LARGEST:
        found = subprocess.check_output([python, "-c", FILES.format(name)], text=True)
        policy, model = found.split()
        tiny, medium, large = sized(name, 0.001), sized(name, 0.15), sized(name, 3)
        small = generated(name, f"{name}-small", *SMALL[name].split(), "--count=20")
        rules, learned = f"--policy={policy}", f"--model={model}"
        train = ["train", *small[:5], rules, "--out=model"]
        search = [f"--expansions={100_000 * scale:.0f}", "--threads=1"]
        for title, arguments in {
            "tiny task, rules": ["solve", *tiny, rules],
            "tiny task, load the model": ["solve", *tiny, learned],
            "large task, rules": ["solve", *large, rules],
            "medium task, model": ["solve", *medium, learned],
            "improve, rules": ["solve", *medium, rules, *search],
            "improve, model": ["solve", *medium, learned, *search],
            "check state spaces": ["check", small[0], policy, *small[1:], "--jobs=1"],
            "train on small tasks": [*train, "--settings=small", "--epochs=20"],
            "train by search": [*train, "--epochs=3", "--limit=2"],  # no task is that small
        }.items():
            yield f"{name}: {title}", arguments


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", action="append", help="Interpreter; may be repeated.")
    parser.add_argument("--repeats", type=int, default=5, help="Measurements of each command.")
    parser.add_argument("--only", default="", help="Commands with this text in their title.")
    parser.add_argument("--scale", type=float, default=1.0, help="Factor of the tasks' sizes.")
    options = parser.parse_args()
    # Commands run in another folder. A link is kept: it is what makes a virtual environment.
    pythons = [str(Path(python).absolute()) for python in options.python or [sys.executable]]
    for number, python in enumerate(pythons, start=1):
        print(f"{number}: {python}")
    columns = "".join(f"{i + 1:9}" for i in range(len(pythons)))
    print(f"{f'CPU seconds, best of {options.repeats}':40}{columns}    ratio")
    with tempfile.TemporaryDirectory() as name:
        for title, arguments in commands(pythons[0], Path(name), options.scale):
            if options.only not in title:
                continue
            rounds = [
                [cpu_seconds(python, arguments, Path(name)) for python in pythons]
                for _ in range(options.repeats)
            ]
            best = [min(times) for times in zip(*rounds, strict=True)]
            row = "".join(f"{seconds:9.3f}" for seconds in best)
            print(f"{title:40}{row}{best[-1] / best[0]:9.2f}", flush=True)


if __name__ == "__main__":
    main()
