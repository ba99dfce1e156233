"""Lowering of checked rules to the core's program: names to ids, wildcards to projections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from planlog import _core
from planlog.datalog import syntax
from planlog.datalog.preconditions import applicability_rules, expand_preconditions
from planlog.datalog.program import Program
from planlog.datalog.sorts import is_of_integers, numeric_variables
from planlog.datalog.syntax import Literal, Relation, Rule, Source, Term
from planlog.pddl.task import Domain

_Terms = list[int]  # a variable as its number, a constant as -1 minus its number
_Parts = list[tuple[_core.ExpressionPart, int]]
_Constraint = tuple[_Parts, _core.ConstraintRelation, _Parts]

_RELATIONS = {
    "=": _core.ConstraintRelation.EQUAL,
    "!=": _core.ConstraintRelation.UNEQUAL,
    "<": _core.ConstraintRelation.LESS,
    "<=": _core.ConstraintRelation.LESS_OR_EQUAL,
    ">": _core.ConstraintRelation.LESS,  # with the sides exchanged
    ">=": _core.ConstraintRelation.LESS_OR_EQUAL,
}
_OPERATIONS = {
    "+": _core.ExpressionPart.ADD,
    "-": _core.ExpressionPart.SUBTRACT,
    "*": _core.ExpressionPart.MULTIPLY,
}


@dataclass(frozen=True)
class CompiledProgram:
    """A program of the core, with the core's numbers of the relations and rules of a rule file."""

    core: _core.Program
    relations: Mapping[Relation, int]
    rule_numbers: tuple[int, ...]


def compile_program(domain: Domain, program: Program) -> CompiledProgram:
    """Compile a checked program for the core."""
    rules = program.rules
    if not program.expanded:
        rules = tuple(expand_preconditions(rule, domain) for rule in rules)
    return _compile(domain, rules, program)


def compile_applicable(domain: Domain) -> CompiledProgram:
    """Compile the rules that derive all applicable actions, once for each domain.

    Every expansion of a state space asks for them.
    """
    if domain not in _applicable:
        rules = [expand_preconditions(rule, domain) for rule in applicability_rules(domain)]
        _applicable[domain] = replace(_compile(domain, rules), rule_numbers=())
    return _applicable[domain]


_applicable: WeakKeyDictionary[Domain, CompiledProgram] = WeakKeyDictionary()


def _compile(
    domain: Domain, rules: Iterable[Rule], program: Program | None = None
) -> CompiledProgram:
    lowering = _Lowering(domain, program)
    numbers = tuple(map(lowering.add, rules))
    lowering.core.check()
    return CompiledProgram(lowering.core, lowering.relations, numbers)


class _Lowering:
    """Builder of a core program for a domain, rule by rule."""

    def __init__(self, domain: Domain, program: Program | None) -> None:
        self.domain = domain
        self.program = program  # for messages about rules
        self.core = _core.Program(domain.core)
        self.relations: dict[Relation, int] = {}
        self._projections: dict[tuple[Relation, tuple[int, ...]], int] = {}

    def add(self, rule: Rule) -> int:
        """Add a rule, with its precondition in the body, and return its number in the core."""
        variables: dict[str, int] = {}
        constraints: list[_Constraint] = []
        head = self._terms(rule.head, variables, constraints)
        body: list[tuple[int, bool, _Terms]] = []
        comparisons: list[tuple[int, int, bool]] = []
        numeric = numeric_variables(rule)
        for part in rule.body:
            if isinstance(part, syntax.Literal):
                terms = self._terms(part, variables, constraints)
                body.append((self._read(part), part.negated, terms))
            elif is_of_integers(part, numeric):
                constraints.append(self._constraint(part, variables))
            else:
                left, right = (self._term(term, variables) for term in part.terms)
                comparisons.append((left, right, part.equal))
        number = self._relation(rule.head.relation)
        place = ""
        if self.program:
            file, line = self.program.origin(rule.line)
            place = f"{file}:{line}" if line else file
        return self.core.add_rule(
            number, head, body, comparisons, len(variables), constraints, place, rule.text
        )

    def _constraint(self, part: syntax.Comparison, variables: dict[str, int]) -> _Constraint:
        left, right = (list(self._parts(side, variables)) for side in (part.left, part.right))
        swapped = part.operator in (">", ">=")
        relation = _RELATIONS[part.operator]
        return (right, relation, left) if swapped else (left, relation, right)

    def _parts(
        self, expression: syntax.Expression, variables: dict[str, int]
    ) -> Iterator[tuple[_core.ExpressionPart, int]]:
        """Yield the parts of an expression in postfix order."""
        if isinstance(expression, syntax.Operation):
            yield from self._parts(expression.left, variables)
            yield from self._parts(expression.right, variables)
            yield _OPERATIONS[expression.operator], 0
        elif isinstance(expression, syntax.Number):
            yield _core.ExpressionPart.NUMBER, expression.value
        else:
            yield _core.ExpressionPart.VARIABLE, self._term(expression, variables)

    def _relation(self, relation: Relation) -> int:
        if relation not in self.relations:
            self.relations[relation] = self._new_relation(relation)
        return self.relations[relation]

    def _new_relation(self, relation: Relation) -> int:
        if relation.source is Source.DERIVED:
            numbers = sum(1 << column for column in relation.numbers)
            return self.core.derived(relation.name, relation.arity, numbers, relation.least)
        if relation.source is Source.FUNCTION:
            return self.core.function(self.domain.function_ids[relation.name])
        if relation.aggregate:
            return self._aggregate(relation.name, relation.aggregate)
        if relation.source is Source.ACTION:
            return self.core.action(self.domain.action_ids[relation.name])
        if relation.source is Source.TYPE:
            return self.core.type([self.domain.type_ids[name] for name in relation.name.split("|")])
        predicate = self.domain.predicate_id(relation.name)
        return self.core.status(predicate, _core.Source[relation.source.name])

    def _aggregate(self, name: str, aggregate: syntax.Aggregate) -> int:
        kind = _core.Aggregate[aggregate.kind.upper()]
        elements = self._relation(aggregate.elements)
        groups = self._relation(aggregate.groups) if aggregate.groups else None
        return self.core.aggregate(name, kind, elements, groups, aggregate.group_size)

    def _read(self, literal: Literal) -> int:
        """Return the relation of a literal, without its wildcards: `not p(X, _)` reads `p/1`."""
        kept = tuple(i for i, t in enumerate(literal.terms) if not isinstance(t, syntax.Wildcard))
        if len(kept) == literal.relation.arity:
            return self._relation(literal.relation)
        key = (literal.relation, kept)
        if key not in self._projections:
            whole = self._relation(literal.relation)
            numbers = sum(1 << i for i, c in enumerate(kept) if c in literal.relation.numbers)
            name = f"{literal.relation.name}/{len(kept)}"
            number = self.core.derived(name, len(kept), numbers)
            columns = list(range(literal.relation.arity))
            body = [(whole, False, columns)]
            self.core.add_rule(number, list(kept), body, [], len(columns))
            self._projections[key] = number
        return self._projections[key]

    def _terms(
        self, literal: Literal, variables: dict[str, int], constraints: list[_Constraint]
    ) -> _Terms:
        """Return the terms of a literal; each integer becomes a variable with an equation."""
        terms: _Terms = []
        for term in literal.terms:
            if isinstance(term, syntax.Number):
                variable = variables.setdefault(f"number {term.value}", len(variables))
                number = (_core.ExpressionPart.NUMBER, term.value)
                equation: _Constraint = (
                    [(_core.ExpressionPart.VARIABLE, variable)],
                    _core.ConstraintRelation.EQUAL,
                    [number],
                )
                if equation not in constraints:
                    constraints.append(equation)
                terms.append(variable)
            elif not isinstance(term, syntax.Wildcard):
                terms.append(self._term(term, variables))
        return terms

    def _term(self, term: Term, variables: dict[str, int]) -> int:
        if isinstance(term, syntax.Variable):
            return variables.setdefault(term.name, len(variables))
        return -1 - self.core.constant(term.name)
