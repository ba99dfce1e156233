"""Random states of state spaces as tasks of their own, for exact methods."""

from __future__ import annotations

import random
from collections.abc import Iterable

from planlog.experiment.records import Status
from planlog.pddl.task import Atom, Task
from planlog.statespace.space import DEAD_END, expand
from support.exact_reference import SHIPPED, method, solved


def check_states(name: str, problem: str, count: int, limit: int = 20_000) -> int:
    """Solve from some of the states that can be reached; returns how many.

    Each time the plan has to be as long as the way to the goal is, and proved to be optimal.
    """
    task = SHIPPED[name].parse_task(problem)
    space = expand(task, limit=limit)
    # In a space that is not complete the distances are known that are not UNKNOWN.
    known = [n for n in range(space.expanded) if space.goal_distances[n] >= DEAD_END]
    # The initial state is always among them, the others are drawn.
    chosen = [n for n in known if n == 0] + random.Random(problem).sample(
        known, min(count, len(known))
    )
    for number in chosen:
        text = problem_from(task, (*space.state(number).atoms, *task.static_atoms))
        distance = int(space.goal_distances[number])
        if distance == DEAD_END:
            solution = method(name)(SHIPPED[name].parse_task(text))
            assert solution.status is Status.UNSOLVABLE, (text, solution)
            assert not solution.plans
        else:
            solution = solved(name, text)
            assert solution.lower_bound == distance, (text, distance, solution)
            assert solution.optimal, (text, distance, solution)
    return len(chosen)


def problem_from(task: Task, atoms: Iterable[Atom]) -> str:
    """The problem with other initial atoms."""
    objects = " ".join(f"{name} - {kind}" for name, kind in task.objects.items())
    return (
        f"(define (problem p) (:domain {task.domain.name}) (:objects {objects})"
        f" (:init {' '.join(map(str, atoms))}) (:goal (and {' '.join(task.goals)})))"
    )
