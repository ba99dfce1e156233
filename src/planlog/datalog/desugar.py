"""Expressions as arguments and aggregates, rewritten to equations, literals and rules.

`p(X, D + 1)` becomes `p(X, _1), _1 = D + 1`. The aggregate of `full(L) :- place(L), 2 < count { P :
waiting(P, L) }.` becomes a literal over a relation that the core computes, and two rules:

    full(L) :- place(L), count_1(L, _1), 2 < _1.
    count_1_elements(L, P) :- waiting(P, L).
    count_1_groups(L) :- place(L).

The groups are those whose count is needed even if they have no elements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING

from planlog.datalog.diagnostics import Diagnostics
from planlog.datalog.lexer import Kind, Token
from planlog.datalog.parser import ParsedAggregate, ParsedAtom, ParsedFile, ParsedRule
from planlog.datalog.syntax import (
    Comparison,
    Expression,
    Operation,
    Term,
    Variable,
    Wildcard,
    terms_of,
)

if TYPE_CHECKING:
    from planlog.pddl.task import Domain

_Part = ParsedAtom | Comparison


@dataclass(frozen=True)
class AggregateNames:
    """The relations of an aggregate, by their names."""

    kind: str
    elements: str
    groups: str | None
    group_size: int


@dataclass(frozen=True)
class Desugared:
    """Rules whose arguments are terms, and the aggregates that they read, by name."""

    rules: tuple[ParsedRule, ...]
    aggregates: dict[str, AggregateNames]


def desugar(parsed: ParsedFile, domain: Domain, diagnostics: Diagnostics) -> Desugared:
    """Rewrite expressions and aggregates."""
    writer = _Writer(parsed, domain, diagnostics)
    for rule in parsed.rules:
        writer.add(rule)
    return Desugared(tuple(writer.rules), writer.aggregates)


@dataclass
class _Rewritten:
    """A rule that is being rewritten."""

    rule: ParsedRule
    outer: dict[str, Variable]  # variables outside of aggregates
    fresh: Iterator[str]
    body: list[_Part] = field(default_factory=list)

    def variable(self, term: Term) -> Variable:
        return Variable(next(self.fresh), term.place)


class _Writer:
    def __init__(self, parsed: ParsedFile, domain: Domain, diagnostics: Diagnostics) -> None:
        self.domain = domain
        self.diagnostics = diagnostics
        self.rules: list[ParsedRule] = []
        self.aggregates: dict[str, AggregateNames] = {}
        heads = {rule.head.name.text for rule in parsed.rules}
        domain_names = {*domain.predicate_ids, *domain.type_ids, *domain.action_ids}
        self.taken = heads | domain_names | set(domain.function_ids)
        self.needed: dict[str, set[str]] = {}  # what a predicate depends on
        self.read: dict[str, set[str]] = {}  # the names that the rules of a head read
        for rule in parsed.rules:
            names = self.read.setdefault(rule.head.name.text, set())
            names.update(_names((rule.head, *rule.body)))

    def add(self, rule: ParsedRule) -> None:
        """Add a rule, and before it the rules of its aggregates."""
        parts = (rule.head, *rule.body)
        if all(_is_plain(part) for part in parts):
            self.rules.append(rule)
            return
        names = {term.name for part in parts for term in _all_terms(part)}
        fresh = (name for i in count(1) if (name := f"_{i}") not in names)
        state = _Rewritten(rule, _variables(parts), fresh)
        head = self.atom(rule.head, state)
        tail, state.body = state.body, []  # equations for the head come last
        for part in rule.body:
            rewritten = self.part(part, state)
            if rewritten is not None:
                state.body.append(rewritten)
        self.rules.append(replace(rule, head=head, body=(*state.body, *tail)))

    def part(self, part: _Part, state: _Rewritten) -> _Part | None:
        """Rewrite a part; None if the parts added to the body are all of it."""
        if isinstance(part, ParsedAtom):
            return self.atom(part, state)
        sides = (part.left, part.right)
        if part.operator == "=":  # `N = count { ... }` needs no equation
            for target, value in (sides, sides[::-1]):
                if isinstance(value, ParsedAggregate) and isinstance(target, Variable):
                    state.body.append(self.aggregate(value, target, state))
                    return None
        left, right = (self.expression(side, state) for side in sides)
        return replace(part, left=left, right=right)

    def atom(self, atom: ParsedAtom, state: _Rewritten) -> ParsedAtom:
        terms: list[Expression] = []
        for argument in atom.terms:
            rewritten = self.expression(argument, state)
            if isinstance(rewritten, Operation):
                variable = state.variable(terms_of(rewritten)[0])
                state.body.append(Comparison(variable, "=", rewritten, atom.place))
                rewritten = variable
            terms.append(rewritten)
        return replace(atom, terms=tuple(terms))

    def expression(self, expression: Expression, state: _Rewritten) -> Expression:
        """Return the expression with a variable in place of each aggregate."""

        def term(term: Term) -> Term:
            if not isinstance(term, ParsedAggregate):
                return term
            variable = state.variable(term)
            state.body.append(self.aggregate(term, variable, state))
            return variable

        return _with_terms(expression, term)

    def aggregate(
        self, aggregate: ParsedAggregate, target: Variable, state: _Rewritten
    ) -> ParsedAtom:
        """Add the rules of an aggregate; return the literal for it."""
        inner = _inner_variables(aggregate)
        group = tuple(inner[name] for name in inner if name in state.outer and name != target.name)
        name = self.new_name(aggregate.kind)
        elements, groups = f"{name}_elements", f"{name}_groups"

        def atom(name: str, terms: tuple[Expression, ...]) -> ParsedAtom:
            token = Token(Kind.NAME, name, aggregate.place, 0)
            return ParsedAtom(token, None, terms, False, aggregate.place)

        self.add(ParsedRule(atom(elements, (*group, *aggregate.elements)), aggregate.body, ""))
        has_zero = aggregate.kind in ("count", "sum")
        if has_zero:
            body = self.groups_body(group, target, state)
            self.add(ParsedRule(atom(groups, group), body, ""))
        self.aggregates[name] = AggregateNames(
            aggregate.kind, elements, groups if has_zero else None, len(group)
        )
        return atom(name, (*group, target))

    def groups_body(
        self, group: tuple[Variable, ...], target: Variable, state: _Rewritten
    ) -> tuple[_Part, ...]:
        """Return literals of the rule that bind the variables of a group.

        Literals that depend on the head are left out: which groups there are must be known before.
        Any object is a group where no other literal tells.
        """
        names = {variable.name for variable in group}
        head_name = state.rule.head.name.text
        body: list[_Part] = []
        for part in state.rule.body:
            is_binding = isinstance(part, ParsedAtom) and not part.negated and _is_plain(part)
            if not is_binding or not names & _variables((part,)).keys():
                continue
            assert isinstance(part, ParsedAtom)
            if not self.depends(part.name.text, head_name):
                body.append(part)
        bound = _variables(body)
        body = [_without_singles(part, body, names) for part in body]
        types = self.types_of_parameters(state.rule.head)
        for variable in group:
            if variable.name not in bound:
                kind = types.get(variable.name, "object")
                tokens = [Token(Kind.NAME, text, variable.place, 0) for text in (kind, "type")]
                body.append(ParsedAtom(tokens[0], tokens[1], (variable,), False, variable.place))
        return tuple(body)

    def types_of_parameters(self, head: ParsedAtom) -> dict[str, str]:
        """Return the types of the variables of an action, without alternatives."""
        if head.name.text not in self.domain.action_ids:
            return {}
        parameters = self.domain.action(head.name.text).parameters
        return {
            term.name: parameter.types[0]
            for term, parameter in zip(head.terms, parameters, strict=False)
            if isinstance(term, Variable) and len(parameter.types) == 1
        }

    def depends(self, name: str, other: str) -> bool:
        """Return whether a predicate of the rules depends on another one, or is the same."""
        if name not in self.needed:
            found = {name}
            waiting = [name]
            while waiting:
                more = self.read.get(waiting.pop(), set()) - found
                found |= more
                waiting.extend(more)
            self.needed[name] = found
        return other in self.needed[name]

    def new_name(self, kind: str) -> str:
        name = next(name for i in count(1) if (name := f"{kind}_{i}") not in self.taken)
        self.taken |= {name, f"{name}_elements", f"{name}_groups"}
        return name


def _without_singles(part: _Part, body: list[_Part], kept: set[str]) -> _Part:
    """Write `_` for the variables that occur once in a body and need not be kept."""
    assert isinstance(part, ParsedAtom)
    counts = Counter(term.name for each in body for term in _terms(each))

    def written(term: Expression) -> Expression:
        if not isinstance(term, Variable) or counts[term.name] > 1 or term.name in kept:
            return term
        return Wildcard(place=term.place)

    return replace(part, terms=tuple(map(written, part.terms)))


def _is_plain(part: _Part) -> bool:
    """Whether a part needs no rewriting."""
    if isinstance(part, Comparison):
        return not any(isinstance(term, ParsedAggregate) for term in part.terms)
    return not any(isinstance(term, ParsedAggregate | Operation) for term in part.terms)


def _terms(part: _Part) -> Iterator[Term]:
    """Yield the terms of a part, aggregates among them."""
    if isinstance(part, Comparison):
        yield from part.terms
    else:
        for argument in part.terms:
            yield from terms_of(argument)


def _all_terms(part: _Part) -> Iterator[Term]:
    """Yield the terms of a part and those inside of aggregates."""
    for term in _terms(part):
        yield term
        if isinstance(term, ParsedAggregate):
            for element in term.elements:
                yield from terms_of(element)
            for inner in term.body:
                yield from _all_terms(inner)


def _names(parts: Iterable[_Part]) -> Iterator[str]:
    """Yield the names of the predicates in parts of a rule and inside of their aggregates."""
    for part in parts:
        if isinstance(part, ParsedAtom):
            yield part.name.text
        for term in _terms(part):
            if isinstance(term, ParsedAggregate):
                yield from _names(term.body)


def _variables(parts: Iterable[_Part]) -> dict[str, Variable]:
    """Return the variables of parts of a rule, without those inside of aggregates."""
    terms = (term for part in parts for term in _terms(part))
    return {term.name: term for term in terms if isinstance(term, Variable)}


def _inner_variables(aggregate: ParsedAggregate) -> dict[str, Variable]:
    """Return the variables of an aggregate in the order of the text."""
    elements = (term for each in aggregate.elements for term in terms_of(each))
    found = {term.name: term for term in elements if isinstance(term, Variable)}
    inside = (term for part in aggregate.body for term in _all_terms(part))
    for term in inside:
        if isinstance(term, Variable):
            found.setdefault(term.name, term)
    return found


def _with_terms(expression: Expression, value: Callable[[Term], Term]) -> Expression:
    if isinstance(expression, Operation):
        left, right = (_with_terms(side, value) for side in (expression.left, expression.right))
        return Operation(expression.operator, left, right)
    return value(expression)
