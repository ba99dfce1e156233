"""Abstract syntax of checked rule files; `str()` of each part is rule text that parses back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from planlog.datalog.diagnostics import NOWHERE, Place

if TYPE_CHECKING:
    from planlog.pddl.task import Domain


class Source(Enum):
    """Origin of the rows of a relation."""

    STATE = "state"  # p: true in the state
    GOAL = "goal"  # p@goal: in the goal
    ACHIEVED_GOAL = "ag"  # p@ag: in the goal and true
    UNACHIEVED_GOAL = "ug"  # p@ug: in the goal and not true
    ACHIEVED_NONGOAL = "aa"  # p@aa: true and not in the goal
    TYPE = "type"  # the objects of a type and of its subtypes
    DERIVED = "derived"  # defined by rules of the file
    ACTION = "action"  # an action of the domain that the policy derives


STATUSES = {
    source.value: source
    for source in (
        Source.GOAL,
        Source.ACHIEVED_GOAL,
        Source.UNACHIEVED_GOAL,
        Source.ACHIEVED_NONGOAL,
    )
}


_PLAIN_NAME = re.compile(r"(?!not\Z)[a-z0-9][a-z0-9_-]*")


def quoted(name: str) -> str:
    """Return a name in quotes; a quote inside is doubled."""
    doubled = name.replace("'", "''")
    return f"'{doubled}'"


def written(name: str) -> str:
    """Return a name as rule files write it: in quotes if it needs them."""
    return name if _PLAIN_NAME.fullmatch(name) else quoted(name)


NETWORK_MARK = "@network"  # after the name in a head: networks read the predicate


@dataclass(frozen=True)
class Relation:
    """A set of rows of objects; the name is that of the rule file without the status."""

    name: str
    arity: int
    source: Source
    # A type whose name a predicate has, too; its text is `t@type`.
    hidden: bool = field(default=False, compare=False, repr=False)

    @classmethod
    def of_type(cls, name: str, domain: Domain) -> Relation:
        """Return the relation of the objects of a type."""
        return cls(name, 1, Source.TYPE, hidden=name in domain.predicate_ids)

    @property
    def has_rules(self) -> bool:
        """Whether rules define the relation; the others are inputs."""
        return self.source in (Source.DERIVED, Source.ACTION)

    def __str__(self) -> str:
        is_marked = self.hidden or self.source.value in STATUSES
        name = written(self.name)
        return f"{name}@{self.source.value}" if is_marked else name


@dataclass(frozen=True)
class Term:
    """An argument of an atom. Its place serves messages only: comparing two parts ignores it."""

    name: str
    place: Place = field(default=NOWHERE, compare=False, repr=False)

    def __str__(self) -> str:
        return self.name


class Variable(Term):
    """A variable; names are case-sensitive."""


class Constant(Term):
    """An object named in the rules: a constant of the domain or an object of the task."""

    def __str__(self) -> str:
        return written(self.name)


@dataclass(frozen=True)
class Wildcard(Term):
    """`_` under `not`: any object at all. Elsewhere each `_` becomes a new variable."""

    name: str = "_"


@dataclass(frozen=True)
class Literal:
    """An atom over a relation, or its negation."""

    relation: Relation
    terms: tuple[Term, ...]
    negated: bool = False
    place: Place = field(default=NOWHERE, compare=False, repr=False)

    @property
    def atom(self) -> str:
        """Text without `not`."""
        arguments = ", ".join(map(str, self.terms))
        return f"{self.relation}({arguments})" if arguments else str(self.relation)

    def __str__(self) -> str:
        return f"not {self.atom}" if self.negated else self.atom


@dataclass(frozen=True)
class Comparison:
    """An equality or inequality of two terms; it never binds a variable."""

    left: Term
    right: Term
    equal: bool
    place: Place = field(default=NOWHERE, compare=False, repr=False)

    @property
    def terms(self) -> tuple[Term, Term]:
        """Both sides."""
        return self.left, self.right

    def __str__(self) -> str:
        return f"{self.left} {'=' if self.equal else '!='} {self.right}"


@dataclass(frozen=True)
class Rule:
    """A rule: the head holds if the body does.

    A rule for an action implies the precondition and the parameter types of the action;
    `expand_preconditions` adds them to the body.
    """

    head: Literal
    body: tuple[Literal | Comparison, ...]
    text: str = field(default="", compare=False)  # as in the file, on one line
    for_network: bool = False  # the head is marked: `p@network(X) :- ...`

    @property
    def line(self) -> int:
        """Line of the head; 0 if the rule is not from a file."""
        return self.head.place.line

    @property
    def is_policy_rule(self) -> bool:
        """Whether the rule derives an action."""
        return self.head.relation.source is Source.ACTION

    @property
    def terms(self) -> Iterator[Term]:
        """The terms of the head and of the body, in the order of the text."""
        return (term for part in (self.head, *self.body) for term in part.terms)

    @property
    def literals(self) -> tuple[Literal, ...]:
        """The body without its comparisons."""
        return tuple(part for part in self.body if isinstance(part, Literal))

    def __str__(self) -> str:
        head = str(self.head)
        if self.for_network:
            name = str(self.head.relation)
            head = f"{name}{NETWORK_MARK}{head.removeprefix(name)}"
        return f"{head} :- {', '.join(map(str, self.body))}." if self.body else f"{head}."
