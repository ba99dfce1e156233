"""Exact costs as the users of the commands meet them."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from planlog.costs import LARGEST, Cost
from planlog.network.model_file import Model
from planlog.pddl.plan import Plan
from support.commands import Run
from support.costly_tasks import ROADS, files, roads_text


@pytest.mark.parametrize(
    ("prices", "cost"),
    [
        (3 * ["9007199254740993"], 27021597764222979),
        (3 * ["0.1"], Decimal("0.3")),
        (["0.25", "2.5e-1", ".5"], 1),
        (["1e3", "2E+2", "5."], 1205),
        ([str(LARGEST)], LARGEST),
        ([str(LARGEST - 1), "1.0", "0"], LARGEST),
        (["0.000000000000000001", "9.223372036854775806"], Decimal("9.223372036854775807")),
        (["00000000000000000000000000007", "0.50000000000000000000000000"], Decimal("7.5")),
        (["0e99999999999999999999", "0.000e-99999999999999999999"], 0),
    ],
)
def test_cost_of_a_plan(prices: list[str], cost: Cost, planlog: Run, tmp_path: Path) -> None:
    task_file, plan_file = files(tmp_path, prices), tmp_path / "plan"
    arguments = ("solve", task_file, "--policy", "none", "--plan-file", plan_file, "--validate")
    code, out, err = planlog(*arguments, "--json")
    shown: Any = cost if isinstance(cost, int) else str(cost)
    assert (code, json.loads(out)["cost"]) == (0, shown), err
    code, _, err = planlog(*arguments, "--expansions", 50, "--threads", 1)
    assert (code, f"cost {cost}, " in err) == (0, True)
    assert plan_file.read_text().endswith(f"; cost = {cost} (general cost)\n")
    code, out, err = planlog("validate", task_file, plan_file)
    assert (code, out.startswith("valid: "), out.endswith(f", cost {cost}\n")) == (0, True, True)
    assert err == ""  # no warning about the cost line
    code, out, _ = planlog("validate", task_file, plan_file, "--json")
    assert json.loads(out)["cost"] == shown
    assert Plan.read(plan_file).cost == cost


def test_an_overflow_ends_an_execution_with_an_error(planlog: Run, tmp_path: Path) -> None:
    task_file = files(tmp_path, [str(LARGEST - 5), "5", "1"])
    code, out, err = planlog("solve", task_file, "--policy", "none")
    assert (code, out) == (31, "")
    assert "(pay p2 p3), after actions of cost 9223372036854775807, makes the cost larger" in err
    code, out, _ = planlog("solve", task_file, "--policy", "none", "--json")
    assert (code, json.loads(out)["outcome"]) == (31, "bad input")


@pytest.fixture
def roads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """From a to d directly at cost 10; by b and c at cost 2.5, on roads that are closed."""
    monkeypatch.chdir(tmp_path)
    Path("domain.pddl").write_text(ROADS)
    tolls = {"ad": 10, "ab": 1, "bc": "0.5", "cd": 1, "ba": 0, "ca": 0, "db": 0}
    Path("p.pddl").write_text(roads_text(tolls, "d", closed="ab"))
    Path("open.dl").write_text("go(X, Y) :- road(X, Y), not closed(X, Y).\n")
    return tmp_path


@pytest.mark.usefixtures("roads")
def test_a_policy_that_pays_too_much_is_refuted(planlog: Run) -> None:
    code, out, _ = planlog("check", "domain.pddl", "open.dl", "p.pddl")
    assert code == 1
    assert "refuted: plans of least cost are lost in 1 of 3 solvable states" in out
    assert "  goal distance: cost 2.5\n" in out
    assert "  the task minimises total-cost: optimal means least cost, not fewest actions\n" in out
    assert "where learning can make plans cheaper" in out
    code, out, _ = planlog("check", "domain.pddl", "open.dl", "p.pddl", "--json")
    (task,) = json.loads(out)["tasks"]
    example = task["properties"]["3"]["counterexample"]
    assert (task["minimises"], example["distance"]) == ("cost", "2.5")
    assert (example["derived"], example["optimal"]) == (["(go a d)"], ["(go a b)"])
    # Several tasks.
    Path("q.pddl").write_text(
        Path("p.pddl").read_text().replace("(:metric minimize (total-cost))", "")
    )
    _, out, _ = planlog("check", "domain.pddl", "open.dl", "p.pddl", "q.pddl")
    assert "  optimal means least cost in 1 task with the metric total-cost\n" in out
    _, out, _ = planlog("check", "domain.pddl", "open.dl", "q.pddl")
    assert "cost" not in out
    assert "3 optimality preserving  proved" in out


@pytest.mark.usefixtures("roads")
def test_training_says_that_it_minimises_cost(planlog: Run) -> None:
    """With all roads the rules leave a choice, and the network learns the cheaper one."""
    Path("all.dl").write_text("go(X, Y) :- road(X, Y).\n")
    arguments = ["train", "domain.pddl", "all.dl", "p.pddl", "-o", "model", "--settings", "small"]
    code, out, err = planlog(*arguments, "--width", 4, "--epochs", 60)
    assert code == 0, err
    assert "the chosen action is optimal in cost in 100 % of these states" in out
    assert Model.read("model").training["minimises"] == "cost"
    assert " minimises " in planlog("info", "model")[1]
    code, out, _ = planlog("solve", "domain.pddl", "p.pddl", "--model", "model", "--json")
    answer = json.loads(out)
    assert (answer["plan_length"], answer["cost"]) == (3, "2.5")
    # Without the metric the direct road is optimal.
    Path("q.pddl").write_text(
        Path("p.pddl").read_text().replace("(:metric minimize (total-cost))", "")
    )
    arguments[3:6] = ["q.pddl", "-o", "other"]
    code, out, err = planlog(*arguments, "--width", 4, "--epochs", 60)
    assert code == 0, err
    assert "the chosen action is optimal in 100 % of these states" in out
    assert Model.read("other").training["minimises"] == "length"
    _, out, _ = planlog("solve", "domain.pddl", "q.pddl", "--model", "other", "--json")
    assert json.loads(out)["plan_length"] == 1
    _, out, _ = planlog(*arguments, "p.pddl", "--width", 4, "--epochs", 1)
    assert "the chosen action is optimal in cost or length in " in out


@pytest.mark.usefixtures("roads")
def test_an_action_without_a_cost_ends_a_check_and_a_training(planlog: Run) -> None:
    Path("p.pddl").write_text(roads_text({"ab": 1, "bc": None}, "c"))
    for command in (("check",), ("train", "-o", "model")):
        code, out, err = planlog(*command, "domain.pddl", "open.dl", "p.pddl")
        assert (code, out) == (31, ""), err
        assert "task 'p': an action has no cost: the task gives no value for (toll b c)" in err
