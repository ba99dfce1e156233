"""Random stratified programs, and worlds in which actions change any atom, for hypothesis."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from planlog.pddl.task import Action, Domain, Task
from planlog.policy.derivations import Derivations
from planlog.policy.policy import Policy
from planlog.policy.walk import Walk
from support.clingo_reference import (
    Atom,
    DomainText,
    assert_equal,
    evaluate,
    facts_text,
    rows,
    rules_text,
    substitutions,
)

ARITIES = {"flag": 0, "red": 1, "blue": 1, "edge": 2, "likes": 2, "line": 3}


OBJECTS = ["a", "b", "c", "d"]


OBJECT_TYPES = {"b": "warm", "c": "thing", "d": "thing"}  # and the constant a, which is warm


def domain_text() -> str:
    def variables(arity: int) -> str:
        return " ".join(f"?x{i} - thing" for i in range(arity))

    predicates = " ".join(f"({name} {variables(n)})" for name, n in ARITIES.items())
    actions = ""
    for name, n in ARITIES.items():
        atom = f"({name} {' '.join(f'?x{i}' for i in range(n))})"
        for verb, effect in (("add", atom), ("del", f"(not {atom})")):
            actions += f"(:action {verb}-{name} :parameters ({variables(n)}) :effect {effect})\n"
    # Actions that change many atoms at once.
    flips = "".join(
        f"(when {atom} (not {atom})) (when (not {atom}) {atom}) "
        for atom in ("(flag)", "(red ?x)", "(edge ?x ?y)", "(likes ?y ?x)")
    )
    actions += f"(:action flip :parameters (?x - thing ?y - thing) :effect (and {flips}))\n"
    actions += """(:action shuffle :parameters (?x - thing ?y - thing)
      :effect (and (not (edge ?x ?y)) (edge ?y ?x) (red ?x) (not (red ?y)) (not (flag))
                   (forall (?z - thing) (when (likes ?x ?z) (and (blue ?z) (not (likes ?x ?z)))))))
    """
    return f"""(define (domain changes) (:requirements :adl)
      (:types thing - object warm - thing) (:constants a - warm)
      (:predicates {predicates}) {actions})"""


DOMAIN = Domain.parse(domain_text())


DOMAIN_TEXT = DomainText.read(domain_text())


def make_task(
    initial: list[tuple[str, ...]], goal: list[tuple[str, ...]], parts: Iterable[str] = ()
) -> Task:
    """A task whose goal is the conjunction of atoms and of further parts, which are texts."""

    def atoms(listed: list[tuple[str, ...]]) -> str:
        return " ".join(f"({' '.join(atom)})" for atom in listed)

    return DOMAIN.parse_task(
        f"""(define (problem p) (:domain changes) (:objects b - warm c d - thing)
        (:init {atoms(initial)}) (:goal (and {atoms(goal)} {" ".join(parts)})))"""
    )


ALL_ATOMS = [
    (name, *arguments)
    for name, arity in ARITIES.items()
    for arguments in product(OBJECTS, repeat=arity)
]


@dataclass(frozen=True)
class GoalPart:
    """A part of a goal that stands for literals: these are true, and those are false."""

    text: str
    wanted: frozenset[Atom] = frozenset()
    unwanted: frozenset[Atom] = frozenset()


GOAL_PARTS = [
    GoalPart("(not (flag))", unwanted=frozenset({("flag",)})),
    GoalPart("(not (line a b c))", unwanted=frozenset({("line", "a", "b", "c")})),
    GoalPart("(forall (?x - warm) (red ?x))", frozenset({("red", "a"), ("red", "b")})),
    GoalPart(
        "(forall (?x - thing) (and (blue ?x) (not (likes ?x ?x))))",
        frozenset(("blue", x) for x in OBJECTS),
        frozenset(("likes", x, x) for x in OBJECTS),
    ),
    GoalPart(
        "(not (exists (?x ?y - thing) (and (not (= ?x ?y)) (edge ?x ?y))))",
        unwanted=frozenset(("edge", x, y) for x in OBJECTS for y in OBJECTS if x != y),
    ),
    GoalPart(
        "(forall (?x - warm) (forall (?y - thing) (or (= ?y c) (line ?x ?y ?x))))",
        frozenset(("line", x, y, x) for x in "ab" for y in "abd"),
    ),
]


@dataclass(frozen=True)
class World:
    """A task and a way through it. It is drawn from a seed, so that many atoms hold and most moves
    change something that rules read; hypothesis shrinks the programs."""

    seed: int

    def task(self) -> tuple[list[Atom], list[Atom]]:
        rng = random.Random(self.seed)
        density = rng.choice([0.1, 0.3, 0.5])
        initial = [atom for atom in ALL_ATOMS if rng.random() < density]
        return initial, [atom for atom in ALL_ATOMS if rng.random() < 0.2]

    def goal_parts(self) -> list[GoalPart]:
        """What the goal of the task may want besides."""
        rng = random.Random(f"goal {self.seed}")
        return [part for part in GOAL_PARTS if rng.random() < 0.4]

    def moves(self, count: int) -> Iterator[Action | None]:
        """Actions, with None for undo."""
        rng = random.Random(-self.seed)
        for _ in range(count):
            x, y = rng.choice(OBJECTS), rng.choice(OBJECTS)
            name, *arguments = rng.choice(ALL_ATOMS)
            yield rng.choice(
                [
                    Action(rng.choice(["add-", "del-"]) + name, tuple(arguments)),
                    Action(rng.choice(["add-flag", "del-flag"]), ()),
                    Action("flip", (x, y)),
                    Action("flip", (x, y)),
                    Action("shuffle", (x, y)),
                    None,
                ]
            )


worlds = st.integers(0, 2**32 - 1).map(World)


@dataclass
class Draft:
    """A program under construction: derived predicates with arities, by level."""

    levels: list[dict[str, int]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    values: bool = False
    valued: list[str] = field(default_factory=list)  # predicates of an object and an integer


@st.composite
def programs(draw: DrawFn, values: bool = False) -> str:
    """A stratified program; with `values`, rules also compute and compare integers."""
    draft = Draft(values=values)
    for level in range(draw(st.integers(1, 3))):
        if values:
            draw(valued_predicates(draft, f"v{level}"))
        count = draw(st.integers(1, 2))
        draft.levels.append({f"d{level}{i}": draw(st.integers(0, 3)) for i in range(count)})
        for name, arity in draft.levels[level].items():
            for _ in range(draw(st.integers(1, 3))):
                draft.lines.append(draw(rules(draft, level, name, arity)))
    # Some action, so that the program is a policy.
    draft.lines.append(draw(rules(draft, len(draft.levels), "add-red", 1)))
    if draw(st.booleans()):
        draft.lines.append("del-red(X) :- not add-red(_), red(X).")
    return "\n".join(draft.lines)


OPERATORS = ["=", "!=", "<", "<=", ">", ">="]
SETS = (
    "E : edge(%s, E)",
    "E, F : line(E, %s, F)",
    "E : likes(E, %s), not red(E)",
    "E : red(E)",
)


@st.composite
def valued_predicates(draw: DrawFn, draft: Draft, name: str) -> None:
    """Add the rules of a predicate of an object and an integer; an object may have several."""
    values = ["N + 1", "N - M", "2 * N - 3", "N * M", "(N + 1) * (M - 2)", "-N"]
    for _ in range(draw(st.integers(1, 3))):
        earlier = st.sampled_from(draft.valued) if draft.valued else st.nothing()
        body = draw(
            st.sampled_from(["thing(X)", "warm(X)", "red(X)", "edge(X, _)", "blue(X), not red(X)"])
        )
        if draft.valued and draw(st.booleans()):
            value = draw(st.sampled_from(values))
            link = draw(st.sampled_from(["edge(X, Y)", "likes(Y, X)", "thing(X), X = Y"]))
            body = f"{draw(earlier)}(X, N), {link}, thing(Y), {draw(earlier)}(Y, M)"
            if "M" not in value:
                body = body.replace(", M)", ", _)")
        elif draw(st.booleans()):
            value = draw(aggregates(draft, "X"))
        else:
            value = str(draw(st.integers(-2, 3)))
        draft.lines.append(f"{name}(X, {value}) :- {body}.")
    draft.valued.append(name)


@st.composite
def aggregates(draw: DrawFn, draft: Draft, variable: str) -> str:
    """An aggregate over a set of atoms with a variable's object."""
    kind = "count"
    if draft.valued:
        kind = draw(st.sampled_from(["count", "sum", "min", "max"]))
    if kind == "count":
        return f"count {{ {draw(st.sampled_from(SETS)).replace('%s', variable)} }}"
    element, condition = draw(
        st.sampled_from(
            [
                ("N", f"{draw(st.sampled_from(draft.valued))}({variable}, N)"),
                ("N, E", f"edge({variable}, E), {draw(st.sampled_from(draft.valued))}(E, N)"),
                ("2 * N, E", f"likes(E, {variable}), {draw(st.sampled_from(draft.valued))}(E, N)"),
                ("N - 1", f"{draw(st.sampled_from(draft.valued))}(E, N), N < 2, not red(E)"),
            ]
        )
    )
    return f"{kind} {{ {element} : {condition} }}"


@st.composite
def comparisons_of_values(draw: DrawFn, draft: Draft, variable: str) -> str:
    """A comparison of integers that belong to a variable's object."""
    operator = draw(st.sampled_from(OPERATORS))
    if draft.valued and draw(st.booleans()):
        one, other = draw(st.sampled_from(draft.valued)), draw(st.sampled_from(draft.valued))
        right = draw(st.sampled_from(["1", "M", "M + 1", "2 * M"]))
        second = f"{other}({variable}, M), " if "M" in right else ""
        return f"{one}({variable}, N), {second}N {operator} {right}"
    counts = [draw(aggregates(draft, variable)) for _ in range(2)]
    left = draw(st.sampled_from(["1", "2", "{} + 1", "2 * {} - 1"])).format(counts[0])
    return f"{left} {operator} {counts[1]}"


@st.composite
def rules(draw: DrawFn, draft: Draft, level: int, head: str, arity: int) -> str:
    """A safe rule: positive literals first, then what only uses their variables."""
    inputs = dict(ARITIES)
    statuses = [*[""] * 6, "@ag", "@ug", "@aa", "@goal", "@un"]
    known = {**inputs, "warm": 1, "thing": 1}
    for earlier in draft.levels[:level]:
        known.update(earlier)
    own = draft.levels[level] if level < len(draft.levels) else {}
    variables = ["X", "Y", "Z", "W"]

    def atom(name: str, terms: list[str]) -> str:
        if name in inputs:
            name += draw(st.sampled_from(statuses))
        return f"{name}({', '.join(terms)})" if terms else name

    body: list[str] = []
    bound: list[str] = []
    for _ in range(draw(st.integers(0 if arity == 0 else 1, 3))):
        name, n = draw(st.sampled_from(sorted({**known, **own}.items())))
        terms = draw(
            st.lists(st.sampled_from([*variables, *variables, "a", "c"]), min_size=n, max_size=n)
        )
        body.append(atom(name, terms))
        bound += [t for t in terms if t in variables]
    while arity > 0 and not bound:
        body.append("thing(X)")
        bound.append("X")
    any_term = (
        st.sampled_from([*bound, *bound, *bound, "a", "b"])
        if bound
        else st.sampled_from(["a", "b"])
    )
    used = {name: n for name, n in known.items() if any(part.startswith(name) for part in body)}
    for _ in range(draw(st.integers(0, 2))):
        name, n = draw(
            st.sampled_from(sorted((draw(st.sampled_from([used, known])) or known).items()))
        )
        terms = draw(st.lists(st.one_of(any_term, any_term, st.just("_")), min_size=n, max_size=n))
        body.append("not " + atom(name, terms))
    if bound and draw(st.integers(0, 3)) == 0:
        operator = draw(st.sampled_from(["=", "!="]))
        body.append(f"{draw(st.sampled_from(bound))} {operator} {draw(any_term)}")
    if draft.values and bound and draw(st.integers(0, 2)) == 0:
        body.append(draw(comparisons_of_values(draft, draw(st.sampled_from(bound)))))
    body += draw(st.sampled_from([[], [], ["flag"], ["not flag"], ["not red(_)"]]))
    head_terms = draw(st.lists(any_term, min_size=arity, max_size=arity))
    order = draw(st.permutations(body))
    head_atom = f"{head}({', '.join(head_terms)})" if head_terms else head
    return f"{head_atom} :- {', '.join(order)}." if order else f"{head_atom}."


def check_against_clingo(
    policy: Policy,
    task: Task,
    found: Derivations,
    state: set[Atom],
    goal: set[Atom],
    parts: Iterable[GoalPart] = (),
) -> None:
    """Compare with clingo for the goal that is the conjunction of atoms and of further parts."""
    assert policy.program is not None
    wanted = goal.union(*(part.wanted for part in parts))
    unwanted = frozenset[Atom]().union(*(part.unwanted for part in parts))
    facts = facts_text(DOMAIN_TEXT, OBJECT_TYPES, state, wanted, unwanted)
    expected = evaluate(policy.program, rules_text(policy.program, DOMAIN_TEXT), facts)
    assert_equal(policy, task, found, expected)


def assert_maintained(walk: Walk) -> None:
    """The maintained model equals the one from scratch: all relations, all derivations."""
    kept = walk.derivations()
    fresh = walk.policy.derivations(walk.task, [walk.state])
    for ours, theirs in zip(kept.relations, fresh.relations, strict=True):
        assert len(ours.of(0)) == len(theirs.of(0))
    for relation in range(len(kept.relations)):
        assert rows(walk.task, kept, relation) == rows(walk.task, fresh, relation)
    assert substitutions(kept) == substitutions(fresh)
    assert walk.actions() == walk.policy.actions(walk.task, walk.state)
