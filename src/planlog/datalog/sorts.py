"""Sorts: which columns and variables hold integers; all others hold objects.

Static functions and aggregates, but for `first`, have an integer in their last column. A column of
a derived predicate holds integers if a rule puts one there. That columns are not mixed, and that
integers stand nowhere else, is part of the type check.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from planlog.datalog.syntax import (
    Aggregate,
    Comparison,
    Literal,
    Number,
    Operation,
    Relation,
    Rule,
    Source,
    Term,
    Variable,
)


def is_of_integers(comparison: Comparison, numeric: Iterable[str]) -> bool:
    """Return whether a comparison compares integers, given the variables that are known to be."""
    if comparison.operator not in ("=", "!="):
        return True
    if any(isinstance(side, Operation) for side in (comparison.left, comparison.right)):
        return True
    return any(
        isinstance(term, Number) or (isinstance(term, Variable) and term.name in numeric)
        for term in comparison.terms
    )


def numeric_variables(rule: Rule) -> set[str]:
    """Return the names of the variables of a rule that stand for integers."""
    numeric = {
        term.name
        for literal in rule.literals
        for i, term in enumerate(literal.terms)
        if i in literal.relation.numbers and isinstance(term, Variable)
    }
    comparisons = [part for part in rule.body if isinstance(part, Comparison)]
    changed = True
    while changed:
        found = {
            term.name
            for comparison in comparisons
            if is_of_integers(comparison, numeric)
            for term in comparison.terms
            if isinstance(term, Variable)
        }
        changed = not found <= numeric
        numeric |= found
    return numeric


def with_sorts(rules: list[Rule]) -> list[Rule]:
    """Return the rules with the columns of integers in their relations."""
    columns: dict[Relation, frozenset[int]] = {}

    def annotated(relation: Relation) -> Relation:
        if aggregate := relation.aggregate:
            elements = annotated(aggregate.elements)
            groups = annotated(aggregate.groups) if aggregate.groups else None
            size = aggregate.group_size
            numbers = frozenset(i for i in elements.numbers if i < size)
            if aggregate.kind != "first":
                numbers |= {size}
            new = Aggregate(aggregate.kind, elements, groups, size)
            return replace(relation, numbers=numbers, aggregate=new)
        return replace(relation, numbers=columns.get(relation, relation.numbers))

    def of_rule(rule: Rule) -> Rule:
        def of(literal: Literal) -> Literal:
            return replace(literal, relation=annotated(literal.relation))

        body = tuple(of(part) if isinstance(part, Literal) else part for part in rule.body)
        return replace(rule, head=of(rule.head), body=body)

    while True:
        result = list(map(of_rule, rules))
        changed = False
        for rule in result:
            if rule.head.relation.source is not Source.DERIVED:
                continue
            numeric = numeric_variables(rule)
            found = frozenset(
                i for i, term in enumerate(rule.head.terms) if _is_integer(term, numeric)
            )
            known = columns.get(rule.head.relation, frozenset())
            if not found <= known:
                columns[rule.head.relation] = known | found
                changed = True
        if not changed:
            return result


def _is_integer(term: Term, numeric: set[str]) -> bool:
    return isinstance(term, Number) or (isinstance(term, Variable) and term.name in numeric)
