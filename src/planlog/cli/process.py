"""The process of a command: since when it runs, and whether it is the command's own."""

from __future__ import annotations

import os
import time

_is_own = False
_start = time.monotonic()  # of the process, or of the command inside another program


def own_process() -> None:
    """Let the command have the process for itself: limits count from its start and may end it."""
    global _is_own, _start
    _is_own = True
    _start = time.monotonic() - _age()


def begin_command() -> None:
    """Let limits count from now on, unless the process is the command's own."""
    global _start
    if not _is_own:
        _start = time.monotonic()


def is_own() -> bool:
    """Whether the process has been started for the command."""
    return _is_own


def remaining(limit: float | None) -> float | None:
    """Return the seconds left of a time limit of the command."""
    return None if limit is None else max(0.0, limit - (time.monotonic() - _start))


def _age() -> float:
    """Return the seconds since the process started; its processor time if the system is silent."""
    used = time.process_time()
    try:
        # The name of the program, in parentheses, may hold anything. After it come the state, the
        # parent and so on; the start of the process is in ticks of the clock.
        with open("/proc/self/stat", errors="replace") as file:  # noqa: PTH123 (pathlib is slow)
            fields = file.read().rpartition(")")[2].split()
        started = int(fields[19]) / os.sysconf("SC_CLK_TCK")
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - started
    except (OSError, ValueError, IndexError, AttributeError):
        return used
    return age if used - 0.1 <= age < used + 60 else used  # some sandboxes invent the numbers
