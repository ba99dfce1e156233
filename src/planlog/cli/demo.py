"""`planlog demo`: the main job on all shipped domains, from easy to hard."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table

from planlog.cli.exits import ExitCode, emit, user_errors

if TYPE_CHECKING:
    from planlog.policy import Policy
    from planlog.task import Domain

HELP = """Generate tasks of each shipped domain, solve them, validate the plans, print a table.

The tasks grow from the smallest of the split "easy" to the largest of "hard". One file of a
few rules serves all tasks of a domain.

**Examples**

    planlog demo
    planlog demo --seed 1

**Exit codes**: 0 all tasks were solved and all plans are valid, 12 otherwise.
"""

# Split, and whether its first or last task.
SIZES = [("easy", 0), ("easy", -1), ("medium", -1), ("hard", 0), ("hard", -1)]


def demo(seed: Annotated[int, typer.Option(min=0, help="Of tasks and plans.")] = 0) -> None:
    from planlog import domains
    from planlog.policy import Policy
    from planlog.task import Domain

    table = Table("domain", "rules", "task", title="Planlog: one policy for tasks of any size")
    for column in ("objects", "goals", "plan length", "seconds", "valid"):
        table.add_column(column, justify="right")
    start = time.monotonic()
    failed = 0
    with user_errors(), Live(table, console=Console(), auto_refresh=False) as live:
        for name in domains.names():
            domain = Domain.read(domains.path(name) / "domain.pddl")
            policy = Policy.read(domains.policy_path(name), domain)
            rules = str(len(policy.program.rules)) if policy.program else ""
            for number, (split, which) in enumerate(SIZES):
                row, good = _row(domain, policy, name, split, which, seed)
                heading = [name, rules] if number == 0 else ["", ""]
                table.add_row(*heading, *row, end_section=number == len(SIZES) - 1)
                live.refresh()
                failed += not good
    verdict = f"{failed} NOT solved by a valid plan" if failed else "all solved, all plans valid"
    emit(f"{table.row_count} tasks in {time.monotonic() - start:.1f} s: {verdict}")
    raise typer.Exit(ExitCode.NO_PLAN if failed else ExitCode.SUCCESS)


demo.__doc__ = HELP


def _row(
    domain: Domain, policy: Policy, name: str, split: str, which: int, seed: int
) -> tuple[list[str], bool]:
    """Generate, solve and validate one task; its cells of the table, and whether all is well."""
    import numpy as np

    from planlog import domains
    from planlog.execution import execute, format_plan
    from planlog.validate import validate

    sizes = domains.split_sizes(name, split)[which]
    ((_, text),) = domains.generate(name, seed=seed, sizes=sizes)
    start = time.monotonic()
    task = domain.parse_task(text)
    result = execute(policy, task, rng=np.random.default_rng(seed), time_limit=60)
    seconds = time.monotonic() - start
    cells = [split, str(len(task.objects)), str(len(task.goals))]
    if not result.solved:
        return [*cells, result.outcome.value, f"{seconds:.2f}", "-"], False
    plan = format_plan(result.actions, cost=result.cost, unit_cost=result.unit_cost)
    domain_text = (domains.path(name) / "domain.pddl").read_text(encoding="utf-8")
    valid = validate(domain_text, text, plan).valid
    return [*cells, str(len(result.actions)), f"{seconds:.2f}", "yes" if valid else "NO"], valid
