"""Limits of time and memory that hold in every stage of a command."""

from __future__ import annotations

import re
import resource
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGXCPU)


def remaining(limit: float | None, start: float) -> float | None:
    """The seconds that are left of a limit."""
    return None if limit is None else max(0.0, limit - (time.monotonic() - start))


@contextmanager
def alarm(seconds: float | None, error: type[BaseException]) -> Iterator[list[int]]:
    """Raise the error in the midst of the work once the time is over; yields a list that has
    something in it from then on."""
    rung: list[int] = []

    def ring(number: int, frame: FrameType | None) -> None:
        rung.append(number)
        raise error

    if seconds is None:
        yield rung
        return
    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))  # 0 would mean never
        yield rung
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let signals that would end the work wait until something short is done."""
    waiting: list[int] = []
    before = {number: signal.getsignal(number) for number in _ENDING}
    try:
        # Not by blocking them: Python notices signals that any of its threads receives.
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, lambda number, _: waiting.append(number))
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for received in waiting:
            signal.raise_signal(received)


@contextmanager
def memory_limit(megabytes: int | None) -> Iterator[None]:
    """Let the system refuse memory above the limit, so that it holds in every stage.

    What follows (the report) may use more again.
    """
    reserved = _reserved_memory()
    if megabytes is None or reserved is None:
        yield
        return
    from planlog.execution import resident_memory

    # The system limits what is reserved, of which libraries use but a small part. So the
    # process may reserve what is left of the limit in addition to what it has reserved already.
    left = megabytes * 1024**2 - resident_memory()
    if left <= 0:
        raise MemoryError
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    allowed = reserved + left if hard == resource.RLIM_INFINITY else min(reserved + left, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (allowed, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _reserved_memory() -> int | None:
    """Bytes that count for RLIMIT_DATA; None where the system does not tell."""
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:
        return None
    found = re.search(r"^VmData:\s*(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else None


@contextmanager
def memory_errors() -> Iterator[None]:
    """Torch and threads have no exception of their own for memory that they do not get."""
    try:
        yield
    except RuntimeError as error:
        if "allocate memory" in str(error) or "can't start new thread" in str(error):
            raise MemoryError from None
        raise
