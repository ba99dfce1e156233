"""From a policy to the program of its network: objects pass messages, the policy's rules read them.

The program follows the paper (LRNNs for planning). Atoms of the state and of the goal become
atoms of their number of arguments (arity_n), objects that share one are neighbours (edge), and
each object has an embedding (h0) that takes up those of its neighbours layer by layer (h1, ...).
The last embeddings stand in the body of every rule of the policy, and so does the atom that
says that the action is applicable (app_stack). Every object has embeddings in every state, so
the program derives exactly the actions that the policy derives.

Embeddings must not depend on rules that read embeddings. Where messages are to pass along the
policy's derived predicates too, these are therefore derived a second time (plain_well_placed),
by the policy's rules as they are: a copy of the policy that no embedding enters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

from planlog.datalog import Comparison, Literal, Program, Relation, Rule, Source, Variable
from planlog.datalog.diagnostics import Report
from planlog.datalog.fresh_names import Names, numbered, variables_of
from planlog.datalog.preconditions import (
    NamedConditions,
    expand_preconditions,
    with_precondition,
)
from planlog.datalog.stratify import needed_for, stratify
from planlog.network.settings import TemplateSettings
from planlog.pddl.schema import ActionSchema, Predicate, Type
from planlog.pddl.task import Domain
from planlog.policy.policy import Policy

_Named = TypeVar("_Named", ActionSchema, Predicate, Type)


@dataclass(frozen=True)
class Section:
    """Rules of a template with the same purpose."""

    title: str
    rules: tuple[Rule, ...]


def template(policy: Policy, settings: TemplateSettings) -> Policy:
    """The program of the policy's network, as a policy that derives the same actions."""
    rules = [rule for section in sections(policy, settings) for rule in section.rules]
    given = policy.program or Program((), ())
    report = Report(given.file, given.text)
    strata = stratify(rules, report)
    report.raise_errors()  # there are none
    program = replace(given, rules=tuple(rules), strata=strata, expanded=True)
    return Policy(policy.domain, program)


def sections(policy: Policy, settings: TemplateSettings) -> tuple[Section, ...]:
    """The rules of `template`, in order and by their purpose."""
    domain = policy.domain
    rules = _rules_of(policy)
    all_rules = [*rules, *policy.network_rules]
    names = Names(domain, all_rules)
    read = _read_relations(all_rules) if settings.derived_messages else []
    plain = _plain_relations(read, all_rules, names)
    atoms = [*_inputs(domain), *(plain[relation] for relation in read)]
    arities = {n: names.new(f"arity_{n}", n) for n in sorted({atom.arity for atom in atoms})}
    edge = names.new("edge", 2)
    edges = tuple(_edges(arities, edge)) if settings.layers else ()  # layers read them
    layers = [names.new(f"h{i}", 1) for i in range(settings.layers + 1)]
    heads = {rule.head.relation for rule in rules}
    actions = [Relation(a.name, a.arity, Source.ACTION) for a in _by_name(domain.actions)]
    applicable = {a: names.new(f"app_{a.name}", a.arity) for a in actions if a in heads}
    titled: list[tuple[str, Iterable[Rule]]] = [
        ("the policy once more, without embeddings", _plain_rules(domain, all_rules, plain)),
        ("atoms by their number of arguments", (_mapping(arities[a.arity], a) for a in atoms)),
        ("objects of the same atom are neighbours", edges),
        ("embeddings of objects", _first_layer(arities, layers[0])),
        ("messages between neighbours", _layers(layers, edge, bool(edges))),
        ("applicable actions", (_app(domain, applicable[a], a, layers[-1]) for a in applicable)),
        ("the policy, with embeddings", (_extended(r, applicable, layers[-1]) for r in rules)),
    ]
    found = (Section(title, tuple(_with_text(rule) for rule in part)) for title, part in titled)
    return tuple(section for section in found if section.rules)


def template_text(policy: Policy, settings: TemplateSettings) -> str:
    """The template as rules to read: a rule file with the preconditions written out.

    The literals of a body stand in the order in which the network numbers them.
    """
    domain = policy.domain
    found = sections(policy, settings)
    named = NamedConditions(domain, (rule for section in found for rule in section.rules))
    parts = [Section(section.title, tuple(map(named, section.rules))) for section in found]
    if named.rules:
        title = "conditions of the domain that are no literals"
        parts.append(Section(title, tuple(named.rules)))
    along = ", also along derived predicates" if settings.derived_messages else ""
    lines = [f"% {domain.name}: message passing, layers: {settings.layers}{along}"]
    both = [t.name for t in domain.types if t.name in domain.predicate_ids]
    if both:
        lines.append(f"% meant as types, but hidden by predicates: {', '.join(both)}")
    for part in parts:
        lines += ["", f"% --- {part.title} ---", *map(str, part.rules)]
    return "\n".join(lines) + "\n"


def _rules_of(policy: Policy) -> tuple[Rule, ...]:
    """The policy's rules; a policy without any has one for each action, with no body."""
    if policy.program is not None:
        return policy.program.rules
    actions = _by_name(policy.domain.actions)
    heads = (Relation(a.name, a.arity, Source.ACTION) for a in actions)
    return tuple(Rule(_atom(head), ()) for head in heads)


def _by_name(declared: Iterable[_Named]) -> list[_Named]:
    """Sorted, so that domains that differ only in the order of declarations have one template."""
    return sorted(declared, key=lambda named: named.name)


def _atom(relation: Relation) -> Literal:
    return Literal(relation, numbered(relation.arity))


def _mapping(head: Relation, body: Relation) -> Rule:
    """The same row in another relation."""
    return Rule(_atom(head), (_atom(body),))


def _part(head: Literal, body: Relation) -> Rule:
    """Some columns of a row in another relation; variables that occur only once start with `_`."""
    terms = (term if term in head.terms else Variable(f"_{term}") for term in numbered(body.arity))
    return Rule(head, (Literal(body, tuple(terms)),))


def _inputs(domain: Domain) -> Iterator[Relation]:
    """What objects are told apart by: true and wanted atoms, and types.

    Every object is of the type `object`, so that one that occurs in no atom has embeddings too.
    """
    for predicate in _by_name(domain.predicates):
        for status in (Source.ACHIEVED_GOAL, Source.UNACHIEVED_GOAL, Source.ACHIEVED_NONGOAL):
            yield Relation(predicate.name, predicate.arity, status)
    for declared in _by_name(domain.types):
        yield Relation(declared.name, 1, Source.TYPE)


def _edges(arities: Mapping[int, Relation], edge: Relation) -> Iterator[Rule]:
    for n, relation in arities.items():
        terms = numbered(n)
        for source in terms:
            for target in terms:
                if source != target:
                    yield _part(Literal(edge, (source, target)), relation)


def _first_layer(arities: Mapping[int, Relation], layer: Relation) -> Iterator[Rule]:
    """An object's embedding comes from its atoms; atoms without arguments reach every object."""
    for n, relation in arities.items():
        for term in numbered(n):
            yield _part(Literal(layer, (term,)), relation)
        if n == 0:
            every = _atom(Relation("object", 1, Source.TYPE))
            yield Rule(_atom(layer), (_atom(relation), every))


def _layers(layers: list[Relation], edge: Relation, has_edges: bool) -> Iterator[Rule]:
    x, y = Variable("X"), Variable("Y")
    for before, after in pairwise(layers):
        if has_edges:
            yield Rule(Literal(after, (y,)), (Literal(before, (x,)), Literal(edge, (x, y))))
        yield Rule(Literal(after, (y,)), (Literal(before, (y,)),))


def _app(domain: Domain, head: Relation, action: Relation, layer: Relation) -> Rule:
    atom = _atom(head)
    embeddings = tuple(Literal(layer, (term,)) for term in atom.terms)
    schema = domain.actions[domain.action_ids[action.name]]
    return with_precondition(Rule(atom, embeddings), schema, domain)


def _extended(rule: Rule, applicable: Mapping[Relation, Relation], layer: Relation) -> Rule:
    """A rule of the policy that reads the embeddings of all objects in it."""
    body = [*rule.body, *(Literal(layer, (variable,)) for variable in variables_of(rule))]
    if rule.head.relation in applicable:
        body.insert(0, Literal(applicable[rule.head.relation], rule.head.terms))
    return replace(rule, body=tuple(body), for_network=False)


def _read_relations(rules: Iterable[Rule]) -> list[Relation]:
    """The derived predicates along which messages pass: those that are marked for networks or, if
    none is, all of them."""
    heads = {rule.head.relation: False for rule in rules if not rule.is_policy_rule}
    heads |= {rule.head.relation: True for rule in rules if rule.for_network}
    return [relation for relation, marked in heads.items() if marked or not any(heads.values())]


def _plain_relations(
    read: Iterable[Relation], rules: Iterable[Rule], names: Names
) -> dict[Relation, Relation]:
    """New names for these derived predicates and for all that they need of the policy."""
    rules = list(rules)
    needed = needed_for(read, rules)
    # What has no rules is empty, and stays what it is.
    heads = dict.fromkeys(rule.head.relation for rule in rules)
    return {r: names.new(f"plain_{r.name}", r.arity) for r in heads if r in needed}


def _plain_rules(
    domain: Domain, rules: Iterable[Rule], plain: Mapping[Relation, Relation]
) -> Iterator[Rule]:
    def renamed(literal: Literal) -> Literal:
        return replace(literal, relation=plain.get(literal.relation, literal.relation))

    for rule in rules:
        if rule.head.relation in plain:
            rule = expand_preconditions(rule, domain)
            body = (p if isinstance(p, Comparison) else renamed(p) for p in rule.body)
            head = renamed(rule.head)
            yield replace(rule, head=head, body=tuple(body), for_network=False)


def _with_text(rule: Rule) -> Rule:
    return replace(rule, text=str(rule))
