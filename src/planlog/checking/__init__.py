"""Property checks: decide three properties of a policy on a task, with counterexamples.

1. *Goal achieving*: from every state that the policy reaches, it can reach a goal.
2. *Cycle-free*: no execution visits a state twice.
3. *Optimality preserving*: from every solvable state, derived actions can lead to a goal at least
   cost.

The parts of the results are in `planlog.checking.report`.
"""

from planlog.checking.check import CheckSettings, Stage, check, check_all
from planlog.checking.report import Property, Summary, TaskReport, Verdict

__all__ = [
    "check",
    "check_all",
    "CheckSettings",
    "Stage",
    "Property",
    "Summary",
    "TaskReport",
    "Verdict",
]
