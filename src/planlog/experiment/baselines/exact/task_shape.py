"""Read tasks for exact methods, and reject tasks of another shape."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache

from planlog import domains
from planlog.errors import PlanlogError
from planlog.pddl.task import Domain, Task


class UnsuitableTaskError(PlanlogError):
    """A task that an exact method cannot solve."""


class Unsolvable(Exception):
    """A task without a plan."""

    def __init__(self, reason: str = "the goal contradicts itself") -> None:
        super().__init__(reason)


def check_task(task: Task, like: str) -> None:
    """Raise UnsuitableTaskError unless the task has the shape of the shipped domain `like`.

    Predicates and actions must have the same names and arities, and plans must be measured by
    their number of actions. The effects of the actions are not compared.
    """
    for kind, expected, found in zip(
        ("predicate", "action"), _signature(_shipped(like)), _signature(task.domain), strict=True
    ):
        for name in sorted(expected.keys() | found.keys()):
            if expected.get(name) != found.get(name):
                problem = "is missing" if name not in found else "is not expected"
                if name in expected and name in found:
                    problem = f"has {found[name]} parameters instead of {expected[name]}"
                raise UnsuitableTaskError(f"domain '{task.domain.name}': {kind} '{name}' {problem}")
    if task.minimises_cost:
        raise UnsuitableTaskError(
            f"task '{task.name}' minimises a cost; exact methods count actions"
        )


def _signature(domain: Domain) -> tuple[dict[str, int], dict[str, int]]:
    """Return the arities of predicates and of actions, by name."""
    return (
        {predicate.name: predicate.arity for predicate in domain.predicates},
        {action.name: action.arity for action in domain.actions},
    )


@cache
def _shipped(name: str) -> Domain:
    return Domain.read(domains.path(name) / "domain.pddl")


class Facts:
    """The arguments of the initial atoms by predicate, sorted: `facts["on"] == [("a", "b")]`."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._rows: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        for atom in sorted((*task.initial.atoms, *task.static_atoms)):
            self._rows[atom.name].append(atom.arguments)

    def __getitem__(self, predicate: str) -> Sequence[tuple[str, ...]]:
        return self._rows.get(predicate, ())

    def objects(self, predicate: str) -> list[str]:
        """Return the objects of which a unary predicate holds."""
        return [argument for (argument,) in self[predicate]]

    def grouped(self, predicate: str) -> dict[str, list[str]]:
        """Return the second arguments of a binary predicate by its first; missing keys: []."""
        found: dict[str, list[str]] = defaultdict(list)
        for first, second in self[predicate]:
            found[first].append(second)
        return found

    def function(self, pairs: Iterable[tuple[str, ...]], problem: str) -> dict[str, str]:
        """Return pairs as a mapping; raise UnsuitableTaskError if a key has two values."""
        found: dict[str, str] = {}
        for key, value in pairs:
            if found.setdefault(key, value) != value:
                raise self.unsuitable(f"{key} {problem}")
        return found

    def unsuitable(self, reason: str) -> UnsuitableTaskError:
        """Return an error for an initial state that no task of the domain can have."""
        return UnsuitableTaskError(f"task '{self._task.name}', initial state: {reason}")


def goal_atoms(task: Task, predicates: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the goals; raise UnsuitableTaskError unless they are atoms of these predicates."""
    allowed = tuple(predicates)
    atoms = {str(atom): atom for atom in task.goal_atoms if atom.name in allowed}
    for goal in task.goals:
        if goal not in atoms:
            raise UnsuitableTaskError(
                f"task '{task.name}': goals must be atoms of {', '.join(allowed)}, not {goal}"
            )
    return [(name, *arguments) for name, arguments in map(atoms.__getitem__, task.goals)]
