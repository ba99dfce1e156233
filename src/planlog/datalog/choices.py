"""Choices among the answers of a rule, and `can`, rewritten to aggregates and preconditions.

`drive(A, B) :- target(C), distance(B, C, D), minimise D for A.` keeps, for each A, the answers with
the least D. Answers are the substitutions that satisfy the body and the precondition:

    drive(A, B) :- target(C), distance(B, C, D), D = min { D1 : drive_answers(A, D1) }.
    drive_answers(A, D) :- target(C), distance(B, C, D), at(A), road(A, B).

`any` is the aggregate `first`. Several choices are lexicographic: the answers among which one of
them chooses satisfy those before it. Parts of a body that have no variables in common, but for
those of the groups, choose for themselves, so that their answers are never multiplied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from planlog.datalog.diagnostics import Diagnostics
from planlog.datalog.fresh_names import Names, fresh_variables
from planlog.datalog.preconditions import expand_preconditions, with_precondition
from planlog.datalog.safety import bound_variables
from planlog.datalog.sorts import numeric_variables
from planlog.datalog.stratify import Dependencies
from planlog.datalog.syntax import (
    Aggregate,
    Choice,
    Comparison,
    Literal,
    Relation,
    Rule,
    Source,
    Term,
    Variable,
)

if TYPE_CHECKING:
    from planlog.pddl.task import Domain

_Part = Literal | Comparison


def check_choices(
    rules: Iterable[Rule], dependencies: Dependencies, diagnostics: Diagnostics
) -> None:
    """Report choices among answers that depend on what is chosen."""
    stratum_of = {
        relation: i for i, stratum in enumerate(dependencies.strata) for relation in stratum
    }
    for rule in rules:
        if not rule.choices or rule.generated:
            continue
        for literal in rule.literals:
            if stratum_of.get(literal.relation) == stratum_of[rule.head.relation]:
                diagnostics.error(
                    rule.choices[0].place,
                    f"'{rule.choices[0]}' depends on what it chooses: {rule.head.relation} needs "
                    f"{literal.relation} (line {literal.place.line}), which depends on it",
                    "choose in a rule whose body does not depend on its head",
                )
                break


def expand_choices(rules: Sequence[Rule], domain: Domain) -> list[Rule]:
    """Return rules without choices and without `can`."""
    writer = _Writer(rules, domain)
    for rule in rules:
        writer.add(rule)
    return writer.rules


class _Writer:
    def __init__(self, rules: Sequence[Rule], domain: Domain) -> None:
        self.domain = domain
        self.names = Names(domain, rules)
        self.rules: list[Rule] = []
        self.conditions: dict[Relation, Relation] = {}

    def add(self, rule: Rule) -> None:
        """Add a rule, and before it the rules that it needs."""
        rule = self.without_can(rule)
        if rule.choices:
            rule = self.without_choices(rule)
        self.rules.append(rule)

    def add_generated(self, head: Literal, body: Iterable[_Part]) -> None:
        new = Rule(head, tuple(body), generated=True)
        self.rules.append(replace(new, text=str(new)))

    # Applicability

    def without_can(self, rule: Rule) -> Rule:
        """Return a rule with preconditions in place of `can`."""
        applicable = _applicable(rule)
        if not applicable:
            return rule
        body = [part for part in rule.body if part not in applicable]
        body += [self.negated(part) for part in applicable if part.negated]
        for part in applicable:
            if not part.negated:
                action = Literal(replace(part.relation, source=Source.ACTION), part.terms)
                body = self.with_condition(Rule(action, tuple(body)))
        return replace(rule, body=tuple(body))

    def with_condition(self, rule: Rule) -> list[_Part]:
        """Return the body of a rule for an action with the action's precondition."""
        action = self.domain.action(rule.head.relation.name)
        return list(with_precondition(rule, action, self.domain).body)

    def negated(self, literal: Literal) -> Literal:
        """Return the literal for `not can a(...)`."""
        relation = literal.relation
        if relation not in self.conditions:
            condition = self.names.new(f"can_{relation.name}", relation.arity)
            self.conditions[relation] = condition
            terms = fresh_variables(relation.arity)
            action = Literal(replace(relation, source=Source.ACTION), terms)
            self.add_generated(Literal(condition, terms), self.with_condition(Rule(action, ())))
        return replace(literal, relation=self.conditions[relation])

    # Choices

    def without_choices(self, rule: Rule) -> Rule:
        """Return a rule that reads what is chosen, and add the rules that choose."""
        numeric = numeric_variables(rule)
        body = list(rule.body)
        choices: list[Choice] = []
        for choice in rule.choices:
            if not isinstance(choice.key, Variable):  # a key is a variable from here on
                taken = {*(t.name for t in rule.terms), *(str(c.key) for c in choices)}
                name = next(f"_{i}" for i in range(1, 1000) if f"_{i}" not in taken)
                body.append(Comparison(Variable(name), "=", choice.key, choice.place))
                numeric.add(name)
                choice = replace(choice, key=Variable(name))
            choices.append(choice)
        rule = replace(rule, body=tuple(body), choices=())
        answers = expand_preconditions(rule, self.domain)
        gates: list[tuple[str, Literal]] = []
        for choice, part in zip(choices, _parts(answers, choices), strict=True):
            before = [gate for name, gate in gates if name == part.name]
            gates.append((part.name, self.gate(rule, choice, part, before, numeric)))
        return replace(rule, body=(*rule.body, *(gate for _, gate in gates)))

    def gate(
        self,
        rule: Rule,
        choice: Choice,
        part: _Independent,
        gates: list[Literal],
        numeric: set[str],
    ) -> Literal:
        """Return the literal that says that a key is the best one of its group."""
        assert isinstance(choice.key, Variable)
        group = tuple(dict.fromkeys(v for v in choice.group if v.name in part.variables))
        terms = (*group, choice.key)
        numbers = frozenset(i for i, term in enumerate(terms) if term.name in numeric)
        place = rule.head.place
        elements = self.names.new(f"{rule.head.relation.name}_answers", len(terms))
        elements = replace(elements, numbers=numbers)
        self.add_generated(Literal(elements, terms, place=place), (*part.body, *gates))
        kind = _KINDS.get(choice.kind) or ("min" if choice.key.name in numeric else "first")
        aggregate = Aggregate(kind, elements, None, len(group))
        name = self.names.new(f"{rule.head.relation.name}_{kind}", len(terms)).name
        relation = Relation(
            name, len(terms), Source.AGGREGATE, numbers=numbers, aggregate=aggregate
        )
        return Literal(relation, terms, place=place)


def _applicable(rule: Rule) -> list[Literal]:
    return [part for part in rule.literals if part.relation.source is Source.APPLICABLE]


_KINDS = {"minimise": "min", "maximise": "max"}


class _Independent(NamedTuple):
    """A part of a body that has no variables in common with the rest, but for those of groups."""

    name: str
    body: list[_Part]
    variables: set[str]


def _parts(answers: Rule, choices: list[Choice]) -> list[_Independent]:
    """Return the part of the body that each choice depends on.

    It is the whole body for all choices if a part does not bind its variables by itself.
    """
    shared = set.intersection(*({v.name for v in choice.group} for choice in choices))
    sets = _DisjointSets()
    for part in answers.body:
        sets.unite(name for name in _names(part.terms) if name not in shared)
    parts = []
    for choice in choices:
        assert isinstance(choice.key, Variable)
        name = sets.find(choice.key.name)
        body = [
            part
            for part in answers.body
            if all(n in shared or sets.find(n) == name for n in _names(part.terms))
        ]
        variables = {n for part in body for n in _names(part.terms)}
        head = Literal(Relation("answers", 0, Source.DERIVED), ())
        if choice.key.name in shared or not variables <= bound_variables(Rule(head, tuple(body))):
            every = {n for part in answers.body for n in _names(part.terms)}
            return [_Independent("", list(answers.body), every)] * len(choices)
        parts.append(_Independent(name, body, variables))
    return parts


def _names(terms: Iterable[Term]) -> Iterator[str]:
    return (term.name for term in terms if isinstance(term, Variable))


class _DisjointSets:
    """A partition of names."""

    def __init__(self) -> None:
        self.parents: dict[str, str] = {}

    def find(self, name: str) -> str:
        while (parent := self.parents.get(name, name)) != name:
            name = parent
        return name

    def unite(self, names: Iterable[str]) -> None:
        first: str | None = None
        for name in names:
            if first is None:
                first = self.find(name)
            else:
                self.parents[self.find(name)] = first
