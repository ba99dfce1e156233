"""The command `planlog`: its subcommands and its exit code."""

from __future__ import annotations

import io
import os
import traceback
from collections.abc import Sequence

import click

import planlog
from planlog.cli.command import LazyGroup
from planlog.cli.console import emit, say
from planlog.cli.exit_codes import ExitCode
from planlog.cli.process import begin_command

# Each command is the module of its name in `planlog.cli.commands`.
SUMMARIES = {
    "solve": "Solve a task with a policy and print the plan.",
    "validate": "Validate a plan independently of the planner.",
    "check": "Check three properties of a policy on tasks, with counterexamples.",
    "train": "Train a network to rank the actions that a policy derives.",
    "template": "Print the rules that define the network of a policy.",
    "info": "Show the contents of a model file.",
    "generate": "Generate tasks of a shipped domain.",
    "ipc": "Learn and plan as in the learning track of the IPC.",
    "experiment": "Run policies and planners on many tasks and record every run.",
    "report": "Turn the records of an experiment into tables and figures.",
    "doctor": "Report what is installed and whether it works.",
    "demo": "Solve and learn on the shipped domains, to show what Planlog does.",
    "completion": "Print the shell script that completes commands and options.",
}

HELP = """Plan with generalised policies: a few Datalog rules solve every task of a PDDL domain.

`planlog COMMAND --help` describes a command, its options and its exit codes.
"""

app = LazyGroup("planlog", package="planlog.cli.commands", summaries=SUMMARIES, help=HELP)


def _show_version(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        emit(f"planlog {planlog.__version__}")
        context.exit()


app.params.append(
    click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_show_version,
        help="Show the version and exit.",
    )
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    begin_command()
    # Starting the threads of numpy's BLAS, which Planlog has no use for, takes as long as solving
    # a small task.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        return int(app.main(arguments, prog_name="planlog", standalone_mode=False) or 0)
    except click.ClickException as error:
        text = io.StringIO()
        error.show(text)
        say(text.getvalue().rstrip("\n"))
        return ExitCode.USAGE
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except (click.Abort, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    except Exception:
        # Commands report every mistake of a user as a message, so this is a bug.
        say(traceback.format_exc() + "planlog: this is a bug in Planlog; please report it")
        return ExitCode.CRITICAL
