"""Conditions, and queries for the assignments of variables that satisfy them.

An environment maps variables to objects. All variables of an action have different names: the
reader numbers those that are declared again, `?x` as `?x 2`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from planlog.validation.world import Row, Rows, World

Types = tuple[str, ...]
Env = Mapping[str, str]


@dataclass(frozen=True)
class Variable:
    """A typed variable; several types mean `either`."""

    name: str  # with its question mark
    types: Types

    def __str__(self) -> str:
        name = as_written(self.name)
        if self.types == ("object",):
            return name
        types = " ".join(self.types)
        return f"{name} - {f'(either {types})' if len(self.types) > 1 else types}"


def as_written(term: str) -> str:
    """Return a term without the number of a variable."""
    return term.partition(" ")[0]


class Use(NamedTuple):
    """An occurrence of a predicate in a condition."""

    predicate: str
    positive: bool
    universal: bool  # it is inside a `forall`, or an `exists` that is negated


class Condition:
    """A formula that is true or false in a world once its free variables are bound."""

    name: str  # of the connective
    constant: bool | None = None  # the value, if it is the same in all worlds
    parts: tuple[Condition, ...] = ()

    def __init__(self, parts: Iterable[Condition] = ()) -> None:
        self.parts = tuple(parts)
        self.free: frozenset[str] = frozenset().union(*(part.free for part in self.parts))

    def holds(self, env: Env, world: World) -> bool:
        raise NotImplementedError

    def show(self, env: Env) -> str:
        """Return the PDDL text, with objects in place of bound variables."""
        return f"({' '.join([self.name, *(part.show(env) for part in self.parts)])})"

    def failure(self, env: Env, world: World) -> str:
        """Return the smallest part that explains why the condition does not hold."""
        return self.show(env)

    def uses(self, positive: bool = True, universal: bool = False) -> Iterator[Use]:
        """Yield the occurrences of predicates on which the condition depends."""
        if self.constant is None:
            for part in self.parts:
                yield from part.uses(positive, universal)


class Atom(Condition):
    def __init__(self, predicate: str, terms: Sequence[str]) -> None:
        self.predicate = predicate
        self.terms = tuple(terms)  # variables and objects
        self.free = frozenset(term for term in terms if term.startswith("?"))

    def row(self, env: Env) -> Row:
        return tuple([env.get(term, term) for term in self.terms])

    def holds(self, env: Env, world: World) -> bool:
        return self.row(env) in world.relation(self.predicate).rows

    def show(self, env: Env) -> str:
        return f"({' '.join([self.predicate, *map(as_written, self.row(env))])})"

    def uses(self, positive: bool = True, universal: bool = False) -> Iterator[Use]:
        yield Use(self.predicate, positive, universal)

    def matching(self, env: Env, world: World) -> Rows:
        """Return the true rows that agree with the bound terms."""
        bound = [(i, value) for i, value in enumerate(self.row(env)) if value[0] != "?"]
        return world.relation(self.predicate).matching(
            tuple(column for column, _ in bound), tuple(value for _, value in bound)
        )

    def unify(self, row: Row, env: Env, types: Mapping[str, Types], world: World) -> Env | None:
        """Return the environment with the atom's variables bound to a row; None on a conflict."""
        result = dict(env)
        for term, value in zip(self.terms, row, strict=True):
            if term in types and term not in result:
                if value not in world.members(types[term]):
                    return None
                result[term] = value
            elif result.get(term, term) != value:
                return None
        return result


class Equal(Condition):
    def __init__(self, terms: Sequence[str]) -> None:
        super().__init__()
        self.atom = Atom("=", terms)
        self.free = self.atom.free
        if terms[0] == terms[1] or not self.free:
            self.constant = terms[0] == terms[1]

    def holds(self, env: Env, world: World) -> bool:
        left, right = self.atom.row(env)
        return left == right

    def show(self, env: Env) -> str:
        return self.atom.show(env)


class Not(Condition):
    name = "not"

    def __init__(self, part: Condition) -> None:
        super().__init__([part])
        self.part = part
        self.constant = None if part.constant is None else not part.constant

    def holds(self, env: Env, world: World) -> bool:
        return not self.part.holds(env, world)

    def uses(self, positive: bool = True, universal: bool = False) -> Iterator[Use]:
        return self.part.uses(not positive, universal)


class And(Condition):
    name = "and"

    def __init__(self, parts: Iterable[Condition] = ()) -> None:
        super().__init__(parts)
        self.constant = _constant(self.parts, False)

    def holds(self, env: Env, world: World) -> bool:
        return all(part.holds(env, world) for part in self.parts)

    def failure(self, env: Env, world: World) -> str:
        first = next(part for part in self.parts if not part.holds(env, world))
        return first.failure(env, world)


class Or(Condition):
    name = "or"

    def __init__(self, parts: Iterable[Condition] = ()) -> None:
        super().__init__(parts)
        self.constant = _constant(self.parts, True)

    def holds(self, env: Env, world: World) -> bool:
        return any(part.holds(env, world) for part in self.parts)


class Imply(Or):
    def __init__(self, premise: Condition, conclusion: Condition) -> None:
        super().__init__([Not(premise), conclusion])
        self.premise = premise
        self.conclusion = conclusion

    def show(self, env: Env) -> str:
        return f"(imply {self.premise.show(env)} {self.conclusion.show(env)})"


class _Quantified(Condition):
    empty: bool  # the value over no objects

    def __init__(self, variables: Sequence[Variable], part: Condition) -> None:
        super().__init__([part])
        self.variables = tuple(variables)
        self.part = part
        self.free -= {v.name for v in variables}
        self.constant = part.constant if part.constant is self.empty else None

    def uses(self, positive: bool = True, universal: bool = False) -> Iterator[Use]:
        return super().uses(positive, universal or self.empty is positive)

    def show(self, env: Env) -> str:
        return f"({self.name} ({' '.join(map(str, self.variables))}) {self.part.show(env)})"


class Exists(_Quantified):
    name = "exists"
    empty = False

    def __init__(self, variables: Sequence[Variable], part: Condition) -> None:
        super().__init__(variables, part)
        self.witnesses = Query(variables, part)

    def holds(self, env: Env, world: World) -> bool:
        return any(True for _ in self.witnesses.solutions(env, world))


class ForAll(_Quantified):
    name = "forall"
    empty = True

    def __init__(self, variables: Sequence[Variable], part: Condition) -> None:
        super().__init__(variables, part)
        self.counterexamples = Query(variables, negation(part))

    def holds(self, env: Env, world: World) -> bool:
        return not any(True for _ in self.counterexamples.solutions(env, world))

    def failure(self, env: Env, world: World) -> str:
        """Return the text with the counterexample that is first in the order of the objects."""
        order = {name: i for i, name in enumerate(world.members(("object",)))}
        first = min(
            self.counterexamples.solutions(env, world),
            key=lambda found: [order[found[v.name]] for v in self.variables],
        )
        values = ", ".join(f"{as_written(v.name)} = {first[v.name]}" for v in self.variables)
        return f"{self.show(env)} with {values}"


def _constant(parts: Iterable[Condition], dominant: bool) -> bool | None:
    """Return the value of parts of which one with the dominant value decides."""
    values = {part.constant for part in parts}
    return dominant if dominant in values else None if None in values else not dominant


def negation(condition: Condition) -> Condition:
    """Return the negation, pushed inwards as far as that makes conjunctions, which join."""
    match condition:
        case Not():
            return condition.part
        case Or():
            return And(negation(part) for part in condition.parts)
        case ForAll():
            return Exists(condition.variables, negation(condition.part))
    return Not(condition)


class Query:
    """A search for the assignments of variables that satisfy a condition: a join of its atoms."""

    def __init__(self, variables: Sequence[Variable], condition: Condition) -> None:
        self.answer = tuple(v.name for v in variables)
        self.types = {v.name: v.types for v in variables}
        self.conjuncts: list[Condition] = []
        self._collect(condition)

    def _collect(self, condition: Condition) -> None:
        for part in conjuncts(condition):
            if isinstance(part, Exists):
                # Its variables join like the others; their values are not part of the answer.
                self.types.update({v.name: v.types for v in part.variables})
                self._collect(part.part)
            else:
                self.conjuncts.append(part)

    def solutions(
        self, env: Env, world: World, given: tuple[int, Row] | None = None
    ) -> Iterator[Env]:
        """Yield each answer once, as an extension of the environment.

        With `given = (i, row)`, yield only answers in which conjunct `i`, an atom, has this row.
        """
        start: Env | None = env
        conjuncts = self.conjuncts
        if not conjuncts and not self.types:
            yield env  # most effects have no condition
            return
        if given is not None:
            atom = conjuncts[given[0]]
            assert isinstance(atom, Atom)
            conjuncts = conjuncts[: given[0]] + conjuncts[given[0] + 1 :]
            start = atom.unify(given[1], env, self.types, world)
        if start is None:
            return
        seen: set[Row] = set()
        stack = [(iter([start]), conjuncts)]
        while stack:
            candidates, pending = stack[-1]
            found = next(candidates, None)
            if found is None:
                stack.pop()
                continue
            unbound = [name for name in self.types if name not in found]
            rest = _undecided(pending, unbound, found, world)
            if rest is None:
                continue
            if unbound:
                stack.append(self._branch(rest, unbound[0], found, world))
            elif len(self.answer) == len(self.types):
                yield found
            elif (key := tuple(found[name] for name in self.answer)) not in seen:
                seen.add(key)
                yield found

    def _branch(
        self, pending: list[Condition], unbound: str, env: Env, world: World
    ) -> tuple[Iterator[Env], list[Condition]]:
        """Bind the variables of the atom with the fewest rows, or else the unbound variable."""
        atoms = [(a, a.matching(env, world)) for a in pending if isinstance(a, Atom)]
        if atoms:
            atom, rows = min(atoms, key=lambda pair: len(pair[1]))
            unified = (atom.unify(row, env, self.types, world) for row in rows)
            return (e for e in unified if e is not None), [c for c in pending if c is not atom]
        values = world.members(self.types[unbound])
        return ({**env, unbound: value} for value in values), pending


def _undecided(
    conjuncts: list[Condition], unbound: list[str], env: Env, world: World
) -> list[Condition] | None:
    """Return the conjuncts with unbound variables; None if one of the others is false."""
    rest = []
    for conjunct in conjuncts:
        if not conjunct.free.isdisjoint(unbound):
            rest.append(conjunct)
        elif not conjunct.holds(env, world):
            return None
    return rest


class Rule:
    """A rule of a derived predicate: it derives the head for every answer of its body."""

    def __init__(self, head: Atom, variables: Sequence[Variable], body: Condition) -> None:
        self.head = head
        self.body = body
        self.query = Query(variables, body)

    def derive(
        self, world: World, stratum: frozenset[str], delta: dict[str, Rows] | None
    ) -> Iterator[Row]:
        """Yield rows of the head; given the new rows of the last round, those that need them."""
        atoms = [
            (i, c.predicate)
            for i, c in enumerate(self.query.conjuncts)
            if isinstance(c, Atom) and c.predicate in stratum
        ]
        uses = sum(use.predicate in stratum for use in self.body.uses())
        # Some uses may be inside 'or' or 'forall': then there is no atom to start from.
        if delta is None or uses > len(atoms):
            for found in self.query.solutions({}, world):
                yield self.head.row(found)
            return
        for i, predicate in atoms:
            for row in delta.get(predicate, ()):
                for found in self.query.solutions({}, world, (i, row)):
                    yield self.head.row(found)


def conjuncts(condition: Condition) -> Iterator[Condition]:
    """Yield conditions whose conjunction is the given one."""
    if isinstance(condition, And):
        for part in condition.parts:
            yield from conjuncts(part)
    else:
        yield condition


def disjuncts(condition: Condition) -> Iterator[Condition]:
    """Yield conditions whose disjunction is the given one; each of them can be joined."""
    if condition.constant is not None:
        yield condition
    elif isinstance(condition, Or):
        for part in condition.parts:
            yield from disjuncts(part)
    elif isinstance(condition, Exists):
        for part in disjuncts(condition.part):
            yield Exists(condition.variables, part)
    else:
        yield condition
