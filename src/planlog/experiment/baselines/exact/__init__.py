"""Exact methods: for some domains, plans with the fewest actions and a proof that none is shorter.

Each package here is the exact method of the domain of the same name (`-` becomes `_`) and offers
`solve`. No other file lists them: adding a package adds a method.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Protocol

from planlog.experiment.baselines.solution import Solution
from planlog.pddl.task import Task


class ExactMethod(Protocol):
    """Solve a task in this process: return the best plan and a lower bound on its length.

    After `time_limit` seconds it returns the best plan and bound found so far. Raise
    UnsuitableTaskError for a task that is not of the domain's shape.
    """

    def __call__(self, task: Task, *, time_limit: float | None = None) -> Solution: ...


def exact_method(domain_name: str) -> ExactMethod | None:
    """Return the exact method for domains of this name, or None if there is none."""
    package = domain_name.replace("-", "_")
    if not package.isidentifier():
        return None
    spec = find_spec(f"{__name__}.{package}")
    if spec is None or spec.submodule_search_locations is None:  # a plain module is shared code
        return None
    method: ExactMethod = import_module(spec.name).solve
    return method
