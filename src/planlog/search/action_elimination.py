"""Plans without the actions that serve nothing.

A policy may do what turns out to have been in vain: calibrate a camera that is never used. Such an
action can be left out afterwards; all that the goal and the other actions need still holds.
"""

from __future__ import annotations

from dataclasses import replace

from planlog import _core
from planlog.pddl.task import Task
from planlog.policy.execution import PlanResult


def eliminate_redundant_actions(task: Task, result: PlanResult) -> PlanResult:
    """The plan with those actions only that make something true or false which the goal or a later
    one of them needs.

    The result is the same if it is no plan, or if actions or the goal depend on derived predicates
    or have conditional effects.
    """
    if not result.solved:
        return result
    found = _core.eliminate_actions(task.core, task.initial.ids, task.encode(result.actions))
    if found is None:
        return result
    steps, cost = found
    return replace(result, actions=tuple(result.actions[step] for step in steps), cost=cost)
