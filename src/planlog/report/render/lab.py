"""Results in the format of Downward Lab: one JSON object that maps runs to properties.

J. Seipp, F. Pommerening, S. Sievers and M. Helmert. Downward Lab. Zenodo, 2017.
"""

from __future__ import annotations

import json
from typing import Any

from planlog.costs import Cost
from planlog.experiment.records import Record, Status
from planlog.json_text import to_json
from planlog.report.comparison import Comparison
from planlog.report.metrics import TaskRuns, agility, cost_of, is_solved, quality, seconds_to_plan

# Lab's names of Fast Downward's exit codes.
_ERRORS = {
    Status.SOLVED: "success",
    Status.UNSOLVABLE: "search-unsolvable",
    Status.NO_PLAN: "search-unsolvable-incomplete",
    Status.TIME: "search-out-of-time",
    Status.MEMORY: "search-out-of-memory",
    Status.INVALID: "unexplained-invalid-plan",
    Status.FAILED: "search-critical-error",
}


def render(comparison: Comparison) -> str:
    """Return the file `properties`, with one line for each run but none for trainings."""
    runs = {}
    for tasks in comparison.tasks.values():
        for task in tasks:
            for run in task.records:
                properties = _properties(task, run)
                runs["-".join(properties["id"])] = properties
    lines = (f"{json.dumps(name)}: {to_json(runs[name])}" for name in sorted(runs))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _properties(task: TaskRuns, run: Record) -> dict[str, Any]:
    # Lab has no seeds and no splits: a run is an algorithm, a domain and a problem.
    algorithm = run.planner if run.seed is None else f"{run.planner}-seed{run.seed}"
    problem = f"{run.split}-{run.task}.pddl" if run.split else f"{run.task}.pddl"
    solved = is_solved(run)
    properties: dict[str, Any] = {
        "id": [algorithm, run.domain, problem],
        "run_dir": run.run,
        "algorithm": algorithm,
        "domain": run.domain,
        "problem": problem,
        "planner": run.planner,
        "seed": run.seed,
        "split": run.split,
        "objects": run.objects,
        "coverage": int(solved),
        "unsolvable": int(run.status is Status.UNSOLVABLE),
        "error": _ERRORS[run.status],
        # Lab's units: seconds and KiB.
        "cpu_time": run.cpu_seconds,
        "wall_clock_time": run.seconds,
        "raw_memory": run.memory // 1024,
        "node": (run.details.get("machine") or {}).get("name"),
        "lower_bound": run.lower_bound,
        "score_quality": 0.0,
        "score_agile": 0.0,
    }
    if solved:
        assert task.best is not None
        properties |= {
            "cost": _number(cost_of(run)),
            "cost:all": [_number(cost) for cost, _ in run.plans] or [_number(cost_of(run))],
            "plan_length": run.length,
            "proved_optimal": int(run.optimal),
            "total_time": run.seconds,
            "memory": run.memory // 1024,
            "first_plan_time": seconds_to_plan(run),
            "score_quality": quality(task.best, cost_of(run)),
            "score_agile": agility(seconds_to_plan(run)),
        }
    if run.message:
        properties["message"] = run.message
    return {key: value for key, value in properties.items() if value is not None}


def _number(cost: Cost) -> int | float:
    """Return a cost as a JSON number, since Lab computes with costs."""
    return cost if isinstance(cost, int) else float(cost)
