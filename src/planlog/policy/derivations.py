"""Derivations as arrays: the canonical models of states with all satisfied substitutions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class AtomRows:
    """The true atoms of a relation: `values` (rows, arity), object ids; those of state s are the
    rows `offsets[s]` to `offsets[s + 1]`. A static relation is the same in all states and is
    stored once."""

    values: Ids
    offsets: Ids
    static: bool

    def of(self, state: int) -> Ids:
        """The rows of one state: (rows, arity)."""
        s = 0 if self.static else state
        return self.values[self.offsets[s] : self.offsets[s + 1]]


@dataclass(frozen=True)
class RuleDerivations:
    """All satisfied substitutions of a rule: `heads` (n,) and `bodies` (n, positive literals) are
    row numbers into the atoms of the relations concerned; those of state s are the entries
    `offsets[s]` to `offsets[s + 1]`."""

    head: int  # the head's relation, as are those of the positive body literals
    body: tuple[int, ...]
    heads: Ids
    bodies: Ids
    offsets: Ids
    static: bool


@dataclass(frozen=True)
class Derivations:
    """The canonical models of some states, as arrays. Relations and rules go by the core's numbers
    (`Policy.relation`, `Policy.rule_numbers`); a policy rule's body has the literals of its
    precondition after its own."""

    relations: tuple[AtomRows, ...]
    rules: tuple[RuleDerivations, ...]
