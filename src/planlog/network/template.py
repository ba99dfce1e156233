"""Templates: the program of a policy's network, with message passing between objects.

The program follows the paper (LRNNs for planning). Atoms of the state and of the goal become atoms
of their arity (arity_n). Objects of the same atom are neighbours (edge). Each object has an
embedding (h0), which takes up those of its neighbours layer by layer (h1, ...). Every rule of the
policy reads the last embeddings of its objects and the atom that says that the action is applicable
(app_stack). Every object has embeddings in every state, so the program derives exactly the actions
that the policy derives.

Embeddings must not depend on rules that read embeddings. So if messages are to pass along the
policy's derived predicates, the program derives these a second time (plain_well_placed), by a copy
of the policy's rules without embeddings.

Derived predicates with integers are inputs of the network (see `planlog.network.structure`). Their
rules read no embeddings, so one copy of them serves both purposes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

from planlog.datalog import Program
from planlog.datalog.fresh_names import Names, fresh_variables, variables_of
from planlog.datalog.preconditions import NamedConditions, expand_preconditions, with_precondition
from planlog.datalog.sorts import numeric_variables
from planlog.datalog.stratify import Dependencies
from planlog.datalog.syntax import Comparison, Literal, Relation, Rule, Source, Variable
from planlog.errors import RuleError
from planlog.network.settings import TemplateSettings
from planlog.network.structure import (
    Structure,
    action_relations,
    derived_inputs,
    structure_of,
)
from planlog.pddl.schema import ActionSchema, Predicate, Type
from planlog.pddl.task import Domain
from planlog.policy.policy import Policy

_Named = TypeVar("_Named", ActionSchema, Predicate, Type)


@dataclass(frozen=True)
class Section:
    """Rules of a template with the same purpose."""

    title: str
    rules: tuple[Rule, ...]


@dataclass(frozen=True, eq=False)
class Template:
    """The program of a policy's network; `build_template` makes it once for all its uses."""

    rules: Policy  # the policy it was built from
    settings: TemplateSettings
    sections: tuple[Section, ...]
    policy: Policy  # all sections as one program, which derives the same actions as the rules

    def __reduce__(self) -> tuple[object, ...]:
        return build_template, (self.rules, self.settings)

    @cached_property
    def scores(self) -> frozenset[int]:
        """The core's numbers of the action relations; the values of their atoms are scores."""
        return frozenset(action_relations(self.policy))

    @cached_property
    def structure(self) -> Structure:
        """The relations and rules that the scores depend on."""
        return structure_of(self.policy, self.scores)

    @cached_property
    def text(self) -> str:
        """The program as a rule file, with the preconditions written out.

        The literals of a body stand in the order in which the network numbers them.
        """
        domain = self.rules.domain
        named = NamedConditions(domain, (rule for part in self.sections for rule in part.rules))
        parts = [Section(part.title, tuple(map(named, part.rules))) for part in self.sections]
        if named.rules:
            title = "conditions of the domain that are no literals"
            parts.append(Section(title, tuple(named.rules)))
        along = ", also along derived predicates" if self.settings.derived_messages else ""
        lines = [f"% {domain.name}: message passing, layers: {self.settings.layers}{along}"]
        for part in parts:
            lines += ["", f"% --- {part.title} ---", *map(str, part.rules)]
        return "\n".join(lines) + "\n"

    @cached_property
    def signature(self) -> str:
        """All that the network depends on: the type hierarchy, and the rules of the template."""
        declared = _by_name(self.rules.domain.types)
        types = [f"type {t.name} - {' '.join(t.parents)}" for t in declared if t.parents]
        lines = self.text.replace("@type(", "(").splitlines()  # as models have always had it
        return "\n".join([*types, *(line for line in lines if line and not line.startswith("%"))])


def build_template(rules: Policy, settings: TemplateSettings) -> Template:
    """Build the template of a policy.

    Raises RuleError if an action cannot have a score, since integers depend on it that it depends
    on.

    >>> build_template(policy, TemplateSettings(layers=0)).policy.actions(task, task.initial)
    [Action(name='go', arguments=('a', 'b'))]
    """
    sections = _sections(rules, settings)
    program = tuple(rule for section in sections for rule in section.rules)
    expanded = replace(rules.program or Program(()), rules=program, expanded=True)
    return Template(rules, settings, sections, Policy(rules.domain, expanded))


def _sections(policy: Policy, settings: TemplateSettings) -> tuple[Section, ...]:
    """Return the rules of a template, by their purpose."""
    domain = policy.domain
    rules = _rules_of(policy)
    all_rules = [*rules, *policy.network_rules] if settings.derived_messages else [*rules]
    names = Names(domain, [*rules, *policy.network_rules])
    inputs = derived_inputs(all_rules)
    if policy.program is not None:
        _check_actions(policy.program, inputs)
    read = _read_relations(all_rules) if settings.derived_messages else []
    plain = _plain_relations([*read, *inputs], inputs, all_rules, names)
    atoms = [*_inputs(domain), *(plain.get(relation, relation) for relation in read)]
    sizes = sorted({atom.arity - len(atom.numbers) for atom in atoms})
    arities = {n: names.new(f"arity_{n}", n) for n in sizes}
    edge = names.new("edge", 2)
    edges = tuple(_edges(arities, edge)) if settings.layers else ()  # layers read them
    layers = [names.new(f"h{i}", 1) for i in range(settings.layers + 1)]
    heads = {rule.head.relation for rule in rules}
    actions = [Relation(a.name, a.arity, Source.ACTION) for a in _by_name(domain.actions)]
    applicable = {a: names.new(f"app_{a.name}", a.arity) for a in actions if a in heads}
    titled: list[tuple[str, Iterable[Rule]]] = [
        ("the policy once more, without embeddings", _plain_rules(domain, all_rules, plain)),
        (
            "predicates with integers that only the network reads",
            (_renamed(r, plain) for r in policy.network_rules if r.head.relation in inputs),
        ),
        ("atoms by their number of arguments", (_objects_of(arities, a) for a in atoms)),
        ("objects of the same atom are neighbours", edges),
        ("embeddings of objects", _first_layer(domain, arities, layers[0])),
        ("messages between neighbours", _layers(layers, edge, bool(edges))),
        ("applicable actions", (_app(domain, applicable[a], a, layers[-1]) for a in applicable)),
        (
            "the policy, with embeddings",
            (
                _renamed(rule, plain)
                if rule.head.relation in inputs
                else _extended(rule, applicable, layers[-1])
                for rule in rules
            ),
        ),
    ]
    found = (
        Section(title, tuple(replace(rule, text=str(rule)) for rule in part))
        for title, part in titled
    )
    return tuple(section for section in found if section.rules)


def _check_actions(program: Program, inputs: set[Relation]) -> None:
    """Report actions that would be inputs of the network."""
    first_rules = {
        rule.head.relation: rule
        for rule in reversed(program.rules)
        if rule.is_policy_rule and rule.head.relation in inputs
    }
    if first_rules:
        raise RuleError(
            program.diagnostic(
                rule.head.place,
                f"a network cannot score {action}: it depends on integers that depend on it",
                "break the cycle: write a predicate that does not read the action",
            )
            for action, rule in first_rules.items()
        )


def _rules_of(policy: Policy) -> tuple[Rule, ...]:
    """Return the policy's rules; without any, a rule without a body for each action."""
    if policy.program is not None:
        return policy.program.rules
    actions = _by_name(policy.domain.actions)
    heads = (Relation(a.name, a.arity, Source.ACTION) for a in actions)
    return tuple(Rule(_atom(head), ()) for head in heads)


def _by_name(declared: Iterable[_Named]) -> list[_Named]:
    """Sort by name: domains that differ only in the order of declarations share a template."""
    return sorted(declared, key=lambda named: named.name)


def _atom(relation: Relation) -> Literal:
    return Literal(relation, fresh_variables(relation.arity))


def _objects_of(arities: Mapping[int, Relation], body: Relation) -> Rule:
    """Return the rule that copies the objects of a relation: integers are no objects."""
    variables = fresh_variables(body.arity)
    terms = tuple(
        Variable(f"_{term}") if i in body.numbers else term for i, term in enumerate(variables)
    )
    objects = tuple(term for i, term in enumerate(variables) if i not in body.numbers)
    return Rule(Literal(arities[len(objects)], objects), (Literal(body, terms),))


def _part(head: Literal, body: Relation) -> Rule:
    """Return the rule that projects a relation; variables that occur only once start with `_`."""
    variables = fresh_variables(body.arity)
    terms = (term if term in head.terms else Variable(f"_{term}") for term in variables)
    return Rule(head, (Literal(body, tuple(terms)),))


def _inputs(domain: Domain) -> Iterator[Relation]:
    """Yield the input relations: true and wanted atoms, and types.

    Every object is of the type `object`, so objects that occur in no atom have embeddings, too.
    """
    for predicate in _by_name(domain.predicates):
        for status in (Source.ACHIEVED_GOAL, Source.UNACHIEVED_GOAL, Source.ACHIEVED_NONGOAL):
            yield Relation(predicate.name, predicate.arity, status)
    for declared in _by_name(domain.types):
        yield Relation.of_type(declared.name, domain)


def _edges(arities: Mapping[int, Relation], edge: Relation) -> Iterator[Rule]:
    for n, relation in arities.items():
        terms = fresh_variables(n)
        for source in terms:
            for target in terms:
                if source != target:
                    yield _part(Literal(edge, (source, target)), relation)


def _first_layer(
    domain: Domain, arities: Mapping[int, Relation], layer: Relation
) -> Iterator[Rule]:
    """Yield the rules of the first embeddings; nullary atoms reach every object."""
    for n, relation in arities.items():
        for term in fresh_variables(n):
            yield _part(Literal(layer, (term,)), relation)
        if n == 0:
            every = _atom(Relation.of_type("object", domain))
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
    return with_precondition(Rule(atom, embeddings), domain.action(action.name), domain)


def _extended(rule: Rule, applicable: Mapping[Relation, Relation], layer: Relation) -> Rule:
    """Return a rule of the policy that reads the embeddings of all its objects."""
    numeric = numeric_variables(rule)
    objects = (variable for variable in variables_of(rule) if variable.name not in numeric)
    body = [*rule.body, *(Literal(layer, (variable,)) for variable in objects)]
    if rule.head.relation in applicable:
        body.insert(0, Literal(applicable[rule.head.relation], rule.head.terms))
    return replace(rule, body=tuple(body), for_network=False)


def _read_relations(rules: Iterable[Rule]) -> list[Relation]:
    """Return the derived predicates along which messages pass: the marked ones, if any, or all."""
    heads = {rule.head.relation: False for rule in rules if not rule.is_policy_rule}
    heads |= {rule.head.relation: True for rule in rules if rule.for_network}
    return [relation for relation, marked in heads.items() if marked or not any(heads.values())]


def _plain_relations(
    read: Iterable[Relation], inputs: set[Relation], rules: list[Rule], names: Names
) -> dict[Relation, Relation]:
    """Return new names for derived predicates and for all that they depend on but the inputs."""
    needed = Dependencies(rules).needed_for(read) - inputs
    # A relation without rules is empty and keeps its name.
    heads = dict.fromkeys(rule.head.relation for rule in rules)
    return {r: names.new(f"plain_{r.name}", r.arity) for r in heads if r in needed}


def _plain_rules(
    domain: Domain, rules: Iterable[Rule], plain: Mapping[Relation, Relation]
) -> Iterator[Rule]:
    for rule in rules:
        if rule.head.relation in plain:
            rule = _renamed(expand_preconditions(rule, domain), plain)
            yield replace(rule, for_network=False)


def _renamed(rule: Rule, plain: Mapping[Relation, Relation]) -> Rule:
    def of(literal: Literal) -> Literal:
        return replace(literal, relation=plain.get(literal.relation, literal.relation))

    body = tuple(part if isinstance(part, Comparison) else of(part) for part in rule.body)
    return replace(rule, head=of(rule.head), body=body)
