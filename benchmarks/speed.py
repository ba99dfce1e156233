"""How fast Planlog is, against other implementations and against itself.

Both sides of every ratio are measured in the same run, on the same inputs, in turns, and the
best of several repetitions counts: processor time of the one thread that works, since other work
on the machine can only add to it.
Exits with 1 if a required speed is missed.

    python benchmarks/speed.py
    python benchmarks/speed.py --only read step --json
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from inputs import FULL, QUICK
from learning import measure_models, measure_score, measure_training
from measures import measure_reading, measure_scratch, measure_space, measure_step
from plans import growth, measure_growth, measure_learned_plans, measure_plans
from results import Budget, Growth, Process, Ratio, StepCost

MEASURES = {
    "read": measure_reading,
    "scratch": measure_scratch,
    "step": measure_step,
    "space": measure_space,
    "plans": measure_plans,
    "growth": measure_growth,
    "train": measure_training,
    "models": measure_models,
    "score": measure_score,
    "learned": measure_learned_plans,
}


def verdict(met: bool) -> str:
    return "[green]yes" if met else "[bold red]no"


def duration(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.1f} µs"


def show_ratios(console: Console, ratios: list[Ratio]) -> None:
    table = Table("what", "Planlog", "other", "", "times as fast", "required", "met")
    for r in ratios:
        table.add_row(
            r.what,
            duration(r.ours),
            duration(r.other),
            r.other_name,
            f"{r.ratio:.1f}",
            "" if r.required is None else f"{r.required:g}",
            "" if r.required is None else verdict(r.met),
        )
    console.print(table)


def show_budgets(console: Console, budgets: list[Budget]) -> None:
    table = Table("what", "Planlog", "allowed", "met")
    for b in budgets:
        table.add_row(b.what, duration(b.seconds), duration(b.allowed), verdict(b.met))
    console.print(table)


def show_processes(console: Console, processes: list[Process]) -> None:
    table = Table("from the command line", "outcome", "steps", "s", "MB", "allowed", "met")
    for p in processes:
        table.add_row(
            p.what,
            p.outcome,
            str(p.steps),
            f"{p.seconds:.2f}",
            f"{p.megabytes:.0f}",
            f"{p.allowed_seconds} s, {p.allowed_megabytes} MB",
            verdict(p.met),
        )
    console.print(table)


def show_growth(console: Console, costs: list[StepCost], grown: list[Growth]) -> None:
    table = Table("domain", "sizes", "objects", "steps", "derived actions", "µs/step", "µs/action")
    for c in costs:
        table.add_row(
            c.domain,
            c.sizes,
            str(c.objects),
            str(c.steps),
            f"{c.actions:.1f}",
            f"{c.microseconds:.1f}",
            f"{c.microseconds / c.actions:.2f}",
        )
    console.print(table)
    table = Table("smallest to largest", "derived actions", "time per step", "grows no faster")
    for g in grown:
        table.add_row(g.domain, f"× {g.actions:.1f}", f"× {g.time:.1f}", verdict(g.met))
    console.print(table)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=MEASURES, default=tuple(MEASURES))
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--no-fail", action="store_true", help="exit with 0 whatever the speed")
    parser.add_argument("--quick", action="store_true", help="tiny tasks: does the script work?")
    arguments = parser.parse_args()
    sizes = QUICK if arguments.quick else FULL

    results = [r for part, f in MEASURES.items() if part in arguments.only for r in f(sizes)]
    ratios = [r for r in results if isinstance(r, Ratio)]
    budgets = [r for r in results if isinstance(r, Budget)]
    processes = [r for r in results if isinstance(r, Process)]
    costs = [r for r in results if isinstance(r, StepCost)]
    grown = list(growth(costs))

    if arguments.json:
        everything = {
            "python": platform.python_version(),
            "machine": platform.machine(),
            "ratios": [{**asdict(r), "ratio": r.ratio, "met": r.met} for r in ratios],
            "budgets": [{**asdict(b), "met": b.met} for b in budgets],
            "processes": [{**asdict(p), "met": p.met} for p in processes],
            "steps": [asdict(c) for c in costs],
            "growth": [{**asdict(g), "met": g.met} for g in grown],
        }
        print(json.dumps(everything, indent=2))
    else:
        console = Console(width=None if sys.stdout.isatty() else 140)
        if ratios:
            show_ratios(console, ratios)
        if budgets:
            show_budgets(console, budgets)
        if processes:
            show_processes(console, processes)
        if costs:
            show_growth(console, costs, grown)
    met = all(result.met for result in (*ratios, *budgets, *processes, *grown))
    return 0 if met or arguments.no_fail or arguments.quick else 1


if __name__ == "__main__":
    sys.exit(main())
