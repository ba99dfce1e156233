"""Warnings: rules that are allowed but hardly meant."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from planlog.rules.report import Report, enumeration, nearest
from planlog.rules.stratify import dependencies_of
from planlog.rules.syntax import (
    Comparison,
    Constant,
    Relation,
    Rule,
    Term,
    Variable,
)

if TYPE_CHECKING:
    from planlog.task import Domain


def advise(rules: list[Rule], domain: Domain, report: Report) -> None:
    """Warns about everything below; the rules must be free of errors."""
    _no_policy_rule(rules, domain, report)
    _unused(rules, domain, report)
    _underivable(rules, report)
    _duplicates(rules, report)
    _objects(rules, domain, report)
    for rule in rules:
        _singletons(rule, report)
        _comparisons(rule, report)


def _no_policy_rule(rules: list[Rule], domain: Domain, report: Report) -> None:
    if not any(rule.is_policy_rule for rule in rules):
        names = enumeration(action.name for action in domain.actions)
        hint = f"write rules whose heads are actions of the domain: {names}" if names else ""
        report.warning_for_file("no rule derives an action, so this policy never acts", hint)


def _unused(rules: list[Rule], domain: Domain, report: Report) -> None:
    """Derived predicates on which no action depends. Without policy rules that holds for all
    of them, and says nothing."""
    dependencies = dependencies_of(rules)
    waiting = [rule.head.relation for rule in rules if rule.is_policy_rule]
    if not waiting:
        return
    used = set(waiting)
    while waiting:
        needed = {relation for relation, _ in dependencies[waiting.pop()]} - used
        used |= needed
        waiting.extend(needed)
    for relation, rule in _first_rules(rules).items():
        if relation in used:
            continue
        alike = [a.name for a in domain.actions if a.arity == relation.arity]
        near = nearest(relation.name, alike)
        hint = f"did you mean the action '{near}'?" if near else "use it there, or delete its rules"
        report.warning(
            rule.head, f"{relation} is not used: no rule for an action depends on it", hint
        )


def _underivable(rules: list[Rule], report: Report) -> None:
    """Relations that stay empty in every state, since each rule needs an empty relation."""
    derivable: set[Relation] = set()
    changed = True
    while changed:
        changed = False
        for rule in rules:
            if rule.head.relation in derivable:
                continue
            needed = [part.relation for part in rule.literals if not part.negated]
            if all(not relation.has_rules or relation in derivable for relation in needed):
                derivable.add(rule.head.relation)
                changed = True
    first_rules = _first_rules(rules)
    told: set[Relation] = set()
    for rule in rules:
        for literal in rule.literals:
            relation = literal.relation
            if relation.has_rules and relation not in first_rules and relation not in told:
                told.add(relation)
                effect = "always holds" if literal.negated else "never holds"
                report.warning(
                    literal,
                    f"'{literal}' {effect}: no rule derives the action {relation}",
                    f"write a rule with the head {relation}, or delete this literal",
                )
    for relation, rule in first_rules.items():
        if relation not in derivable:
            report.warning(
                rule.head,
                f"{relation} can never be derived: each of its rules needs one that cannot be",
                "add a rule where the recursion starts",
            )


def _duplicates(rules: list[Rule], report: Report) -> None:
    seen: dict[tuple[object, ...], Rule] = {}
    for rule in rules:
        first = seen.setdefault(_without_names(rule), rule)
        if first is not rule:
            message = f"this rule says the same as the one in line {first.line}"
            report.warning(rule.head, message, "delete one of them")


def _without_names(rule: Rule) -> tuple[object, ...]:
    """Equal for rules that differ in the names of their variables or the order of their bodies
    (but not in both)."""
    numbers: dict[str, int] = {}

    def number(term: Term) -> object:
        return numbers.setdefault(term.name, len(numbers)) if isinstance(term, Variable) else term

    parts: list[tuple[object, ...]] = []
    for part in (rule.head, *sorted(rule.body, key=str)):
        kind = part.equal if isinstance(part, Comparison) else (part.relation, part.negated)
        parts.append((kind, *map(number, part.terms)))
    return tuple(parts)


def _objects(rules: list[Rule], domain: Domain, report: Report) -> None:
    """Names that only some tasks know: a rule for all tasks rarely means one object of them."""
    told: set[str] = set()
    for rule in rules:
        for part in (rule.head, *rule.body):
            for term in part.terms:
                if not isinstance(term, Constant) or term.name in domain.constants:
                    continue
                if term.name not in told:
                    told.add(term.name)
                    capital = term.name[0].upper() + term.name[1:]
                    report.warning(
                        term,
                        f"'{term}' is no constant of the domain; a task must have this object",
                        f"if a variable is meant, write '{capital}'",
                    )


def _singletons(rule: Rule, report: Report) -> None:
    """Variables that occur once, in a positive literal of the body: often misspelt ones."""
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
                hint = "write '_' if any object will do"
                hint += f"; did you mean {near}?" if near else ""
                report.warning(term, f"variable {term} occurs only once in this rule", hint)


def _comparisons(rule: Rule, report: Report) -> None:
    for part in rule.body:
        if isinstance(part, Comparison):
            same = part.left == part.right
            if same or all(isinstance(term, Constant) for term in part.terms):
                effect = "always" if same is part.equal else "never"
                report.warning(part, f"'{part}' {effect} holds", "is another variable meant?")


def _first_rules(rules: list[Rule]) -> dict[Relation, Rule]:
    first: dict[Relation, Rule] = {}
    for rule in rules:
        first.setdefault(rule.head.relation, rule)
    return first
