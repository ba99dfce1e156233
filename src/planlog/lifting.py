"""The computations of a network over many states, each distinct one once.

The value of an atom depends only on how it is derived. Two atoms, be it of different tasks, that are
derived by the same rules from atoms of equal values have equal values whatever the weights are: they
are one *node*. The nodes and the messages between them form a circuit, which is all that a network
needs to know of the states.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from planlog.policy import Policy

Ids = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class NetworkRule:
    """A rule whose head gets a value from the positive literals of its body; relations go by the
    core's numbers."""

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


def structure_of(policy: Policy) -> Structure:
    """The rules of a policy's program as those of a network, preconditions included."""
    if policy.program is None:
        raise ValueError("a network needs rules: make a template of the policy first")
    core = policy.core
    rules = tuple(
        NetworkRule(
            head=core.rule_head(number),
            body=tuple(relation for relation, negated, _ in core.rule_body(number) if not negated),
            text=rule.text or str(rule),
        )
        for rule, number in zip(policy.program.rules, policy.rule_numbers, strict=True)
    )
    return Structure(tuple((name, arity) for _, name, arity in core.relations), rules)


class Sharing(Enum):
    """Which atoms are the same node."""

    NONE = 0  # every atom is a node of its own
    SETS = 1  # equal sets of messages from each rule: enough where the maximum is taken
    MULTISETS = 2  # equal messages, each the same number of times: needed for mean and sum


@dataclass(frozen=True)
class Part:
    """What one rule contributes to the nodes of a step.

    Message i combines the nodes `children[i]`, numbers within the relations of the rule's body. Of
    the step's nodes, `first + nodes[i]` takes the messages `messages[offsets[i] : offsets[i + 1]]`.
    """

    rule: int
    children: Ids  # (messages, body literals)
    nodes: Ids  # (k,)
    offsets: Ids  # (k + 1,)
    messages: Ids  # (uses of messages,)


@dataclass(frozen=True)
class Step:
    """The nodes `first` to `last` (exclusive) of a relation, computed from nodes of earlier steps."""

    relation: int
    first: int
    last: int
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Counts:
    """How much there was, and how much of it is left after sharing."""

    states: int
    atoms: int
    nodes: int
    ground_messages: int  # satisfied substitutions
    messages: int


@dataclass(frozen=True)
class Circuit:
    """All nodes in an order in which they can be computed.

    `inputs[r]` (nodes of r,) has for each node of an input relation the number of its feature
    vector; without features all atoms of the relation are node 0 with vector 0.
    """

    structure: Structure
    inputs: Mapping[int, Ids]
    steps: tuple[Step, ...]
    counts: Counts
