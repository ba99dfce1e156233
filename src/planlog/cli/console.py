"""Output of the commands: results to the standard output, everything else to standard error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from click.exceptions import Exit

from planlog.cli.exit_codes import ExitCode
from planlog.errors import Diagnostic, render_diagnostics


def say(message: str) -> None:
    """Print a message that is not part of the command's result."""
    print(message, file=sys.stderr, flush=True)


def warn(warnings: Sequence[Diagnostic]) -> None:
    """Print the warnings about an input file."""
    if warnings:
        say(render_diagnostics(warnings))


def emit(text: str) -> None:
    """Print a command's result, or end the command if the output cannot be written."""
    try:
        print(text, flush=True)
    except OSError as error:
        # Python would report the unwritten buffer a second time when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader, such as `head`, has finished
            raise Exit(ExitCode.BROKEN_PIPE) from None
        say(f"planlog: cannot write the output: {error.strerror}")
        raise Exit(ExitCode.CRITICAL) from None


def emit_json(value: dict[str, Any]) -> None:
    """Print one JSON object."""
    emit(json.dumps(value, indent=2))
