"""What the speed benchmark measures about whole plans: time, memory, and how a step grows."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from inputs import LARGEST, Sizes, best, described, largest_generated, part_of, setting
from planlog import domains
from planlog.pddl.task import Task
from planlog.policy.policy import Policy
from results import Growth, Process, StepCost

# Seconds and megabytes.
RULES_ALONE = 10, 500
LEARNED = 60, 1000

# Planlog on some of the cores only, and then the peak of the memory of this process. (Its parent
# would see its own memory in that of its child.)
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
    """A command's JSON, and what it took."""

    report: dict[str, Any]
    seconds: float
    megabytes: float


def planlog(*arguments: str, cores: int) -> Done:
    """Run a command that prints JSON, in a process of its own."""
    command = [sys.executable, "-c", COMMAND, str(cores), *arguments, "--json"]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if not done.stdout:
        raise SystemExit(done.stderr)
    return Done(json.loads(done.stdout), seconds, int(done.stderr.split()[-1]) / 1024)


def measure_plans(sizes: Sizes) -> Iterator[Process]:
    """Tasks of the largest sizes of the IPC, solved from the command line by the rules alone."""
    for name in LARGEST:
        yield solved(sizes, name, "rules alone", "--no-model", *RULES_ALONE)


def measure_learned_plans(sizes: Sizes) -> Iterator[Process]:
    """The same tasks, solved with the shipped models."""
    for name in LARGEST:
        model = domains.model_path(name)
        if model is None:
            print(f"left out: plans with a model of {name}, for there is none", file=sys.stderr)
        else:
            yield solved(sizes, name, "learned", f"--model={model}", *LEARNED)


def solved(
    sizes: Sizes, name: str, policy: str, option: str, seconds: float, megabytes: float
) -> Process:
    """The longest of some tasks of the largest sizes."""
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


def measure_growth(sizes: Sizes) -> Iterator[StepCost]:
    """Steps of whole plans of growing tasks: draw an action, apply it, in the core."""
    for name, part in itertools.product(LARGEST, sizes.growth_parts):
        domain, policy = setting(name)
        measured = part_of(name, part)
        task = domain.parse_task(largest_generated(name, measured))
        walk = policy.start(task)
        counts = []
        while not walk.is_goal:
            counts.append(walk.action_count)
            walk.core.apply(*walk.core.sample(len(counts)))

        def steps(policy: Policy = policy, task: Task = task, keys: int = len(counts)) -> float:
            walk = policy.start(task).core
            start = time.thread_time()
            for key in range(1, keys + 1):
                walk.apply(*walk.sample(key))
            return time.thread_time() - start

        (seconds,) = best(min(3, sizes.repetitions), steps)
        values = ", ".join(str(value) for value in measured.values())
        yield StepCost(
            name,
            values,
            len(task.objects),
            len(counts),
            float(np.mean(counts)),
            seconds / len(counts) * 1e6,
        )


def growth(costs: Iterable[StepCost]) -> Iterator[Growth]:
    for name, group in itertools.groupby(costs, key=lambda cost: cost.domain):
        first, *_, last = group
        yield Growth(name, last.microseconds / first.microseconds, last.actions / first.actions)
