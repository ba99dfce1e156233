"""The structure of a network: the relations and rules of a program, without their variables."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

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
    """The relations (name and arity) and rules of a network."""

    relations: tuple[tuple[str, int], ...]
    rules: tuple[NetworkRule, ...]

    @cached_property
    def derived(self) -> frozenset[int]:
        """The relations whose atoms get their values from rules; the others are inputs."""
        return frozenset(rule.head for rule in self.rules)


def structure_of(policy: Policy, outputs: Collection[int] | None = None) -> Structure:
    """Return the network of a policy's program, preconditions included.

    With `outputs`, rules that do not contribute to the values of these relations are left out: for
    example, a predicate that occurs only under `not` needs no value.
    """
    if policy.program is None:
        raise ValueError("a network needs rules: build a template of the policy first")
    core = policy.core
    rules = [
        NetworkRule(number, *head_and_body(core, number), rule.text or str(rule))
        for rule, number in zip(policy.program.rules, policy.rule_numbers, strict=True)
    ]
    if outputs is not None:
        needed = set(outputs)
        while more := {r for rule in rules if rule.head in needed for r in rule.body} - needed:
            needed |= more
        rules = [rule for rule in rules if rule.head in needed]
    return Structure(tuple((name, arity) for _, name, arity in core.relations), tuple(rules))


def action_relations(policy: Policy) -> tuple[int, ...]:
    """Return the relations of the actions that the policy has rules for."""
    numbers = (policy.core.action_relation(i) for i in range(len(policy.domain.actions)))
    return tuple(number for number in numbers if number is not None)
