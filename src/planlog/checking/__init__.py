"""Property checks: decide three properties of a policy on a task, with counterexamples.

1. *Goal achieving*: from every state that the policy reaches, it can reach a goal.
2. *Cycle-free*: no execution visits a state twice.
3. *Optimality preserving*: in every solvable state some derived action is optimal.
"""

from planlog.checking.check import Progress, Stage, check, check_all
from planlog.checking.report import (
    Counterexample,
    Finding,
    Fond,
    Fraction,
    GoalStatus,
    Property,
    Reason,
    RuleCount,
    RuleReport,
    Scope,
    Summary,
    TaskReport,
    Verdict,
    WalkReport,
)

__all__ = [
    "check",
    "check_all",
    "Progress",
    "Stage",
    "Counterexample",
    "Finding",
    "Fond",
    "Fraction",
    "GoalStatus",
    "Property",
    "Reason",
    "RuleCount",
    "RuleReport",
    "Scope",
    "Summary",
    "TaskReport",
    "Verdict",
    "WalkReport",
]
