"""Measurements of whole plans: time, memory, and the growth of a step's time."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from inputs import LARGEST, Sizes, best, described, largest_generated, part_of, setting
from planlog import domains
from results import Growth, Process, StepCost

# Seconds and megabytes.
RULES_ALONE = 10, 500
LEARNED = 60, 1000

# Runs Planlog on the first cores and reports the peak of its memory. A parent process would count
# its own memory in that of its child.
COMMAND = """
import atexit, os, resource, sys
from pathlib import Path
def report():
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        kilobytes = next(line.split()[1] for line in lines if line.startswith("VmHWM:"))
    except OSError:
        kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(kilobytes, file=sys.stderr)
atexit.register(report)
cores = int(sys.argv.pop(1))
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
from planlog.cli import main
main()
"""


@dataclass(frozen=True)
class Done:
    """The JSON that a command printed, and its time and memory."""

    report: dict[str, Any]
    seconds: float
    megabytes: float


def planlog(*arguments: str, cores: int) -> Done:
    """Run a command with `--json` in a process of its own."""
    command = [sys.executable, "-c", COMMAND, str(cores), *arguments, "--json"]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if not done.stdout:
        raise SystemExit(done.stderr)
    return Done(json.loads(done.stdout), seconds, int(done.stderr.split()[-1]) / 1024)


def measure_plans(sizes: Sizes) -> Iterator[Process]:
    """Solve tasks of the largest sizes of the IPC from the command line, by the rules alone."""
    for name in LARGEST:
        yield solved(sizes, name, "rules alone", "--no-model", *RULES_ALONE)


def measure_learned_plans(sizes: Sizes) -> Iterator[Process]:
    """Solve the same tasks with the shipped models."""
    for name in LARGEST:
        model = domains.model_path(name)
        if model is None:
            print(f"skipped: plans of {name} with a model, since none is shipped", file=sys.stderr)
        else:
            yield solved(sizes, name, "learned", f"--model={model}", *LEARNED)


def solved(
    sizes: Sizes, name: str, policy: str, option: str, seconds: float, megabytes: float
) -> Process:
    """Solve a task and return the fastest of some runs."""
    measured = part_of(name, sizes.plan_part)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "problem.pddl")
        file.write_text(largest_generated(name, measured), encoding="utf-8")
        domain = domains.path(name) / "domain.pddl"
        runs = [
            planlog("solve", str(domain), str(file), option, cores=1)
            for _ in range(min(3, sizes.repetitions))
        ]
    fastest = min(runs, key=lambda run: run.seconds)
    return Process(
        what=f"{described(name, measured)}; {policy}",
        outcome=fastest.report["outcome"],
        expected="solved",
        steps=fastest.report["steps"],
        seconds=fastest.seconds,
        megabytes=fastest.megabytes,
        allowed_seconds=seconds,
        allowed_megabytes=megabytes,
    )


def measure_growth(sizes: Sizes) -> Iterator[StepCost | Growth]:
    """Measure steps of whole plans (sample an action, apply it) in tasks of growing size."""
    for name in LARGEST:
        costs = [step_cost(name, part, sizes.repetitions) for part in sizes.growth_parts]
        yield from costs
        first, last = costs[0], costs[-1]
        yield Growth(name, last.microseconds / first.microseconds, last.actions / first.actions)


def step_cost(name: str, part: float, repetitions: int) -> StepCost:
    domain, policy = setting(name)
    measured = part_of(name, part)
    task = domain.parse_task(largest_generated(name, measured))
    walk = policy.start(task)
    counts = []
    while not walk.is_goal:
        counts.append(walk.action_count)
        walk.core.apply(*walk.core.sample(len(counts)))

    def steps() -> float:
        walk = policy.start(task).core
        start = time.thread_time()
        for key in range(1, len(counts) + 1):
            walk.apply(*walk.sample(key))
        return time.thread_time() - start

    (seconds,) = best(min(3, repetitions), steps)
    return StepCost(
        name,
        ", ".join(map(str, measured.values())),
        len(task.objects),
        len(counts),
        float(np.mean(counts)),
        seconds / len(counts) * 1e6,
    )
