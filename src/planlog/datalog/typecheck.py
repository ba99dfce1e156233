"""Type check: find literals that no object can satisfy.

An object has one declared type, so a set of declared types describes the possible objects:
`vehicle` stands for itself and all its subtypes, `(either a b)` for both. A variable can match if
the sets of all its occurrences have a type in common. The types in the columns of derived
predicates are the least fixpoint of their rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from planlog.datalog.diagnostics import Diagnostics
from planlog.datalog.sorts import is_of_integers, numeric_variables
from planlog.datalog.syntax import (
    Choice,
    Comparison,
    Constant,
    Literal,
    Number,
    Relation,
    Rule,
    Source,
    Variable,
    Wildcard,
    terms_of,
)

if TYPE_CHECKING:
    from planlog.datalog.syntax import Term
    from planlog.pddl.schema import ActionSchema, Predicate
    from planlog.pddl.task import Domain

Types = frozenset[str]

# A type that no object has; no name of PDDL contains a space.
INTEGER = "an integer"
_INTEGERS: Types = frozenset([INTEGER])


def check_types(rules: list[Rule], domain: Domain, diagnostics: Diagnostics) -> None:
    """Report variables and constants that can match nothing where they stand.

    The order of the rules does not matter, but dependency order takes the fewest iterations.
    """
    _Checker(rules, domain, diagnostics).check()


class _Checker:
    def __init__(self, rules: list[Rule], domain: Domain, diagnostics: Diagnostics) -> None:
        self.rules = rules
        self.domain = domain
        self.diagnostics = diagnostics
        self.parents = {declared.name: declared.parents for declared in domain.types}
        self.object_types = frozenset(self.parents)
        self.all_types = self.object_types | _INTEGERS
        self.below = {
            above: frozenset(t for t in self.parents if domain.is_subtype(t, above))
            for above in self.parents
        }
        self.derived: dict[tuple[Relation, int], Types] = {}
        self.infer_derived()

    # Types of columns and terms

    def column(self, relation: Relation, index: int) -> Types:
        if index in relation.numbers:
            return _INTEGERS
        match relation.source:
            case Source.DERIVED:
                return self.derived.get((relation, index), frozenset())
            case Source.AGGREGATE:
                assert relation.aggregate is not None
                return self.column(relation.aggregate.elements, index)
            case Source.FUNCTION:
                return self.object_types
            case Source.TYPE:
                return self.below[relation.name]
            case _:
                types = self.declared(relation).parameters[index].types
                return frozenset().union(*(self.below[name] for name in types))

    def declared(self, relation: Relation) -> Predicate | ActionSchema:
        is_action = relation.source in (Source.ACTION, Source.APPLICABLE)
        return (self.domain.action if is_action else self.domain.predicate)(relation.name)

    def infer_derived(self) -> None:
        changed = True
        while changed:
            changed = False
            for rule in self.rules:
                if rule.head.relation.source is not Source.DERIVED:
                    continue
                types = self.variables(rule)
                if not all(types.values()):
                    continue  # it derives nothing (so far)
                for index, term in enumerate(rule.head.terms):
                    key = (rule.head.relation, index)
                    old = self.derived.get(key, frozenset())
                    new = old | self.of_term(term, types)
                    if new != old:
                        self.derived[key] = new
                        changed = True

    def variables(self, rule: Rule) -> dict[str, Types]:
        types: dict[str, Types] = {}
        for literal, index, variable in _binding_places(rule):
            known = types.get(variable.name, self.all_types)
            types[variable.name] = known & self.column(literal.relation, index)
        for name in numeric_variables(rule):
            types[name] = types.get(name, _INTEGERS) & _INTEGERS
        return types

    def of_term(self, term: Term, types: dict[str, Types]) -> Types:
        """Return the possible types of a term; an object of a task may have any type."""
        if isinstance(term, Number):
            return _INTEGERS
        if isinstance(term, Constant) and term.name in self.domain.constants:
            return frozenset((self.domain.constants[term.name],))
        if isinstance(term, Constant):
            return self.object_types
        if isinstance(term, Variable) and term.name in types:
            return types[term.name]
        return self.all_types

    # Conflicts

    def check(self) -> None:
        self.check_columns()
        self.check_aggregates()
        for rule in self.rules:
            types: dict[str, Types] = {}
            seen: dict[str, list[tuple[Literal, Types]]] = {}
            reported: Literal | None = None  # arguments in the wrong order are one mistake
            for literal, index, variable in _binding_places(rule):
                column = self.column(literal.relation, index)
                if not column:
                    continue  # a derived predicate without rows has its own message
                known = types.get(variable.name, self.all_types)
                if known & column:
                    types[variable.name] = known & column
                    seen.setdefault(variable.name, []).append((literal, column))
                elif known and literal is not reported:
                    reported = literal
                    self.conflict(variable, literal, index, known, seen[variable.name])
                    types[variable.name] = frozenset()
            # An object that is compared with '<' is one mistake, not one in each comparison.
            numeric = {n for n in numeric_variables(rule) if INTEGER in types.get(n, _INTEGERS)}
            for part in (rule.head, *rule.body):
                if isinstance(part, Comparison):
                    self.check_comparison(part, types, numeric)
                else:
                    self.check_literal(part, types)
            for choice in rule.choices:
                self.check_choice(choice, types)

    def check_choice(self, choice: Choice, types: dict[str, Types]) -> None:
        """Report an object where the least or greatest integer is chosen."""
        if choice.kind == "any":
            return
        for term in terms_of(choice.key):
            found = self.of_term(term, types)
            if found and INTEGER not in found:
                self.diagnostics.error(
                    choice.place,
                    f"'{choice}' compares integers, but {term} is {self.describe(found)}",
                    f"'any {term}' chooses the first object",
                )
                return

    def conflict(
        self,
        variable: Variable,
        literal: Literal,
        index: int,
        known: Types,
        seen: list[tuple[Literal, Types]],
    ) -> None:
        column = self.column(literal.relation, index)
        other, expected = next(
            (place for place in seen if not place[1] & column), (seen[-1][0], known)
        )
        self.diagnostics.error(
            variable.place,
            f"variable {variable} can never match: {self.describe(expected)} in '{_shown(other)}', "
            f"but {self.describe(column)} here",
            self.remedy(literal),
        )

    def check_literal(self, literal: Literal, types: dict[str, Types]) -> None:
        for index, term in enumerate(literal.terms):
            column = self.column(literal.relation, index)
            found = self.of_term(term, types)
            if not column or not found or column & found:
                continue
            if isinstance(term, Constant | Number):
                kind = "integer" if isinstance(term, Number) else "constant"
                self.diagnostics.error(
                    term.place,
                    f"{kind} {term} can never match: it is {self.describe(found)}, "
                    f"but {self.describe(column)} is expected here",
                    self.remedy(literal),
                )
            elif literal.negated:
                self.diagnostics.warning(
                    term.place,
                    f"'{literal}' always holds: {term} is {self.describe(found)}, "
                    f"but {self.describe(column)} is expected here",
                    self.remedy(literal),
                )
                return

    def check_comparison(
        self, comparison: Comparison, types: dict[str, Types], numeric: set[str]
    ) -> None:
        if is_of_integers(comparison, numeric):
            self.check_integers(comparison, types)
            return
        if all(isinstance(term, Constant) for term in comparison.terms):
            return  # the linter warns about it
        left, right = (self.of_term(term, types) for term in comparison.terms)
        if not left or not right or left & right:
            return
        reason = (
            f"{comparison.left} is {self.describe(left)}, "
            f"{comparison.right} is {self.describe(right)}"
        )
        if comparison.equal:
            message = f"'{comparison}' can never hold: {reason}"
            self.diagnostics.error(comparison.place, message, "no object is both")
        else:
            message = f"'{comparison}' always holds: {reason}"
            self.diagnostics.warning(comparison.place, message, "delete it")

    def check_integers(self, comparison: Comparison, types: dict[str, Types]) -> None:
        """Report an object in a comparison of integers."""
        for term in comparison.terms:
            found = self.of_term(term, types)
            if isinstance(term, Variable) and term.name not in types:
                continue  # the comparison binds it
            if found and INTEGER not in found:
                self.diagnostics.error(
                    term.place,
                    f"{term} is {self.describe(found)}, but '{comparison}' compares integers",
                    "objects can only be compared by '=' and '!='",
                )
                return

    def check_aggregates(self) -> None:
        """Report sums and extremes of objects."""
        for rule in self.rules:
            for literal in rule.literals:
                aggregate = literal.relation.aggregate
                if aggregate is None or aggregate.kind == "count":
                    continue
                has_numbers = aggregate.group_size in aggregate.elements.numbers
                if aggregate.kind == "first" and has_numbers:
                    message = "'first' takes objects, but its first element is an integer"
                    self.diagnostics.error(literal.place, message, "write 'min' or 'max'")
                elif aggregate.kind != "first" and not has_numbers:
                    self.diagnostics.error(
                        literal.place,
                        f"'{aggregate.kind}' takes integers, but its first element is an object",
                        "write the integer first, and then what tells equal integers apart",
                    )

    def check_columns(self) -> None:
        """Report columns with both objects and integers."""
        reported: set[tuple[Relation, int]] = set()
        for rule in self.rules:
            types = self.variables(rule)
            for index, term in enumerate(rule.head.terms):
                relation = rule.head.relation
                found = self.of_term(term, types)
                if (relation, index) in reported or index not in relation.numbers:
                    continue
                if found and INTEGER not in found:
                    reported.add((relation, index))
                    self.diagnostics.error(
                        term.place,
                        f"argument {index + 1} of {relation} is {self.describe(found)} here, "
                        "but an integer in another rule",
                        "an argument holds either objects or integers",
                    )

    def remedy(self, literal: Literal) -> str:
        relation = literal.relation
        match relation.source:
            case Source.TYPE:
                return "no object has both types"
            case Source.FUNCTION:
                return f"{relation} is a function: its value is the last argument"
            case Source.AGGREGATE:
                return ""
            case Source.DERIVED:
                line = next(rule.line for rule in self.rules if rule.head.relation == relation)
                return f"the rules of {relation} (from line {line}) derive no other objects"
            case _:
                return f"it is declared as {self.declared(relation)}"

    def describe(self, types: Types) -> str:
        """Return the fewest type names that cover a set: `a truck`, `a car or a plane`."""
        whole = [name for name in self.parents if name in types and self.below[name] <= types]
        covered = frozenset().union(*(self.below[name] for name in whole))
        names = [n for n in whole if not any(parent in whole for parent in self.parents[n])]
        names += sorted(types - covered - _INTEGERS)
        shown = [f"{'an' if name[0] in 'aeiou' else 'a'} {name}" for name in names]
        return " or ".join([*shown, *(types & _INTEGERS)])


def _binding_places(rule: Rule) -> Iterator[tuple[Literal, int, Variable]]:
    """Yield the occurrences that bind variables: parameters of the action, positive literals."""
    if rule.is_policy_rule:
        yield from _variables(rule.head)
    for literal in rule.literals:
        if not literal.negated:
            yield from _variables(literal)


def _variables(literal: Literal) -> Iterator[tuple[Literal, int, Variable]]:
    for index, term in enumerate(literal.terms):
        if isinstance(term, Variable):
            yield literal, index, term


def _shown(literal: Literal) -> str:
    """Return the atom as in the file, where the variables `_1`, `_2`, ... are written `_`."""
    terms = (
        Wildcard() if isinstance(term, Variable) and re.fullmatch(r"_\d+", term.name) else term
        for term in literal.terms
    )
    return replace(literal, terms=tuple(terms)).atom
