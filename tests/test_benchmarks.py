"""The benchmark scripts run; what they measure is another matter."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SPEED = Path(__file__).parent.parent / "benchmarks" / "speed.py"


def run(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, str(SPEED), *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_speed_measures_everything() -> None:
    found = json.loads(run("--quick", "--json"))
    others = {r["other_name"] for r in found["ratios"]}
    assert others >= {"pypddl", "from scratch", "mimir, grounded"}
    assert all(r["ratio"] > 0 for r in found["ratios"])
    assert [b["met"] for b in found["budgets"]] == [True]
    assert [p["outcome"] for p in found["plans"]] == ["solved"] * 4
    assert all(p["megabytes"] > 1 for p in found["plans"])
    assert len(found["growth"]) == 4


@pytest.mark.slow
def test_speed_prints_tables() -> None:
    table = run("--quick", "--only", "step", "growth")
    assert "from scratch" in table
    assert "blocksworld" in table
