"""Random states of state spaces as tasks of their own, for exact methods."""

from __future__ import annotations

import random
from collections.abc import Iterable

from planlog.pddl.task import Atom, Task
from planlog.statespace.space import DEAD_END, expand
from support.exact_reference import SHIPPED, check_unsolvable, solved


def check_states(name: str, problem: str, count: int, limit: int = 20_000) -> int:
    """Solve random reachable states, compare with their goal distances, and return the number."""
    task = SHIPPED[name].parse_task(problem)
    space = expand(task, limit=limit)
    # In an incomplete space some distances are UNKNOWN.
    known = [n for n in range(space.expanded) if space.goal_distances[n] >= DEAD_END]
    chosen = [n for n in known if n == 0] + random.Random(problem).sample(
        known, min(count, len(known))
    )
    for number in chosen:
        text = problem_from(task, (*space.state(number).atoms, *task.static_atoms))
        distance = int(space.goal_distances[number])
        if distance == DEAD_END:
            check_unsolvable(name, text)
        else:
            solution = solved(name, text)
            assert solution.lower_bound == distance, (text, distance, solution)
            assert solution.optimal, (text, distance, solution)
    return len(chosen)


def problem_from(task: Task, atoms: Iterable[Atom]) -> str:
    """Return the problem with other initial atoms."""
    objects = " ".join(f"{name} - {kind}" for name, kind in task.objects.items())
    return (
        f"(define (problem p) (:domain {task.domain.name}) (:objects {objects})"
        f" (:init {' '.join(map(str, atoms))}) (:goal (and {' '.join(task.goals)})))"
    )
