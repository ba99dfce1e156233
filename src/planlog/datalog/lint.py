"""Lint: warnings about rules that are correct but unlikely to be intended."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from planlog.datalog.diagnostics import Diagnostics, enumeration, nearest
from planlog.datalog.stratify import Strata, dependencies_of, in_dependency_order, needed_for
from planlog.datalog.syntax import (
    NETWORK_MARK,
    Comparison,
    Constant,
    Relation,
    Rule,
    Term,
    Variable,
)

if TYPE_CHECKING:
    from planlog.pddl.task import Domain


def lint(rules: list[Rule], strata: Strata, domain: Domain, diagnostics: Diagnostics) -> None:
    """Add warnings about rules that are free of errors."""
    _no_policy_rule(rules, domain, diagnostics)
    _unused(rules, domain, diagnostics)
    _unruled_actions(rules, diagnostics)
    _underivable(rules, strata, diagnostics)
    _duplicates(rules, diagnostics)
    _objects(rules, domain, diagnostics)
    for rule in rules:
        _singletons(rule, diagnostics)
        _comparisons(rule, diagnostics)


def _no_policy_rule(rules: list[Rule], domain: Domain, diagnostics: Diagnostics) -> None:
    if not any(rule.is_policy_rule for rule in rules):
        names = enumeration(action.name for action in domain.actions)
        hint = f"write rules whose heads are actions of the domain: {names}" if names else ""
        diagnostics.warning_for_file("no rule derives an action, so this policy never acts", hint)


def _unused(rules: list[Rule], domain: Domain, diagnostics: Diagnostics) -> None:
    """Warn about derived predicates that neither an action nor a network depends on.

    Without policy rules this would hold for all of them.
    """
    if not any(rule.is_policy_rule for rule in rules):
        return
    used = needed_for(
        (rule.head.relation for rule in rules if rule.is_policy_rule or rule.for_network), rules
    )
    for relation, rule in _first_rules(rules).items():
        if relation in used:
            continue
        alike = [a.name for a in domain.actions if a.arity == relation.arity]
        near = nearest(relation.name, alike)
        remedy = f"use it there, delete its rules, or write {relation}{NETWORK_MARK} in the head"
        hint = f"did you mean the action '{near}'?" if near else f"{remedy} if it is for networks"
        diagnostics.warning(
            rule.head, f"{relation} is not used: no rule for an action depends on it", hint
        )


def _unruled_actions(rules: list[Rule], diagnostics: Diagnostics) -> None:
    """Warn about actions in bodies that no rule derives."""
    known = set(_first_rules(rules))
    for rule in rules:
        for literal in rule.literals:
            relation = literal.relation
            if relation.has_rules and relation not in known:
                known.add(relation)
                effect = "always" if literal.negated else "never"
                diagnostics.warning(
                    literal,
                    f"no rule derives the action {relation}, so this literal {effect} holds",
                    f"write a rule with the head {relation}, or delete this literal",
                )


def _underivable(rules: list[Rule], strata: Strata, diagnostics: Diagnostics) -> None:
    """Warn about recursive relations without a base case: they are empty in every state.

    Any other relation that is always empty depends on one of these or on an action without rules.
    """
    derivable: set[Relation] = set()
    ordered = in_dependency_order(rules, strata)
    changed = True
    while changed:
        changed = False
        for rule in ordered:
            if rule.head.relation in derivable:
                continue
            needed = [part.relation for part in rule.literals if not part.negated]
            if all(not relation.has_rules or relation in derivable for relation in needed):
                derivable.add(rule.head.relation)
                changed = True
    first_rules = _first_rules(rules)
    dependencies = dependencies_of(rules)
    for stratum in strata:
        relation = min(stratum, key=lambda r: first_rules[r].line if r in first_rules else 0)
        recursive = any(needed in stratum for needed, _ in dependencies[relation])
        if recursive and derivable.isdisjoint(stratum):
            diagnostics.warning(
                first_rules[relation].head,
                f"{relation} never holds: nothing starts its recursion",
                f"add a rule for {relation} that does not need {relation}",
            )


def _duplicates(rules: list[Rule], diagnostics: Diagnostics) -> None:
    seen: dict[tuple[object, ...], Rule] = {}
    for rule in rules:
        first = seen.setdefault(_without_names(rule), rule)
        if first is not rule:
            message = f"this rule says the same as the one in line {first.line}"
            diagnostics.warning(rule.head, message, "delete one of them")


def _without_names(rule: Rule) -> tuple[object, ...]:
    """Return a key that is equal for rules that differ in variable names or in the order of their
    bodies (but not in both)."""
    numbers: dict[str, int] = {}

    def number(term: Term) -> object:
        return numbers.setdefault(term.name, len(numbers)) if isinstance(term, Variable) else term

    parts: list[tuple[object, ...]] = []
    for part in (rule.head, *sorted(rule.body, key=str)):
        kind = part.equal if isinstance(part, Comparison) else (part.relation, part.negated)
        parts.append((kind, *map(number, part.terms)))
    return tuple(parts)


def _objects(rules: list[Rule], domain: Domain, diagnostics: Diagnostics) -> None:
    """Warn about objects of tasks: a rule for all tasks rarely means one object."""
    terms = (t for rule in rules for part in (rule.head, *rule.body) for t in part.terms)
    first: dict[str, Constant] = {}
    for term in terms:
        if isinstance(term, Constant) and term.name not in domain.constants:
            first.setdefault(term.name, term)
    for name, term in first.items():
        diagnostics.warning(
            term,
            f"'{name}' is no constant of the domain; a task must have this object",
            f"if a variable is meant, write '{name.capitalize()}'" if name[0].isalpha() else "",
        )


def _singletons(rule: Rule, diagnostics: Diagnostics) -> None:
    """Warn about variables that occur once, in a positive literal: many are misspelt."""
    counts = Counter(
        term.name
        for part in (rule.head, *rule.body)
        for term in part.terms
        if isinstance(term, Variable)
    )
    for literal in rule.literals:
        for term in literal.terms:
            if isinstance(term, Variable) and counts[term.name] == 1 and term.name[0] != "_":
                others = [name for name in counts if name != term.name and len(name) > 1]
                near = nearest(term.name, others)
                hint = f"write '_' or '_{term}' if any object will do"
                hint += f"; did you mean {near}?" if near else ""
                diagnostics.warning(term, f"variable {term} occurs only once in this rule", hint)


def _comparisons(rule: Rule, diagnostics: Diagnostics) -> None:
    for part in rule.body:
        if isinstance(part, Comparison):
            same = part.left == part.right
            if same or all(isinstance(term, Constant) for term in part.terms):
                effect = "always" if same is part.equal else "never"
                diagnostics.warning(part, f"'{part}' {effect} holds", "is another variable meant?")


def _first_rules(rules: list[Rule]) -> dict[Relation, Rule]:
    first: dict[Relation, Rule] = {}
    for rule in rules:
        first.setdefault(rule.head.relation, rule)
    return first
