"""Solve every task of an IPC-style folder with the shipped policies, and validate all plans.

    python benchmarks/ipc_folder.py [FOLDER] [--seeds 3] [--time-limit 60]

FOLDER holds one folder for each domain, named as a shipped one, with its `domain.pddl` and the
tasks as `p*.pddl` anywhere below it; without it, tasks of all splits are generated. The exit
code is 1 if any task is not solved.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from planlog import Domain, Outcome, PlanlogError, Policy, domains
from planlog.policy.execution import execute
from planlog.validation import validate


@dataclass
class Tally:
    """What happened to the tasks of one folder."""

    tasks: int = 0
    solved: int = 0
    steps: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    failures: list[str] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--seeds", type=int, default=3, help="plans for each task")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for each plan")
    parser.add_argument("--policy", default="policy", help="variant of the shipped policy")
    arguments = parser.parse_args()
    if arguments.folder is not None:
        return run(arguments)
    with tempfile.TemporaryDirectory() as folder:
        arguments.folder = Path(folder)
        generate(arguments.folder)
        return run(arguments)


def generate(folder: Path) -> None:
    """Write ten tasks of every split of every domain."""
    for name in domains.names():
        for split in domains.SPLITS:
            target = folder / name / split
            target.mkdir(parents=True)
            for file, text in domains.generate(name, seed=0, split=split, count=10):
                (target / file).write_text(text)
        shutil.copy(domains.path(name) / "domain.pddl", folder / name)


def run(arguments: argparse.Namespace) -> int:
    """Solve all tasks, print the table, and return the exit code."""
    rows: dict[str, Tally] = {}
    for name in domains.names():
        folder = arguments.folder / name
        if not (folder / "domain.pddl").is_file() or arguments.policy not in domains.variants(name):
            continue
        domain = Domain.read(folder / "domain.pddl")
        policy = Policy.read(domains.policy_path(name, arguments.policy), domain)
        for file in sorted(folder.rglob("p*.pddl")):
            if re.fullmatch(r"p\d+\.pddl", file.name):
                tally = rows.setdefault(str(file.parent.relative_to(arguments.folder)), Tally())
                solve(domain, policy, file, folder, arguments.seeds, arguments.time_limit, tally)

    if not rows:
        print(f"no tasks of {', '.join(domains.names())} in {arguments.folder}")
        return 1
    print(f"{'folder':30} {'tasks':>5} {'solved':>9} {'steps':>8} {'seconds':>8} {'slowest':>8}")
    for where, tally in rows.items():
        solved = f"{tally.solved}/{tally.tasks * arguments.seeds}"
        print(
            f"{where:30} {tally.tasks:5} {solved:>9} {tally.steps:8} "
            f"{tally.seconds:8.2f} {tally.slowest:8.2f}"
        )
    failures = [failure for tally in rows.values() for failure in tally.failures]
    print("\n".join(failures) if failures else "all solved, all plans valid")
    return 1 if failures else 0


def solve(
    domain: Domain,
    policy: Policy,
    file: Path,
    folder: Path,
    seeds: int,
    time_limit: float,
    tally: Tally,
) -> None:
    """Solve one task with several seeds and note what came of it."""
    tally.tasks += 1
    try:
        task = domain.read_task(file)
    except (PlanlogError, OSError) as error:
        tally.failures.append(f"{file}: {error}")
        return
    texts = (folder / "domain.pddl").read_text(), file.read_text()
    for seed in range(seeds):
        start = time.perf_counter()
        result = execute(policy, task, rng=np.random.default_rng(seed), time_limit=time_limit)
        seconds = time.perf_counter() - start
        tally.seconds += seconds
        tally.slowest = max(tally.slowest, seconds)
        tally.steps += result.steps
        if result.outcome is not Outcome.SOLVED:
            tally.failures.append(
                f"{file}, seed {seed}: {result.outcome.name} after {result.steps}"
            )
            continue
        report = validate(*texts, "\n".join(str(action) for action in result.actions))
        if report.valid:
            tally.solved += 1
        else:
            tally.failures.append(f"{file}, seed {seed}: invalid plan: {report.reason}")


if __name__ == "__main__":
    sys.exit(main())
