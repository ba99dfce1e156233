"""Conditions, and queries for the assignments of variables that satisfy them.

Variables are slots of an environment (a list of object names, "" where unbound). Every quantified
variable of an action has a slot of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from planlog.validation.world import Row, Rows, World

Term = int | str  # the slot of a variable, or an object
Types = tuple[str, ...]
Env = list[str]


@dataclass(frozen=True)
class Variable:
    """A typed variable; several types mean `either`."""

    name: str  # with its question mark
    slot: int
    types: Types

    def __str__(self) -> str:
        if self.types == ("object",):
            return self.name
        types = " ".join(self.types)
        return f"{self.name} - {f'(either {types})' if len(self.types) > 1 else types}"


class Condition:
    """A formula that is true or false in a world once its free variables are bound."""

    def __init__(self, parts: Iterable[Condition] = ()) -> None:
        self.parts = tuple(parts)
        self.free: frozenset[int] = frozenset().union(*(part.free for part in self.parts))

    def holds(self, env: Env, world: World) -> bool:
        raise NotImplementedError

    def show(self, env: Env) -> str:
        """Return the PDDL text, with objects in place of bound variables."""
        raise NotImplementedError

    def failure(self, env: Env, world: World) -> str:
        """Return the smallest part that explains why the condition does not hold."""
        return self.show(env)

    def predicates(self, positive: bool = True) -> Iterator[tuple[str, bool]]:
        """Yield the predicates of the condition, and whether each occurs positively."""
        for part in self.parts:
            yield from part.predicates(positive)


class Atom(Condition):
    def __init__(self, predicate: str, terms: Sequence[Term], names: Sequence[str]) -> None:
        self.predicate = predicate
        self.terms = tuple(terms)
        self.names = tuple(names)  # the terms as they were written
        self.free = frozenset(t for t in terms if isinstance(t, int))

    def row(self, env: Env) -> Row:
        return tuple([env[t] if isinstance(t, int) else t for t in self.terms])

    def holds(self, env: Env, world: World) -> bool:
        return self.row(env) in world.relation(self.predicate).rows

    def show(self, env: Env) -> str:
        terms = [value or name for value, name in zip(self.row(env), self.names, strict=True)]
        return f"({' '.join([self.predicate, *terms])})"

    def predicates(self, positive: bool = True) -> Iterator[tuple[str, bool]]:
        yield self.predicate, positive

    def matching(self, env: Env, world: World) -> Rows:
        """Return the true rows that agree with the bound terms."""
        bound = [(column, value) for column, value in enumerate(self.row(env)) if value]
        return world.relation(self.predicate).matching(
            tuple(column for column, _ in bound), tuple(value for _, value in bound)
        )

    def unify(self, row: Row, env: Env, types: dict[int, Types], world: World) -> Env | None:
        """Return the environment with the atom's variables bound to a row; None on a conflict."""
        result = env.copy()
        for term, value in zip(self.terms, row, strict=True):
            if isinstance(term, str):
                if term != value:
                    return None
            elif not result[term]:
                if value not in world.members(types[term]):
                    return None
                result[term] = value
            elif result[term] != value:
                return None
        return result


class Equal(Condition):
    def __init__(self, terms: Sequence[Term], names: Sequence[str]) -> None:
        super().__init__()
        self.atom = Atom("=", terms, names)
        self.free = self.atom.free

    def holds(self, env: Env, world: World) -> bool:
        left, right = self.atom.row(env)
        return left == right

    def show(self, env: Env) -> str:
        return self.atom.show(env)


class Not(Condition):
    def __init__(self, part: Condition) -> None:
        super().__init__([part])
        self.part = part

    def holds(self, env: Env, world: World) -> bool:
        return not self.part.holds(env, world)

    def show(self, env: Env) -> str:
        return f"(not {self.part.show(env)})"

    def predicates(self, positive: bool = True) -> Iterator[tuple[str, bool]]:
        return self.part.predicates(not positive)


class And(Condition):
    def holds(self, env: Env, world: World) -> bool:
        for part in self.parts:
            if not part.holds(env, world):
                return False
        return True

    def show(self, env: Env) -> str:
        return f"({' '.join(['and', *(part.show(env) for part in self.parts)])})"

    def failure(self, env: Env, world: World) -> str:
        first = next(part for part in self.parts if not part.holds(env, world))
        return first.failure(env, world)


class Or(Condition):
    def holds(self, env: Env, world: World) -> bool:
        for part in self.parts:
            if part.holds(env, world):
                return True
        return False

    def show(self, env: Env) -> str:
        return f"({' '.join(['or', *(part.show(env) for part in self.parts)])})"


class Imply(Or):
    def __init__(self, premise: Condition, conclusion: Condition) -> None:
        super().__init__([Not(premise), conclusion])
        self.premise = premise
        self.conclusion = conclusion

    def show(self, env: Env) -> str:
        return f"(imply {self.premise.show(env)} {self.conclusion.show(env)})"


class _Quantified(Condition):
    name: str

    def __init__(self, variables: Sequence[Variable], part: Condition) -> None:
        super().__init__([part])
        self.variables = tuple(variables)
        self.part = part
        self.free -= {v.slot for v in variables}

    def show(self, env: Env) -> str:
        return f"({self.name} ({' '.join(map(str, self.variables))}) {self.part.show(env)})"


class Exists(_Quantified):
    name = "exists"

    def __init__(self, variables: Sequence[Variable], part: Condition) -> None:
        super().__init__(variables, part)
        self.witnesses = Query(variables, part)

    def holds(self, env: Env, world: World) -> bool:
        return any(True for _ in self.witnesses.solutions(env, world))


class ForAll(_Quantified):
    name = "forall"

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
            key=lambda found: [order[found[v.slot]] for v in self.variables],
        )
        values = ", ".join(f"{v.name} = {first[v.slot]}" for v in self.variables)
        return f"{self.show(env)} with {values}"


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
        self.answer = tuple(v.slot for v in variables)
        self.types = {v.slot: v.types for v in variables}
        self.conjuncts: list[Condition] = []
        self._collect(condition)

    def _collect(self, condition: Condition) -> None:
        # An existential variable joins like the others; its values are not part of the answer.
        if isinstance(condition, And):
            for part in condition.parts:
                self._collect(part)
        elif isinstance(condition, Exists):
            self.types.update({v.slot: v.types for v in condition.variables})
            self._collect(condition.part)
        else:
            self.conjuncts.append(condition)

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
            open_slots = [slot for slot in self.types if not found[slot]]
            rest = _undecided(pending, open_slots, found, world)
            if rest is None:
                continue
            if open_slots:
                stack.append(self._branch(rest, open_slots, found, world))
            elif len(self.answer) == len(self.types):
                yield found
            elif (key := tuple(found[slot] for slot in self.answer)) not in seen:
                seen.add(key)
                yield found

    def _branch(
        self, pending: list[Condition], open_slots: list[int], env: Env, world: World
    ) -> tuple[Iterator[Env], list[Condition]]:
        """Bind the variables of the atom with the fewest rows, or else one more variable."""
        atoms = [(a, a.matching(env, world)) for a in pending if isinstance(a, Atom)]
        if atoms:
            atom, rows = min(atoms, key=lambda pair: len(pair[1]))
            unified = (atom.unify(row, env, self.types, world) for row in rows)
            return (e for e in unified if e is not None), [c for c in pending if c is not atom]
        slot = open_slots[0]
        values = world.members(self.types[slot])
        return ([*env[:slot], value, *env[slot + 1 :]] for value in values), pending


def _undecided(
    conjuncts: list[Condition], open_slots: list[int], env: Env, world: World
) -> list[Condition] | None:
    """Return the conjuncts with open variables; None if one of the others is false."""
    rest = []
    for conjunct in conjuncts:
        if not conjunct.free.isdisjoint(open_slots):
            rest.append(conjunct)
        elif not conjunct.holds(env, world):
            return None
    return rest


class Rule:
    """A rule of a derived predicate: it derives the head for every answer of its body."""

    def __init__(
        self, head: Atom, variables: Sequence[Variable], body: Condition, slots: int
    ) -> None:
        self.head = head
        self.body = body
        self.query = Query(variables, body)
        self.slots = slots

    def derive(
        self, world: World, stratum: frozenset[str], delta: dict[str, Rows] | None
    ) -> Iterator[Row]:
        """Yield rows of the head; given the new rows of the last round, those that need them."""
        env = [""] * self.slots
        atoms = [
            (i, c.predicate)
            for i, c in enumerate(self.query.conjuncts)
            if isinstance(c, Atom) and c.predicate in stratum
        ]
        uses = sum(predicate in stratum for predicate, _ in self.body.predicates())
        # Some uses may be inside 'or' or 'forall': then there is no atom to start from.
        if delta is None or uses > len(atoms):
            for found in self.query.solutions(env, world):
                yield self.head.row(found)
            return
        for i, predicate in atoms:
            for row in delta.get(predicate, ()):
                for found in self.query.solutions(env, world, (i, row)):
                    yield self.head.row(found)


def disjuncts(condition: Condition) -> Iterator[Condition]:
    """Yield conditions whose disjunction is the given one; each of them can be joined."""
    if isinstance(condition, Or):
        for part in condition.parts:
            yield from disjuncts(part)
    elif isinstance(condition, Exists):
        for part in disjuncts(condition.part):
            yield Exists(condition.variables, part)
    else:
        yield condition
