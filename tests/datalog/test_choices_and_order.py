"""Choices, `else`, `prefer` and prohibitions: random programs against their definitions, clingo and
what people write by hand."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from planlog.errors import RuleError
from planlog.policy.policy import Policy
from support.order_reference import ChoosingRule, Order, Prohibition, Statements
from support.profiles import examples
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
        # A random rule may compare what it does not bind.
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
