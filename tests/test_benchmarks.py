"""The benchmark scripts run, on tiny tasks."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


def run(*arguments: str, script: str = "speed.py") -> str:
    command = [sys.executable, str(BENCHMARKS / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


HAS_NEURALOGIC = shutil.which("java") and importlib.util.find_spec("neuralogic")


@pytest.mark.slow
def test_speed_measures_everything() -> None:
    found = json.loads(run("--quick", "--json"))
    others = {r["other_name"] for r in found["ratios"]}
    assert others >= {"pypddl", "from scratch", "mimir, grounded"}
    assert any("paper's implementation" in name for name in others)
    assert any("extrapolated" in name for name in others) == bool(HAS_NEURALOGIC)
    assert all(r["ratio"] > 0 for r in found["ratios"])
    assert len(found["budgets"]) == 5
    assert all(budget["met"] for budget in found["budgets"])
    plans = [p for p in found["processes"] if p["expected"] == "solved"]
    models = [p for p in found["processes"] if p["expected"] == "trained"]
    assert len(plans) == 10
    assert len(models) == 1
    assert all(p["outcome"] == p["expected"] for p in found["processes"])
    assert all(p["megabytes"] > 1 for p in found["processes"])
    assert len(found["growth"]) == 4


@pytest.mark.slow
def test_speed_prints_tables() -> None:
    table = run("--quick", "--only", "step", "growth", "plans")
    assert "from scratch" in table
    assert "blocksworld" in table
    assert "rules alone" in table


def test_rollouts_are_counted() -> None:
    found = json.loads(run("--quick", "--json", "--blocks", "6", script="rollouts.py"))
    assert [rate["required"] is None for rate in found["rollouts"]] == [True, False, False]
    for rate in found["rollouts"]:
        assert rate["steps"] > 0
        assert rate["one_thread"] > 0
        assert rate["two_threads"] > 0


@pytest.mark.slow
def test_versions_are_compared() -> None:
    options = ["--repeats", "1", "--scale", "0.01", "--only", "ferry: "]
    lines = run(*options, script="compare.py").splitlines()
    assert lines[1].split() == ["CPU", "seconds,", "best", "of", "1", "1", "ratio"]
    assert len(lines) == 2 + 9
    assert all(line.endswith("1.00") for line in lines[2:])  # one version: compared with itself
