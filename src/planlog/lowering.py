"""Checked rules to the core's program: names to numbers, wildcards to projections."""

from __future__ import annotations

from planlog import _core
from planlog.rules import Comparison, Constant, Literal, Relation, Rule, Source, Variable, Wildcard
from planlog.task import Domain

# The core's numbers of the sources that name a predicate of the domain.
_PREDICATE_SOURCES = {
    Source.STATE: 0,
    Source.GOAL: 1,
    Source.ACHIEVED_GOAL: 2,
    Source.UNACHIEVED_GOAL: 3,
    Source.ACHIEVED_NONGOAL: 4,
}

_Terms = list[int]  # a variable as its number, a constant as -1 minus its number


class Lowering:
    """Builds a core program for a domain, rule by rule."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.core = _core.Program(domain.core)
        self.relations: dict[Relation, int] = {}
        self._projections: dict[tuple[Relation, tuple[int, ...]], int] = {}

    def add(self, rule: Rule) -> int:
        """Adds a rule; its number in the core."""
        variables: dict[str, int] = {}
        head = self._terms(rule.head, variables)
        body: list[tuple[int, bool, _Terms]] = []
        comparisons: list[tuple[int, int, bool]] = []
        for part in rule.body:
            if isinstance(part, Comparison):
                left, right = (self._term(t, variables) for t in (part.left, part.right))
                comparisons.append((left, right, part.equal))
            elif any(isinstance(term, Wildcard) for term in part.terms):
                body.append((*self._projection(part), self._terms(part, variables)))
            else:
                number = self._relation(part.relation)
                body.append((number, part.negated, self._terms(part, variables)))
        number = self._relation(rule.head.relation)
        action = self.domain.action_ids[rule.precondition] if rule.precondition else None
        return self.core.add_rule(number, head, body, comparisons, len(variables), action)

    def add_applicable_actions(self) -> None:
        """A rule without a body for every action."""
        for number, action in enumerate(self.domain.actions):
            terms = list(range(action.arity))
            relation = self.core.action(number)
            self.core.add_rule(relation, terms, [], [], action.arity, number)

    def _relation(self, relation: Relation) -> int:
        if relation not in self.relations:
            self.relations[relation] = self._new_relation(relation)
        return self.relations[relation]

    def _new_relation(self, relation: Relation) -> int:
        if relation.source is Source.DERIVED:
            return self.core.derived(relation.name, relation.arity)
        if relation.source is Source.ACTION:
            return self.core.action(self.domain.action_ids[relation.name])
        if relation.source is Source.TYPE:
            return self.core.type([self.domain.type_ids[relation.name]])
        predicate = self.domain.predicate_ids[relation.name]
        return self.core.status(predicate, _PREDICATE_SOURCES[relation.source])

    def _projection(self, literal: Literal) -> tuple[int, bool]:
        """The columns of a relation without wildcards: `not p(X, _)` reads those of p."""
        kept = tuple(i for i, t in enumerate(literal.terms) if not isinstance(t, Wildcard))
        key = (literal.relation, kept)
        if key not in self._projections:
            whole = self._relation(literal.relation)
            number = self.core.derived(f"{literal.relation.name}/{len(kept)}", len(kept))
            columns = list(range(literal.relation.arity))
            body = [(whole, False, columns)]
            self.core.add_rule(number, list(kept), body, [], len(columns), None)
            self._projections[key] = number
        return self._projections[key], literal.negated

    def _terms(self, literal: Literal, variables: dict[str, int]) -> _Terms:
        return [self._term(t, variables) for t in literal.terms if not isinstance(t, Wildcard)]

    def _term(self, term: object, variables: dict[str, int]) -> int:
        if isinstance(term, Variable):
            return variables.setdefault(term.name, len(variables))
        assert isinstance(term, Constant)
        return -1 - self.core.constant(term.name)
