"""Abstract syntax of checked rule files; `str()` of each part is rule text that parses back."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from planlog.errors import Diagnostic

# Source positions serve messages only; comparing two parts ignores them.


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


NETWORK_MARK = "@network"  # after the name in a head: networks read the predicate


@dataclass(frozen=True)
class Relation:
    """A set of rows of objects; the name is that of the rule file without the status."""

    name: str
    arity: int
    source: Source

    @property
    def has_rules(self) -> bool:
        """Whether rules define the relation; the others are inputs."""
        return self.source in (Source.DERIVED, Source.ACTION)

    def __str__(self) -> str:
        return f"{self.name}@{self.source.value}" if self.source.value in STATUSES else self.name


@dataclass(frozen=True)
class _NamedTerm:
    name: str
    line: int = field(default=0, compare=False, repr=False)
    column: int = field(default=0, compare=False, repr=False)

    @property
    def length(self) -> int:
        """Number of characters of the text."""
        return len(self.name)

    def __str__(self) -> str:
        return self.name


class Variable(_NamedTerm):
    """A variable; names are case-sensitive."""


class Constant(_NamedTerm):
    """An object named in the rules: a constant of the domain or an object of the task."""


@dataclass(frozen=True)
class Wildcard:
    """`_` under `not`: any object at all. Elsewhere each `_` becomes a new variable."""

    line: int = field(default=0, compare=False, repr=False)
    column: int = field(default=0, compare=False, repr=False)

    @property
    def length(self) -> int:
        """Number of characters of the text."""
        return 1

    def __str__(self) -> str:
        return "_"


Term: TypeAlias = Variable | Constant | Wildcard


@dataclass(frozen=True)
class Literal:
    """An atom over a relation, or its negation."""

    relation: Relation
    terms: tuple[Term, ...]
    negated: bool = False
    line: int = field(default=0, compare=False, repr=False)
    column: int = field(default=0, compare=False, repr=False)
    length: int = field(default=1, compare=False, repr=False)

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
    line: int = field(default=0, compare=False, repr=False)
    column: int = field(default=0, compare=False, repr=False)
    length: int = field(default=1, compare=False, repr=False)

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
    line: int = field(default=0, compare=False, repr=False)
    column: int = field(default=0, compare=False, repr=False)
    text: str = field(default="", compare=False)  # as in the file, on one line
    for_network: bool = False  # the head is marked: `p@network(X) :- ...`

    @property
    def is_policy_rule(self) -> bool:
        """Whether the rule derives an action."""
        return self.head.relation.source is Source.ACTION

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


@dataclass(frozen=True)
class Program:
    """Checked rules and the strata of their derived predicates and actions.

    Each stratum is a set of mutually recursive relations that depends on earlier strata only.
    """

    rules: tuple[Rule, ...]
    strata: tuple[tuple[Relation, ...], ...]
    warnings: tuple[Diagnostic, ...] = field(default=(), compare=False)
    file: str = field(default="<rules>", compare=False)
    text: str = field(default="", compare=False)
    expanded: bool = False  # the bodies of rules for actions contain their preconditions

    def __str__(self) -> str:
        return "".join(f"{rule}\n" for rule in self.rules)
