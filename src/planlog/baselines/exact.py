"""Exact methods: for some domains the fewest actions that solve a task, with a proof."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Protocol

from planlog import domains
from planlog.baselines.solution import Solution
from planlog.errors import PlanlogError
from planlog.task import Action, Domain, Task

# Each has a module or package of its name here, with a function `solve`.
DOMAINS = ("blocksworld", "ferry", "rover", "satellite")


class UnsuitableTaskError(PlanlogError):
    """A task that an exact method does not know how to solve."""


class MissingSolverError(PlanlogError):
    """A package that an exact method needs and that is not installed."""


class Solve(Protocol):
    """An exact method: plans, the best one last, and a lower bound of the number of actions.

    It works in this process, and stops looking for better plans and bounds after `time_limit`
    seconds. Raises UnsuitableTaskError for a task that is not of the domain's shape.
    """

    def __call__(self, task: Task, *, time_limit: float | None = None) -> Solution: ...


def exact(domain_name: str) -> Solve | None:
    """The exact method for a domain of this name, or None if there is none."""
    if domain_name not in DOMAINS:
        return None
    solve: Solve = import_module(f"planlog.baselines.{domain_name}").solve
    return solve


def check_domain(domain: Domain, like: dict[str, int], actions: dict[str, int]) -> None:
    """Raises UnsuitableTaskError unless these are the predicates and actions, with their arities.

    What the actions do is not compared: that is up to whoever names the domain.
    """
    found = {predicate.name: predicate.arity for predicate in domain.predicates}
    schemas = {action.name: action.arity for action in domain.actions}
    for kind, wanted, there in (("predicate", like, found), ("action", actions, schemas)):
        for name in sorted(wanted.keys() | there.keys()):
            if wanted.get(name) != there.get(name):
                what = "is missing" if name not in there else "is not expected"
                if name in wanted and name in there:
                    what = f"has {there[name]} parameters instead of {wanted[name]}"
                raise UnsuitableTaskError(f"domain '{domain.name}': {kind} '{name}' {what}")


def check_shipped(domain: Domain, name: str) -> None:
    """Raises UnsuitableTaskError unless a domain has what the shipped one of this name has."""
    like = _shipped(name)
    check_domain(
        domain,
        {predicate.name: predicate.arity for predicate in like.predicates},
        {action.name: action.arity for action in like.actions},
    )


@cache
def _shipped(name: str) -> Domain:
    return Domain.read(domains.path(name) / "domain.pddl")


def check_costs(task: Task) -> None:
    """Raises UnsuitableTaskError if plans are not measured by their number of actions."""
    if task.minimises_cost:
        raise UnsuitableTaskError(
            f"task '{task.name}' minimises a cost; exact methods count actions"
        )


def split_atom(atom: str) -> tuple[str, ...]:
    """Predicate and arguments of a ground atom as text; raises ValueError for other formulas."""
    inside = atom[1:-1]
    if "(" in inside or ")" in inside or not inside.strip():
        raise ValueError(atom)
    return tuple(inside.split())


def initial_atoms(task: Task) -> Iterator[tuple[str, ...]]:
    """All atoms of the initial state."""
    return map(split_atom, task.atoms(task.initial, static=True))


def impossible(task: Task, reason: str) -> UnsuitableTaskError:
    """To be raised for an initial state that no task of the domain can have."""
    return UnsuitableTaskError(f"task '{task.name}', initial state: {reason}")


def goal_atoms(task: Task, predicates: dict[str, int]) -> list[tuple[str, ...]]:
    """The goals, which have to be positive atoms of these predicates; else UnsuitableTaskError."""
    atoms = []
    for goal in task.goals:
        try:
            atom = split_atom(goal)
        except ValueError:
            atom = ("",)
        if atom[0] not in predicates:
            raise UnsuitableTaskError(
                f"task '{task.name}': a goal has to be an atom of {', '.join(predicates)}, "
                f"but one is {goal}"
            )
        atoms.append(atom)
    return atoms


def as_actions(steps: list[tuple[str, ...]]) -> tuple[Action, ...]:
    """Ground actions from their names and arguments."""
    return tuple(Action(name, tuple(arguments)) for name, *arguments in steps)
