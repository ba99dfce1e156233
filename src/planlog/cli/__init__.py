"""The command line: the only place that parses arguments, prints and exits.

Each command has a module of its own, which reads as the stages it goes through. The commands
import the rest of Planlog only when they run, so that `planlog doctor` can tell what is wrong
with an installation that is broken.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

import planlog
from planlog.cli.check import check
from planlog.cli.demo import demo
from planlog.cli.doctor import doctor
from planlog.cli.exits import ExitCode, emit
from planlog.cli.experiment import experiment
from planlog.cli.generate import generate
from planlog.cli.info import info
from planlog.cli.ipc import ipc
from planlog.cli.report import report
from planlog.cli.solve import solve
from planlog.cli.template import template
from planlog.cli.train import train
from planlog.cli.validate import validate

app = typer.Typer(
    help="Solve any task of a PDDL domain with a policy of a few Datalog rules.",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
app.command()(solve)
app.command()(validate)
app.command()(check)
app.command()(template)
app.command()(info)
app.command()(train)
app.command()(experiment)
app.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})(generate)
app.add_typer(ipc, name="ipc")
app.command()(report)
app.command()(doctor)
app.command()(demo)


def _print_version(wanted: bool) -> None:
    if wanted:
        emit(f"planlog {planlog.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    try:
        app(args=None if arguments is None else list(arguments), prog_name="planlog")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        # Typer ends with 2 for bad usage, and nothing else here does.
        return ExitCode.USAGE if code == 2 else code
    except Exception:
        # Users' mistakes end in a message, so this is one of ours.
        traceback.print_exc()
        print("planlog: this is a bug in Planlog; please report it", file=sys.stderr)
        return ExitCode.CRITICAL
    return ExitCode.SUCCESS
