"""What the validator knows of a domain and a problem once they have been read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from planlog.validation.conditions import Atom, Condition, Query, Rule, Variable
from planlog.validation.world import Relation, Row, Stratum

Types = tuple[str, ...]


@dataclass(frozen=True)
class Effect:
    """For each answer of the query (once if there is none): the atom becomes true or false."""

    query: Query | None
    atom: Atom
    adds: bool


@dataclass(frozen=True)
class Cost:
    """For each answer of the query (once if there is none): a number, or a function's value."""

    query: Query | None
    amount: float | Atom


@dataclass(frozen=True)
class Action:
    name: str
    parameters: tuple[Variable, ...]
    precondition: Condition
    effects: tuple[Effect, ...]
    costs: tuple[Cost, ...]
    slots: int  # of its parameters and all quantified variables


@dataclass
class Domain:
    name: str = ""
    parents: dict[str, Types] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    predicates: dict[str, tuple[Types, ...]] = field(default_factory=dict)
    functions: dict[str, tuple[Types, ...]] = field(default_factory=dict)
    actions: dict[str, Action] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    strata: list[Stratum] = field(default_factory=list)

    @cached_property
    def derived(self) -> frozenset[str]:
        """The predicates that rules define; to be asked once all rules have been read."""
        return frozenset(rule.head.predicate for rule in self.rules)

    def supertypes(self, name: str) -> frozenset[str]:
        """The type itself and all above it."""
        found, todo = {"object"}, [name]
        while todo:
            current = todo.pop()
            if current not in found:
                found.add(current)
                todo += self.parents.get(current, ())
        return frozenset(found)


@dataclass
class Problem:
    domain_name: str
    objects: Mapping[str, frozenset[str]]  # constants included, each with all its types
    relations: dict[str, Relation]
    values: Mapping[tuple[str, Row], float]  # of the functions
    goal: Condition
    goal_slots: int
    counts_costs: bool  # (:metric minimize (total-cost)); otherwise every action costs 1
