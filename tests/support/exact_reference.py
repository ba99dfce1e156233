"""Checks of exact methods against breadth-first search and the validator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from planlog import domains
from planlog.experiment.baselines.exact import ExactMethod, exact_method
from planlog.experiment.baselines.exact.task_shape import UnsuitableTaskError
from planlog.experiment.baselines.solution import Solution
from planlog.experiment.records import Status
from planlog.pddl.task import Action, Domain
from planlog.statespace.space import DEAD_END, expand
from planlog.validation import validate

TEXTS = {name: (domains.path(name) / "domain.pddl").read_text() for name in domains.names()}
SHIPPED = {name: Domain.parse(text) for name, text in TEXTS.items()}


def generated(name: str, seed: int, **sizes: int) -> str:
    """Return a generated problem."""
    ((_, text),) = domains.generate(name, seed=seed, sizes=sizes)
    return text


def method(name: str) -> ExactMethod:
    solve = exact_method(name)
    assert solve is not None
    return solve


def solved(name: str, problem: str, time_limit: float | None = None) -> Solution:
    """Return the solution of a task, with a validated plan."""
    solution = method(name)(SHIPPED[name].parse_task(problem), time_limit=time_limit)
    assert solution.status is Status.SOLVED
    (found,) = solution.plans
    report = validate(TEXTS[name], problem, "\n".join(map(str, found.actions)))
    assert report.valid, report
    assert solution.lower_bound is not None
    assert solution.lower_bound <= len(found.actions)
    assert solution.optimal == (solution.lower_bound == len(found.actions))
    return solution


def optimum(name: str, problem: str) -> int:
    """Return the length of a plan that is proved optimal."""
    solution = solved(name, problem)
    assert solution.optimal
    return len(solution.plans[-1].actions)


def check_unsolvable(name: str, problem: str) -> None:
    solution = method(name)(SHIPPED[name].parse_task(problem))
    assert solution.status is Status.UNSOLVABLE
    assert not solution.plans


def check_unsuitable(name: str, problem: str, reason: str) -> None:
    with pytest.raises(UnsuitableTaskError, match=reason):
        method(name)(SHIPPED[name].parse_task(problem))


def shortest(name: str, problem: str) -> int:
    """Return the length of a shortest plan, by breadth-first search."""
    space = expand(SHIPPED[name].parse_task(problem), limit=10**6, stop_at_goal=True)
    return int(space.goal_distances[0])


def check_all_states(
    name: str, objects: str, start: Sequence[str], goal: Sequence[str], every: int = 1
) -> int:
    """Solve every n-th reachable state, compare with its goal distance, and return the number."""
    domain = SHIPPED[name]

    def problem(atoms: Sequence[str]) -> str:
        return (
            f"(define (problem p) (:domain {name}) (:objects {objects})"
            f" (:init {' '.join(atoms)}) (:goal (and {' '.join(goal)})))"
        )

    space = expand(domain.parse_task(problem(start)), limit=10**6)
    assert space.complete
    numbers = range(0, len(space), every)
    for number in numbers:
        initial = list(map(str, space.state(number).atoms))
        solution = method(name)(domain.parse_task(problem(initial)))
        distance = int(space.goal_distances[number])
        situation = (initial, goal, distance, solution)
        if distance == DEAD_END:
            assert solution.status is Status.UNSOLVABLE, situation
            assert not solution.plans, situation
            continue
        assert solution.status is Status.SOLVED, situation
        assert solution.optimal, situation
        assert solution.lower_bound == distance, situation
        (found,) = solution.plans
        assert len(found.actions) == distance, situation
        for action in found.actions:
            successors = dict(_steps(space, number))
            assert action in successors, (action, situation)
            number = successors[action]
        assert space.goal[number], situation
    return len(numbers)


def _steps(space, number: int) -> Iterator[tuple[Action, int]]:
    for step in space.transitions(number):
        yield space.action_of(step), int(space.successors[step])
