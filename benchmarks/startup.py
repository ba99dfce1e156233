"""Startup: CPU seconds of short commands, and of loading a model, for one or more interpreters.

    python benchmarks/startup.py --python OLD/bin/python --python NEW/bin/python

The interpreters take turns, so that a busy machine slows all of them alike; the median counts.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

GENERATE = """
from planlog import domains
from pathlib import Path
import sys
folder = Path(sys.argv[1])
(folder / "domain.pddl").write_bytes((domains.path("ferry") / "domain.pddl").read_bytes())
(folder / "policy.dl").write_bytes(domains.policy_path("ferry").read_bytes())
[(_, text)] = domains.generate("ferry", seed=0, count=1, sizes={"cars": 2, "locations": 3})
(folder / "task.pddl").write_text(text)
"""

# Modules have moved; each interpreter imports them from where it has them.
LOAD_MODEL = """
from planlog import Domain, domains
try:
    from planlog.network.model_file import Model
except ImportError:
    from planlog.model import Model
folder = domains.path("rover")
Model.read(folder / "model.safetensors").policy(Domain.read(folder / "domain.pddl"))
"""


def cpu_seconds(command: list[str], folder: Path) -> float:
    """Run a command and return the user and system time of its process."""
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{errors.decode()}")
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", action="append", help="Interpreter; may be repeated.")
    parser.add_argument("--repeats", type=int, default=9, help="Measurements of each command.")
    options = parser.parse_args()
    # Commands run in another folder. A link is kept: it is what makes a virtual environment.
    pythons = [str(Path(python).absolute()) for python in options.python or [sys.executable]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([pythons[0], "-c", GENERATE, name], check=True)
        commands = {
            "planlog --help": ["-m", "planlog", "--help"],
            "planlog solve, tiny task": [
                "-m", "planlog", "solve", "domain.pddl", "task.pddl", "--policy", "policy.dl"
            ],
            "load the Rover model": ["-c", LOAD_MODEL],
        }  # fmt: skip
        print(f"{'CPU seconds, median':28}" + "".join(f"{i + 1:>10}" for i in range(len(pythons))))
        for title, arguments in commands.items():
            times: list[list[float]] = [[] for _ in pythons]
            for _ in range(options.repeats):
                for python, measured in zip(pythons, times, strict=True):
                    measured.append(cpu_seconds([python, *arguments], folder))
            medians = [statistics.median(measured) for measured in times]
            print(f"{title:28}" + "".join(f"{median:10.3f}" for median in medians))
    for number, python in enumerate(pythons, start=1):
        print(f"{number}: {python}")


if __name__ == "__main__":
    main()
