"""Derivations as arrays: the canonical models of states with all satisfied substitutions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planlog import _core
from planlog.ragged import Ids, Segments


@dataclass(frozen=True)
class AtomRows:
    """The true atoms of a relation: `values` (rows, arity), object ids; one segment for each state.

    In columns of integers, `values` are ids for `Derivations.numbers`. A static relation is the
    same in all states and is stored once.
    """

    values: Ids
    segments: Segments
    static: bool
    numbers: frozenset[int]  # the columns of integers

    def of(self, state: int) -> Ids:
        """Return the rows of one state: (rows, arity)."""
        return self.values[self.segments[0 if self.static else state]]


@dataclass(frozen=True)
class RuleDerivations:
    """All satisfied substitutions of a rule, one segment for each state.

    `heads` (n,) and `bodies` (n, positive literals) are row numbers into the relations' atoms.
    """

    head: int  # relation
    body: tuple[int, ...]  # relations of the positive literals
    heads: Ids
    bodies: Ids
    segments: Segments
    static: bool

    def of(self, state: int) -> slice:
        """Return the substitutions of one state."""
        return self.segments[0 if self.static else state]


@dataclass(frozen=True)
class Derivations:
    """The canonical models of some states, as arrays. Relations and rules go by the core's numbers
    (`Policy.relation`, `Policy.rule_numbers`); a policy rule's body has the literals of its
    precondition after its own."""

    relations: tuple[AtomRows, ...]
    rules: tuple[RuleDerivations, ...]
    numbers: npt.NDArray[np.int64]  # the integers that ids stand for

    @classmethod
    def of_arrays(
        cls,
        core: _core.Program,
        arrays: tuple[list[tuple[Ids, Ids, bool, int]], list[tuple[Ids, Ids, Ids, bool]]],
        numbers: npt.NDArray[np.int64],
    ) -> Derivations:
        """Wrap the core's arrays of derivations by a program."""
        relations, rules = arrays
        return cls(
            tuple(
                AtomRows(rows, Segments(offsets), static, _columns(mask))
                for rows, offsets, static, mask in relations
            ),
            tuple(
                RuleDerivations(*head_and_body(core, i), heads, bodies, Segments(offsets), static)
                for i, (heads, bodies, offsets, static) in enumerate(rules[: core.rule_count])
            ),
            numbers,
        )


def _columns(mask: int) -> frozenset[int]:
    return frozenset(column for column in range(mask.bit_length()) if mask >> column & 1)


def head_and_body(core: _core.Program, rule: int) -> tuple[int, tuple[int, ...]]:
    """Return the relations of a rule's head and of the positive literals of its body."""
    head, body = core.rule(rule)
    return head, tuple(body)
