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
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from planlog.datalog.diagnostics import Diagnostics
from planlog.datalog.lexer import Kind, Token
from planlog.datalog.parser import (
    ParsedAggregate,
    ParsedAtom,
    ParsedConjunction,
    ParsedFile,
    ParsedRule,
)
from planlog.datalog.syntax import (
    Choice,
    Comparison,
    Constant,
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


class AggregateNames(NamedTuple):
    """The relations of an aggregate, by their names."""

    kind: str
    elements: str
    groups: str | None
    group_size: int


class Desugared(NamedTuple):
    """Rules whose arguments are terms, and the aggregates that they read, by name."""

    rules: tuple[ParsedRule, ...]
    aggregates: dict[str, AggregateNames]


def desugar(parsed: ParsedFile, domain: Domain, diagnostics: Diagnostics) -> Desugared:
    """Rewrite expressions and aggregates."""
    writer = _Writer(parsed, domain, diagnostics)
    for rule in parsed.rules:
        writer.add(rule)
    return Desugared(tuple(writer.rules), writer.aggregates)


class _Rewritten:
    """A rule that is being rewritten."""

    def __init__(self, rule: ParsedRule) -> None:
        parts = (rule.head, *_plain_parts(rule), *rule.choices)
        names = {term.name for part in parts for term in _all_terms(part)}
        self.rule = rule
        self.outer = _variables(parts)  # variables outside of aggregates
        self.fresh = (name for i in count(1) if (name := f"_{i}") not in names)
        self.body: list[_Part] = []

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
            names.update(_names((rule.head, *_plain_parts(rule))))

    def add(self, rule: ParsedRule) -> None:
        """Add a rule, and before it the rules of its aggregates."""
        self.check_choices(rule)
        parts = (rule.head, *_plain_parts(rule))
        if all(_is_plain(part) for part in parts):
            self.rules.append(rule)
            return
        state = _Rewritten(rule)
        head = self.atom(rule.head, state)
        tail, state.body = state.body, []  # equations for the head come last
        for part in _in_order(_plain_parts(rule)):
            rewritten = self.part(part, state)
            if rewritten is not None:
                state.body.append(rewritten)
        self.rules.append(rule._replace(head=head, body=(*state.body, *tail)))

    def check_choices(self, rule: ParsedRule) -> None:
        """Report aggregates in keys of choices."""
        for choice in rule.choices:
            if any(isinstance(term, ParsedAggregate) for term in choice.terms):
                message = f"'{choice}' computes an aggregate"
                hint = f"compute it before: 'N = {choice.key}, {choice.kind} N'"
                self.diagnostics.error(choice.place, message, hint)

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
            body = self.groups_body(aggregate, group, state)
            self.add(ParsedRule(atom(groups, group), body, ""))
        self.aggregates[name] = AggregateNames(
            aggregate.kind, elements, groups if has_zero else None, len(group)
        )
        return atom(name, (*group, target))

    def groups_body(
        self, aggregate: ParsedAggregate, group: tuple[Variable, ...], state: _Rewritten
    ) -> tuple[_Part, ...]:
        """Return parts of the rule that bind the variables of a group.

        Literals that depend on the head are left out: which groups there are must be known before.
        """
        plain = [part for part in _plain_parts(state.rule) if _is_plain(part)]
        atoms = [part for part in plain if isinstance(part, ParsedAtom) and not part.negated]
        atoms = [atom for atom in atoms if not atom.can]
        head_name = state.rule.head.name.text
        usable = [atom for atom in atoms if not self.depends(atom.name.text, head_name)]
        names = {variable.name for variable in group}
        computed = list(self.computing(names - _variables(atoms).keys(), [*state.body, *plain]))
        needed = names | _variables(computed).keys()
        body = [atom for atom in usable if needed & _variables((atom,)).keys()]
        unbound = needed - _variables([*body, *computed]).keys()
        body += self.precondition(state.rule.head, unbound)
        bound = _variables([*body, *computed])
        body = [_without_singles(atom, [*body, *computed], names) for atom in body]
        types = self.types_of_parameters(state.rule.head)
        recursive = _variables(atoms)
        for variable in group:
            if variable.name in bound:
                continue
            if variable.name not in types and variable.name not in recursive:
                self.report_unbound(variable, aggregate)
            kind = types.get(variable.name, "object")
            tokens = [Token(Kind.NAME, text, variable.place, 0) for text in (kind, "type")]
            body.append(ParsedAtom(tokens[0], tokens[1], (variable,), False, variable.place))
        return *body, *computed

    def computing(self, names: set[str], parts: Iterable[_Part]) -> Iterator[_Part]:
        """Yield the equations and aggregates that give values to variables and to those in them."""
        values: dict[str, _Part] = {}
        for part in parts:
            targets: tuple[Expression, ...] = ()
            if isinstance(part, ParsedAtom) and part.name.text in self.aggregates:
                targets = part.terms[-1:]
            elif isinstance(part, Comparison) and part.equal:
                targets = (part.left, part.right)
            for target in targets:
                if isinstance(target, Variable):
                    values.setdefault(target.name, part)
        waiting, seen = sorted(names), set(names)
        found: list[_Part] = []
        while waiting:
            computing = values.get(waiting.pop())
            if computing is None or computing in found:
                continue
            found.append(computing)
            yield computing
            new = sorted(_variables((computing,)).keys() - seen)
            seen.update(new)
            waiting += new

    def precondition(self, head: ParsedAtom, names: set[str]) -> Iterator[ParsedAtom]:
        """Yield the positive literals of an action's precondition that bind some variables."""
        if head.name.text not in self.domain.action_ids:
            return
        for literal in self.domain.action(head.name.text).precondition:
            is_basic = literal.predicate in self.domain.predicate_ids
            if literal.negated or not is_basic or self.is_short(head, literal.terms):
                continue
            place = head.place
            terms = tuple(
                Constant(term, place) if isinstance(term, str) else head.terms[term]
                for term in literal.terms
            )
            name = Token(Kind.NAME, literal.predicate, place, 0)
            atom = ParsedAtom(name, None, terms, False, place)
            if names & _variables((atom,)).keys():
                yield atom

    @staticmethod
    def is_short(head: ParsedAtom, terms: Iterable[str | int]) -> bool:
        """Return whether a head lacks a parameter, which is reported elsewhere."""
        return any(isinstance(term, int) and term >= len(head.terms) for term in terms)

    def report_unbound(self, variable: Variable, aggregate: ParsedAggregate) -> None:
        self.diagnostics.error(
            variable.place,
            f"variable {variable} stands outside of the braces, too, but nothing binds it there",
            f"the {aggregate.kind} of an empty set is 0, so a positive literal has to say which "
            f"{variable} are meant",
        )

    def types_of_parameters(self, head: ParsedAtom) -> dict[str, str]:
        """Return the types of an action's variables; of several types, the one of all objects."""
        if head.name.text not in self.domain.action_ids:
            return {}
        parameters = self.domain.action(head.name.text).parameters
        return {
            term.name: parameter.types[0] if len(parameter.types) == 1 else "object"
            for term, parameter in zip(head.terms, parameters, strict=False)
            if isinstance(term, Variable)
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
        names = (f"{kind}_{i}" for i in count(1))
        parts = ("", "_elements", "_groups")
        name = next(n for n in names if not any(n + part in self.taken for part in parts))
        self.taken.update(name + part for part in parts)
        return name


def _in_order(body: tuple[_Part, ...]) -> Iterator[_Part]:
    """Yield the parts of a body: aggregates whose groups depend on others come after these."""

    def computed(part: _Part) -> set[str]:
        """Return the variables whose values come from the aggregates of an equation."""
        if isinstance(part, ParsedAtom) or not part.equal or _is_plain(part):
            return set()
        return {side.name for side in (part.left, part.right) if isinstance(side, Variable)}

    def read(part: _Part) -> set[str]:
        """Return the variables inside of the aggregates of a part."""
        aggregates = (term for term in _terms(part) if isinstance(term, ParsedAggregate))
        return {name for aggregate in aggregates for name in _inner_variables(aggregate)}

    waiting = list(body)
    while waiting:
        later = [
            part
            for part in waiting
            if any(read(part) & computed(other) for other in waiting if other is not part)
        ]
        ready = [part for part in waiting if part not in later]
        yield from ready or waiting
        waiting = later if ready else []


def _without_singles(part: ParsedAtom, body: list[_Part], kept: set[str]) -> ParsedAtom:
    """Write `_` for the variables that occur once in a body and need not be kept."""
    counts = Counter(term.name for each in body for term in _terms(each))

    def written(term: Expression) -> Expression:
        if not isinstance(term, Variable) or counts[term.name] > 1 or term.name in kept:
            return term
        return Wildcard(place=term.place)

    return replace(part, terms=tuple(map(written, part.terms)))


def _plain_parts(rule: ParsedRule) -> tuple[_Part, ...]:
    """Return the body of a rule without shorthand."""
    return tuple(part for part in rule.body if not isinstance(part, ParsedConjunction))


def _is_plain(part: _Part) -> bool:
    """Whether a part needs no rewriting."""
    if isinstance(part, Comparison):
        return not any(isinstance(term, ParsedAggregate) for term in part.terms)
    return not any(isinstance(term, ParsedAggregate | Operation) for term in part.terms)


def _terms(part: _Part | Choice) -> Iterator[Term]:
    """Yield the terms of a part, aggregates among them."""
    if isinstance(part, Comparison | Choice):
        yield from part.terms
    else:
        for argument in part.terms:
            yield from terms_of(argument)


def _all_terms(part: _Part | Choice) -> Iterator[Term]:
    """Yield the terms of a part and those inside of aggregates."""
    for term in _terms(part):
        yield term
        if isinstance(term, ParsedAggregate):
            for element in term.elements:
                yield from terms_of(element)
            for inner in term.body:
                yield from _all_terms(inner)


def names_in(rule: ParsedRule) -> Iterator[tuple[str, int]]:
    """Yield the names and arities of the predicates in a body, those in aggregates included."""
    for part in rule.body:
        parts = part.parts if isinstance(part, ParsedConjunction) else (part,)
        yield from _predicates(parts)


def _predicates(parts: Iterable[_Part]) -> Iterator[tuple[str, int]]:
    for part in parts:
        if isinstance(part, ParsedAtom):
            yield part.name.text, len(part.terms)
        for term in _terms(part):
            if isinstance(term, ParsedAggregate):
                yield from _predicates(term.body)


def _names(parts: Iterable[_Part]) -> Iterator[str]:
    """Yield the names of the predicates in parts of a rule and inside of their aggregates."""
    for part in parts:
        if isinstance(part, ParsedAtom):
            yield part.name.text
        for term in _terms(part):
            if isinstance(term, ParsedAggregate):
                yield from _names(term.body)


def _variables(parts: Iterable[_Part | Choice]) -> dict[str, Variable]:
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
