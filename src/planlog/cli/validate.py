"""`planlog validate`: is this file a plan of this task?"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planlog.cli.exits import ExitCode, bad_usage, emit, emit_json, user_errors
from planlog.cli.files import domain_and_problem
from planlog.cli.wording import as_number, plural

if TYPE_CHECKING:
    from planlog.validate import Report

HELP = """Check a plan, step by step, and name the first step and literal that fail.

The check reads the files by itself and shares nothing with the planner. PLAN may be - for
the standard input.

**Examples**

    planlog validate domain.pddl p01.pddl sas_plan
    planlog solve p01.pddl | planlog validate p01.pddl -

**Exit codes**: 0 valid, 1 not valid, 31 bad input, 34 unsupported PDDL, 36 bad usage.
"""


def validate(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="[DOMAIN] PROBLEM PLAN",
            help="DOMAIN defaults to domain.pddl beside the problem.",
            show_default=False,
        ),
    ],
    prefix: Annotated[
        bool, typer.Option("--prefix", help="The plan need not reach the goal yet.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    if len(files) not in (2, 3):
        raise bad_usage(f"expected [DOMAIN] PROBLEM PLAN, got {len(files)} files")
    *pddl, plan_file = files
    domain_file, problem_file = domain_and_problem(pddl)
    with user_errors(as_json):
        report = check(domain_file, problem_file, plan_file, prefix)
    if as_json:
        emit_json(asdict(report))
    else:
        for warning in report.warnings:
            print(f"warning: {warning}", file=sys.stderr)
        steps = f"{plural(report.steps, 'step')}, cost {as_number(report.cost)}"
        emit(f"valid: {steps}" if report.valid else f"not valid: {report.reason}")
    raise typer.Exit(ExitCode.SUCCESS if report.valid else ExitCode.INVALID)


validate.__doc__ = HELP


def check(domain_file: Path, problem_file: Path, plan_file: Path, prefix: bool) -> Report:
    """Validate files, of which the plan may be the standard input."""
    import planlog.validate

    if plan_file != Path("-"):
        return planlog.validate.validate_files(domain_file, problem_file, plan_file, prefix=prefix)
    return planlog.validate.validate(
        domain_file.read_text("utf-8-sig", errors="replace"),
        problem_file.read_text("utf-8-sig", errors="replace"),
        sys.stdin.buffer.read().decode("utf-8", errors="replace"),
        prefix=prefix,
        names=(str(domain_file), str(problem_file), "<stdin>"),
    )
