"""The command line: the only place that parses arguments, prints and exits.

Each command has a module of its own, which reads as the stages it goes through. The commands
import the rest of Planlog only when they run, so that `planlog doctor` can tell what is wrong
with an installation that is broken.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import planlog
from planlog.cli.demo import demo
from planlog.cli.doctor import doctor
from planlog.cli.exits import ExitCode
from planlog.cli.generate import generate
from planlog.cli.solve import solve
from planlog.cli.validate import validate

app = typer.Typer(
    help="Solve any task of a PDDL domain with a policy of a few Datalog rules.",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command()(solve)
app.command()(validate)
app.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})(generate)
app.command()(doctor)
app.command()(demo)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"planlog {planlog.__version__}")
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
        try:
            app(args=None if arguments is None else list(arguments), prog_name="planlog")
        finally:
            sys.stdout.flush()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        # Typer ends with 2 for bad usage, and nothing else here does.
        return ExitCode.USAGE if code == 2 else code
    except BrokenPipeError:
        # The reader (say, `head`) has enough. Python would complain once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.BROKEN_PIPE
    except KeyboardInterrupt:
        print("planlog: interrupted", file=sys.stderr)
        return ExitCode.INTERRUPTED
    except OSError as error:  # of stdout itself, as when the disk is full
        print(f"planlog: cannot write the output: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.CRITICAL
    return ExitCode.SUCCESS
