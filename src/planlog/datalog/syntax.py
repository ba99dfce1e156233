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
    UNWANTED = "un"  # p@un: true, and its negation is in the goal
    TYPE = "type"  # the objects of a type and of its subtypes
    FUNCTION = "function"  # a static function; its value is the last column
    DERIVED = "derived"  # defined by rules of the file
    ACTION = "action"  # an action of the domain that the policy derives
    AGGREGATE = "aggregate"  # a value for each group of the rows of another relation
    APPLICABLE = "can"  # the applicable instances of an action, whether or not rules derive them


STATUSES = {
    source.value: source
    for source in (
        Source.GOAL,
        Source.ACHIEVED_GOAL,
        Source.UNACHIEVED_GOAL,
        Source.ACHIEVED_NONGOAL,
        Source.UNWANTED,
    )
}


_PLAIN_NAME = re.compile(r"(?!not\Z|[0-9]+\Z)[a-z0-9][a-z0-9_-]*")


def quoted(name: str) -> str:
    """Return a name in quotes; a quote inside is doubled."""
    doubled = name.replace("'", "''")
    return f"'{doubled}'"


def written(name: str) -> str:
    """Return a name as rule files write it: in quotes if it needs them."""
    return name if _PLAIN_NAME.fullmatch(name) else quoted(name)


NETWORK_MARK = "@network"  # after the name in a head: networks read the predicate


AGGREGATES = ("count", "sum", "min", "max", "first")


@dataclass(frozen=True)
class Aggregate:
    """What an aggregate computes: a value for each group of elements.

    The columns of the elements are the group, the value and whatever tells equal values apart. The
    groups that may be empty are the rows of `groups`.
    """

    kind: str
    elements: Relation
    groups: Relation | None
    group_size: int


@dataclass(frozen=True)
class Relation:
    """A set of rows of objects and integers; the name is that of the rule file without the status.

    `numbers` are the columns that hold integers. A relation of least values has one row for each
    combination of the other columns, with the least integer in the column `least`.
    """

    name: str
    arity: int
    source: Source
    # A type whose name a predicate has, too; its text is `t@type`.
    hidden: bool = field(default=False, compare=False, repr=False)
    numbers: frozenset[int] = field(default=frozenset(), compare=False, repr=False)
    least: int | None = field(default=None, compare=False, repr=False)
    aggregate: Aggregate | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of_type(cls, name: str, domain: Domain) -> Relation:
        """Return the relation of the objects of a type."""
        return cls(name, 1, Source.TYPE, hidden=name in domain.predicate_ids)

    @property
    def has_rules(self) -> bool:
        """Whether rules define the relation; the others are inputs."""
        return self.source in (Source.DERIVED, Source.ACTION)

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The relations that an aggregate reads."""
        if self.aggregate is None:
            return ()
        groups = self.aggregate.groups
        return (self.aggregate.elements, *([groups] if groups else []))

    def __str__(self) -> str:
        is_marked = self.hidden or self.source.value in STATUSES
        name = written(self.name)
        if self.source is Source.APPLICABLE:
            return f"can {name}"
        return f"{name}@{self.source.value}" if is_marked else name


DEAD = Relation("dead", 0, Source.DERIVED)  # states from which no plan leads to the goal


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


class Number(Term):
    """An integer."""

    @property
    def value(self) -> int:
        """The integer."""
        return int(self.name)


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
        if aggregate := self.relation.aggregate:
            *group, number = self.terms
            own = fresh_names(aggregate.elements.arity - len(group), taken=set(map(str, group)))
            elements = ", ".join(map(str, (*group, *own)))
            whole = f"{written(aggregate.elements.name)}({elements})"
            return f"{number} = {aggregate.kind} {{ {', '.join(own)} : {whole} }}"
        arguments = ", ".join(map(str, self.terms))
        return f"{self.relation}({arguments})" if arguments else str(self.relation)

    def __str__(self) -> str:
        return f"not {self.atom}" if self.negated else self.atom


@dataclass(frozen=True)
class Operation:
    """An expression over integers: two expressions and `+`, `-` or `*`."""

    operator: str
    left: Expression
    right: Expression

    @property
    def terms(self) -> tuple[Term, ...]:
        """The variables and numbers of the expression."""
        return terms_of(self.left) + terms_of(self.right)

    def __str__(self) -> str:
        left, right = str(self.left), str(self.right)
        if self.operator == "*":
            left, right = (
                f"({side})" if isinstance(side, Operation) and side.operator != "*" else str(side)
                for side in (self.left, self.right)
            )
        if isinstance(self.right, Operation) and (
            self.operator == "-" or (self.operator == "*" and self.right.operator == "*")
        ):
            right = f"({self.right})"
        return f"{left} {self.operator} {right}"


Expression = Term | Operation


def terms_of(expression: Expression) -> tuple[Term, ...]:
    """Return the terms of an expression."""
    return expression.terms if isinstance(expression, Operation) else (expression,)


def fresh_names(count: int, taken: set[str]) -> list[str]:
    """Return names of variables that are not taken."""
    names: list[str] = []
    number = 0
    while len(names) < count:
        number += 1
        if f"V{number}" not in taken:
            names.append(f"V{number}")
    return names


OPERATORS = ("=", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class Comparison:
    """A comparison of two objects, by `=` or `!=`, or of two integers.

    An equation gives a variable its value if the other side is an integer. A comparison of objects
    never binds a variable.
    """

    left: Expression
    operator: str
    right: Expression
    place: Place = field(default=NOWHERE, compare=False, repr=False)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms of both sides."""
        return terms_of(self.left) + terms_of(self.right)

    @property
    def equal(self) -> bool:
        """Whether the comparison is an equation."""
        return self.operator == "="

    def __str__(self) -> str:
        return f"{self.left} {self.operator} {self.right}"


@dataclass(frozen=True)
class Choice:
    """What a rule keeps of its answers, in each group: those with the best key.

    `any X` keeps those with the first object in the order of the task.
    """

    kind: str
    key: Expression
    group: tuple[Variable, ...]
    place: Place = field(default=NOWHERE, compare=False, repr=False)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms of the key and the variables of the group."""
        return terms_of(self.key) + self.group

    def __str__(self) -> str:
        group = f" for {', '.join(map(str, self.group))}" if self.group else ""
        return f"{self.kind} {self.key}{group}"


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
    choices: tuple[Choice, ...] = ()
    forbids: bool = False  # a prohibition: the head must not be derived
    # Number of `else` and `prefer` before it; -1 if it is not in the file.
    block: int = field(default=-1, compare=False)
    level: int = field(default=0, compare=False)  # number of `prefer` before it
    # Written out for another part of the file, which `text` repeats.
    generated: bool = field(default=False, compare=False)

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
        return (term for part in (self.head, *self.body, *self.choices) for term in part.terms)

    @property
    def literals(self) -> tuple[Literal, ...]:
        """The body without its comparisons."""
        return tuple(part for part in self.body if isinstance(part, Literal))

    def __str__(self) -> str:
        head = str(self.head)
        least = self.head.relation.least
        if least is not None:
            texts = [f"{'min ' * (i == least)}{term}" for i, term in enumerate(self.head.terms)]
            head = f"{self.head.relation}({', '.join(texts)})"
        if self.for_network:
            name = str(self.head.relation)
            head = f"{name}{NETWORK_MARK}{head.removeprefix(name)}"
        parts = [*self.body, *self.choices]
        if self.forbids:
            head, parts = "", [self.head, *parts]
        return f"{head} :- {', '.join(map(str, parts))}.".lstrip() if parts else f"{head}."
