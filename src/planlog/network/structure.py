"""The structure of a network: the relations and rules of a program, without their variables.

Integers are no objects and have no embeddings. So derived relations with integers are inputs of a
network: their rules decide which atoms hold, and the network computes nothing from the derivations
of these. The value of such an atom is 1, or, if the rule file marks the relation for networks, the
vector of its *features*: 1, and sign(n) ln(1 + |n|) for each of its integers n.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from planlog.datalog.stratify import Dependencies
from planlog.datalog.syntax import Relation, Rule
from planlog.policy.derivations import head_and_body
from planlog.policy.policy import Policy


@dataclass(frozen=True)
class NetworkRule:
    """A rule that computes its head's value from the positive literals of its body. Rules and
    relations go by the core's numbers."""

    number: int
    head: int
    body: tuple[int, ...]
    text: str


@dataclass(frozen=True)
class Structure:
    """The relations (name and arity) and rules of a network.

    `features` maps each input relation with features to the dimension of their vectors.
    """

    relations: tuple[tuple[str, int], ...]
    rules: tuple[NetworkRule, ...]
    features: Mapping[int, int] = field(default_factory=dict)

    @cached_property
    def derived(self) -> frozenset[int]:
        """The relations whose atoms get their values from rules; the others are inputs."""
        return frozenset(rule.head for rule in self.rules)


def derived_inputs(rules: Collection[Rule]) -> set[Relation]:
    """Return the relations with rules whose atoms are inputs of a network.

    These have integers, or are the elements or groups of an aggregate, or are mutually recursive
    with such relations.
    """
    dependencies = Dependencies(rules)
    relations = {rule.head.relation for rule in rules}
    found = {relation for relation in relations if relation.numbers}
    for relation in dependencies.literals:
        found.update(relation.inputs)
    for stratum in dependencies.strata:
        if not found.isdisjoint(stratum):
            found.update(stratum)
    return found & relations


def _features(policy: Policy, rules: Iterable[Rule], inputs: set[Relation]) -> dict[int, int]:
    """Return the dimensions of the features of marked relations, by the core's numbers."""
    marked = {rule.head.relation for rule in rules if rule.for_network} & inputs
    return dict(sorted((policy.relation(r), 1 + len(r.numbers)) for r in marked if r.numbers))


def structure_of(policy: Policy, outputs: Collection[int] | None = None) -> Structure:
    """Return the network of a policy's program, preconditions included.

    With `outputs`, rules that do not contribute to the values of these relations are left out: for
    example, a predicate that occurs only under `not` needs no value.
    """
    if policy.program is None:
        raise ValueError("a network needs rules: build a template of the policy first")
    core = policy.core
    inputs = derived_inputs(policy.program.rules)
    rules = [
        NetworkRule(number, *head_and_body(core, number), rule.text or str(rule))
        for rule, number in zip(policy.program.rules, policy.rule_numbers, strict=True)
        if rule.head.relation not in inputs
    ]
    if outputs is not None:
        needed = set(outputs)
        while more := {r for rule in rules if rule.head in needed for r in rule.body} - needed:
            needed |= more
        rules = [rule for rule in rules if rule.head in needed]
    read = {relation for rule in rules for relation in rule.body}
    features = _features(policy, policy.program.rules, inputs)
    return Structure(
        tuple((name, arity) for _, name, arity in core.relations),
        tuple(rules),
        {relation: dimension for relation, dimension in features.items() if relation in read},
    )


def action_relations(policy: Policy) -> tuple[int, ...]:
    """Return the relations of the actions that the policy has rules for."""
    numbers = (policy.core.action_relation(i) for i in range(len(policy.domain.actions)))
    return tuple(number for number in numbers if number is not None)
