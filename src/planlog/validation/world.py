"""The state in which a plan is replayed: relations and derived predicates.

Relations are indexed by the columns that queries bind. So quantifiers, conditional effects and
derived predicates are joins over true atoms, not loops over all objects. A derived predicate is
evaluated when it is read, and again only after a predicate that it depends on has changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planlog.validation.conditions import Rule

Row = tuple[str, ...]
Rows = dict[Row, None]  # an ordered set, so that reports do not depend on hashing


class Relation:
    """The true atoms of one predicate, as rows of arguments."""

    __slots__ = ("_indexes", "rows")

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.rows: Rows = dict.fromkeys(rows)
        self._indexes: dict[tuple[int, ...], dict[Row, Rows]] = {}

    def add(self, row: Row) -> bool:
        """Add a row and return whether it is new."""
        if row in self.rows:
            return False
        self.rows[row] = None
        for columns, index in self._indexes.items():
            index.setdefault(tuple(row[c] for c in columns), {})[row] = None
        return True

    def discard(self, row: Row) -> bool:
        """Delete a row and return whether it was there."""
        if row not in self.rows:
            return False
        del self.rows[row]
        for columns, index in self._indexes.items():
            del index[tuple(row[c] for c in columns)][row]
        return True

    def matching(self, columns: tuple[int, ...], values: Row) -> Rows:
        """Return the rows with these values in these columns."""
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
    reads: frozenset[str]  # basic predicates that it depends on, through all lower strata
    stale: bool = True


class World:
    """Objects by type, true atoms by predicate, derived atoms on demand. Copies its arguments."""

    def __init__(
        self,
        objects: Mapping[str, frozenset[str]],  # object -> all its types
        relations: Mapping[str, Relation],
        strata: Sequence[Stratum],
    ) -> None:
        self._objects = objects
        self._members: dict[tuple[str, ...], Mapping[str, None]] = {}
        self._relations = {name: Relation(own.rows) for name, own in relations.items()}
        self._strata = [replace(stratum, stale=True) for stratum in strata]
        self._level = {p: i for i, stratum in enumerate(strata) for p in stratum.predicates}

    def members(self, types: tuple[str, ...]) -> Mapping[str, None]:
        """Return the objects of any of the types, in the order of their declaration."""
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
            # Lowest first, so evaluating one stratum never starts another. A stratum that this
            # one uses reads a subset of its predicates.
            for stratum in self._strata[: level + 1]:
                if stratum.stale and stratum.reads <= reads:
                    self._derive(stratum)
        return self._relations[predicate]

    def apply(self, deleted: Iterable[tuple[str, Row]], added: Iterable[tuple[str, Row]]) -> None:
        """Delete, then add: an atom that is both deleted and added becomes true."""
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
        """Compute the least fixpoint of the rules by semi-naive evaluation (Bancilhon 1986)."""
        stratum.stale = False  # before its rules read its own relations
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
