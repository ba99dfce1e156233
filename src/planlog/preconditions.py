"""Preconditions as rules: what the core adds to the body of a rule that names an action."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from planlog.policy import Policy
from planlog.rules import Comparison, Constant, Literal, Relation, Rule, Source, Term, Variable
from planlog.rules.names import Names, numbered, variables_of

_TYPE = 5  # the core's number of this source
_Codes = Sequence[int]  # terms as the core has them: see lowering.py


class WrittenOut:
    """Called with a rule of a policy's program: the rule with its precondition in its body.

    Conditions that are no literals (`or`, `exists`, `forall`, `either` of types) are relations
    of their own; `conditions` holds the rules of those that were met so far.
    """

    def __init__(self, policy: Policy) -> None:
        assert policy.program is not None
        rules = policy.program.rules
        terms = (t for rule in rules for part in (rule.head, *rule.body) for t in part.terms)
        named = {term.name for term in terms if isinstance(term, Constant)}
        self.conditions: list[Rule] = []
        self._core = policy.core
        self._domain = policy.domain
        self._constants = {self._core.constant(n): n for n in named | set(self._domain.constants)}
        self._names = Names(self._domain, rules)
        self._numbers = dict(zip(rules, policy.rule_numbers, strict=True))
        self._relations: dict[int, Relation] = {}

    def __call__(self, rule: Rule) -> Rule:
        if rule.precondition is None:
            return rule
        # The core keeps the rule's own parts first.
        own = len(rule.literals), len(rule.body) - len(rule.literals)
        added = self._body(self._numbers[rule], variables_of(rule), own)
        return replace(rule, body=(*rule.body, *added), precondition=None)

    def _body(
        self, number: int, variables: Sequence[Variable], skip: tuple[int, int] = (0, 0)
    ) -> tuple[Literal | Comparison, ...]:
        """The literals and comparisons of one of the core's rules, without the first ones."""

        def term(code: int) -> Term:
            return variables[code] if code >= 0 else Constant(self._constants[-1 - code])

        literals = [
            Literal(self._relation(relation), tuple(map(term, codes)), negated)
            for relation, negated, codes in self._core.rule_body(number)[skip[0] :]
        ]
        comparisons = [
            Comparison(term(left), term(right), equal)
            for left, right, equal in self._core.rule_comparisons(number)[skip[1] :]
        ]
        return (*literals, *comparisons)

    def _relation(self, number: int) -> Relation:
        """A predicate or type of the domain, or else the name of a condition that has rules."""
        if number in self._relations:
            return self._relations[number]
        source, name, arity = self._core.relations[number]
        if source == _TYPE:
            found = Relation(name, arity, Source.TYPE)
            known = name in self._domain.type_ids
        else:
            found = Relation(name, arity, Source.STATE)
            known = name in self._domain.predicate_ids
        if known:
            self._relations[number] = found
            return found
        # The signs that keep the core's names apart from users' are no part of rule files.
        new = self._names.new(name.replace("|", "_or_").replace(":", "_"), arity)
        self._relations[number] = new
        if source == _TYPE:
            self.conditions += [_either(new, type_name) for type_name in name.split("|")]
        else:
            rules = range(self._core.rule_count)
            self.conditions += [
                self._condition(new, rule) for rule in rules if self._core.rule_head(rule) == number
            ]
        return new

    def _condition(self, head: Relation, number: int) -> Rule:
        # Its parameters are the first variables, and literals bind them all.
        codes = [code for _, _, codes in self._core.rule_body(number) for code in codes]
        variables = numbered(1 + max(codes, default=-1))
        return Rule(Literal(head, variables[: head.arity]), self._body(number, variables))


def _either(head: Relation, type_name: str) -> Rule:
    variables = numbered(1)
    body = Literal(Relation(type_name, 1, Source.TYPE), variables)
    return Rule(Literal(head, variables), (body,))
