"""Planlog: generalised policies for PDDL domains, written as a few Datalog rules.

The names below are imported when they are first used, so that `import planlog` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planlog.errors import PlanlogError
    from planlog.pddl.plan import Plan
    from planlog.pddl.task import Action, Atom, Domain, State, Task
    from planlog.policy.execution import Outcome, PlanResult, execute
    from planlog.policy.policy import Policy
    from planlog.policy.walk import Walk
    from planlog.statespace.labels import Labels, label
    from planlog.statespace.space import StateSpace, expand

__version__ = "0.1.0"

__all__ = [
    "Domain",
    "Task",
    "State",
    "Atom",
    "Action",
    "Plan",
    "Policy",
    "Walk",
    "execute",
    "Outcome",
    "PlanResult",
    "StateSpace",
    "expand",
    "Labels",
    "label",
    "PlanlogError",
]

_MODULES = {
    "planlog.errors": ["PlanlogError"],
    "planlog.policy.execution": ["Outcome", "PlanResult", "execute"],
    "planlog.statespace.labels": ["Labels", "label"],
    "planlog.policy.policy": ["Policy"],
    "planlog.policy.walk": ["Walk"],
    "planlog.statespace.space": ["StateSpace", "expand"],
    "planlog.pddl.plan": ["Plan"],
    "planlog.pddl.task": ["Action", "Atom", "Domain", "State", "Task"],
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module 'planlog' has no attribute {name!r}")
