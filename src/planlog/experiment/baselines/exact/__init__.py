"""Exact methods: for some domains, plans with the fewest actions and a proof that none is shorter.

A package here with a module `plan` is the exact method of the domain of the same name (`-` becomes
`_`): `plan.solve` takes a task of the domain's shape and a clock. No other file lists the methods.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Protocol

from planlog.experiment.baselines.exact.clock import Clock
from planlog.experiment.baselines.exact.task_shape import Unsolvable, check_task
from planlog.experiment.baselines.solution import Solution
from planlog.experiment.records import Status
from planlog.pddl.task import Task

_METHODS = frozenset(file.parent.name for file in Path(__file__).parent.glob("*/plan.py"))


class ExactMethod(Protocol):
    """Solve a task in this process: return the best plan and a lower bound on its length.

    After `time_limit` seconds it returns the best plan and bound found so far. Raise
    UnsuitableTaskError for a task that is not of the domain's shape.
    """

    def __call__(self, task: Task, *, time_limit: float | None = None) -> Solution: ...


def exact_method(domain_name: str) -> ExactMethod | None:
    """Return the exact method for domains of this name, or None if there is none."""
    package = domain_name.replace("-", "_")
    if package not in _METHODS:
        return None
    method = import_module(f"{__name__}.{package}.plan")

    def solve(task: Task, *, time_limit: float | None = None) -> Solution:
        clock = Clock(time_limit)
        check_task(task, domain_name)
        try:
            solution: Solution = method.solve(task, clock)
        except Unsolvable as reason:
            return clock.solution(Status.UNSOLVABLE, message=str(reason))
        return solution

    return solve
