"""Lint: warnings about rules that are correct but unlikely to be intended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from planlog.datalog.diagnostics import Diagnostics, Place, enumeration, nearest
from planlog.datalog.stratify import Dependencies
from planlog.datalog.syntax import (
    DEAD,
    NETWORK_MARK,
    Choice,
    Comparison,
    Constant,
    Expression,
    Operation,
    Relation,
    Rule,
    Variable,
    quoted,
    written,
)

if TYPE_CHECKING:
    from planlog.pddl.task import Domain


def lint(
    rules: list[Rule], dependencies: Dependencies, domain: Domain, diagnostics: Diagnostics
) -> None:
    """Add warnings about rules that are free of errors."""
    first_rules: dict[Relation, Rule] = {}
    for rule in rules:
        first_rules.setdefault(rule.head.relation, rule)
    if any(rule.is_policy_rule for rule in rules):
        _unused(first_rules, rules, dependencies, domain, diagnostics)
    else:
        names = enumeration(written(action.name) for action in domain.actions)
        hint = f"write rules whose heads are actions of the domain: {names}" if names else ""
        message = "no rule derives an action, so this policy never acts"
        diagnostics.warning(Place(1, 1, 1), message, hint)
    _unruled_actions(rules, set(first_rules), diagnostics)
    _underivable(rules, first_rules, dependencies, diagnostics)
    _duplicates(rules, diagnostics)
    _objects(rules, domain, diagnostics)
    for rule in rules:
        if not rule.generated:
            _singletons(rule, diagnostics)
            _comparisons(rule, diagnostics)


def _unused(
    first_rules: dict[Relation, Rule],
    rules: list[Rule],
    dependencies: Dependencies,
    domain: Domain,
    diagnostics: Diagnostics,
) -> None:
    """Warn about derived predicates that neither an action nor a network depends on."""
    read = [rule.head.relation for rule in rules if rule.is_policy_rule or rule.for_network]
    read.append(DEAD)
    used = dependencies.needed_for(read)
    for relation, rule in first_rules.items():
        if relation in used:
            continue
        others = [str(o.arity) for o in first_rules if o.name == relation.name and o != relation]
        shown = f"{relation} with {relation.arity} arguments" if others else str(relation)
        message = f"{shown} is not used: no rule for an action depends on it"
        hint = partial(_unused_hint, relation, domain)
        if others:
            hint = partial(_arity_hint, relation, others)
        diagnostics.warning(rule.head.place, message, hint)


def _arity_hint(relation: Relation, others: list[str]) -> str:
    arities = " or ".join(others)
    return f"predicates are told apart by name and arity; should it have {arities}, too?"


def _unused_hint(relation: Relation, domain: Domain) -> str:
    alike = [a.name for a in domain.actions if a.arity == relation.arity]
    if near := nearest(relation.name, alike):
        return f"did you mean the action {quoted(near)}?"
    marked = f"{relation}{NETWORK_MARK}"
    return f"use it there, delete its rules, or write {marked} in the head if it is for networks"


def _unruled_actions(rules: list[Rule], known: set[Relation], diagnostics: Diagnostics) -> None:
    """Warn about actions in bodies that no rule derives; `known` relations are not reported."""
    for rule in rules:
        for literal in rule.literals:
            relation = literal.relation
            if relation.has_rules and relation not in known:
                known.add(relation)
                effect = "always" if literal.negated else "never"
                diagnostics.warning(
                    literal.place,
                    f"no rule derives the action {relation}, so this literal {effect} holds",
                    f"write a rule with the head {relation}, or delete this literal",
                )


def _underivable(
    rules: list[Rule],
    first_rules: dict[Relation, Rule],
    dependencies: Dependencies,
    diagnostics: Diagnostics,
) -> None:
    """Warn about recursive relations without a base case: they are empty in every state.

    Any other relation that is always empty depends on one of these or on an action without rules.
    """
    derivable: set[Relation] = set()
    ordered = dependencies.in_order(rules)
    changed = True
    while changed:
        changed = False
        for rule in ordered:
            needed = {part.relation for part in rule.literals if not part.negated}
            if rule.head.relation not in derivable and all(
                not relation.has_rules or relation in derivable for relation in needed
            ):
                derivable.add(rule.head.relation)
                changed = True
    for stratum in dependencies.strata:
        relation = min(stratum, key=lambda r: first_rules[r].line if r in first_rules else 0)
        recursive = any(literal.relation in stratum for literal in dependencies.literals[relation])
        if recursive and derivable.isdisjoint(stratum):
            diagnostics.warning(
                first_rules[relation].head.place,
                f"{relation} never holds: nothing starts its recursion",
                f"add a rule for {relation} that does not need {relation}",
            )


def _duplicates(rules: list[Rule], diagnostics: Diagnostics) -> None:
    seen: dict[tuple[object, ...], Rule] = {}
    for rule in rules:
        if rule.generated:
            continue
        first = seen.setdefault(_without_names(rule), rule)
        if first is not rule:
            message = f"this rule says the same as the one in line {first.line}"
            diagnostics.warning(rule.head.place, message, "delete one of them")


def _without_names(rule: Rule) -> tuple[object, ...]:
    """Return a key that is equal for rules that differ in variable names or in the order of their
    bodies (but not in both)."""
    numbers: dict[str, int] = {}
    key: list[object] = []
    for part in (rule.head, *sorted(rule.body, key=str), *rule.choices):
        if isinstance(part, Choice):
            key.append((part.kind, _shape(part.key), len(part.group)))
        elif isinstance(part, Comparison):
            key.append((_shape(part.left), part.operator, _shape(part.right)))
        else:
            key.append((part.relation, part.negated))
        for term in part.terms:
            named = not isinstance(term, Variable)
            key.append(term if named else numbers.setdefault(term.name, len(numbers)))
    return tuple(key)


def _shape(expression: Expression) -> object:
    """Return the operators of an expression."""
    if isinstance(expression, Operation):
        return expression.operator, _shape(expression.left), _shape(expression.right)
    return None


def _objects(rules: list[Rule], domain: Domain, diagnostics: Diagnostics) -> None:
    """Warn about objects of tasks: a rule for all tasks rarely means one object."""
    known = set(domain.constants)
    for rule in rules:
        for term in rule.terms:
            if isinstance(term, Constant) and term.name not in known:
                known.add(term.name)
                name = quoted(term.name)
                variable = f"if a variable is meant, write '{term.name.capitalize()}'"
                diagnostics.warning(
                    term.place,
                    f"{name} is no constant of the domain; a task must have this object",
                    variable if str(term)[0].isalpha() else "",
                )


def _singletons(rule: Rule, diagnostics: Diagnostics) -> None:
    """Warn about variables that occur once, in a positive literal: many are misspelt."""
    counts = Counter(term.name for term in rule.terms if isinstance(term, Variable))
    for literal in rule.literals:
        for term in literal.terms:
            if isinstance(term, Variable) and counts[term.name] == 1 and term.name[0] != "_":
                message = f"variable {term} occurs only once in this rule"
                hint = partial(_singleton_hint, term.name, counts)
                diagnostics.warning(term.place, message, hint)


def _singleton_hint(name: str, variables: Iterable[str]) -> str:
    hint = f"write '_' or '_{name}' if any object will do"
    near = nearest(name, (other for other in variables if other != name and len(other) > 1))
    return f"{hint}; did you mean {near}?" if near else hint


def _comparisons(rule: Rule, diagnostics: Diagnostics) -> None:
    for part in rule.body:
        if isinstance(part, Comparison):
            same = part.left == part.right
            is_constant = all(isinstance(side, Constant) for side in (part.left, part.right))
            if same or is_constant:
                holds = same is (part.operator in ("=", "<=", ">="))
                effect = "always" if holds else "never"
                message = f"'{part}' {effect} holds"
                diagnostics.warning(part.place, message, "is another variable meant?")
