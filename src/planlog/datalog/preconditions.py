"""Preconditions in the bodies of rules, so that the core receives plain Datalog.

A rule for an action implies the action's precondition and parameter types (written `<-pre` in the
paper on LRNNs for planning). They follow the rule's own literals: first the literals of the
precondition, sorted by name, so that the order in a domain file does not matter; then those types
that no positive literal implies; comparisons last. Networks number their weights in this order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from planlog.datalog import syntax
from planlog.datalog.fresh_names import Names, fresh_variables
from planlog.datalog.syntax import Comparison, Literal, Relation, Rule, Source, Term, Variable

if TYPE_CHECKING:
    from planlog.pddl.schema import ActionSchema, Axiom, SchemaLiteral
    from planlog.pddl.task import Domain

_Types = tuple[str, ...]


def applicability_rules(domain: Domain) -> list[Rule]:
    """Return a rule without a body for every action."""
    heads = (Relation(action.name, action.arity, Source.ACTION) for action in domain.actions)
    return [Rule(Literal(head, fresh_variables(head.arity)), ()) for head in heads]


def expand_preconditions(rule: Rule, domain: Domain) -> Rule:
    """Return a rule for an action with the action's precondition in its body; others as is."""
    if not rule.is_policy_rule:
        return rule
    return with_precondition(rule, domain.action(rule.head.relation.name), domain)


def with_precondition(rule: Rule, action: ActionSchema, domain: Domain) -> Rule:
    """Return the rule with the precondition and the parameter types of an action in its body.

    The terms of the head stand for the parameters.
    """
    constants = {name: i for i, name in enumerate(domain.constants)}

    def order(literal: SchemaLiteral) -> tuple[str, bool, list[tuple[bool, int]]]:
        terms = [(False, constants[t]) if isinstance(t, str) else (True, t) for t in literal.terms]
        return "" if literal.predicate == "=" else literal.predicate, literal.negated, terms

    literals, comparisons = _bound(sorted(action.precondition, key=order), rule.head.terms)
    types: dict[Variable, _Types] = {}
    for term, parameter in zip(rule.head.terms, action.parameters, strict=True):
        if isinstance(term, Variable) and term not in types:
            types[term] = parameter.types
        else:  # a constant, or a variable that stands for two parameters
            literals.append(_type_literal(parameter.types, term, domain))
    literals += _missing_types([*rule.literals, *literals], types, domain)
    return replace(rule, body=(*rule.body, *literals, *comparisons))


def _bound(
    condition: Iterable[SchemaLiteral], terms: Sequence[Term]
) -> tuple[list[Literal], list[Comparison]]:
    """Return a condition's literals and comparisons, with terms in place of its variables."""
    literals, comparisons = [], []
    for part in condition:
        values = tuple(syntax.Constant(t) if isinstance(t, str) else terms[t] for t in part.terms)
        if part.predicate == "=":
            left, right = values
            comparisons.append(Comparison(left, "!=" if part.negated else "=", right))
        else:
            relation = Relation(part.predicate, len(values), Source.STATE)
            literals.append(Literal(relation, values, part.negated))
    return literals, comparisons


# --- Types ---------------------------------------------------------------------------------


def _type_literal(types: Iterable[str], term: Term, domain: Domain) -> Literal:
    """Return the literal that says that a term is of one of these types."""
    names = sorted(set(types), key=domain.type_ids.__getitem__)
    return Literal(Relation.of_type("|".join(names), domain), (term,))


def _missing_types(
    body: Sequence[Literal], types: Mapping[Variable, _Types], domain: Domain
) -> list[Literal]:
    """Return literals for those types of variables that a body does not imply."""
    positive = [literal for literal in body if not literal.negated]
    missing = []
    for variable, wanted in types.items():
        anything = "object" in wanted
        bound = any(variable in literal.terms for literal in positive)
        if bound and (anything or any(_implies(x, variable, wanted, domain) for x in positive)):
            continue
        missing.append(_type_literal(("object",) if anything else wanted, variable, domain))
    return missing


def _implies(literal: Literal, variable: Variable, wanted: _Types, domain: Domain) -> bool:
    """Return whether a positive literal holds for objects of the wanted types only."""

    def within(types: Iterable[str]) -> bool:
        return all(any(domain.is_subtype(name, super_) for super_ in wanted) for name in types)

    relation = literal.relation
    if variable not in literal.terms or relation.has_rules:
        return False
    if relation.source in (Source.FUNCTION, Source.AGGREGATE):
        return False
    if relation.source is Source.TYPE:
        return within(relation.name.split("|"))
    predicate = domain.predicate(relation.name)
    return any(
        term == variable and trusted and within(parameter.types)
        for term, trusted, parameter in zip(
            literal.terms, predicate.trusted, predicate.parameters, strict=False
        )
    )


# --- Conditions as rules -------------------------------------------------------------------


class NamedConditions:
    """Conversion of expanded rules to rules that a rule file can express.

    Compiled conditions (`or`, `exists`, `forall`) and `either` types become derived relations;
    `rules` collects the rules of these relations.
    """

    def __init__(self, domain: Domain, rules: Iterable[Rule]) -> None:
        self.rules: list[Rule] = []
        self._domain = domain
        self._names = Names(domain, rules)
        self._relations: dict[Relation, Relation] = {}

    def __call__(self, rule: Rule) -> Rule:
        def named(part: Literal | Comparison) -> Literal | Comparison:
            if isinstance(part, Comparison):
                return part
            return replace(part, relation=self._named(part.relation))

        return replace(rule, body=tuple(map(named, rule.body)))

    def _named(self, relation: Relation) -> Relation:
        name, source = relation.name, relation.source
        is_either = source is Source.TYPE and name not in self._domain.type_ids
        if not is_either and (source is not Source.STATE or name not in self._domain.condition_ids):
            return relation
        if relation not in self._relations:
            readable = name.replace("|", "_or_" if is_either else "_")  # `|` is in no name
            new = self._names.new(readable, relation.arity)
            self._relations[relation] = new
            if is_either:
                rules = [_either(new, type_name, self._domain) for type_name in name.split("|")]
            else:
                axioms = (axiom for axiom in self._domain.axioms if axiom.head == name)
                rules = [self(_axiom_rule(new, axiom, self._domain)) for axiom in axioms]
            self.rules += rules
        return self._relations[relation]


def _either(head: Relation, type_name: str, domain: Domain) -> Rule:
    body = Literal(Relation.of_type(type_name, domain), fresh_variables(1))
    return Rule(Literal(head, fresh_variables(1)), (body,))


def _axiom_rule(head: Relation, axiom: Axiom, domain: Domain) -> Rule:
    variables = fresh_variables(len(axiom.variables))
    literals, comparisons = _bound(axiom.body, variables)
    types = {v: parameter.types for v, parameter in zip(variables, axiom.variables, strict=True)}
    literals += _missing_types(literals, types, domain)
    terms = tuple(syntax.Constant(t) if isinstance(t, str) else variables[t] for t in axiom.terms)
    return Rule(Literal(head, terms), (*literals, *comparisons))
