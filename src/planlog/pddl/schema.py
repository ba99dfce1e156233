"""Declarations of a PDDL domain: types, predicates, action schemas and axioms."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Type:
    """A type and its direct super-types, mostly one (none for `object`)."""

    name: str
    parents: tuple[str, ...]


@dataclass(frozen=True)
class Parameter:
    """A typed variable; several types mean `either`."""

    name: str
    types: tuple[str, ...]

    def __str__(self) -> str:
        if self.types == ("object",):
            return f"?{self.name}"
        types = " ".join(self.types)
        return f"?{self.name} - {types if len(self.types) == 1 else f'(either {types})'}"


@dataclass(frozen=True)
class _Declaration:
    """A name with parameters; `str()` is its PDDL text: `(on ?x - block ?y - block)`."""

    name: str
    parameters: tuple[Parameter, ...]

    @property
    def arity(self) -> int:
        """Number of parameters."""
        return len(self.parameters)

    def __str__(self) -> str:
        return f"({' '.join([self.name, *map(str, self.parameters)])})"


@dataclass(frozen=True)
class Predicate(_Declaration):
    """A predicate: derived by axioms, or else changed by actions (`fluent`) or static.

    A column is `trusted` if its objects are of the declared types in every reachable state.
    """

    derived: bool
    fluent: bool
    trusted: tuple[bool, ...]


@dataclass(frozen=True)
class SchemaLiteral:
    """A literal of a precondition or axiom; the predicate `=` compares two terms.

    A term is the number of a variable or the name of a constant.
    """

    predicate: str
    terms: tuple[int | str, ...]
    negated: bool


@dataclass(frozen=True)
class ActionSchema(_Declaration):
    """An action with parameters. Its precondition is the conjunction of the literals."""

    precondition: tuple[SchemaLiteral, ...]


@dataclass(frozen=True)
class Axiom:
    """The head holds if the body does, for variables of the given types."""

    head: str
    terms: tuple[int | str, ...]
    variables: tuple[Parameter, ...]
    body: tuple[SchemaLiteral, ...]
