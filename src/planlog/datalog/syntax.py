"""Abstract syntax of checked rule files; `str()` of each part is rule text that parses back."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from planlog.errors import Diagnostic

# Source positions serve messages only; comparing two parts ignores them.


class Source(Enum):
    """Where the rows of a relation come from."""

    STATE = "state"  # p: true in the state
    GOAL = "goal"  # p@goal: an atom of the goal
    ACHIEVED_GOAL = "ag"  # p@ag: of the goal and true
    UNACHIEVED_GOAL = "ug"  # p@ug: of the goal and not true
    ACHIEVED_NONGOAL = "aa"  # p@aa: true and not of the goal
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


NETWORK_MARK = "@network"  # behind the head of a rule whose predicate networks are to read


@dataclass(frozen=True)
class Relation:
    """A set of rows of objects, named as in the rule file but without its status."""

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
        """Number of characters of its text."""
        return len(self.name)

    def __str__(self) -> str:
        return self.name


class Variable(_NamedTerm):
    """A variable, which stands for any object; names are case-sensitive."""


class Constant(_NamedTerm):
    """An object named in the rules: a constant of the domain or an object of the task."""


@dataclass(frozen=True)
class Wildcard:
    """`_` under `not`: any object at all (elsewhere `_` is a variable of its own)."""

    line: int = field(default=0, compare=False, repr=False)
    column: int = field(default=0, compare=False, repr=False)

    @property
    def length(self) -> int:
        """Number of characters of its text."""
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
        """Its text without `not`."""
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
    """The head holds if the body does.

    The rules of a file for an action imply its precondition and the types of its parameters as
    well; `expand_preconditions` adds them to the body.
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
    """Checked rules. `strata` holds the derived predicates and actions that occur in them:
    each stratum is one set of mutually recursive relations and needs earlier strata only."""

    rules: tuple[Rule, ...]
    strata: tuple[tuple[Relation, ...], ...]
    warnings: tuple[Diagnostic, ...] = field(default=(), compare=False)
    file: str = field(default="<rules>", compare=False)
    text: str = field(default="", compare=False)
    expanded: bool = False  # the bodies of rules for actions contain their preconditions

    def __str__(self) -> str:
        return "".join(f"{rule}\n" for rule in self.rules)
