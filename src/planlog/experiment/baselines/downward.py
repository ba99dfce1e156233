"""Fast Downward, SymK and Scorpion: run the driver, and read its plan files and its log.

SymK and Scorpion are based on Fast Downward, and share its driver, exit codes and plan files.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from planlog.errors import PlanFileError
from planlog.experiment.baselines.solution import Solution, TimedPlan
from planlog.experiment.process_limits import Limits, Stop, Usage, run
from planlog.experiment.records import Status
from planlog.pddl.plan import Plan
from planlog.pddl.task import Action

PLAN, LOG = "plan", "log"

_EXIT_CODES = {
    10: Status.UNSOLVABLE,  # found by the translator
    11: Status.UNSOLVABLE,
    12: Status.NO_PLAN,
    20: Status.MEMORY,  # in the translator
    21: Status.TIME,
    22: Status.MEMORY,
    23: Status.TIME,
    24: Status.MEMORY,  # and time
}

# The last line of a complete plan file.
_COST_LINE = re.compile(r"; cost = \d+ \((?:unit|general) cost\)\n")
# Lower bounds in the log: A* expands a state of this f-value next, SymK has excluded all cheaper
# plans, LAMA has excluded plans up to this cost. A truncated number is smaller, and still a bound.
# After its first plan, SymK's bound is for other plans.
_AT_LEAST = re.compile(rb"\] f = (\d+)|BOUND: (\d+) < \d+ \[0/")
_MORE_THAN = re.compile(rb"no plan with cost (\d+) or less exists!")
_INFINITE = 2**31 - 1  # SymK's bound for unsolvable tasks
_METRIC = re.compile(r"\(\s*:metric\b", re.IGNORECASE)
_COMMENT = re.compile(r";[^\n]*")


def solve(
    driver: Sequence[str],
    options: Sequence[str],
    search: Sequence[str],
    domain_file: Path,
    task_file: Path,
    limits: Limits,
    *,
    proves_optimality: bool,
) -> Solution:
    """Run a driver on a task in a temporary folder.

    `options` precede the files on the command line, `search` follows them. Raise OSError if the
    driver cannot be started, or the task cannot be read.
    """
    text = task_file.read_text(errors="replace")
    unit_cost = _METRIC.search(_COMMENT.sub("", text)) is None
    files = [str(file.resolve()) for file in (domain_file, task_file)]
    with tempfile.TemporaryDirectory(prefix="planlog-") as name:
        folder = Path(name)
        with (folder / LOG).open("wb") as log:
            usage = run(
                [*driver, "--plan-file", PLAN, *options, *files, *search],
                limits,
                cwd=folder,
                # Reproducible runs of the translator, which is written in Python.
                env=os.environ | {"PYTHONHASHSEED": "0"},
                stdout=log,
            )
        plans = read_plans(folder, usage)
        output = (folder / LOG).read_bytes()
    return _solution(usage, plans, output, unit_cost, proves_optimality)


def read_plans(folder: Path, usage: Usage) -> tuple[TimedPlan, ...]:
    """Return all complete plans in the order of their discovery, with the times of their files."""
    files = [folder / PLAN]
    while (file := folder / f"{PLAN}.{len(files)}").exists():
        files.append(file)
    found = []
    for file in files:
        actions = complete_plan(file.read_text(errors="replace")) if file.exists() else None
        if actions is not None:
            seconds = file.stat().st_mtime - usage.started
            found.append(TimedPlan(actions, min(max(seconds, 0.0), usage.seconds)))
    return tuple(found)


def complete_plan(text: str) -> tuple[Action, ...] | None:
    """Return the actions of a plan file; None if it is incomplete."""
    last = text.splitlines(keepends=True)[-1:]
    if not last or not _COST_LINE.fullmatch(last[0]):
        return None
    try:
        return Plan.parse(text).actions
    except PlanFileError:
        return None


def lower_bound(log: bytes) -> int | None:
    """Return the highest lower bound on plan cost in a log."""
    bounds = [int(f or bound) for f, bound in _AT_LEAST.findall(log)]
    bounds += [int(number) + 1 for number in _MORE_THAN.findall(log)]
    return max(bounds, default=None)


def _solution(
    usage: Usage, plans: tuple[TimedPlan, ...], log: bytes, unit_cost: bool, proves_optimality: bool
) -> Solution:
    status = _EXIT_CODES.get(usage.returncode, Status.FAILED)
    if plans:
        status = Status.SOLVED
    elif usage.stopped in (Stop.TIME, Stop.MEMORY):
        status = Status(usage.stopped.value)
    bound = lower_bound(log)
    if bound == _INFINITE and not plans:
        status, bound = Status.UNSOLVABLE, None
    optimal = bool(plans) and proves_optimality and usage.returncode == 0
    if not unit_cost:
        bound = None
    elif plans:
        best = len(plans[-1].actions)
        if optimal or (bound is not None and bound >= best):
            optimal, bound = True, best
    return Solution(
        status=status,
        plans=plans,
        optimal=optimal,
        lower_bound=bound,
        message=_end_of(log, usage.returncode) if status is Status.FAILED else "",
        seconds=usage.seconds,
        cpu_seconds=usage.cpu_seconds,
        memory=usage.memory,
    )


def _end_of(log: bytes, returncode: int) -> str:
    """Return the exit code with the last lines of a log."""
    lines = [line for line in log.decode(errors="replace").splitlines() if line.strip()]
    return "\n".join([f"exit code {returncode}; the last lines of its output:", *lines[-8:]])
