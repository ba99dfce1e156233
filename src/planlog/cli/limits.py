"""Limits of time and memory that hold in every stage of a command, start-up included.

The core's watchdog keeps them (core/util/watchdog.hpp). At a limit it sends SIGALRM, whose handler
raises an exception in the main thread; code with a result to write catches it (see `Signals`). If
that does not end the command in time, the watchdog ends the process.
"""

from __future__ import annotations

import json
import re
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from planlog._core import StopReason, Watchdog, resident_memory
from planlog.cli import process
from planlog.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

MEGABYTE = 1024**2

# Seconds that the watchdog gives a command to end by itself: while it has no result that could be
# lost, and while it has one to write.
PATIENCE = 0.2
PATIENCE_WITH_RESULT = 5.0

# Reserved memory that the system refuses, in addition to twice the limit: a backstop for the time
# in which the watchdog gets no processor. Libraries reserve much more memory than they use.
_RESERVE = 1024**3

# Seconds until an exception that was lost is raised again.
_SOON = 0.001

_ENDINGS = {
    StopReason.TIME: (ExitCode.TIME_LIMIT, "time limit", "out of time"),
    StopReason.MEMORY: (ExitCode.MEMORY_LIMIT, "memory limit", "out of memory"),
    StopReason.INTERRUPT: (ExitCode.INTERRUPTED, "interrupted", "interrupted"),
    StopReason.TERMINATE: (128 + signal.SIGTERM, "interrupted", "interrupted"),
}


class OutOfTime(BaseException):
    """The end of the time limit outside of `Signals`; no Exception, since libraries catch these."""


@contextmanager
def limited(
    time_limit: float | None, memory_limit: int | None, *, as_json: bool = False
) -> Iterator[None]:
    """Keep the limits of a command, and end the process if the command does not end."""
    needed = resident_memory()
    if memory_limit is not None and needed > memory_limit:
        raise MemoryError(
            f"out of memory: Planlog needs {-(-needed // MEGABYTE):,} MB to start, and more for "
            "the task: give a higher --memory-limit"
        )
    is_over = False

    def raise_limit(number: int, frame: FrameType | None) -> None:
        if not is_over:  # a late signal must not change how the command has ended
            raise MemoryError if Watchdog.reason() is StopReason.MEMORY else OutOfTime

    handler = signal.signal(signal.SIGALRM, raise_limit)
    pipe = signal.set_wakeup_fd(Watchdog.signal_pipe(), warn_on_full_buffer=False)
    reserved = _limit_reserved_memory(memory_limit)
    try:
        if process.is_own():
            _set_endings(as_json)
        Watchdog.set_patience(PATIENCE)
        Watchdog.watch(process.remaining(time_limit), memory_limit)
        if process.is_own():  # has a timer for its start-up
            signal.setitimer(signal.ITIMER_REAL, 0)
        with raised_again(_is_limit):
            yield
    finally:
        is_over = True
        Watchdog.rest()
        signal.set_wakeup_fd(pipe)
        signal.signal(signal.SIGALRM, handler)
        if reserved is not None:
            resource.setrlimit(resource.RLIMIT_DATA, reserved)


@contextmanager
def limited_further(
    seconds: float | None, time_limit: float | None, memory_limit: int | None
) -> Iterator[None]:
    """Keep a shorter time limit in a block of a command that has these limits."""
    left = [limit for limit in (seconds, process.remaining(time_limit)) if limit is not None]
    Watchdog.watch(min(left, default=None), memory_limit)
    try:
        yield
    finally:
        if Watchdog.reason() is StopReason.TIME:
            Watchdog.rest()  # the end of the block, not of the command
        Watchdog.watch(process.remaining(time_limit), memory_limit)


def check_memory(limit: int) -> None:
    """Raise MemoryError above the limit, for work that fills memory before the watchdog looks."""
    if resident_memory() > limit:
        raise MemoryError


def _set_endings(as_json: bool) -> None:
    for reason, (code, outcome, text) in _ENDINGS.items():
        result = {"outcome": outcome, "message": text, "diagnostics": [], "diagnostic_count": 0}
        output = json.dumps(result, indent=2) + "\n" if as_json else ""
        # A progress bar hides the cursor of the terminal.
        message = ("\x1b[?25h\n" if sys.stderr.isatty() else "") + f"planlog: {text}\n"
        Watchdog.set_ending(reason, output.encode(), message.encode(), code)


def _is_limit(error: type[BaseException]) -> bool:
    is_memory = issubclass(error, MemoryError) and Watchdog.reason() is StopReason.MEMORY
    return is_memory or issubclass(error, OutOfTime)


@contextmanager
def raised_again(is_interrupt: Callable[[type[BaseException]], bool]) -> Iterator[None]:
    """Let SIGALRM come again for exceptions of signal handlers that Python cannot raise.

    Where nothing could catch them, as in `__del__` and in the callbacks of weak references, Python
    hands all exceptions to a hook, which prints them. `is_interrupt` tells which of them come from
    a handler, and prepares the handler to raise again.
    """
    hook = sys.unraisablehook

    def handle(unraisable: UnraisableHookArgs) -> None:
        if is_interrupt(unraisable.exc_type):
            signal.setitimer(signal.ITIMER_REAL, _SOON)  # an exception in the hook is lost too
        else:
            hook(unraisable)

    sys.unraisablehook = handle
    try:
        yield
    finally:
        sys.unraisablehook = hook
        signal.setitimer(signal.ITIMER_REAL, 0)


def _limit_reserved_memory(limit: int | None) -> tuple[int, int] | None:
    """Let the system refuse memory far above the limit; return the bounds before."""
    reserved = _reserved_memory()
    if limit is None or reserved is None:
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    allowed = reserved + 2 * limit + _RESERVE
    if hard != resource.RLIM_INFINITY:
        allowed = min(allowed, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (allowed, hard))
    return soft, hard


def _reserved_memory() -> int | None:
    """Return the bytes that count for RLIMIT_DATA, or None where the system does not tell."""
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:
        return None
    found = re.search(r"^VmData:\s*(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else None


@contextmanager
def memory_errors() -> Iterator[None]:
    """Raise MemoryError where torch and threads raise RuntimeError for refused memory."""
    try:
        yield
    except RuntimeError as error:
        if "allocate memory" in str(error) or "can't start new thread" in str(error):
            raise MemoryError from None
        raise
