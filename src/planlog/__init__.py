"""Planlog: generalised policies for PDDL domains, written as a few Datalog rules.

These names are what Planlog promises to keep; all other modules are internal and may change.

- Values: `Domain`, `Task`, `State`, `Atom`, `Action`, `Plan`, `Policy` (rules, with a scorer if it
  is learned), `Model` (a learned policy in a file), `Walk` (a policy in a state).
- Functions, each as the command of its name: `solve`, `improve`, `learn`, `check`, `validate`.
- Results: `PlanResult` with its `Outcome`; every error is a `PlanlogError` or an `OSError`.

A name is imported when it is first used, so that `import planlog` is quick.
"""

from __future__ import annotations

# Type checkers take this for true. Importing `typing` would take a fourth of the import's time.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from planlog.api.check import check
    from planlog.api.learn import learn
    from planlog.api.solve import improve, solve
    from planlog.api.validate import validate
    from planlog.errors import PlanlogError
    from planlog.network.model_file import Model
    from planlog.pddl.plan import Plan
    from planlog.pddl.task import Action, Atom, Domain, State, Task
    from planlog.policy.execution import Outcome, PlanResult
    from planlog.policy.policy import Policy
    from planlog.policy.walk import Walk

__version__ = "0.1.0"

__all__ = [
    "Domain",
    "Task",
    "State",
    "Atom",
    "Action",
    "Plan",
    "Policy",
    "Model",
    "Walk",
    "solve",
    "improve",
    "learn",
    "check",
    "validate",
    "PlanResult",
    "Outcome",
    "PlanlogError",
]

_MODULES = {
    "planlog.api.check": ["check"],
    "planlog.api.learn": ["learn"],
    "planlog.api.solve": ["solve", "improve"],
    "planlog.api.validate": ["validate"],
    "planlog.errors": ["PlanlogError"],
    "planlog.network.model_file": ["Model"],
    "planlog.pddl.plan": ["Plan"],
    "planlog.pddl.task": ["Action", "Atom", "Domain", "State", "Task"],
    "planlog.policy.execution": ["Outcome", "PlanResult"],
    "planlog.policy.policy": ["Policy"],
    "planlog.policy.walk": ["Walk"],
}


def __getattr__(name: str) -> Any:
    import importlib

    for module, names in _MODULES.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module 'planlog' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
