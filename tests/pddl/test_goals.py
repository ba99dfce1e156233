"""Goals of every kind: those that become ground literals, and those that stay formulas.

Random goals are compared with the definitions in random states (`Book`), and goals that are
conjunctions of literals, perhaps under `forall` and static conditions, with a naive expansion.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from planlog.pddl.task import Atom, Domain, GoalFormula, State, Task
from planlog.policy.policy import Policy
from support.nested_lists import Nested
from support.pddl_by_the_book import Book
from support.profiles import examples

pytestmark = pytest.mark.core

# Actions change p, q and flag; s and r are static, and d is derived.
DOMAIN_TEXT = """(define (domain d) (:requirements :adl :derived-predicates)
  (:types item other none - object box - item) (:constants c - box)
  (:predicates (p ?x - item) (q ?x ?y - item) (flag) (s ?x - item) (r ?x ?y - item) (d ?x - item))
  (:derived (d ?x - item) (exists (?y - item) (and (q ?x ?y) (not (p ?y)))))
  (:action flip :parameters (?x ?y - item)
   :effect (and (when (p ?x) (not (p ?x))) (when (not (p ?x)) (p ?x)) (not (flag))))
  (:action link :parameters (?x ?y - item) :effect (and (q ?x ?y) (flag)))
  (:action unlink :parameters (?x ?y - item) :effect (not (q ?x ?y))))"""
DOMAIN = Domain.parse(DOMAIN_TEXT)
OBJECTS = {"c": "box", "a": "item", "b": "box", "o": "other"}
ITEMS = ["c", "a", "b"]
FLUENT = {"p": 1, "q": 2, "flag": 0}
STATIC = {"s": 1, "r": 2}
seeds = st.integers(0, 2**32)


def problem_text(goal: str, initial: list[str]) -> str:
    return f"""(define (problem g) (:domain d) (:objects a - item b - box o - other)
      (:init {" ".join(initial)}) (:goal {goal}))"""


def task_of(goal: str, *initial: str) -> Task:
    return DOMAIN.parse_task(problem_text(goal, list(initial)))


def atoms_of(predicates: dict[str, int]) -> list[str]:
    return [
        f"({' '.join([name, *row])})"
        for name, arity in predicates.items()
        for row in itertools.product(ITEMS, repeat=arity)
    ]


class Draw:
    """Random conditions; in those that are `readable`, no disjunction of fluents can remain."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def atom(self, terms: list[str], predicates: dict[str, int]) -> str:
        name = self.rng.choice(list(predicates))
        return f"({' '.join([name, *self.rng.choices(terms, k=predicates[name])])})"

    def condition(self, terms: list[str], depth: int, predicates: dict[str, int]) -> str:
        kind = self.rng.choice(
            ["atom", "atom", "=", "not", "and", "or", "imply", "forall", "exists"]
        )
        if depth == 0 or kind == "atom":
            return self.atom(terms, predicates)
        if kind == "=":
            return f"(= {' '.join(self.rng.choices(terms, k=2))})"
        if kind in ("forall", "exists"):
            types = self.rng.choice(["item", "box", "(either box item)", "object"])
            inner = self.condition([*terms, f"?v{depth}"], depth - 1, predicates)
            return f"({kind} (?v{depth} - {types}) {inner})"
        count = {"not": 1, "imply": 2}.get(kind, self.rng.randint(0, 3))
        parts = [self.condition(terms, depth - 1, predicates) for _ in range(count)]
        return f"({' '.join([kind, *parts])})"

    def readable(self, terms: list[str], depth: int) -> str:
        kind = self.rng.choice(["literal", "and", "imply", "forall", "forall"])
        if depth == 0 or kind == "literal":
            atom = self.atom(terms, {**FLUENT, "d": 1})
            return atom if self.rng.random() < 0.6 else f"(not {atom})"
        if kind == "and":
            parts = [self.readable(terms, depth - 1) for _ in range(self.rng.randint(0, 3))]
            return f"(and {' '.join(parts)})"
        if kind == "imply":
            premise = self.condition(terms, 2, STATIC)
            return f"(imply {premise} {self.readable(terms, depth - 1)})"
        types = self.rng.choice(["item", "box", "(either box item)"])
        inner = self.readable([*terms, f"?w{depth}"], depth - 1)
        return f"(forall (?w{depth} - {types}) {inner})"


def expansion(book: Book, formula: Nested, env: dict[str, str]) -> Iterator[str]:
    """The literals of a readable goal, one by one."""
    head, *parts = formula
    match head:
        case "and":
            for part in parts:
                yield from expansion(book, part, env)
        case "imply":
            if book.holds(parts[0], book.initial, env):
                yield from expansion(book, parts[1], env)
        case "forall":
            (variable, _, types) = parts[0]
            listed = types[1:] if isinstance(types, list) else [types]
            for value in book.objects_of(listed):
                yield from expansion(book, parts[1], env | {variable: value})
        case "not":
            (atom,) = expansion(book, parts[0], env)
            yield f"(not {atom})"
        case _:
            yield f"({' '.join([head, *(env.get(term, term) for term in parts)])})"


@examples(300)
@given(seeds)
def test_goals_hold_as_the_book_says(seed: int) -> None:
    """In random states, with all literals and formulas into which the goal was taken apart."""
    rng = random.Random(seed)
    draw = Draw(rng)
    predicates = {**FLUENT, **STATIC, "d": 1}
    parts = [draw.condition(ITEMS, 4, predicates) for _ in range(rng.randint(1, 3))]
    initial = [atom for atom in atoms_of({**FLUENT, **STATIC}) if rng.random() < 0.4]
    text = problem_text(f"(and {' '.join(parts)})", initial)
    note(text)
    book, task = Book(DOMAIN_TEXT, text), DOMAIN.parse_task(text)
    policy = Policy.parse(STATUS_RULES, DOMAIN)
    static = frozenset(tuple(atom[1:-1].split()) for atom in initial if atom[1] in "sr")
    for _ in range(4):
        state = task.state(atom for atom in atoms_of(FLUENT) if rng.random() < 0.5)
        true = frozenset((name, *arguments) for name, arguments in state.atoms) | static
        walk = policy.start(task, state)
        assert walk.is_goal == book.holds(book.goal, book.closed(true), {})
        assert walk.goals_left == sum(not holds for holds in walk.goals_hold)
        assert_statuses(policy, task, state, book.closed(true))


STATUSES = ["goal", "ag", "ug", "aa", "un"]
ARITIES = {**FLUENT, **STATIC, "d": 1}
STATUS_RULES = "\n".join(
    f"{status}-{name}{row} :- {name}@{status}{row}."
    for name, arity in ARITIES.items()
    for status in STATUSES
    for row in [["", "(X)", "(X, Y)"][arity]]
)


def assert_statuses(policy: Policy, task: Task, state: State, true: set[tuple[str, ...]]) -> None:
    """The statuses follow from the true atoms and from the literals of the goal."""
    wanted = {(name, *arguments) for name, arguments in task.goal_atoms}
    unwanted = {
        tuple(goal.removeprefix("(not (").removesuffix("))").split())
        for goal in task.goals
        if goal.startswith("(not (") and goal.count("(") == 2
    }
    expected = {
        "goal": wanted,
        "ag": wanted & true,
        "ug": wanted - true,
        "aa": true - wanted,
        "un": unwanted & true,
    }
    found = policy.derivations(task, [state])
    assert policy.program is not None
    rows: dict[tuple[str, str], set[tuple[str, ...]]] = {}
    for rule in policy.program.rules:
        status, name = rule.head.relation.name.split("-")
        values = found.relations[policy.relation(rule.head.relation)].of(0).tolist()
        rows[status, name] = {(name, *(task.object_names[i] for i in row)) for row in values}
    for (status, name), ours in rows.items():
        assert ours == {atom for atom in expected[status] if atom[0] == name}, (status, name)


@examples(300)
@given(seeds)
def test_readable_goals_become_the_literals_of_a_naive_expansion(seed: int) -> None:
    rng = random.Random(seed)
    parts = [Draw(rng).readable(ITEMS, 4) for _ in range(rng.randint(1, 3))]
    initial = [atom for atom in atoms_of(STATIC) if rng.random() < 0.5]
    text = problem_text(f"(and {' '.join(parts)})", initial)
    note(text)
    task = DOMAIN.parse_task(text)
    book = Book(DOMAIN_TEXT, text)
    assert sorted(task.goals) == sorted(set(expansion(book, book.goal, {})))
    assert task.goal_formulas == ()


@pytest.mark.parametrize(
    ("goal", "goals"),
    [
        ("(forall (?x - item) (and (p ?x) (not (q ?x ?x))))", "pc pa pb -qcc -qaa -qbb"),
        ("(forall (?x - box) (forall (?y - box) (q ?x ?y)))", "qcc qcb qbc qbb"),
        ("(forall (?x ?y - box) (imply (not (= ?x ?y)) (q ?x ?y)))", "qcb qbc"),
        ("(forall (?x - item) (imply (s ?x) (p ?x)))", "pa"),
        ("(forall (?x - item) (or (not (s ?x)) (p ?x)))", "pa"),
        ("(forall (?x - item) (imply (exists (?y - item) (r ?x ?y)) (p ?x)))", "pb"),
        ("(not (exists (?x - box) (p ?x)))", "-pc -pb"),
        ("(not (or (p a) (p b)))", "-pa -pb"),
        ("(and (p a) (and (p b) (and)) (forall (?x - box) (p ?x)))", "pa pb pc"),
        ("(and (p a) (p a) (not (p a)))", "pa -pa"),
        # No state has (p o), since o is no item.
        ("(forall (?x) (not (p ?x)))", "-pc -pa -pb"),
        ("(forall (?x - item) (d ?x))", "dc da db"),
        ("(exists (?x - other) (flag))", "flag"),
        ("(forall (?x - other) (imply (= ?x a) (flag)))", ""),
        ("(s a)", "sa"),
        ("(s b)", "sb"),
        ("(forall (?x - box) (forall () (p ?x)))", "pc pb"),
    ],
)
def test_goals_as_literals(goal: str, goals: str) -> None:
    task = task_of(goal, "(s a)", "(r b a)")
    literals = (f"(not {atom(g[1:])})" if g[0] == "-" else atom(g) for g in goals.split())
    assert list(task.goals) == list(literals)
    assert [str(found) for found in task.goal_atoms] == [g for g in task.goals if g[1:4] != "not"]


def atom(short: str) -> str:
    return "(flag)" if short == "flag" else str(Atom(short[0], tuple(short[1:])))


@pytest.mark.parametrize(
    ("goal", "literals", "predicates"),
    [
        ("(or (p a) (flag))", [], ("p", "flag")),
        ("(exists (?x - item) (q ?x a))", [], ("q",)),
        ("(forall (?x - item) (imply (p ?x) (q ?x ?x)))", [], ("p", "q")),
        # A conjunct that can be read is.
        ("(forall (?x - box) (and (p ?x) (or (flag) (d ?x))))", ["(p c)", "(p b)"], ("flag", "d")),
        ("(not (or (p a) (exists (?x - item) (and (d ?x) (flag)))))", ["(not (p a))"], None),
        # False, since it is static and does not hold.
        ("(forall (?x - item) (s ?x))", [], ("s",)),
        ("(forall (?x - item) (and (p ?x) (= ?x a)))", ["(p c)", "(p a)", "(p b)"], ()),
        ("(or)", [], ()),
    ],
)
def test_goals_that_stay_formulas(
    goal: str, literals: list[str], predicates: tuple[str, ...] | None
) -> None:
    task = task_of(f"(and (p a) {goal})")
    assert task.goals == tuple(dict.fromkeys(["(p a)", *literals, goal]))
    if predicates is not None:
        assert task.goal_formulas == (GoalFormula(goal, predicates),)


def test_a_goal_that_becomes_false_is_never_reached() -> None:
    task = task_of("(forall (?x - item) (imply (p ?x) (s ?x)))", "(s a)")
    assert task.goals == ("(not (p c))", "(not (p b))")
    task = task_of("(forall (?x - item) (and (s ?x) (p ?x)))", "(s a)")
    walk = Policy.applicable(DOMAIN).start(task, task.state(atoms_of(FLUENT)))
    assert walk.goals_hold == (True, True, True, False)
    assert walk.goals_left == 1


def test_large_goals_stay_formulas() -> None:
    """A quantifier over millions of tuples does not become millions of goals."""
    names = " ".join(f"n{i}" for i in range(1100))
    goal = "(and (p n1) (forall (?x ?y - item) (q ?x ?y)) (not (exists (?x - box) (p ?x))))"
    task = DOMAIN.parse_task(
        f"(define (problem g) (:domain d) (:objects {names} - item) (:init) (:goal {goal}))"
    )
    assert task.goals == ("(p n1)", "(forall (?x ?y - item) (q ?x ?y))", "(not (p c))")
    variables = " ".join(f"?v{i}" for i in range(30))
    for types in ("- item", "- item ?none - none"):
        goal = f"(forall ({variables} {types}) (q ?v1 ?v2))"
        assert task_of(goal).goals == (goal,)
