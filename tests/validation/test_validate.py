"""The validator feature by feature: valid plans, invalid plans with their reasons, broken files."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.errors import PddlError, PlanFileError, UnsupportedError
from planlog.validation import Report, Validator, validate, validate_files
from support.profiles import examples

BLOCKS = """
(define (domain blocks)
  (:requirements :strips)
  (:predicates (on ?x ?y) (clear ?x) (table ?x) (holding ?x) (empty))
  (:action take :parameters (?x)
    :precondition (and (clear ?x) (table ?x) (empty))
    :effect (and (holding ?x) (not (clear ?x)) (not (table ?x)) (not (empty))))
  (:action stack :parameters (?x ?y)
    :precondition (and (holding ?x) (clear ?y))
    :effect (and (on ?x ?y) (clear ?x) (empty) (not (holding ?x)) (not (clear ?y)))))
"""
THREE_BLOCKS = """
(define (problem three) (:domain blocks) (:objects b1 b2 b3)
  (:init (clear b1) (clear b2) (clear b3) (table b1) (table b2) (table b3) (empty))
  (:goal (and (on b1 b2) (on b2 b3))))
"""
COST = "; cost = 4 (unit cost)\n"


def domain(body: str) -> str:
    """A domain with two types of robots, rooms, a constant and some predicates."""
    return f"""
    (define (domain d)
      (:types robot room - object big small - robot)
      (:constants dock a b - room r1 - big)
      (:predicates (at ?r - robot ?x - room) (door ?x ?y - room) (dirty ?x - room)
                   (reach ?x ?y - room) (quiet) (done))
      (:functions (total-cost) (length ?x ?y - room) - number)
      {body})"""


def problem(init: str, goal: str, rest: str = "") -> str:
    return f"""
    (define (problem p) (:domain d)
      (:objects r1 - big r2 - small a b c - room)
      (:init {init}) (:goal {goal}) {rest})"""


def action(precondition: str, effect: str = "(done)", parameters: str = "") -> str:
    return f"(:action act :parameters ({parameters}) :precondition {precondition} :effect {effect})"


def one_step(
    precondition: str, init: str, *, effect: str = "(done)", goal: str = "(done)"
) -> Report:
    """Run the single action of a domain without parameters."""
    plan = "(act)\n; cost = 1 (unit cost)"
    return validate(domain(action(precondition, effect)), problem(init, goal), plan)


# Steps, goals and plan files


def test_valid_plan() -> None:
    plan = "(take b2)\n(stack b2 b3)\n(take b1)\n(stack b1 b2)\n" + COST
    report = validate(BLOCKS, THREE_BLOCKS, plan)
    assert report == Report(
        valid=True,
        steps=4,
        cost=4,
        step=None,
        action=None,
        reason="",
        warnings=(),
        complete=True,
    )


def test_first_failing_step_and_literal() -> None:
    report = validate(BLOCKS, THREE_BLOCKS, "(take b2)\n(stack b2 b3)\n(take b3)\n(stack b1 b2)\n")
    assert not report.valid
    assert (report.steps, report.step, report.action) == (2, 3, "(take b3)")
    assert report.reason == "step 3 (take b3): precondition (clear b3) is false"


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ("(tak b1)", "there is no action tak (did you mean take?)"),
        ("(fly b1)", "there is no action fly"),
        ("(take b1 b2)", "take has 1 arguments, not 2"),
        ("(stack b1)", "stack has 2 arguments, not 1"),
        ("(take b9)", "there is no object b9"),
        ("(take)", "take has 1 arguments, not 0"),
    ],
)
def test_steps_that_do_not_exist(step: str, reason: str) -> None:
    report = validate(BLOCKS, THREE_BLOCKS, f"(take b2)\n{step}\n")
    assert (report.valid, report.step) == (False, 2)
    assert report.reason == f"step 2 {step}: {reason}"


def test_unreached_goal_lists_its_parts() -> None:
    report = validate(BLOCKS, THREE_BLOCKS, "(take b2)\n(stack b2 b3)\n; cost = 2 (unit cost)\n")
    assert (report.valid, report.steps, report.step) == (False, 2, None)
    assert report.reason == "goal not reached, 1 of 2 parts are false: (on b1 b2)"


def test_long_goals_are_cut() -> None:
    goals = " ".join(f"(on b1 b{i})" for i in (1, 2, 3)) + " (and (on b2 b1) (on b2 b2) (on b3 b1))"
    task = THREE_BLOCKS.replace("(and (on b1 b2) (on b2 b3))", f"(and (empty) {goals})")
    assert validate(BLOCKS, task, "").reason == (
        "goal not reached, 6 of 7 parts are false: "
        "(on b1 b1), (on b1 b2), (on b1 b3), (on b2 b1), (on b2 b2) and 1 more"
    )


def test_prefix_does_not_need_the_goal() -> None:
    assert validate(BLOCKS, THREE_BLOCKS, "(take b2)\n", prefix=True).valid
    assert not validate(BLOCKS, THREE_BLOCKS, "(take b2)\n(take b1)\n", prefix=True).valid


def test_case_comments_blanks_and_line_ends() -> None:
    plan = (
        "; a plan\r\n\r\n  ( TAKE   B2 ) ; up\r\n(Stack b2 B3)\n(take b1)\n(stack b1 b2)\n"
        "; COST = 4\n\n"
    )
    report = validate(BLOCKS.upper(), THREE_BLOCKS.replace("b1", "B1"), plan)
    assert (report.valid, report.complete, report.warnings) == (True, True, ())


@pytest.mark.parametrize("ending", ["", "; cost = 4 (unit cost)\n; the end\n", "; cost = many\n"])
def test_plan_without_cost_line_is_incomplete(ending: str) -> None:
    plan = "(take b2)\n(stack b2 b3)\n(take b1)\n(stack b1 b2)\n" + ending
    report = validate(BLOCKS, THREE_BLOCKS, plan)
    assert (report.valid, report.complete) == (True, False)
    assert report.warnings == ("incomplete plan file: the last line is not '; cost = N (...)'",)


def test_wrong_declared_cost_is_a_warning() -> None:
    report = validate(BLOCKS, THREE_BLOCKS, "(take b2)\n; cost = 7 (unit cost)\n", prefix=True)
    assert report.valid
    assert report.complete
    assert report.warnings == ("the plan file says cost 7, but it is 1",)


def test_problem_of_another_domain_is_refused() -> None:
    task = THREE_BLOCKS.replace(":domain blocks", ":domain gripper")
    with pytest.raises(PddlError, match=r"expected '\(:domain blocks\)'"):
        validate(BLOCKS, task, "; cost = 0 (unit cost)", prefix=True)


def test_all_lines_that_are_not_steps_are_reported() -> None:
    plan = "(take b2)\nstack b2 b3\n2: (take b1)\n  (take b1\n0.0: (take b1)\nx (take b1)\n()\n"
    with pytest.raises(PlanFileError) as caught:
        validate(BLOCKS, THREE_BLOCKS, plan, names=("d", "p", "my.plan"))
    found = [(d.file, d.line, d.column, d.hint) for d in caught.value.diagnostics]
    assert found == [
        (
            "my.plan",
            2,
            1,
            "put the action and its arguments in parentheses, or start a comment with ';'",
        ),
        ("my.plan", 4, 3, "close the parenthesis"),
        ("my.plan", 5, 1, "sort the steps by their times"),
        ("my.plan", 6, 1, "remove the text outside the parentheses"),
        (
            "my.plan",
            7,
            1,
            "put the action and its arguments in parentheses, or start a comment with ';'",
        ),
    ]


def test_files(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("domain.pddl", "problem.pddl", "plan")]
    paths[0].write_text("\ufeff" + BLOCKS)
    paths[1].write_bytes(THREE_BLOCKS.encode() + b"; \xe9\xff\n")
    paths[2].write_text("(take b2)\n; cost = 1 (unit cost)\n")
    assert validate_files(*paths, prefix=True).valid
    assert not validate_files(*map(str, paths)).valid
    paths[1].write_text("(define")
    with pytest.raises(PddlError, match=r"problem\.pddl:1:1: error: this '\(' is never closed"):
        validate_files(*paths)
    with pytest.raises(OSError):
        validate_files(paths[0], paths[1], tmp_path / "none")


# Types and constants


def test_types_of_arguments() -> None:
    text = domain(
        action("(and)", parameters="?r - robot ?x - room")
        + "(:action any :parameters (?x - (either small room)) :effect (dirty dock))"
    )
    task = problem("", "(done)")
    for step in ("(act r1 a)", "(act r2 dock)", "(any r2)", "(any dock)"):
        assert validate(text, task, step, prefix=True).valid
    assert validate(text, task, "(act a a)").reason == (
        "step 1 (act a a): a is not of type robot, as parameter ?r has to be"
    )
    assert validate(text, task, "(any r1)").reason == (
        "step 1 (any r1): r1 is not of type small or room, as parameter ?x has to be"
    )


def test_types_named_only_as_parents_and_repeated_constants() -> None:
    text = (
        "(define (domain d) (:types car - vehicle) (:constants c - car) (:predicates (p ?x))"
        "(:action act :parameters (?x - vehicle) :effect (p ?x)))"
    )
    task = "(define (problem p) (:domain d) (:objects c - car) (:init) (:goal (p c)))"
    assert validate(text, task, "(act c)").valid


# Conditions


@pytest.mark.parametrize(
    ("condition", "holding", "failing", "reason"),
    [
        ("(not (quiet))", "", "(quiet)", "(not (quiet))"),
        ("(and (quiet) (not (dirty dock)))", "(quiet)", "(dirty dock)", "(quiet)"),
        ("(or (quiet) (dirty a))", "(dirty a)", "(dirty b)", "(or (quiet) (dirty a))"),
        ("(or)", None, "", "(or)"),
        ("(and)", "", None, ""),
        ("()", "", None, ""),
        ("(imply (quiet) (dirty a))", "", "(quiet)", "(imply (quiet) (dirty a))"),
        ("(imply (quiet) (dirty a))", "(quiet) (dirty a)", None, ""),
        (
            "(exists (?x - room) (and (dirty ?x) (door ?x dock)))",
            "(dirty b) (door b dock)",
            "(dirty a) (door b dock)",
            "(exists (?x - room) (and (dirty ?x) (door ?x dock)))",
        ),
        (
            "(forall (?x - room) (or (dirty ?x) (= ?x dock)))",
            "(dirty a) (dirty b) (dirty c)",
            "(dirty a) (dirty c)",
            "(forall (?x - room) (or (dirty ?x) (= ?x dock))) with ?x = b",
        ),
        (
            "(forall (?r - robot ?x - room) (imply (at ?r ?x) (dirty ?x)))",
            "(at r1 a) (dirty a)",
            "(at r1 a) (at r2 b) (at r2 c) (dirty a)",
            "(forall (?r - robot ?x - room) (imply (at ?r ?x) (dirty ?x))) with ?r = r2, ?x = b",
        ),
        (
            "(not (exists (?r - (either big small)) (at ?r dock)))",
            "(at r1 a)",
            "(at r2 dock)",
            "(not (exists (?r - (either big small)) (at ?r dock)))",
        ),
        (
            "(exists (?x - room) (forall (?y - room) (or (= ?x ?y) (door ?x ?y))))",
            "(door b dock) (door b a) (door b c)",
            "(door b dock) (door a b) (door b c)",
            "(exists (?x - room) (forall (?y - room) (or (= ?x ?y) (door ?x ?y))))",
        ),
        (
            "(exists (?x - room) (door ?x ?x))",
            "(door a b) (door c c)",
            "(door a b) (door b a)",
            "(exists (?x - room) (door ?x ?x))",
        ),
        (
            "(exists (?x) (exists (?x - room) (dirty ?x)))",
            "(dirty c)",
            "",
            "(exists (?x) (exists (?x - room) (dirty ?x)))",
        ),
        (
            "(and (imply (not (quiet)) (not (dirty a))) (not (not (dirty b))))",
            "(dirty b)",
            "(dirty a)",
            "(imply (not (quiet)) (not (dirty a)))",
        ),
    ],
)
def test_conditions(condition: str, holding: str | None, failing: str | None, reason: str) -> None:
    if holding is not None:
        assert one_step(condition, holding).valid
        assert one_step("(and)", holding + "(done)", goal=condition).valid
    if failing is not None:
        assert (
            one_step(condition, failing).reason == f"step 1 (act): precondition {reason} is false"
        )
        unreached = one_step("(and)", failing, effect="()", goal=condition)
        assert f" parts are false: {reason}" in unreached.reason


def test_equality_and_parameters_in_messages() -> None:
    text = domain(
        action("(and (not (= ?x ?y)) (or (door ?x ?y) (door ?y ?x)))", "(done)", "?x ?y - room")
    )
    task = problem("(door a b)", "(done)")
    assert validate(text, task, "(act b a)").valid
    assert validate(text, task, "(act a a)").reason == (
        "step 1 (act a a): precondition (not (= a a)) is false"
    )
    assert validate(text, task, "(act a c)").reason == (
        "step 1 (act a c): precondition (or (door a c) (door c a)) is false"
    )


# Effects


def test_adding_wins_over_deleting() -> None:
    for effect in ("(and (done) (not (done)))", "(and (not (done)) (done))"):
        assert one_step("(and)", "", effect=effect).valid
        assert one_step("(and)", "(done)", effect=effect).valid


def test_conditional_effects_see_the_old_state() -> None:
    swap = (
        "(and (when (quiet) (and (done) (not (quiet)))) (when (done) (and (quiet) (not (done)))))"
    )
    goal = "(and (done) (not (quiet)))"
    assert one_step("(and)", "(quiet)", effect=swap, goal=goal).valid
    assert one_step("(and)", "(done)", effect=swap, goal="(and (quiet) (not (done)))").valid
    assert not one_step("(and)", "", effect=swap, goal=goal).valid


def test_forall_effects() -> None:
    effect = (
        "(forall (?x - room) (and (when (exists (?y - room) (door ?x ?y)) (dirty ?x))"
        " (when (at r1 ?x) (forall (?r - robot) (not (at ?r ?x))))))"
    )
    init = "(door a b) (door a c) (door b c) (at r1 a) (at r2 a) (at r2 b)"
    goal = (
        "(and (dirty a) (dirty b) (not (dirty c)) (not (dirty dock))"
        " (not (at r1 a)) (not (at r2 a)) (at r2 b))"
    )
    assert one_step("(and)", init, effect=effect, goal=goal).valid


# Costs


def test_action_costs() -> None:
    text = domain(
        action(
            "(at ?r ?x)",
            "(and (not (at ?r ?x)) (at ?r ?y) (increase (total-cost) (length ?x ?y)))",
            "?r - robot ?x ?y - room",
        )
        + "(:action rest :effect (increase (total-cost) 0.5)) (:action free)"
        + "(:action count :effect (forall (?x - room) (when (exists (?y - room) (door ?x ?y))"
        + " (increase (total-cost) 10))))"
    )
    init = "(at r1 a) (door a b) (door a c) (= (total-cost) 0) (= (length a b) 7)"
    plan = "(act r1 a b)\n(rest)\n(free)\n(count)\n; cost = 17.5 (general cost)\n"
    costs = problem(init, "(at r1 b)", "(:metric minimize (total-cost))")
    report = validate(text, costs, plan)
    assert (report.valid, report.cost, report.warnings) == (True, 17.5, ())
    # Without a metric every action costs 1.
    assert validate(text, problem(init, "(at r1 b)"), plan).cost == 4
    assert validate(text, costs, "(act r1 a b)\n(act r1 b c)\n").reason == (
        "step 2 (act r1 b c): the cost (length b c) has no value"
    )


# Derived predicates

REACH = """
(:derived (reach ?x ?y - room)
  (or (door ?x ?y) (exists (?z - room) (and (reach ?x ?z) (reach ?z ?y)))))
(:derived (quiet) (forall (?x - room) (or (= ?x dock) (not (reach dock ?x)))))
"""


def test_derived_predicates_follow_the_state() -> None:
    text = domain(
        REACH
        + action("(reach ?x ?y)", "(and (door ?y dock) (not (door ?x a)))", "?x ?y - room")
        + "(:action silence :precondition (quiet) :effect (done))"
    )
    init = "(door dock a) (door a b) (door b c)"
    assert validate(text, problem(init, "(reach c c)"), "(act dock c)").reason == (
        "goal not reached, 1 of 1 parts are false: (reach c c)"
    )
    assert validate(
        text, problem(init, "(and (reach c c) (done))"), "(act b c)\n(silence)"
    ).reason == ("step 2 (silence): precondition (quiet) is false")
    assert validate(
        text, problem(init, "(and (done) (reach c dock))"), "(act dock c)\n(silence)"
    ).valid
    assert validate(text, problem(init, "(done)"), "(act c dock)").reason == (
        "step 1 (act c dock): precondition (reach c dock) is false"
    )


def test_plans_that_are_replayed_one_after_the_other_do_not_touch_each_other() -> None:
    text = domain(
        REACH
        + action("(reach ?x ?y)", "(and (door ?y dock) (not (door ?x a)))", "?x ?y - room")
        + "(:action silence :precondition (quiet) :effect (done))"
    )
    task = problem("(door dock a) (door a b) (door b c)", "(and (done) (reach c dock))")
    validator = Validator(text, task)
    for plan in ("(act dock c)\n(silence)", "(silence)", "(act c dock)", "(act b c)") * 2:
        assert validator.replay(plan) == validate(text, task, plan)


def test_recursion_through_forall_is_unsupported() -> None:
    """As in the planner, which compiles `forall` to negations."""
    rules = "(:derived (quiet) {}) (:derived (done) (quiet))"
    for condition in (
        "(forall (?x) (and (done) (= ?x dock)))",
        "(not (exists (?x) (not (done))))",
        "(not (exists (?x) (imply (done) (= ?x dock))))",
    ):
        with pytest.raises(UnsupportedError, match="through 'forall'"):
            validate(domain(rules.format(condition)), problem("", "(quiet)"), "")
    # There is no recursion where the condition does not depend on the predicate.
    report = validate(
        domain(rules.format("(or (= dock dock) (forall (?x) (done)))")), problem("", "(quiet)"), ""
    )
    assert report.valid


def test_negative_recursion_is_refused() -> None:
    rules = "(:derived (quiet) (not (done))) (:derived (done) (imply (quiet) (dirty dock)))"
    with pytest.raises(PddlError, match="depends on its own negation"):
        validate(domain(rules), problem("", "(quiet)"), "")


# Broken files

ACT = action("(quiet)")


@pytest.mark.parametrize(
    ("broken_domain", "message"),
    [
        ("", "1:1: error: expected '(define ...)', but the file has no content"),
        ("hello", "1:1: error: expected '(define ...)'"),
        ("(define (domain d)", "1:1: error: this '(' is never closed"),
        ("(define (domain d)) x", "1:21: error: text after the end of the definition"),
        ("(define (domain d)) )", "1:21: error: text after the end of the definition"),
        ("(define (domain d) (:action))", "1:20: error: (:action) ends too early"),
        ("(define (domain d)\n(:durative-action))", "2:1: unsupported: durative actions are"),
        ("(define (domain d) (:predicates (p) (p ?x)))", "1:38: error: p is declared twice"),
        ("(define (domain d) (:predicates (p ?x - t)))", "1:41: error: unknown type t"),
        ("(define (domain d) (:functions (f) - t))", "1:38: unsupported: a function whose"),
        (domain(action("(quit)")), "unknown predicate quit"),
        (domain(action("(dirty c)")), "unknown object c"),
        (domain(action("(dirty ?x)")), "?x is not a parameter here"),
        (domain(action("(dirty)")), "dirty has 1 arguments, not 0"),
        (domain(action("(exists (?x) )")), "expected '(exists (VARIABLES) ...)'"),
        (domain(action("(> (length dock dock) 3)")), "unsupported: numeric conditions are"),
        (domain(action("(= (length dock dock) 3)")), "unsupported: numeric conditions are"),
        (domain(action("(and)", "(assign (total-cost) 3)")), "unsupported: numeric effects are"),
        (domain(action("(and)", "(increase (length dock dock) 3)")), "unsupported: numeric eff"),
        (domain(action("(and)", "(increase (total-cost) x)")), "expected a number that is not"),
        (domain(ACT + ACT), "act is declared twice"),
        (domain(action("(and)", "(quiet)") + REACH), "quiet is derived and cannot be changed"),
        (domain(action("(and)", parameters="?x ?x")), "?x is declared twice"),
        (domain(action("(and)", parameters="?x - ")), "expected a type after '-'"),
        (domain(action("(and " * 300 + ")" * 300)), "more than 250 nested parentheses"),
    ],
)
def test_broken_domains(broken_domain: str, message: str) -> None:
    with pytest.raises(PddlError) as caught:
        validate(broken_domain, problem("", "(done)"), "")
    assert message in str(caught.value)
    assert isinstance(caught.value, UnsupportedError) == ("unsupported" in message)


@pytest.mark.parametrize(
    ("broken_problem", "message"),
    [
        (problem("(dirty a)\n (dirty z)", "(done)"), "5:9: error: unknown object z"),
        (problem("(dirty r1)", "(done)"), "r1 is not of type room"),
        (problem("(dirty (a))", "(done)"), "expected a name"),
        (problem("(dirty a b)", "(done)"), "dirty has 1 arguments, not 2"),
        (problem("(quiet", "(done))"), "a ')' is missing before this section :goal"),
        (problem("(= (length a b) x)", "(done)"), "expected a number"),
        (problem("(= (size a) 1)", "(done)"), "unknown function size"),
        (problem("", "(dirty ?x)"), "?x is not a parameter here"),
        (problem("", "(done)", "(:metric maximize (total-cost))"), "unsupported: a metric"),
        (problem("", "(done)", "(:init)"), "a second :init"),
        (problem("", "(done)", "(:constraints)"), "unsupported: constraints are"),
        ("(define (problem p) (:domain d) (:init))", "1:1: error: :goal is missing"),
        (problem("", "(done)").replace("a b c", "a b r1"), "r1 is declared twice"),
        (problem("", "(done)").replace("- small", "- tiny"), "unknown type tiny"),
        (problem("", "(done)").replace("- small", "- (either big small)"), "unsupported: 'either'"),
    ],
)
def test_broken_problems(broken_problem: str, message: str) -> None:
    with pytest.raises(PddlError) as caught:
        validate(domain(ACT), broken_problem, "")
    assert message in str(caught.value)


def test_located_errors_show_the_line() -> None:
    with pytest.raises(PddlError) as caught:
        validate(
            "; (comment\n" + BLOCKS.replace("(holding ?x) (empty))", "(Held ?x) (empty))"),
            THREE_BLOCKS,
            "",
        )
    assert str(caught.value) == (
        "domain.pddl:8:19: error: unknown predicate holding\n"
        "      :effect (and (holding ?x) (not (clear ?x)) (not (table ?x)) (not (empty))))\n"
        "                    ^~~~~~~"
    )


def test_deep_conditions_do_not_exhaust_the_stack() -> None:
    depth = 250 - 3  # below (define (:action ... (quiet)))
    pair = "(not (exists () "
    assert one_step(pair * 122 + "(quiet)" + "))" * 122, "(quiet)").valid
    assert one_step("(forall () " * depth + "(quiet)" + ")" * depth, "(quiet)").valid
    assert one_step("(imply (quiet) " * depth + "(quiet)" + ")" * depth, "(quiet)").valid
    assert not one_step("(or " * depth + "(quiet)" + ")" * depth, "").valid


SAMPLES = (
    domain(REACH + action("(reach ?x ?y)", "(when (dirty ?x) (not (door ?x ?y)))", "?x ?y - room")),
    problem("(door a b) (dirty a) (= (length a b) 2)", "(not (exists (?x - room) (door a ?x)))"),
    "(act a b)\n(act a b)\n; cost = 2 (unit cost)\n",
)


@examples(1000)
@given(st.data())
def test_mutated_texts_give_a_report_or_a_located_error(data: st.DataObject) -> None:
    texts = list(SAMPLES)
    which = data.draw(st.integers(0, 2))
    tokens = texts[which].replace("(", " ( ").replace(")", " ) ").split(" ")
    for _ in range(data.draw(st.integers(1, 3))):
        i = data.draw(st.integers(0, len(tokens) - 1))
        j = data.draw(st.integers(0, len(tokens) - 1))
        match data.draw(st.sampled_from(["delete", "duplicate", "swap", "copy", "junk"])):
            case "delete":
                del tokens[i]
                tokens = tokens or [""]
            case "duplicate":
                tokens.insert(i, tokens[i])
            case "swap":
                tokens[i], tokens[j] = tokens[j], tokens[i]
            case "copy":
                tokens[i] = tokens[j]
            case "junk":
                tokens[i] = data.draw(st.sampled_from(["-", "?", "=", "()", "İ", "\x00", "1e999"]))
    texts[which] = " ".join(tokens)
    try:
        report = validate(*texts)
    except (PddlError, PlanFileError) as error:
        assert all(d.line >= 1 and d.column >= 1 for d in error.diagnostics)
        assert error.diagnostics
    else:
        assert report.valid == (report.reason == "")


# Speed


def test_a_large_task() -> None:
    rng = random.Random(0)
    rooms = [f"room{i}" for i in range(320)]
    doors = {(x, y) for x in rooms for y in rooms if x == y or rng.random() < 0.5}
    text = domain(
        action("(and (at ?r ?x) (door ?x ?y))", "(and (not (at ?r ?x)) (at ?r ?y))",
               "?r - robot ?x ?y - room")
    )  # fmt: skip
    init = "\n".join(f"(door {x} {y})" for x, y in sorted(doors))
    task = problem(f"(at r1 room0)\n{init}", "(at r1 room0)").replace(
        "c - room", f"c {' '.join(rooms)} - room"
    )
    plan, here = [], "room0"
    for _ in range(5000):
        there = rng.choice(rooms)
        there = there if (here, there) in doors else here
        plan.append(f"(act r1 {here} {there})")
        here = there
    report = validate(text, task, "\n".join(plan), prefix=True)
    assert (report.valid, report.steps) == (True, 5000)
