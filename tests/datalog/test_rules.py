"""Rule texts: their relations, terms, strata and types, and programs printed as text."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import pairwise, product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.datalog import Program, parse_program, read_program
from planlog.datalog.stratify import Dependencies
from planlog.datalog.syntax import (
    Comparison,
    Constant,
    Literal,
    Relation,
    Rule,
    Source,
    Variable,
    Wildcard,
    quoted,
    written,
)
from planlog.errors import RuleError, Severity
from planlog.pddl.task import Domain
from support.profiles import examples
from support.random_names import names

HERE = Path(__file__).parents[1]
BLOCKS = Domain.read(HERE / "support" / "small_domains/blocks.pddl")
BOATS = Domain.read(HERE / "support" / "small_domains/boats.pddl")
FREIGHT = Domain.read(HERE / "support" / "small_domains/freight.pddl")

A, B = Variable("A"), Variable("B")

GN1 = """% Blocksworld: the strategy called GN1
well_placed(A) :- on@ag(A, B), well_placed(B).
well_placed(A) :- on-table@ag(A).

unstack(A, B) :- not well_placed(A).
stack(A, B)   :- on@ug(A, B),   % both in place
                 well_placed(B).
"""


def errors(text: str, domain: Domain) -> list[str]:
    with pytest.raises(RuleError) as caught:
        parse_program(text, domain)
    return [diagnostic.message for diagnostic in caught.value.diagnostics]


def only_rule(text: str, domain: Domain) -> Rule:
    (rule,) = parse_program(text, domain).rules
    return rule


# What is read


def test_a_policy() -> None:
    program = parse_program(GN1, BLOCKS, "gn1.dl")
    well_placed = Relation("well_placed", 1, Source.DERIVED)
    stack = Relation("stack", 2, Source.ACTION)
    assert program.warnings == ()
    assert program.file == "gn1.dl"
    assert program.rules[0] == Rule(
        Literal(well_placed, (A,)),
        (Literal(Relation("on", 2, Source.ACHIEVED_GOAL), (A, B)), Literal(well_placed, (B,))),
    )
    assert program.rules[2].body == (Literal(well_placed, (A,), negated=True),)
    assert [rule.line for rule in program.rules] == [2, 3, 5, 6]
    assert program.rules[3].text == "stack(A, B) :- on@ug(A, B), well_placed(B)."
    assert program.rules[3].head == Literal(stack, (A, B))
    assert program.rules[3].body[1].place == (7, 18, len("well_placed(B)"))
    first, *others = Dependencies(program.rules).strata
    assert first == (well_placed,)
    assert set(others) == {(Relation("unstack", 2, Source.ACTION),), (stack,)}


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("on(A, B)", Relation("on", 2, Source.STATE)),
        ("on@goal(A, B)", Relation("on", 2, Source.GOAL)),
        ("on@ag(A, B)", Relation("on", 2, Source.ACHIEVED_GOAL)),
        ("on@ug(A, B)", Relation("on", 2, Source.UNACHIEVED_GOAL)),
        ("on@aa(A, B)", Relation("on", 2, Source.ACHIEVED_NONGOAL)),
        ("on@un(A, B)", Relation("on", 2, Source.UNWANTED)),
        ("block(A)", Relation("block", 1, Source.TYPE)),
        ("object(A)", Relation("object", 1, Source.TYPE)),
        ("stack(A, B)", Relation("stack", 2, Source.ACTION)),
        ("arm-empty", Relation("arm-empty", 0, Source.STATE)),
        ("arm-empty()", Relation("arm-empty", 0, Source.STATE)),
        ("ARM-EMPTY".capitalize().replace("A", "a", 1), Relation("arm-empty", 0, Source.STATE)),
        ("oN@UG(A, B)", Relation("on", 2, Source.UNACHIEVED_GOAL)),
    ],
)
def test_relations_of_bodies(text: str, relation: Relation) -> None:
    rule = only_rule(f"unstack(A, B) :- {text}.", BLOCKS)
    assert [literal.relation for literal in rule.literals] == [relation]


def test_names_that_several_kinds_share() -> None:
    rule = only_rule("load(P, V, L) :- load(V), crane(C, L).", FREIGHT)
    assert rule.head.relation == Relation("load", 3, Source.ACTION)
    assert [literal.relation.source for literal in rule.literals] == [Source.STATE] * 2


def test_anonymous_variables() -> None:
    """`_` is a variable of its own in a positive literal, and `there is none` under `not`."""
    rule = only_rule("stack(A, B) :- on(_, _), on(_1, A), on(_, _1), not on(_, B).", BLOCKS)
    positive = [term for literal in rule.literals[:3] for term in literal.terms]
    names = ["_2", "_3", "_1", "A", "_4", "_1"]
    assert positive == [Variable(name) for name in names]
    assert rule.literals[3].terms == (Wildcard(), B)


def test_constants_and_comparisons() -> None:
    rule = only_rule("drive(van1, From, Depot) :- From != hub, Depot = dePOT.", FREIGHT)
    assert rule.head.terms == (Constant("van1"), Variable("From"), Variable("Depot"))
    assert rule.body == (
        Comparison(Variable("From"), "!=", Constant("hub")),
        Comparison(Variable("Depot"), "=", Constant("depot")),
    )


def test_facts_and_propositions() -> None:
    program = parse_program("far(hub). ready_now. honk() :- ready_now(), far(hub).", FREIGHT)
    assert [str(rule) for rule in program.rules] == [
        "far(hub).",
        "ready_now.",
        "honk :- ready_now, far(hub).",
    ]


def test_an_action_binds_its_parameters() -> None:
    assert parse_program("unstack(A, B) :- not clear(B), A != B.", BLOCKS).warnings == ()
    assert parse_program("unstack(A, A).", BLOCKS).warnings == ()


def test_variables_are_case_sensitive() -> None:
    assert errors("good(AB) :- clear(Ab). putdown(A) :- good(A).", BLOCKS) == [
        "variable AB occurs only in the head"
    ]


def test_marks_for_networks() -> None:
    text = """
      above@network(A, B) :- on(A, B), low(B).
      above(A, B) :- on(A, C), above(C, B).
      ready@network :- arm-empty.
      low(A) :- on-table(A).
      stack(A, B) :- not above(B, A).
    """
    program = parse_program(text, BLOCKS)
    assert [rule.for_network for rule in program.rules] == [True, False, True, False, False]
    assert {rule.head.relation for rule in program.rules[:2]} == {
        Relation("above", 2, Source.DERIVED)
    }
    assert str(program.rules[0]) == "above@network(A, B) :- on(A, B), low(B)."
    assert str(program.rules[2]) == "ready@network :- arm-empty."
    assert program.warnings == ()
    # A mark says something: without it the rule is another one.
    assert program != parse_program(text.replace("@network", ""), BLOCKS)


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "policy.dl"
    path.write_bytes(b"\xef\xbb\xbf% caf\xe9\r\nputdown(A) :-\r\n  holding(A).\r\n")
    program = read_program(path, BLOCKS)
    assert program.file == str(path)
    assert program.rules[0].text == "putdown(A) :- holding(A)."
    assert program.rules[0].body[0].place.line == 3
    with pytest.raises(FileNotFoundError):
        read_program(tmp_path / "nowhere.dl", BLOCKS)


def test_errors_come_in_the_order_of_the_file_and_without_warnings() -> None:
    text = "good(a, B) :- clear(B).\ngreat(A) :- goood(A, _).\nputdown(A) :- clear(A\n"
    with pytest.raises(RuleError) as caught:
        parse_program(text, BLOCKS, "p.dl")
    places = [(d.file, d.line, d.severity) for d in caught.value.diagnostics]
    assert places == [("p.dl", 2, Severity.ERROR), ("p.dl", 3, Severity.ERROR)]


def test_long_chains_are_no_problem() -> None:
    """Longer than Python's stack, in the order that is worst for a naive fixpoint."""
    count = 3000
    rules = [f"p{i}(X) :- p{i + 1}(X)." for i in range(count)]
    text = "\n".join(["putdown(X) :- p0(X).", *rules, f"p{count}(X) :- clear(X)."])
    assert len(Dependencies(parse_program(text, BLOCKS).rules).strata) == count + 2


# Printing

NAMES = ("p", "q-1", "r_s", "t")
ARITIES = {"p": 0, "q-1": 1, "r_s": 2, "t": 3}
VARIABLES = st.sampled_from(["X", "Y", "Zed", "_any", "_1", "A-b"])
CONSTANTS = st.sampled_from(["b1", "a-b", "'7'", "x"])
INPUTS = {"on": 2, "on@ug": 2, "on@ag": 2, "on-table@aa": 1, "clear@goal": 1, "arm-empty": 0}
INPUTS |= {"on@un": 2, "block": 1, "object": 1}


def atom(name: str, terms: list[str]) -> str:
    return f"{name}({', '.join(terms)})" if terms else name


@st.composite
def rule_texts(draw: st.DrawFn, level: int) -> str:
    """A correct rule for NAMES[level] over that level and, under `not` too, lower ones."""
    positive = INPUTS | {name: ARITIES[name] for name in NAMES[: level + 1]}
    negative = INPUTS | {name: ARITIES[name] for name in NAMES[:level]}
    body = []
    bound: list[str] = []
    for _ in range(draw(st.integers(0, 3))):
        name = draw(st.sampled_from(sorted(positive)))
        term = st.one_of(VARIABLES, VARIABLES, CONSTANTS, st.just("_"))
        terms = [draw(term) for _ in range(positive[name])]
        body.append(atom(name, terms))
        bound += [term for term in terms if re.match("[A-Z]|_.", term)]
    known = st.sampled_from(bound) if bound else CONSTANTS
    for _ in range(draw(st.integers(0, 2))):
        name = draw(st.sampled_from(sorted(negative)))
        term = st.one_of(known, CONSTANTS, st.just("_"))
        body.append(f"not {atom(name, [draw(term) for _ in range(negative[name])])}")
    if draw(st.booleans()):
        operator = draw(st.sampled_from(["=", "!="]))
        body.append(f"{draw(known)} {operator} {draw(st.one_of(known, CONSTANTS))}")
    body = draw(st.permutations(body))
    name = NAMES[level]
    mark = draw(st.sampled_from(["", "", "@network"]))
    head = atom(name + mark, [draw(st.one_of(known, CONSTANTS)) for _ in range(ARITIES[name])])
    return f"{head} :- {', '.join(body)}." if body else f"{head}."


@st.composite
def program_texts(draw: st.DrawFn) -> str:
    rules = [draw(rule_texts(level)) for level in range(len(NAMES))]
    rules += [draw(rule_texts(draw(st.integers(0, 3)))) for _ in range(draw(st.integers(0, 4)))]
    return "\n".join(rules)


@given(program_texts())
@examples(150)
def test_printing_and_reading_gives_the_same_program(text: str) -> None:
    program = parse_program(text, BLOCKS)
    again = parse_program(str(program), BLOCKS)
    assert again == program
    assert str(again) == str(program)
    texts = "\n".join(rule.text for rule in program.rules)
    assert parse_program(texts, BLOCKS) == program
    assert texts == text


@given(program_texts(), st.randoms(use_true_random=False))
@examples(100)
def test_layout_and_case_of_names_do_not_matter(text: str, random) -> None:  # type: ignore[no-untyped-def]
    def loosen(match: re.Match[str]) -> str:
        token = match.group()
        if re.match("[a-z]", token) and token != "not":
            token = token[0] + "".join(random.choice([c, c.upper()]) for c in token[1:])
        return token + random.choice(["", " ", "\n", "\t", " % a comment :- .\n", "\r\n  "])

    # A space must stay where it separates words.
    loose = re.sub(r"'[^']*'|[\w-]+|:-|!=|[(),.@=]", loosen, text.replace("not ", "not  "))
    assert parse_program(loose, BLOCKS) == parse_program(text, BLOCKS)


@given(names())
@examples(300)
def test_any_name_of_pddl_can_be_written(name: str) -> None:
    text = f"{written(name)}(A) :- block(A), A != {written(name)}, {quoted(name)}(A)."
    assert only_rule(text, BLOCKS).text == text
    rule = only_rule(f"% it's quoted\n{text} % here\n", BLOCKS)
    assert (rule.text, str(rule)) == (text, text.replace(quoted(name), written(name)))
    assert rule.head.relation.name == rule.body[1].terms[1].name == name
    if written(name) != name:  # the quotes are needed
        with suppress(RuleError):
            for alone in parse_program(f"putdown(A) :- holding({name}).", BLOCKS).rules:
                assert Constant(name) not in alone.terms


# Strata


@st.composite
def dependency_lists(draw: st.DrawFn) -> list[tuple[int, int, bool]]:
    """(head, needed, negated) over six propositions."""
    number = st.integers(0, 5)
    rarely = st.sampled_from([False, False, True])
    return draw(st.lists(st.tuples(number, number, rarely), max_size=12))


def reachability(dependencies: list[tuple[int, int, bool]]) -> set[tuple[int, int]]:
    reach = {(head, needed) for head, needed, _ in dependencies} | {(i, i) for i in range(6)}
    for middle, start, end in product(range(6), repeat=3):
        if (start, middle) in reach and (middle, end) in reach:
            reach.add((start, end))
    return reach


@given(dependency_lists())
@examples(500)
def test_strata_are_the_components_in_dependency_order(
    dependencies: list[tuple[int, int, bool]],
) -> None:
    text = "".join(f"p{i} :- arm-empty.\n" for i in range(6))
    text += "".join(f"p{h} :- {'not ' * negated}p{n}.\n" for h, n, negated in dependencies)
    reach = reachability(dependencies)
    bad = [(h, n) for h, n, negated in dependencies if negated and (n, h) in reach]
    if bad:
        for message in errors(text, BLOCKS):
            check_cycle(message, dependencies)
        return
    strata = Dependencies(parse_program(text, BLOCKS).rules).strata
    level = {int(r.name[1:]): i for i, stratum in enumerate(strata) for r in stratum}
    assert sorted(level) == list(range(6))
    for one, two in product(range(6), repeat=2):
        together = (one, two) in reach and (two, one) in reach
        assert together == (level[one] == level[two])
    for head, needed, _ in dependencies:
        assert level[needed] <= level[head]


def check_cycle(message: str, dependencies: list[tuple[int, int, bool]]) -> None:
    """Every step of a printed cycle is a dependency, it closes, and a negation is on it."""
    start, cycle = message.split(" depends on its own negation: ")
    steps = cycle.split(" -> ")
    assert steps[0] == start == steps[-1].removeprefix("not ")
    for one, two in pairwise(steps):
        head, needed = (int(step.removeprefix("not ")[1:]) for step in (one, two))
        assert (head, needed, two.startswith("not ")) in dependencies
    assert any(step.startswith("not ") for step in steps)


# Types

TYPES = ("a", "b", "c", "d", "e")


@st.composite
def typed_domains(draw: st.DrawFn) -> tuple[dict[str, str], list[list[str]]]:
    """A forest (each type below an earlier one or `object`) and the types of some positions."""
    parents = {t: draw(st.sampled_from(("object", *TYPES[:i]))) for i, t in enumerate(TYPES)}
    either = st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True)
    return parents, draw(st.lists(either, min_size=2, max_size=4))


@given(typed_domains())
@examples(200)
def test_a_variable_matches_iff_some_type_fits_all_its_places(
    drawn: tuple[dict[str, str], list[list[str]]],
) -> None:
    parents, places = drawn
    declared = " ".join(f"{child} - {parent}" for child, parent in parents.items())
    predicates = " ".join(
        f"(p{i} ?x - (either {' '.join(types)}))" for i, types in enumerate(places)
    )
    domain = Domain.parse(
        f"(define (domain d) (:requirements :typing) (:types {declared})"
        f" (:predicates {predicates})"
        " (:action go :parameters () :precondition () :effect ()))"
    )

    def fits(type_name: str, place: list[str]) -> bool:
        while type_name != "object" and type_name not in place:
            type_name = parents[type_name]
        return type_name in place

    possible = any(all(fits(t, place) for place in places) for t in TYPES)
    # Through a derived predicate the same holds.
    body = ", ".join(f"p{i}(X)" for i in range(1, len(places)))
    for text in (f"go :- p0(X), {body}.", f"go :- q(X), {body}. q(X) :- p0(X)."):
        if possible:
            assert isinstance(parse_program(text, domain), Program)
        else:
            (message,) = errors(text, domain)
            assert message.startswith("variable X can never match")
