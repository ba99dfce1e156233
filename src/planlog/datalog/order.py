"""Order between rules: `else`, `prefer` and prohibitions, written out as negations.

    load(P, A) :- wanted(P).                load(P, A)  :- wanted(P).
    else for A                      =       first_1(A)  :- load(_, A).
    drive(A, B) :- near(B).                 drive(A, B) :- near(B), not first_1(A).

Where rules on both sides have the same head, the predicate `first_1` repeats the bodies of those
before, preconditions included. A prohibition `:- drive(A, B), closed(B).` becomes
`forbidden_1(B) :- closed(B).`, and each rule for `drive(A, B)` gets `not forbidden_1(B)`. So an
action that is forbidden does not count for `else`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from planlog.datalog.diagnostics import Diagnostics, enumeration
from planlog.datalog.fresh_names import Names
from planlog.datalog.parser import ParsedOrder
from planlog.datalog.safety import bound_variables
from planlog.datalog.syntax import (
    Literal,
    Relation,
    Rule,
    Source,
    Term,
    Variable,
    Wildcard,
)

if TYPE_CHECKING:
    from planlog.pddl.task import Domain


def in_order(
    rules: Sequence[Rule],
    orders: Sequence[ParsedOrder],
    domain: Domain,
    diagnostics: Diagnostics,
    *,
    prefer: bool = True,
) -> list[Rule]:
    """Write out the order between rules. Without `prefer`, rules after `prefer` always apply."""
    writer = _Writer(rules, domain, diagnostics)
    writer.forbid()
    for number, order in enumerate(orders):
        if order.kind == "prefer":
            writer.raise_levels(number)
        writer.apply(number, order, is_left_out=order.kind == "prefer" and not prefer)
    return [rule for _, rule in sorted(writer.result(), key=lambda pair: pair[0])]


@dataclass
class _Guard:
    """A predicate that holds where a rule before an order derives something."""

    relation: Relation
    members: set[int] = field(default_factory=set)  # the positions of the rules that it covers


class _Writer:
    def __init__(self, rules: Sequence[Rule], domain: Domain, diagnostics: Diagnostics) -> None:
        self.rules = [rule for rule in rules if not rule.forbids]
        self.prohibitions = [rule for rule in rules if rule.forbids]
        self.domain = domain
        self.diagnostics = diagnostics
        self.is_incomplete = diagnostics.has_errors  # rules are missing
        self.names = Names(domain, rules)
        self.numbers = {"first": 0, "forbidden": 0}
        self.guards: dict[tuple[Relation | None, str | None], _Guard] = {}
        self.added: list[tuple[int, Rule]] = []  # with the position of the rule they stand before

    def result(self) -> Iterator[tuple[tuple[int, int], Rule]]:
        """Yield the rules with their positions."""
        for position, rule in self.added:
            yield (position, 0), rule
        for position, rule in enumerate(self.rules):
            yield (position, 1), rule

    def new_relation(self, kind: str, arity: int) -> Relation:
        self.numbers[kind] += 1
        return self.names.new(f"{kind}_{self.numbers[kind]}", arity)

    # Prohibitions

    def forbid(self) -> None:
        for prohibition in self.prohibitions:
            head = prohibition.head
            read = {term.name for part in prohibition.body for term in part.terms}
            seen = [term.name for term in head.terms]
            kept = [
                i
                for i, term in enumerate(head.terms)
                if not isinstance(term, Variable) or term.name in read or seen.count(term.name) > 1
            ]
            relation = self.new_relation("forbidden", len(kept))
            terms = tuple(head.terms[i] for i in kept)
            rule = replace(
                prohibition,
                head=Literal(relation, terms, place=head.place),
                body=prohibition.body,
                forbids=False,
                generated=True,
            )
            rule = self.with_types(rule, head)
            positions = [i for i, r in enumerate(self.rules) if r.head.relation == head.relation]
            if not positions:
                message = f"no rule derives the action {head.relation}, which is forbidden here"
                self.diagnostics.warning(head.place, message, "delete this rule")
            self.added.append((positions[0] if positions else 0, rule))
            for i in positions:
                own = self.rules[i].head.terms
                negation = Literal(relation, tuple(own[k] for k in kept), True, head.place)
                self.rules[i] = replace(self.rules[i], body=(*self.rules[i].body, negation))

    def with_types(self, rule: Rule, action: Literal) -> Rule:
        """Bind the variables of a forbidden action that the condition does not bind."""
        bound = bound_variables(rule)
        parameters = self.domain.action(action.relation.name).parameters
        body = list(rule.body)
        for term, parameter in zip(action.terms, parameters, strict=True):
            if isinstance(term, Variable) and term in rule.head.terms and term.name not in bound:
                bound.add(term.name)
                kind = parameter.types[0] if len(parameter.types) == 1 else "object"
                body.append(Literal(Relation.of_type(kind, self.domain), (term,), place=term.place))
        return replace(rule, body=tuple(body))

    # Orders

    def raise_levels(self, number: int) -> None:
        """Count a `prefer` for the rules behind it."""
        for i, rule in enumerate(self.rules):
            if rule.block > number:
                self.rules[i] = replace(rule, level=rule.level + 1)

    def apply(self, number: int, order: ParsedOrder, *, is_left_out: bool) -> None:
        """Add the conditions of an order to the rules after it."""
        before = [i for i, rule in enumerate(self.rules) if rule.block <= number]
        after = [i for i, rule in enumerate(self.rules) if rule.block > number]
        relation = self.common_head(before, after)
        if relation is None:
            before, after = (
                [i for i in part if self.rules[i].is_policy_rule] for part in (before, after)
            )
        else:
            before, after = (
                [i for i in part if self.rules[i].head.relation == relation]
                for part in (before, after)
            )
        if self.is_incomplete:
            return
        if not self.is_possible(number, order, before, after) or is_left_out:
            return
        for variable in order.group or (None,):
            guard = self.guard(number, order, relation, variable, before, after)
            for i in after:
                terms = (variable,) if variable else ()
                if variable is None or variable in self.rules[i].head.terms:
                    negation = Literal(guard.relation, terms, True, order.place)
                    self.rules[i] = replace(self.rules[i], body=(*self.rules[i].body, negation))

    def common_head(self, before: list[int], after: list[int]) -> Relation | None:
        """Return the derived predicate whose rules stand on both sides of an order."""
        in_file = [i for i in before if self.rules[i].block >= 0]
        if not in_file or not after:
            return None
        last, first = self.rules[in_file[-1]], self.rules[after[0]]
        is_same = last.head.relation == first.head.relation and not last.is_policy_rule
        return last.head.relation if is_same else None

    def is_possible(
        self, number: int, order: ParsedOrder, before: list[int], after: list[int]
    ) -> bool:
        """Return whether there are rules on both sides; report it otherwise."""
        kind = order.kind
        if not before:
            message = f"no rule for an action stands before '{kind}'"
            self.diagnostics.error(order.place, message, f"delete '{kind}', or move it down")
            return False
        following = [i for i in after if self.rules[i].block == number + 1]
        if not following:
            message = f"no rule for an action stands behind '{kind}'"
            self.diagnostics.error(order.place, message, f"delete '{kind}', or move it up")
            return False
        is_correct = True
        for variable in order.group:
            for part, where in ((before, "before"), (following, "behind")):
                heads = [self.rules[i].head for i in part]
                if not any(variable in head.terms for head in heads):
                    names = dict.fromkeys(str(t) for head in heads for t in _variables(head))
                    hint = f"the heads there have the variables {enumeration(names)}"
                    message = f"no head {where} '{kind}' has the variable {variable}"
                    self.diagnostics.error(variable.place, message, hint)
                    is_correct = False
        return is_correct

    def guard(
        self,
        number: int,
        order: ParsedOrder,
        relation: Relation | None,
        variable: Variable | None,
        before: list[int],
        after: list[int],
    ) -> _Guard:
        """Return the predicate for the rules before an order, and add its rules."""
        guard = _Guard(self.new_relation("first", 1 if variable else 0))
        head = Literal(guard.relation, (variable,) if variable else (), place=order.place)
        position = before[-1] + 1
        key = (relation, variable.name if variable else None)
        earlier = self.guards.get(key)
        bodies: list[Rule] = []
        if earlier:
            bodies.append(self.rule(head, Literal(earlier.relation, head.terms)))
            guard.members |= earlier.members
        later = {self.rules[i].head.relation for i in after}
        for i in before:
            rule = self.rules[i]
            if i in guard.members or (variable and variable not in rule.head.terms):
                continue
            guard.members.add(i)
            if rule.head.relation in later or not self.is_uniform(rule, variable, before):
                bodies.append(self.copy(head, rule))
            else:
                terms = tuple(t if t == variable else Wildcard() for t in rule.head.terms)
                bodies.append(self.rule(head, _with_fresh(Literal(rule.head.relation, terms))))
        unique = dict.fromkeys(bodies)
        self.added += [(position, rule) for rule in unique]
        self.guards[key] = guard
        return guard

    def is_uniform(self, rule: Rule, variable: Variable | None, before: list[int]) -> bool:
        """Whether the rules with this head have the variable at the same arguments."""
        heads = [self.rules[i].head for i in before]
        places = {
            tuple(i for i, term in enumerate(head.terms) if term == variable)
            for head in heads
            if head.relation == rule.head.relation
        }
        return variable is None or places == {
            tuple(i for i, term in enumerate(rule.head.terms) if term == variable)
        }

    def rule(self, head: Literal, body: Literal) -> Rule:
        new = Rule(head, (replace(body, place=head.place),), generated=True)
        return replace(new, text=str(new))

    def copy(self, head: Literal, rule: Rule) -> Rule:
        """Return a rule that derives the guard where another rule derives something."""
        body = rule.body
        if rule.is_policy_rule:
            can = replace(rule.head.relation, source=Source.APPLICABLE)
            body = (Literal(can, rule.head.terms, place=rule.head.place), *body)
        new = Rule(head, body, choices=rule.choices, generated=True)
        return replace(new, text=str(new))


def _variables(literal: Literal) -> Iterator[Term]:
    return (term for term in literal.terms if isinstance(term, Variable) and term.name[0] != "_")


def _with_fresh(literal: Literal) -> Literal:
    """Return a positive literal with a variable in place of each `_`."""
    taken = {term.name for term in literal.terms}
    names: Iterable[str] = (f"_{i + 1}" for i in range(len(literal.terms)))
    free = (name for name in names if name not in taken)
    terms = tuple(
        Variable(next(free)) if isinstance(term, Wildcard) else term for term in literal.terms
    )
    return replace(literal, terms=terms)
