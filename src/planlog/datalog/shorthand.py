"""Shorter ways to write rules, rewritten to plain ones: families, named parameters, `not (...)`.

A family stands for its actions. `park(C, D) :- full(D).` becomes one rule for each action of the
family `park`, and in a body, the family is a predicate with one rule for each of them.
Arguments with names, as in `drive(v: V)`, are put in the order of the parameters; the others are
`_`. `not (p(X), q(X, _))` becomes `not none_1`, with the rule `none_1 :- p(X), q(X, _).`
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from planlog.datalog.diagnostics import Diagnostics, Place, enumeration, nearest
from planlog.datalog.lexer import Kind, Token
from planlog.datalog.parser import (
    ParsedAggregate,
    ParsedAtom,
    ParsedConjunction,
    ParsedFamily,
    ParsedFile,
    ParsedPart,
    ParsedRule,
)
from planlog.datalog.syntax import (
    Choice,
    Comparison,
    Expression,
    Operation,
    Term,
    Variable,
    Wildcard,
    quoted,
    terms_of,
    written,
)

if TYPE_CHECKING:
    from planlog.pddl.task import Domain


def expand_shorthand(parsed: ParsedFile, domain: Domain, diagnostics: Diagnostics) -> ParsedFile:
    """Rewrite shorthand; errors go to the diagnostics."""
    writer = _Writer(parsed, domain, diagnostics)
    rules = [plain for rule in parsed.rules for plain in writer.rule(rule)]
    return parsed._replace(rules=(*rules, *writer.family_rules()), families=())


class _Writer:
    def __init__(self, parsed: ParsedFile, domain: Domain, diagnostics: Diagnostics) -> None:
        self.domain = domain
        self.diagnostics = diagnostics
        self.of_domain = {*domain.predicate_ids, *domain.type_ids, *domain.action_ids}
        self.of_domain |= set(domain.function_ids)
        heads = {rule.head.name.text for rule in parsed.rules}
        self.taken = self.of_domain | heads | set(parsed.skipped_names)
        self.families: dict[str, ParsedFamily] = {}
        for family in parsed.families:
            if self.is_family(family):
                self.families[family.head.name.text] = family
        self.read: dict[tuple[str, bool], str] = {}  # families in bodies, also under `can`

    # Families

    def is_family(self, family: ParsedFamily) -> bool:
        """Return whether a family is correct; report what is wrong."""
        head = family.head
        name = head.name.text
        variables = [term for term in head.terms if isinstance(term, Variable)]
        if name in self.of_domain or name in self.families:
            message = f"{quoted(name)} has another meaning already"
            self.diagnostics.error(head.name.place, message, "choose another name for the family")
            return False
        if len(set(variables)) < len(head.terms) or head.status:
            hint = "write 'family park(C, D) = a(C, _, D) | b(C, D).'"
            message = "the arguments of a family are different variables"
            self.diagnostics.error(head.place, message, hint)
            return False
        wrong = [member for member in family.members if not self.is_member(member, variables)]
        return not wrong

    def is_member(self, member: ParsedAtom, variables: list[Variable]) -> bool:
        name = member.name
        if name.text not in self.domain.action_ids:
            near = nearest(name.text, self.domain.action_ids)
            hint = f"did you mean {quoted(near)}?" if near else "a family consists of actions"
            message = f"{quoted(name.text)} is no action of the domain"
            self.diagnostics.error(name.place, message, hint)
            return False
        found = Counter(str(term) for term in member.terms)
        for variable in variables:
            if found[variable.name] != 1:
                message = f"'{variable}' stands {found[variable.name]} times in this action"
                hint = "each variable of a family stands once in each of its actions"
                self.diagnostics.error(member.place, message, hint)
                return False
        return True

    def members(self, atom: ParsedAtom) -> list[ParsedAtom]:
        """Return the actions that an atom over a family stands for."""
        family = self.families[atom.name.text]
        if len(atom.terms) != len(family.head.terms):
            message = f"{written(atom.name.text)} takes {len(family.head.terms)} arguments"
            hint = f"the family is declared in line {family.head.place.line}"
            self.diagnostics.error(atom.place, f"{message}, not {len(atom.terms)}", hint)
            return []
        values = {str(v): term for v, term in zip(family.head.terms, atom.terms, strict=True)}

        def value(term: Expression) -> Expression:
            if not isinstance(term, Variable):
                return term
            return values.get(term.name, Wildcard(place=atom.place))

        ordered = map(self.in_order, family.members)
        return [
            replace(member, terms=tuple(map(value, member.terms)), place=atom.place)
            for member in ordered
        ]

    def family_rules(self) -> Iterator[ParsedRule]:
        """Yield the rules of the predicates that stand for families in bodies."""
        for (name, can), predicate in self.read.items():
            head = self.families[name].head
            head = replace(head, name=replace(head.name, text=predicate))
            for member in self.families[name].members:
                body = replace(self.in_order(member), can=can)
                yield ParsedRule(head, (body,), "", is_generated=True)

    # Rules

    def rule(self, rule: ParsedRule) -> Iterator[ParsedRule]:
        """Yield the plain rules of a rule, and those of the conjunctions in it."""
        heads = [self.in_order(rule.head)]
        if rule.head.name.text in self.families:
            heads = self.members(rule.head)
        generated: list[ParsedRule] = []
        body = tuple(self.part(part, rule, generated) for part in rule.body)
        yield from generated
        for head in heads:
            yield rule._replace(head=head, body=body)

    def part(
        self, part: ParsedPart, rule: ParsedRule, generated: list[ParsedRule]
    ) -> ParsedAtom | Comparison:
        if isinstance(part, ParsedConjunction):
            return self.conjunction(part, rule, generated)
        return self.plain(part)

    def plain(self, part: ParsedAtom | Comparison) -> ParsedAtom | Comparison:
        """Rewrite an atom over a family, named arguments, and those inside of aggregates."""
        if isinstance(part, Comparison):
            left, right = (self.expression(side) for side in (part.left, part.right))
            return replace(part, left=left, right=right)
        terms = tuple(map(self.expression, part.terms))
        atom = self.in_order(replace(part, terms=terms))
        if part.name.text not in self.families:
            return atom
        key = (part.name.text, part.can)
        if key not in self.read:
            name = part.name.text
            self.read[key] = self.new_name(f"can_{name}") if part.can else name
        return replace(atom, name=replace(atom.name, text=self.read[key]), can=False)

    def expression(self, expression: Expression) -> Expression:
        if isinstance(expression, Operation):
            left, right = (self.expression(s) for s in (expression.left, expression.right))
            return Operation(expression.operator, left, right)
        if isinstance(expression, ParsedAggregate):
            return replace(expression, body=tuple(map(self.plain, expression.body)))
        return expression

    # Named parameters

    def in_order(self, atom: ParsedAtom) -> ParsedAtom:
        """Return an atom with its arguments in the order of the parameters."""
        if not atom.names:
            return atom
        plain = replace(atom, names=())
        parameters = self.parameters(atom.name.text)
        if parameters is None:
            message = f"{quoted(atom.name.text)} has no names for its parameters"
            hint = "actions and predicates of the domain have; write the arguments in order"
            self.diagnostics.error(atom.place, message, hint)
            return plain
        values: dict[str, Expression] = {}
        for name, term in zip(atom.names, atom.terms, strict=True):
            if name is None:
                message = "arguments with and without names are mixed"
                hint = "write the names of all arguments, or of none"
                self.diagnostics.error(atom.place, message, hint)
                return plain
            if name.text not in parameters:
                near = nearest(name.text, parameters)
                hint = f"its parameters are: {enumeration(parameters)}"
                if near:
                    hint = f"did you mean '{near}'?"
                message = f"{written(atom.name.text)} has no parameter {quoted(name.text)}"
                self.diagnostics.error(name.place, message, hint)
            elif name.text in values:
                message = f"the parameter {quoted(name.text)} stands twice"
                self.diagnostics.error(name.place, message, "write each parameter once")
            values[name.text] = term
        omitted = Wildcard(place=atom.place)
        return replace(plain, terms=tuple(values.get(name, omitted) for name in parameters))

    def parameters(self, name: str) -> list[str] | None:
        """Return the names of the parameters of a predicate or action of the domain."""
        if name in self.domain.predicate_ids:
            return [parameter.name for parameter in self.domain.predicate(name).parameters]
        if name in self.domain.action_ids:
            return [parameter.name for parameter in self.domain.action(name).parameters]
        return None

    # Conjunctions under `not`

    def conjunction(
        self, conjunction: ParsedConjunction, rule: ParsedRule, generated: list[ParsedRule]
    ) -> ParsedAtom:
        """Return the literal for `not (...)`; its rule is added to the generated ones."""
        parts = tuple(map(self.plain, conjunction.parts))
        others = [part for part in rule.body if part is not conjunction]
        outer = _variables((rule.head, *others, *rule.choices))
        inner = _variables(parts)
        shared = tuple(variable for name, variable in inner.items() if name in outer)
        positive = [p for p in parts if isinstance(p, ParsedAtom) and not p.negated]
        unbound = {variable.name for variable in shared} - _variables(positive).keys()
        binding = [
            replace(part, terms=tuple(_or_wildcard(term, inner) for term in part.terms))
            for part in others
            if isinstance(part, ParsedAtom)
            and not part.negated
            and unbound & _variables((part,)).keys()
        ]
        binding = [self.in_order(self._atom(part)) for part in binding]
        for variable in shared:
            if variable.name in unbound - _variables(binding).keys():
                binding.append(self.type_of(variable, rule.head))
        name = self.new_name("none")
        head = _named(name, shared, conjunction.place)
        body = (*parts, *binding)
        generated.append(ParsedRule(head, body, "", is_generated=True))
        return replace(head, negated=True)

    def _atom(self, atom: ParsedAtom) -> ParsedAtom:
        plain = self.plain(atom)
        assert isinstance(plain, ParsedAtom)
        return plain

    def type_of(self, variable: Variable, head: ParsedAtom) -> ParsedAtom:
        """Return a literal that binds a parameter of the head."""
        kind = "object"
        if head.name.text in self.domain.action_ids:
            parameters = self.domain.action(head.name.text).parameters
            for term, parameter in zip(self.in_order(head).terms, parameters, strict=False):
                if term == variable and len(parameter.types) == 1:
                    kind = parameter.types[0]
        status = Token(Kind.NAME, "type", variable.place, 0)
        return replace(_named(kind, (variable,), variable.place), status=status)

    def new_name(self, kind: str) -> str:
        name = next(name for i in count(1) if (name := f"{kind}_{i}") not in self.taken)
        self.taken.add(name)
        return name


def _named(name: str, terms: tuple[Expression, ...], place: Place) -> ParsedAtom:
    return ParsedAtom(Token(Kind.NAME, name, place, 0), None, terms, False, place)


def _or_wildcard(term: Expression, kept: Iterable[str]) -> Expression:
    is_other = isinstance(term, Variable) and term.name not in kept
    return Wildcard(place=term.place) if isinstance(term, Term) and is_other else term


def _variables(parts: Iterable[ParsedPart | Choice]) -> dict[str, Variable]:
    """Return the variables of parts of a rule, those inside of aggregates included."""
    found: dict[str, Variable] = {}

    def add(expression: Expression) -> None:
        for term in terms_of(expression):
            if isinstance(term, Variable):
                found.setdefault(term.name, term)
            elif isinstance(term, ParsedAggregate):
                for element in term.elements:
                    add(element)
                found.update(_variables(term.body))

    for part in parts:
        if isinstance(part, ParsedConjunction):
            found.update(_variables(part.parts))
            continue
        for argument in part.terms:
            add(argument)
    return found
