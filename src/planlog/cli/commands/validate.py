"""`planlog validate`: replay a plan file step by step."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from planlog.api.file_kinds import FileKind, expect
from planlog.api.resolve import split_files
from planlog.cli import options
from planlog.cli.command import BadUsage, Command
from planlog.cli.console import emit, emit_json, say
from planlog.cli.exit_codes import ExitCode
from planlog.cli.formatting import counted
from planlog.costs import cost_text
from planlog.validation import validate_files

HELP = """Validate a plan step by step, and name the first step and literal that fail.

The validator has its own reader of PDDL and shares no code with the planner. PLAN may be `-`
for the standard input. Without a DOMAIN, `domain.pddl` is looked for beside the task and in
the folders above it.

Examples:

    planlog validate domain.pddl p01.pddl sas_plan
    planlog solve p01.pddl | planlog validate p01.pddl -

Exit codes: 0 valid, 1 not valid, 31 bad input, 34 unsupported PDDL, 36 bad usage, 73 the
output cannot be written.
"""


@click.command("validate", cls=Command, help=HELP)
@options.files("[DOMAIN] TASK PLAN")
@options.flag("--prefix", help="A plan that need not reach the goal.")
@options.as_json
def command(files: tuple[Path, ...], prefix: bool, as_json: bool) -> int:
    if len(files) not in (2, 3):
        raise BadUsage(f"expected [DOMAIN] TASK PLAN, got {len(files)} files")
    *pddl, plan_file = files
    domain_file, (task_file, *_) = split_files(pddl)
    if plan_file == Path("-"):
        plan_file = Path("/dev/stdin")
    else:
        expect(plan_file, FileKind.PLAN, "PLAN")
    report = validate_files(domain_file, task_file, plan_file, prefix=prefix)
    if as_json:
        emit_json(asdict(report))
    else:
        for warning in report.warnings:
            say(f"warning: {warning}")
        steps = f"{counted(report.steps, 'step')}, cost {cost_text(report.cost)}"
        emit(f"valid: {steps}" if report.valid else f"not valid: {report.reason}")
    return ExitCode.SUCCESS if report.valid else ExitCode.INVALID
