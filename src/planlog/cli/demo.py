"""`planlog demo`: the main job on all shipped domains, from easy to hard."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

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

ROW = "{:<12}{:>6}   {:<7}{:>9}{:>8}{:>9}{:>9}   {}"
# Split, and whether its first or last task.
SIZES = [("easy", 0), ("easy", -1), ("medium", -1), ("hard", 0), ("hard", -1)]


def demo(seed: Annotated[int, typer.Option(min=0, help="Of tasks and plans.")] = 0) -> None:
    from planlog import domains
    from planlog.policy import Policy
    from planlog.task import Domain

    emit("Planlog: the same rules solve the tasks of a domain, whatever their size\n")
    emit(ROW.format("domain", "rules", "task", "objects", "goals", "actions", "seconds", "plan"))
    start = time.monotonic()
    tasks = failed = 0
    with user_errors():
        for name in domains.names():
            domain = Domain.read(domains.path(name) / "domain.pddl")
            policy = Policy.read(domains.policy_path(name), domain)
            heading = [name, len(policy.program.rules) if policy.program else 0]
            for split, which in SIZES:
                cells, good = _row(domain, policy, name, split, which, seed)
                emit(ROW.format(*heading, *cells))
                heading = ["", ""]
                tasks += 1
                failed += not good
    verdict = f"{failed} NOT solved by a valid plan" if failed else "all solved, all plans valid"
    emit(f"\n{tasks} tasks in {time.monotonic() - start:.1f} s: {verdict}")
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
        return [*cells, "-", f"{seconds:.2f}", result.outcome.value], False
    plan = format_plan(result.actions, cost=result.cost, unit_cost=result.unit_cost)
    domain_text = (domains.path(name) / "domain.pddl").read_text(encoding="utf-8")
    valid = validate(domain_text, text, plan).valid
    return [
        *cells,
        str(len(result.actions)),
        f"{seconds:.2f}",
        "valid" if valid else "NOT VALID",
    ], valid
