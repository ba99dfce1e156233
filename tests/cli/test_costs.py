"""Exact costs as the users of the commands meet them."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from planlog.costs import LARGEST, Cost
from planlog.pddl.plan import Plan
from support.commands import Run
from support.costly_tasks import files


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
