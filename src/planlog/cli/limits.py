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
from typing import Annotated, Self

import typer

from planlog.cli.exits import ExitCode, signal_code

# Options of commands that end with the best they have.
TimeLimit = Annotated[
    float | None, typer.Option(metavar="SECONDS", min=0, help="End after this time.")
]
MemoryLimit = Annotated[
    int | None,
    typer.Option("--memory-limit", metavar="MB", min=1, help="End above this much memory."),
]

_ENDING = (signal.SIGINT, signal.SIGTERM)
_OUT_OF_TIME = (signal.SIGALRM, signal.SIGXCPU)


def remaining(limit: float | None, start: float) -> float | None:
    """The seconds that are left of a limit."""
    return None if limit is None else max(0.0, limit - (time.monotonic() - start))


class Interrupts:
    """What ends the work from outside: SIGINT, SIGTERM, and the end of its time.

    Only the first one interrupts, with KeyboardInterrupt, so that whatever comes at the same time
    or later does not disturb the work's ending. A signal that is ignored (as `nohup` does) stays
    so.
    """

    def __init__(self, seconds: float | None) -> None:
        self.received: list[int] = []
        self._seconds = seconds
        self._armed = False

    def __enter__(self) -> Self:
        self._before = {number: signal.getsignal(number) for number in (*_ENDING, *_OUT_OF_TIME)}
        for number, handler in self._before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, self._handle)
        if self._seconds is not None:
            signal.setitimer(signal.ITIMER_REAL, max(self._seconds, 1e-6))  # 0 would mean never
        return self

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def end(self) -> Iterator[None]:
        """Work that an interrupt ends; nothing interrupts what follows."""
        try:
            self._armed = True
            yield
            self._armed = False
        except KeyboardInterrupt:
            pass
        finally:
            self._armed = False

    @contextmanager
    def wait(self) -> Iterator[None]:
        """Short work that an interrupt lets be finished first."""
        armed, self._armed = self._armed, False
        try:
            yield
        finally:
            self._armed = armed
            if armed:
                self.check()

    @property
    def out_of_time(self) -> bool:
        """Whether the time is over, and nothing else came before."""
        return bool(self.received) and self.received[0] in _OUT_OF_TIME

    @property
    def code(self) -> int:
        """The exit code of work that was ended from outside."""
        return ExitCode.TIME_LIMIT if self.out_of_time else signal_code(self.received)

    def check(self) -> None:
        """Interrupt if something has come: to be called now and then, since an exception that is
        raised at any place gets lost where a library ignores all of them."""
        if self.received:
            self._armed = False
            raise KeyboardInterrupt

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.received.append(number)
        if self._armed:
            self.check()


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
