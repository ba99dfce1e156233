"""The state a plan is replayed in: relations, and what follows from them.

A relation keeps hash indexes on the columns it was asked about, so that quantifiers,
conditional effects and derived predicates are joins over true atoms instead of loops
over all objects. Derived predicates are computed when they are asked for, and again
only after a predicate they depend on has changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planlog.validation.conditions import Rule

Row = tuple[str, ...]
Rows = dict[Row, None]  # a set that keeps its order, so that reports do not depend on hashing


class Relation:
    """The true atoms of one predicate, as rows of arguments."""

    __slots__ = ("_indexes", "rows")

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.rows: Rows = dict.fromkeys(rows)
        self._indexes: dict[tuple[int, ...], dict[Row, Rows]] = {}

    def add(self, row: Row) -> bool:
        """Whether the row is new."""
        if row in self.rows:
            return False
        self.rows[row] = None
        for columns, index in self._indexes.items():
            index.setdefault(tuple(row[c] for c in columns), {})[row] = None
        return True

    def discard(self, row: Row) -> bool:
        """Whether the row was there."""
        if row not in self.rows:
            return False
        del self.rows[row]
        for columns, index in self._indexes.items():
            del index[tuple(row[c] for c in columns)][row]
        return True

    def matching(self, columns: tuple[int, ...], values: Row) -> Rows:
        """The rows that hold these values in these columns."""
        if not columns:
            return self.rows
        index = self._indexes.get(columns)
        if index is None:
            index = self._indexes[columns] = {}
            for row in self.rows:
                index.setdefault(tuple(row[c] for c in columns), {})[row] = None
        return index.get(values, {})


@dataclass
class Stratum:
    """Derived predicates that may depend on each other, but not negatively."""

    predicates: frozenset[str]
    rules: tuple[Rule, ...]
    reads: frozenset[str]  # basic predicates below it, through all lower strata
    stale: bool = field(default=True)


class World:
    """Objects by type, true atoms by predicate, derived atoms on demand."""

    def __init__(
        self,
        objects: Mapping[str, frozenset[str]],  # each with all its types
        relations: Mapping[str, Relation],
        strata: Sequence[Stratum],
    ) -> None:
        """What is given stays as it is; the world changes copies of it."""
        self._objects = objects
        self._members: dict[tuple[str, ...], Mapping[str, None]] = {}
        self._relations = {name: Relation(own.rows) for name, own in relations.items()}
        self._strata = [replace(stratum, stale=True) for stratum in strata]
        self._level = {p: i for i, stratum in enumerate(strata) for p in stratum.predicates}

    def members(self, types: tuple[str, ...]) -> Mapping[str, None]:
        """The objects that are of one of the types, in the order of their declaration."""
        if types not in self._members:
            wanted = frozenset(types)
            self._members[types] = {
                name: None for name, own in self._objects.items() if not own.isdisjoint(wanted)
            }
        return self._members[types]

    def relation(self, predicate: str) -> Relation:
        level = self._level.get(predicate)
        if level is not None and self._strata[level].stale:
            reads = self._strata[level].reads
            # Lowest first, so that deriving one never starts deriving another; a stratum that
            # this one uses reads no more than this one does.
            for stratum in self._strata[: level + 1]:
                if stratum.stale and stratum.reads <= reads:
                    self._derive(stratum)
        return self._relations[predicate]

    def apply(self, deleted: Iterable[tuple[str, Row]], added: Iterable[tuple[str, Row]]) -> None:
        """Delete, then add: an atom that is both deleted and added is true afterwards."""
        changed = set()
        for predicate, row in deleted:
            if self._relations[predicate].discard(row):
                changed.add(predicate)
        for predicate, row in added:
            if self._relations[predicate].add(row):
                changed.add(predicate)
        for stratum in self._strata:
            if not stratum.reads.isdisjoint(changed):
                stratum.stale = True

    def _derive(self, stratum: Stratum) -> None:
        """The least fixpoint of the stratum's rules, semi-naively: from the last new rows."""
        stratum.stale = False  # before its rules ask for its own relations
        for predicate in stratum.predicates:
            self._relations[predicate] = Relation()
        delta: dict[str, Rows] | None = None
        while delta is None or delta:
            new: dict[str, Rows] = {}
            for rule in stratum.rules:
                relation = self._relations[rule.head.predicate]
                for row in list(rule.derive(self, stratum.predicates, delta)):
                    if relation.add(row):
                        new.setdefault(rule.head.predicate, {})[row] = None
            delta = new
