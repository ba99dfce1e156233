"""Action elimination: the removal of redundant actions from a plan.

A policy decides step by step, so some of its actions may turn out to be redundant: it calibrates a
camera that is never used.
"""

from __future__ import annotations

from dataclasses import replace

from planlog import _core
from planlog.pddl.task import Task
from planlog.policy.execution import PlanResult


def eliminate_redundant_actions(
    task: Task, result: PlanResult, *, time_limit: float | None = None
) -> PlanResult:
    """Return the plan with the actions that establish a fact for the goal or a later kept action.

    Return the result itself if it is no plan, or if derived predicates or conditional effects hide
    what the actions or the goal need, or if the time limit (in seconds) does not suffice.
    """
    if not result.solved:
        return result
    plan = task.encode(result.actions)
    try:
        found = _core.eliminate_actions(task.core, task.initial.ids, plan, time_limit)
    except TimeoutError:
        return result
    if found is None:
        return result
    steps, cost = found
    actions = tuple(result.actions[step] for step in steps)
    return replace(result, actions=actions, cost=task.decode_cost(cost))
