"""Planlog: generalised policies for PDDL domains, written as a few Datalog rules.

The names below are imported when they are first used, so that `import planlog` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planlog.errors import PlanlogError
    from planlog.execution import Outcome, PlanResult, execute, write_plan
    from planlog.labels import Labels, label
    from planlog.policy import Policy, Walk
    from planlog.statespace import StateSpace, expand
    from planlog.task import Action, Domain, State, Task

__version__ = "0.1.0"

__all__ = [
    "Domain",
    "Task",
    "State",
    "Action",
    "Policy",
    "Walk",
    "execute",
    "Outcome",
    "PlanResult",
    "write_plan",
    "StateSpace",
    "expand",
    "Labels",
    "label",
    "PlanlogError",
]

_MODULES = {
    "planlog.errors": ["PlanlogError"],
    "planlog.execution": ["Outcome", "PlanResult", "execute", "write_plan"],
    "planlog.labels": ["Labels", "label"],
    "planlog.policy": ["Policy", "Walk"],
    "planlog.statespace": ["StateSpace", "expand"],
    "planlog.task": ["Action", "Domain", "State", "Task"],
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module 'planlog' has no attribute {name!r}")
