"""Blocksworld: domain, policies and task generator."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planlog.pddl.task import Task

# Predicates of goals that the policy achieves or preserves, such as `arm-empty`.
GOALS = frozenset({"on", "on-table", "clear", "arm-empty"})


def notes(task: Task) -> list[str]:
    """Return a note about blocks without a goal position, if there are any."""
    positioned = {atom.arguments[0] for atom in task.goal_atoms if atom.name in ("on", "on-table")}
    free = [block for block in task.objects if block not in positioned]
    if not free:
        return []
    shown = ", ".join(free[:5]) + (", …" if len(free) > 5 else "")
    return [
        f"the goal gives no position to {len(free)} of {len(task.objects)} blocks "
        f"({shown}): they stay where they are unless they are in the way"
    ]
