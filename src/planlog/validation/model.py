"""Domains and problems as the validator reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from planlog.validation.conditions import Atom, Condition, Query, Types, Variable
from planlog.validation.numbers import Numbers
from planlog.validation.world import Relation, Row, Stratum


@dataclass(frozen=True)
class Effect:
    """An effect that makes the atom true or false for each answer of the query."""

    query: Query
    atom: Atom
    adds: bool


@dataclass(frozen=True)
class Cost:
    """A cost for each answer of the query: a number, or the value of a function."""

    query: Query
    amount: Fraction | Atom


@dataclass(frozen=True)
class Action:
    """An action schema."""

    name: str
    parameters: tuple[Variable, ...]
    precondition: Condition
    effects: tuple[Effect | Cost, ...]


@dataclass
class Domain:
    """Declarations of a domain file, filled in while it is read."""

    name: str = ""
    parents: dict[str, Types] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    predicates: dict[str, tuple[Types, ...]] = field(default_factory=dict)
    functions: dict[str, tuple[Types, ...]] = field(default_factory=dict)
    actions: dict[str, Action] = field(default_factory=dict)
    derived: set[str] = field(default_factory=set)
    strata: list[Stratum] = field(default_factory=list)
    numbers: Numbers = field(default_factory=Numbers)  # those in effects
    _supertypes: dict[str, frozenset[str]] = field(default_factory=dict)
    _subtypes: dict[str, frozenset[str]] = field(default_factory=dict)

    def supertypes(self, name: str) -> frozenset[str]:
        """Return a type and all its super-types."""
        if name not in self._supertypes:
            found, todo = {"object"}, [name]
            while todo:
                current = todo.pop()
                if current not in found:
                    found.add(current)
                    todo += self.parents.get(current, ())
            self._supertypes[name] = frozenset(found)
        return self._supertypes[name]

    def subtypes(self, name: str) -> frozenset[str]:
        """Return a type and all its sub-types."""
        if name not in self._subtypes:
            below = (t for t in self.parents if name in self.supertypes(t))
            self._subtypes[name] = frozenset(below)
        return self._subtypes[name]


@dataclass
class Problem:
    """A problem file: objects, initial state and goal."""

    objects: Mapping[str, frozenset[str]]  # with the constants; object -> all its types
    relations: dict[str, Relation]
    values: Mapping[tuple[str, Row], Fraction]  # initial values of functions
    goal: Condition
    counts_costs: bool  # the metric is (total-cost); otherwise each action costs 1
