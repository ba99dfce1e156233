"""How a command ends: Fast Downward's exit codes, and each user's mistake as a message."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import IntEnum
from types import FrameType
from typing import Any

import typer

from planlog.errors import Diagnostic, InputError, PlanlogError, UnsupportedError


class ExitCode(IntEnum):
    """Fast Downward's codes where it has one; 1 is the answer "no" of a check."""

    SUCCESS = 0
    INVALID = 1
    NO_PLAN = 12
    MEMORY_LIMIT = 22
    TIME_LIMIT = 23
    BAD_INPUT = 31
    UNSUPPORTED = 34
    CRITICAL = 35
    USAGE = 36
    INTERRUPTED = 128 + signal.SIGINT
    BROKEN_PIPE = 128 + signal.SIGPIPE


@contextmanager
def user_errors(as_json: bool = False) -> Iterator[None]:
    """Turn mistakes in files and exhausted resources into a message and an exit code."""
    try:
        yield
    except InputError as error:
        unsupported = isinstance(error, UnsupportedError)
        outcome = "unsupported" if unsupported else "bad input"
        code = ExitCode.UNSUPPORTED if unsupported else ExitCode.BAD_INPUT
        _fail(as_json, code, outcome, str(error), error.diagnostics)
    except PlanlogError as error:
        _fail(as_json, ExitCode.BAD_INPUT, "bad input", str(error))
    except UnicodeDecodeError as error:
        text = f"not a text file in UTF-8: {error.reason} at byte {error.start}"
        _fail(as_json, ExitCode.BAD_INPUT, "bad input", text)
    except MemoryError:
        _fail(as_json, ExitCode.MEMORY_LIMIT, "memory limit", "out of memory")
    except TimeoutError:
        _fail(as_json, ExitCode.TIME_LIMIT, "time limit", "out of time")
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is None:
            raise
        _fail(as_json, ExitCode.BAD_INPUT, "bad input", f"{error.filename}: {error.strerror}")


def _fail(
    as_json: bool,
    code: ExitCode,
    outcome: str,
    message: str,
    diagnostics: tuple[Diagnostic, ...] = (),
) -> None:
    if as_json:
        located = [
            {
                "file": d.file,
                "line": d.line,
                "column": d.column,
                "severity": d.severity.value,
                "message": d.message,
                "hint": d.hint,
            }
            for d in diagnostics
        ]
        emit_json({"outcome": outcome, "message": message, "diagnostics": located})
    else:
        # A located message starts with its place; any other says who speaks.
        print(message if diagnostics else f"planlog: {message}", file=sys.stderr)
    raise typer.Exit(code)


def bad_usage(message: str) -> typer.Exit:
    """To be raised for a mistake in the command line itself."""
    print(f"planlog: {message}", file=sys.stderr)
    return typer.Exit(ExitCode.USAGE)


def say(message: str) -> None:
    """Tell the user something that is not the command's result."""
    print(message, file=sys.stderr)


def warn(warnings: Iterable[Diagnostic]) -> None:
    for warning in warnings:
        say(warning.render())


def emit(text: str) -> None:
    """Print a command's result, completely."""
    try:
        print(text, flush=True)
    except OSError as error:
        # Python would complain once more at its end, about what is still in the buffer.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader (say, `head`) has enough
            raise typer.Exit(ExitCode.BROKEN_PIPE) from None
        print(f"planlog: cannot write the output: {error.strerror}", file=sys.stderr)
        raise typer.Exit(ExitCode.CRITICAL) from None


def emit_json(value: dict[str, Any]) -> None:
    """Print one JSON object."""
    emit(json.dumps(value, indent=2))


@contextmanager
def catch_signals() -> Iterator[list[int]]:
    """Make SIGTERM end the work as Ctrl-C does, and SIGXCPU as the time limit does.

    Yields the signals that have come. One that is ignored (as `nohup` or a shell's `&` do)
    stays so.
    """
    received: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        received.append(number)
        raise KeyboardInterrupt

    def time_out(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    handlers = {signal.SIGINT: interrupt, signal.SIGTERM: interrupt, signal.SIGXCPU: time_out}
    before = {number: signal.getsignal(number) for number in handlers}
    try:
        for number, handler in handlers.items():
            if before[number] is not signal.SIG_IGN:
                signal.signal(number, handler)
        yield received
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def signal_code(received: list[int]) -> int:
    """What a shell reports of a process that a signal has ended."""
    return 128 + received[0] if received else ExitCode.INTERRUPTED
