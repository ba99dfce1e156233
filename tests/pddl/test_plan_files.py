"""Plan files in the forms of other planners and of VAL, read by planner and validator alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.errors import MOST_DIAGNOSTICS, PlanFileError
from planlog.pddl.plan import Plan
from planlog.validation.plan import read_plan
from support.profiles import examples

STEPS = ["(go a b)", "(stay)", "(go b c)"]


@pytest.mark.parametrize(
    "text",
    [
        "(go a b)\n(stay)\n(go b c)\n",
        "0: (go a b)\n1: (stay)\n2: (go b c)\n",
        "0.000: (go a b) [1]\n1.000: (stay) [1.000]\n2.000: (go b c)[1]\n",
        "0:(go a b)[1] 1 : (stay) 1: (go b c)",
        "(go a b)(stay) (go b c)",
        "(go\n  a ; from\n  b ; to\n)\n( stay )\n(\ngo b c)",
        "(GO A b)\r\n(Stay)\r\n(gO B C)\r\n; cost = 3 (unit cost)\r\n",
        "(go a b)\r(stay)\r; a comment (go x y)\r(go b c)",
        "; plan found (by hand)\n.5: (go a b)\n\n; 0: (stay)\n1.: (stay)\n(go b c)\n; the end",
    ],
)
def test_forms_that_are_read(text: str) -> None:
    assert [str(action) for action in Plan.parse(text).actions] == STEPS
    assert [str(step) for step in read_plan(text, "plan")[0]] == STEPS


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("(go a b)\ngo b c\n", 2, 1),
        ("(go a b\n(go b c)\n", 1, 1),
        ("(go a b)\n  (go b c", 2, 3),
        ("(go a b))", 1, 9),
        ("()", 1, 1),
        ("( ; nothing\n)", 1, 1),
        ("0: 1: (go a b)", 1, None),
        ("(go a b)\n0:", 2, None),
        ("[1] (go a b)", 1, 1),
        ("(go a b) [1] [1]", 1, 14),
        ("(go a b) [x]", 1, 10),
        ("1.2.3: (go a b)", 1, 1),
        ("-1: (go a b)", 1, 1),
        ("2: (go a b)\n1: (go b c)", 2, 1),
        ("(go (a) b)", 1, 1),
    ],
)
def test_mistakes_are_located(text: str, line: int, column: int | None) -> None:
    for read in (Plan.parse, lambda text: read_plan(text, "plan")):
        with pytest.raises(PlanFileError) as caught:
            read(text)
        first = caught.value.diagnostics[0]
        assert first.line == line and column in (None, first.column)


PARTS = [
    "(",
    ")",
    "go",
    "A",
    " ",
    "\n",
    "\r",
    "0:",
    "1.5 :",
    ".",
    "[1]",
    "[",
    "]",
    ";",
    "; cost = 2",
]


@examples(400)
@given(st.lists(st.one_of(st.sampled_from([*PARTS, "(go a b)"]), st.text(max_size=2)), max_size=12))
def test_planner_and_validator_read_the_same_plans(parts: list[str]) -> None:
    text = "".join(parts)
    try:
        steps, declared = read_plan(text, "plan")
    except PlanFileError:
        with pytest.raises(PlanFileError):
            Plan.parse(text)
        return
    plan = Plan.parse(text)
    assert [str(action) for action in plan.actions] == [str(step) for step in steps]
    assert plan.cost == (len(steps) if declared is None else declared)


@pytest.mark.parametrize(
    ("line", "cost"),
    [
        ("; cost = 27021597764222979 (general cost)", 27021597764222979),
        ("; cost = 2.7e+16 (general cost)", 27 * 10**15),
        ("; COST = 3", 3),
        ("; cost = 1e999999999 (general cost)", 1),  # no cost: that of one action
        (f"; cost = {'9' * 5000}", 1),
    ],
)
def test_cost_lines(line: str, cost: int) -> None:
    text = f"(go a b)\n{line}\n"
    assert Plan.parse(text).cost == cost
    assert read_plan(text, "plan")[1] in (cost, None)


def test_many_mistakes_take_linear_time() -> None:
    text = "go a b\n" * 100_000
    for read in (Plan.parse, lambda text: read_plan(text, "plan")):
        with pytest.raises(PlanFileError) as caught:
            read(text)
        assert len(caught.value.diagnostics) == MOST_DIAGNOSTICS
