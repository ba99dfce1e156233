"""Signals and time limits that end a command in good order."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self

from planlog.cli.exit_codes import ExitCode

_INTERRUPTS = (signal.SIGINT, signal.SIGTERM)
_OUT_OF_TIME = (signal.SIGALRM, signal.SIGXCPU)


class Signals:
    """Record SIGINT, SIGTERM, SIGXCPU and the end of a time limit, and interrupt work with them.

    A signal raises KeyboardInterrupt only inside `until_interrupted()`, and only the first one
    does: code that writes results runs outside of it, or inside `shield()`, and is never cut off.
    A signal that the parent process ignores (as under `nohup`) stays ignored.
    """

    def __init__(self, time_limit: float | None = None) -> None:
        self.received: list[int] = []
        self._time_limit = time_limit
        self._armed = False

    def __enter__(self) -> Self:
        watched = (*_INTERRUPTS, *_OUT_OF_TIME)
        self._before = {number: signal.getsignal(number) for number in watched}
        for number, handler in self._before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, self._handle)
        if self._time_limit is not None:
            # A timer of 0 seconds would never fire.
            signal.setitimer(signal.ITIMER_REAL, max(self._time_limit, 1e-6))
        return self

    def __exit__(self, *_: object) -> None:
        if self._time_limit is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def until_interrupted(self) -> Iterator[None]:
        """Run work that the first signal ends; nothing interrupts what follows the block.

        Call `check` first in the block where a signal may have arrived before it.
        """
        try:
            self._armed = True
            yield
            self._armed = False
        except KeyboardInterrupt:
            pass
        finally:
            self._armed = False

    @contextmanager
    def shield(self) -> Iterator[None]:
        """Run short work to its end, and raise a signal that arrives meanwhile afterwards."""
        armed, self._armed = self._armed, False
        try:
            yield
        finally:
            self._armed = armed
            if armed:
                self.check()

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal has arrived.

        Long work calls this now and then: libraries that swallow all exceptions would lose one
        that the handler raised.
        """
        if self.received:
            self._armed = False
            raise KeyboardInterrupt

    @property
    def out_of_time(self) -> bool:
        """Whether the first signal was the end of the time limit."""
        return bool(self.received) and self.received[0] in _OUT_OF_TIME

    @property
    def reason(self) -> str:
        """The reason why the work ended early."""
        return "out of time" if self.out_of_time else "interrupted"

    @property
    def exit_code(self) -> int:
        """Exit code of work that a signal ended, as a shell reports it."""
        if self.out_of_time:
            return ExitCode.TIME_LIMIT
        return 128 + self.received[0] if self.received else ExitCode.INTERRUPTED

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.received.append(number)
        if self._armed:
            self.check()
