"""Reader of problem files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import NoReturn

from planlog.validation.formulas import Reader, Scope, is_number
from planlog.validation.model import Domain, Problem
from planlog.validation.numbers import Numbers
from planlog.validation.sexpr import Node, Source, read
from planlog.validation.world import Relation, Row


def read_problem(source: Source, domain: Domain) -> Problem:
    """Read a problem of a domain. Raises PddlError."""
    return _ProblemReader(source, domain).read(read(source))


class _ProblemReader(Reader):
    def read(self, root: Node) -> Problem:
        known = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric", ":length")
        _, sections = self.sections(root, "problem", known)
        once = {keyword: nodes[0] for keyword, nodes in sections.items()}
        for keyword in (":domain", ":init", ":goal"):
            if keyword not in once:
                self.fail(root, f"{keyword} is missing")
        name = once[":domain"]
        if len(name) != 2 or name[1] != self.domain.name:
            self.fail(name, f"expected '(:domain {self.domain.name})', as the domain is called")
        goal = once[":goal"]
        if len(goal) != 2:
            self.fail(goal, "expected '(:goal CONDITION)'")
        self.objects = objects = self.read_objects(once.get(":objects", Node()))
        relations, values = self.read_init(once[":init"], objects)
        return Problem(
            objects,
            relations,
            values,
            self.condition(self.part(goal, 1), Scope()),
            self.read_metric(once.get(":metric")),
        )

    def read_objects(self, node: Node) -> dict[str, frozenset[str]]:
        constants = self.domain.constants  # which problems may declare again
        declared = {**constants, **self.typed_objects(node, constants)}
        above = {own: self.domain.supertypes(own) for own in set(declared.values())}
        return {name: above[own] for name, own in declared.items()}

    def read_init(
        self, node: Node, objects: Mapping[str, frozenset[str]]
    ) -> tuple[dict[str, Relation], dict[tuple[str, Row], Fraction]]:
        allowed = {
            name: [
                {o for o, own in objects.items() if not own.isdisjoint(types)}
                for types in signature
            ]
            for name, signature in self.domain.predicates.items()
        }
        rows: dict[str, list[Row]] = {name: [] for name in self.domain.predicates}
        values: dict[tuple[str, Row], Fraction] = {}
        negated: list[Node] = []
        numbers = replace(self.domain.numbers)
        for i in range(1, len(node)):
            fact = self.part(node, i)
            predicate = self.word(fact, 0)
            if predicate == "=":
                self.read_value(fact, values, numbers)
                continue
            if predicate == "not":
                self.check_arity(fact, 1)
                negated.append(self.part(fact, 1))
                continue
            if predicate not in rows:
                self.fail(fact, f"unknown predicate {predicate}", 0)
            if predicate in self.domain.derived:
                self.fail(fact, f"{predicate} is derived and cannot be initial", 0)
            columns = allowed[predicate]
            if len(fact) - 1 != len(columns):
                self.check_arity(fact, len(columns))
            row: list[str] = []
            for argument, column in zip(fact[1:], columns, strict=True):
                if not isinstance(argument, str) or argument not in column:
                    self.bad_argument(fact, len(row) + 1)
                row.append(argument)
            rows[predicate].append(tuple(row))
        relations = {name: Relation(own) for name, own in rows.items()}
        for fact in negated:  # only checked: what is not given is false anyway
            atom = self.atom(fact, Scope())
            if atom.predicate in self.domain.derived:
                self.fail(fact, f"{atom.predicate} is derived and cannot be initial", 0)
            if atom.terms in relations[atom.predicate].rows:
                self.fail(fact, "the initial state has this atom and its negation")
        return relations, values

    def bad_argument(self, fact: Node, place: int) -> NoReturn:
        name = self.word(fact, place)
        if name not in self.objects:
            self.fail(fact, f"unknown object {name}", place)
        types = self.domain.predicates[self.word(fact, 0)][place - 1]
        self.fail(fact, f"{name} is not of type {' or '.join(types)}", place)

    def read_value(
        self, fact: Node, values: dict[tuple[str, Row], Fraction], numbers: Numbers
    ) -> None:
        """Read an initial value `(= (function objects) number)`."""
        self.check_arity(fact, 2)
        function = self.atom(self.part(fact, 1), Scope(), "function")
        if not is_number(fact[2]):
            self.fail(fact, "expected a number", 2)
        # The initial (total-cost) is no cost of the task.
        others = Numbers() if function.predicate == "total-cost" else numbers
        value = self.number(fact, 2, others)
        if values.setdefault((function.predicate, function.terms), value) != value:
            self.fail(fact, "a second value of the same function term")

    def read_metric(self, node: Node | None) -> bool:
        if node is None:
            return False
        if node[1:] == ["minimize", ["total-cost"]]:
            return True
        self.fail(node, "expected '(:metric minimize (total-cost))'")
