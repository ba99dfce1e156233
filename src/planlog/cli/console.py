"""Output of the commands: results to the standard output, everything else to standard error."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, TextIO

from click.exceptions import Exit

from planlog.cli.exit_codes import ExitCode
from planlog.errors import Diagnostic, render_diagnostics
from planlog.json_text import to_json
from planlog.printable import printable


def say(message: str) -> None:
    """Print a message that is not part of the command's result."""
    # A message that nobody can read must not end the work; the exit code tells how it ended.
    with suppress(OSError, ValueError):
        stream = sys.stderr or io.StringIO()
        print(_shown(message, stream), file=stream, flush=True)


def warn(warnings: Sequence[Diagnostic]) -> None:
    """Print the warnings about an input file."""
    if warnings:
        say(render_diagnostics(warnings))


def emit(text: str) -> None:
    """Print a command's result, or end the command if the output cannot be written."""
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        print(_shown(text, sys.stdout), flush=True)
    except OSError as error:
        raise Exit(_explain_unwritten(error)) from None


def flush(code: int) -> int:
    """Write what is left of the output; return the exit code, or that of a failing output."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        return _explain_unwritten(error)
    return code


def _explain_unwritten(error: OSError) -> ExitCode:
    """Say that the output cannot be written, and return the exit code."""
    if sys.stdout is not None:
        # Python would try to write the rest, and report the error again, when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):  # the reader, such as `head`, has finished
        return ExitCode.BROKEN_PIPE
    reason = "it is closed" if error.errno == errno.EBADF else error.strerror
    say(f"planlog: cannot write to the standard output: {reason}")
    return ExitCode.OUTPUT


def emit_json(value: dict[str, Any]) -> None:
    """Print one JSON object."""
    # JSON escapes every control character but this one.
    emit(to_json(value, indent=2).replace("\x7f", "\\u007f"))


def report_failure(outcome: str, message: str, *, as_json: bool) -> None:
    """Print why a command has no result, as a message or as a JSON object."""
    if as_json:
        nothing = {"diagnostics": [], "diagnostic_count": 0}
        emit_json({"outcome": outcome, "message": message, **nothing})
    else:
        say(f"planlog: {message}")


def _shown(text: str, stream: TextIO | None) -> str:
    """Escape what a terminal would act on, and what the encoding of the stream lacks."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return printable(text).encode(encoding, "backslashreplace").decode(encoding)
