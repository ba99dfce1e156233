"""Slow, readable PDDL semantics: states as sets of atoms, conditions evaluated by the book."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from decimal import Decimal

from planlog.pddl.task import Action
from support.nested_lists import Nested, nested

Atom = tuple[str, ...]


Atoms = frozenset[Atom]


def typed(tokens: Nested) -> dict[str, list[str]]:
    """`a b - t c - (either t u)` as each name with its types."""
    result: dict[str, list[str]] = {}
    names: list[str] = []
    rest = iter(tokens)
    for token in rest:
        if token == "-":
            own = next(rest)
            result |= {name: own[1:] if isinstance(own, list) else [own] for name in names}
            names = []
        else:
            names.append(token)
    return result | {name: ["object"] for name in names}


class Book:
    """A task as its definition says: quantifiers try every object, actions every tuple."""

    def __init__(self, domain: str, problem: str) -> None:
        parts = {part[0]: part[1:] for part in nested(domain)[2:]}
        task = {part[0]: part[1:] for part in nested(problem)[2:]}
        self.types = typed(parts.get(":types", []))
        self.objects = typed(parts.get(":constants", [])) | typed(task.get(":objects", []))
        listed = [part[1:] for part in nested(domain)[2:]]
        kinds = [part[0] for part in nested(domain)[2:]]
        self.derived = [
            (head[0], typed(head[1:]), body)
            for kind, (head, *rest) in zip(kinds, listed, strict=True)
            if kind == ":derived"
            for body in rest
        ]
        self.actions = {}
        for kind, (name, *rest) in zip(kinds, listed, strict=True):
            if kind == ":action":
                found = dict(zip(rest[::2], rest[1::2], strict=True))
                self.actions[name] = (
                    typed(found.get(":parameters", [])),
                    found.get(":precondition", ["and"]),
                    found.get(":effect", ["and"]),
                )
        facts = task[":init"]
        self.values = {tuple(f[1]): Decimal(f[2]) for f in facts if f[0] == "="}
        self.initial = frozenset(tuple(f) for f in facts if f[0] != "=")
        self.goal = task[":goal"][0]
        self.has_metric = ":metric" in task
        self.levels = self._levels()

    def is_a(self, own: str, wanted: str) -> bool:
        return wanted in ("object", own) or any(
            self.is_a(parent, wanted) for parent in self.types.get(own, []) if parent != "object"
        )

    def objects_of(self, types: list[str]) -> list[str]:
        return [o for o, (own,) in self.objects.items() if any(self.is_a(own, t) for t in types)]

    def bindings(self, variables: dict[str, list[str]]) -> Iterator[dict[str, str]]:
        for row in itertools.product(*(self.objects_of(types) for types in variables.values())):
            yield dict(zip(variables, row, strict=True))

    def holds(self, formula: Nested, atoms: Atoms | set[Atom], env: dict[str, str]) -> bool:
        head, *parts = formula
        match head:
            case "and":
                return all(self.holds(part, atoms, env) for part in parts)
            case "or":
                return any(self.holds(part, atoms, env) for part in parts)
            case "not":
                return not self.holds(parts[0], atoms, env)
            case "imply":
                return not self.holds(parts[0], atoms, env) or self.holds(parts[1], atoms, env)
            case "exists" | "forall":
                every = all if head == "forall" else any
                inner = self.bindings(typed(parts[0]))
                return every(self.holds(parts[1], atoms, env | binding) for binding in inner)
        terms = [env.get(part, part) for part in parts]
        return terms[0] == terms[1] if head == "=" else (head, *terms) in atoms

    def _reads(self, formula: Nested, positive: bool) -> Iterator[tuple[str, bool]]:
        head, *parts = formula
        if head in ("exists", "forall"):
            yield from self._reads(parts[1], positive)
        elif head in ("and", "or", "not", "imply"):
            for i, part in enumerate(parts):
                flips = head == "not" or (head == "imply" and i == 0)
                yield from self._reads(part, positive != flips)
        else:
            yield head, positive

    def _levels(self) -> dict[str, int]:
        """Strata: a negated derived predicate is complete before it is read."""
        levels = {name: 0 for name, _, _ in self.derived}
        for _ in range(len(levels) ** 2):
            for name, _, body in self.derived:
                for read, positive in self._reads(body, True):
                    if read in levels:
                        levels[name] = max(levels[name], levels[read] + (not positive))
        return levels

    def closed(self, state: Atoms) -> set[Atom]:
        """The state with its derived atoms."""
        atoms = set(state)
        for level in sorted(set(self.levels.values())):
            rules = [rule for rule in self.derived if self.levels[rule[0]] == level]
            size = -1
            while size < len(atoms):
                size = len(atoms)
                for name, head, body in rules:
                    for env in self.bindings(head):
                        if self.holds(body, atoms, env):
                            atoms.add((name, *env.values()))
        return atoms

    def applicable(self, state: Atoms) -> set[Action]:
        atoms = self.closed(state)
        return {
            Action(name, tuple(env.values()))
            for name, (parameters, precondition, _) in self.actions.items()
            for env in self.bindings(parameters)
            if self.holds(precondition, atoms, env)
        }

    def successor(self, state: Atoms, action: Action) -> tuple[Atoms, Decimal]:
        """The next state, in which an atom both added and deleted is true, and the cost."""
        atoms = self.closed(state)
        changes: dict[bool, set[Atom]] = {True: set(), False: set()}
        cost = Decimal(0)

        def collect(effect: Nested, env: dict[str, str], adds: bool) -> None:
            nonlocal cost
            head, *parts = effect
            match head:
                case "and":
                    for part in parts:
                        collect(part, env, adds)
                case "not":
                    collect(parts[0], env, False)
                case "when":
                    if self.holds(parts[0], atoms, env):
                        collect(parts[1], env, adds)
                case "forall":
                    for binding in self.bindings(typed(parts[0])):
                        collect(parts[1], env | binding, adds)
                case "increase":
                    value = parts[1]
                    if isinstance(value, list):
                        cost += self.values[tuple(env.get(term, term) for term in value)]
                    else:
                        cost += Decimal(value)
                case _:
                    changes[adds].add((head, *(env.get(part, part) for part in parts)))

        parameters, _, effect = self.actions[action.name]
        collect(effect, dict(zip(parameters, action.arguments, strict=True)), True)
        return (state - changes[False]) | changes[True], cost if self.has_metric else Decimal(1)
