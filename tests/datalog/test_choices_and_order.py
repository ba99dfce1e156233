"""Choices, `else`, `prefer` and prohibitions: random programs against their definitions, clingo and
what people write by hand."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from planlog.datalog import parse_program
from planlog.errors import RuleError
from planlog.network.model_file import Model
from planlog.network.settings import NetworkSettings, TemplateSettings
from planlog.network.template import build_template
from planlog.pddl.task import Domain, Task
from planlog.policy.policy import Policy
from support.order_reference import ChoosingRule, Order, Prohibition, Statements
from support.profiles import examples
from support.random_networks import random_weights
from support.random_programs import (
    DOMAIN,
    Draft,
    World,
    assert_maintained,
    check_against_clingo,
    make_task,
    programs,
    rules,
    worlds,
)


@st.composite
def statements(draw: DrawFn) -> Statements:
    """Helpers with values, then rules for actions with choices, orders and prohibitions."""
    lines = draw(programs(values=True)).splitlines()
    helpers = [line for line in lines if not line.startswith(("add-", "del-"))]
    draft = Draft(values=True)
    draft.valued = sorted({line[:2] for line in helpers if line[0] == "v"})
    result = Statements("\n".join(helpers))
    kinds = ["rule", "rule", "rule", "else", "prefer", "forbid"]
    before: list[ChoosingRule] = []
    pending: Order | None = None
    for _ in range(draw(st.integers(2, 6))):
        match draw(st.sampled_from(kinds)):
            case "rule":
                rule = draw(choosing_rules(draft))
                if pending:
                    known = {t for other in before for t in other.terms if t.isupper()}
                    shared = sorted(known & set(rule.terms))
                    group = (
                        draw(st.lists(st.sampled_from(shared), max_size=2, unique=True))
                        if shared
                        else []
                    )
                    result.about_actions.append(Order(pending.kind, tuple(group)))
                    pending = None
                before.append(rule)
                result.about_actions.append(rule)
            case "forbid":
                action = draw(st.sampled_from(["add-edge", "del-likes"]))
                terms = draw(
                    st.lists(st.sampled_from(["X", "Y", "_", "c"]), min_size=2, max_size=2)
                )
                named = sorted({t for t in terms if t.isupper()})
                body = []
                if named and draw(st.booleans()):
                    form = draw(
                        st.sampled_from(
                            [
                                "red({})",
                                "not blue({})",
                                "likes({}, _)",
                                "thing({}), not edge(_, {})",
                            ]
                        )
                    )
                    body = [form.replace("{}", draw(st.sampled_from(named)))]
                result.about_actions.append(Prohibition(action, tuple(terms), tuple(body)))
            case kind:
                if before:
                    pending = Order(kind)
    assume(before)
    return result


@st.composite
def choosing_rules(draw: DrawFn, draft: Draft) -> ChoosingRule:
    """A rule for an action of two objects, or of one."""
    action, arity = draw(st.sampled_from([("add-edge", 2), ("del-likes", 2), ("add-blue", 1)]))
    text = draw(rules(draft, 0, "h", arity))
    head, _, body = text.removesuffix(".").partition(" :- ")
    terms = tuple(head.removeprefix("h(").removesuffix(")").split(", "))
    # Braces and parentheses do not end a part of the body.
    parts = [body] if body else []
    bound = sorted({t for t in terms if t.isupper()})
    keys = [*bound]
    if draft.valued and bound and draw(st.booleans()):
        parts.append(f"{draw(st.sampled_from(draft.valued))}({draw(st.sampled_from(bound))}, K)")
        keys.append("K")
    if draw(st.booleans()):  # a part of its own
        parts.append(draw(st.sampled_from(["red(S)", "edge(S, R)", "likes(S, _), not blue(S)"])))
        keys.append("S")
    choices = []
    for _ in range(draw(st.integers(0, 2))):
        if keys:
            key = draw(st.sampled_from(keys))
            kind = draw(st.sampled_from(["minimise", "maximise", "any"])) if key == "K" else "any"
            group = draw(st.lists(st.sampled_from(keys), max_size=2, unique=True))
            choices.append((kind, key, tuple(group)))
    return ChoosingRule(action, terms, tuple(parts), tuple(choices))


@examples(600)
@given(statements(), worlds)
def test_derived_actions_are_those_of_the_definition(written: Statements, world: World) -> None:
    try:
        policy = Policy.parse(str(written), DOMAIN)
    except RuleError as error:
        assume("more than" not in str(error))
        raise
    task = make_task(*world.task(), (part.text for part in world.goal_parts()))
    walk = policy.start(task)
    assert set(walk.actions()) == written.actions(task, walk.state)
    for move in world.moves(4):
        if move is not None:
            walk.apply(move)
    assert set(walk.actions()) == written.actions(task, walk.state)


@examples(300)
@given(statements(), worlds)
def test_what_is_written_out_equals_clingo_and_is_maintained(
    written: Statements, world: World
) -> None:
    policy = Policy.parse(str(written), DOMAIN)
    initial, goal = world.task()
    task = make_task(initial, goal, (part.text for part in world.goal_parts()))
    found = policy.derivations(task, [task.initial])
    check_against_clingo(policy, task, found, set(initial), set(goal), world.goal_parts())
    walk = policy.start(task)
    for move in world.moves(8):
        if move is not None:
            walk.apply(move)
        elif walk.steps:
            walk.undo()
        assert_maintained(walk)


# --- Shorter ways to write rules, against what they stand for ------------------------------------

ROADS = Domain.read(Path(__file__).parents[1] / "support/small_domains/roads.pddl")
EQUAL = [
    (
        "add-has(i: I, a: A) :- wanted(a: A), road(b: A).",
        "add-has(A, I) :- wanted(A), road(_, A).",
    ),
    (
        "family change(A, B) = add-road(A, B) | add-slow(B, A).\nchange(A, B) :- road(A, B).",
        "add-road(A, B) :- road(A, B).\nadd-slow(B, A) :- road(A, B).",
    ),
    (
        "family change(A) = add-road(A, _) | add-wanted(A).\nchange(A) :- slow(A, _).\n"
        "del-wanted(A) :- not change(A), wanted(A).",
        "add-road(A, B) :- slow(A, _).\nadd-wanted(A) :- slow(A, _).\n"
        "c(A) :- add-road(A, _).\nc(A) :- add-wanted(A).\ndel-wanted(A) :- not c(A), wanted(A).",
    ),
    (
        "del-wanted(A) :- not (road(A, B), wanted(B), A != B).",
        "n(A) :- road(A, B), wanted(B), A != B.\ndel-wanted(A) :- not n(A).",
    ),
    (
        "del-road(A, B) :- not (slow(A, C), C != B).",
        "n(A, B) :- slow(A, C), place(B), C != B.\ndel-road(A, B) :- not n(A, B).",
    ),
    (
        "del-wanted(A) :- near(A).\nnear(A) :- near(A, 1).\nnear(A, 1) :- road(A, B), wanted(B).",
        "del-wanted(A) :- road(A, B), wanted(B).",
    ),
    (
        "best(A) :- wanted(A).\nelse\nbest(A) :- road(A, _).\nelse\nbest(A) :- place(A).\n"
        "add-wanted(A) :- best(A).",
        "w :- wanted(_).\nr :- road(_, _).\nbest(A) :- wanted(A).\nbest(A) :- road(A, _), not w.\n"
        "best(A) :- place(A), not w, not r.\nadd-wanted(A) :- best(A).",
    ),
    (
        "best(A, B) :- road(A, B).\nelse for A\nbest(A, B) :- slow(A, B).\n"
        "add-road(A, B) :- best(A, B).",
        "add-road(A, B) :- road(A, B).\nadd-road(A, B) :- slow(A, B), not road(A, _).",
    ),
    (
        'include "paths.dl" with edge = road, target = wanted.\nadd-slow(A, B) :- step(A, B).',
        "near(A, 0) :- wanted(A).\nnear(A, min D + 1) :- road(A, B), near(B, D).\n"
        "add-slow(A, B) :- road(A, B), near(B, D), near(A, D + 1).",
    ),
    (
        'include "paths.dl" with edge = road, target = goal.\ngoal(V, A) :- slow(V, A).\n'
        "add-road(V, A) :- step(V, A, _).",
        "near(V, A, 0) :- slow(V, A).\nnear(V, A, min D + 1) :- road(A, B), near(V, B, D).\n"
        "add-road(V, A) :- near(V, A, N), near(V, B, M), road(A, B), N = M + 1.",
    ),
    (
        "add-road(A, B) :- slow(B, A), any A.",
        "add-road(A, B) :- slow(B, A), A = first { X : slow(_, X) }.",
    ),
    (
        "add-road(A, B) :- slow(A, B), wanted(B), any A, B.",
        "f(A) :- A = first { X : slow(X, Y), wanted(Y) }.\n"
        "add-road(A, B) :- f(A), B = first { Y : slow(A, Y), wanted(Y) }.",
    ),
]
PLACES = "abcd"


@st.composite
def road_tasks(draw: DrawFn) -> Task:
    pairs = [f"({name} {a} {b})" for name in ("road", "slow") for a in PLACES for b in PLACES]
    singles = [f"(wanted {a})" for a in PLACES]
    atoms = draw(st.lists(st.sampled_from([*pairs, *singles, *singles]), max_size=14))
    return ROADS.parse_task(
        "(define (problem p) (:domain roads) (:objects a b c d - place i j - item)"
        f" (:init {' '.join(dict.fromkeys(atoms))}) (:goal (and (wanted a))))"
    )


@pytest.mark.parametrize(("short", "long"), EQUAL)
@examples(40)
@given(task=road_tasks())
def test_shorthand_means_what_it_stands_for(short: str, long: str, task: Task) -> None:
    actions = [Policy.parse(text, ROADS).actions(task, task.initial) for text in (short, long)]
    assert actions[0] == actions[1]


@pytest.mark.parametrize(("short", "long"), EQUAL)
def test_a_template_derives_the_same(short: str, long: str) -> None:
    """Its text, which has everything written out, can be read again, and says the same."""
    policy = Policy.parse(short, ROADS)
    template = build_template(policy, TemplateSettings())
    again = Policy.parse(template.text, ROADS)
    for seed in range(20):
        rng = random.Random(seed)
        atoms = [f"(road {a} {b})" for a in PLACES for b in PLACES if rng.random() < 0.3]
        atoms += [f"(slow {a} {b})" for a in PLACES for b in PLACES if rng.random() < 0.3]
        atoms += [f"(wanted {a})" for a in PLACES if rng.random() < 0.4]
        task = ROADS.parse_task(
            "(define (problem p) (:domain roads) (:objects a b c d - place i j - item)"
            f" (:init {' '.join(atoms)}) (:goal (and (wanted a))))"
        )
        expected = policy.actions(task, task.initial)
        assert template.policy.actions(task, task.initial) == expected
        assert again.actions(task, task.initial) == expected


# --- Included files ------------------------------------------------------------------------------


def test_included_files(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    one, two = tmp_path / "sub/one.dl", tmp_path / "sub/two.dl"
    one.write_text('include "two.dl" with q = p.\ngood(A) :- p(A), extra(A).\n')
    two.write_text("q(A) :- base(A).\nextra(A) :- base(A).\nunused(A) :- no(A).\n")
    main = tmp_path / "policy.dl"
    names = "base = wanted,\n  good = fine"
    main.write_text(f'include "sub/one.dl" with {names}.\ndel-wanted(A) :- fine(A).\n')
    policy = Policy.read(main, ROADS)
    assert not policy.warnings
    assert policy.text.splitlines()[2:] == [
        "del-wanted(A) :- fine(A).",
        "fine(A) :- p(A), extra(A).",
        "p(A) :- wanted(A).",
        "extra(A) :- wanted(A).",
    ]
    # What a model keeps needs no other file.
    assert str(Policy.parse(policy.text, ROADS).program) == str(policy.program)
    assert policy.program is not None
    assert policy.program.origin(5) == (str(tmp_path / "sub/two.dl"), 1)


INCLUDING = 'include "a.dl".\nadd-wanted(A) :- b(A).\n'


@pytest.mark.parametrize(
    ("included", "place", "message"),
    [
        (None, "policy.dl:1:1", "no such file: a.dl"),
        ('include "a.dl".\n', "policy.dl:1:1", "a.dl includes itself"),
        ("\nb(A) :- road(A).\n", "a.dl:2:9", "road takes 2 arguments"),
        ("b(A) :- road(A,.\n", "a.dl:1:13", "this '(' is never closed"),
        ("b(A).\nelse\nb(A).\n", "a.dl:2:1", "'else' cannot stand in an included file"),
    ],
)
def test_errors_in_included_files_have_their_places(
    included: str | None, place: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "policy.dl").write_text(INCLUDING)
    if included is not None:
        (tmp_path / "a.dl").write_text(included)
    with pytest.raises(RuleError) as raised:
        Policy.read(tmp_path / "policy.dl", ROADS)
    first = raised.value.diagnostics[0]
    assert f"{Path(first.file).name}:{first.line}:{first.column}" == place
    assert message in first.message


def test_a_text_without_a_file_includes_only_what_planlog_has(tmp_path: Path) -> None:
    secret = tmp_path / "secret.dl"
    secret.write_text("good(A) :- wanted(A).\n")
    with pytest.raises(RuleError, match="no such file"):
        parse_program(f'include "{secret}".\ndel-wanted(A) :- good(A).\n', ROADS)


def test_a_choice_that_never_lists_combinations() -> None:
    """Three thousand objects of each kind have 27 thousand million combinations."""
    domain = Domain.parse(
        """(define (domain picking) (:types a b c) (:predicates (fa ?x - a) (fb ?x - b) (fc ?x - c))
        (:action pick :parameters (?x - a ?y - b ?z - c)
          :precondition (and (fa ?x) (fb ?y) (fc ?z)) :effect (not (fa ?x))))"""
    )
    names = {kind: [f"{kind}{i}" for i in range(3000)] for kind in "abc"}
    declared = " ".join(f"{' '.join(each)} - {kind}" for kind, each in names.items())
    facts = " ".join(f"(f{kind} {name})" for kind, each in names.items() for name in each)
    task = domain.parse_task(
        f"(define (problem p) (:domain picking) (:objects {declared}) (:init {facts})"
        " (:goal (not (fa a0))))"
    )
    walk = Policy.parse("pick(X, Y, Z) :- any X, Y, Z.", domain).start(task)
    assert [str(action) for action in walk.actions()] == ["(pick a0 b0 c0)"]
    walk.apply("(pick a0 b5 c7)")
    assert [str(action) for action in walk.actions()] == ["(pick a1 b0 c0)"]


@pytest.mark.parametrize(("short", "long"), EQUAL)
def test_a_model_file_holds_all_that_its_rules_include(
    short: str, long: str, tmp_path: Path
) -> None:
    """The scores of a model rank the actions of the rules, whatever they are written with."""
    policy = Policy.parse(short, ROADS)
    settings = TemplateSettings(), NetworkSettings(width=2)
    template = build_template(policy, settings[0])
    file = tmp_path / "model.safetensors"
    Model.of(template, settings[1], random_weights(policy, *settings)).write(file)
    learned = Model.read(file).policy(ROADS)
    task = ROADS.parse_task(
        "(define (problem p) (:domain roads) (:objects a b c d - place i j - item)"
        " (:init (road a b) (road b c) (road c d) (slow a b) (slow b d) (wanted d))"
        " (:goal (and (wanted a))))"
    )
    walk = learned.start(task)
    assert walk.actions() == policy.actions(task, task.initial)
    assert set(walk.scores()) == set(walk.actions())


def test_one_of_very_many_actions_is_sampled_without_a_list() -> None:
    domain = Domain.parse(
        """(define (domain triples) (:predicates (p ?x) (done))
        (:action take :parameters (?x ?y ?z) :precondition (and (p ?x) (p ?y) (p ?z))
          :effect (not (p ?x))))"""
    )
    names = [f"o{i}" for i in range(50)]
    task = domain.parse_task(
        f"(define (problem p) (:domain triples) (:objects {' '.join(names)})"
        f" (:init {' '.join(f'(p {name})' for name in names)}) (:goal (done)))"
    )
    walk = Policy.parse("take(X, Y, Z).", domain).start(task)
    rng = np.random.default_rng(0)
    for left in (50, 49):
        assert walk.action_count == left**3
        drawn = [walk.sample(rng) for _ in range(2000)]
        derived = set(walk.actions())
        assert all(action in derived for action in drawn)
        firsts = Counter(action.arguments[0] for action in drawn if action)
        assert len(firsts) == left
        assert max(firsts.values()) < 5 * 2000 / left  # each is expected 40 times
        walk.apply(f"(take o{left - 40} o0 o1)")
