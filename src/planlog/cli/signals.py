"""Signals and limits that end a command in good order."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType
from typing import Self

from planlog._core import StopReason, Watchdog
from planlog.cli.exit_codes import ExitCode
from planlog.cli.limits import PATIENCE, PATIENCE_WITH_RESULT, raised_again

_INTERRUPTS = (signal.SIGINT, signal.SIGTERM)
_LIMITS = (signal.SIGALRM, signal.SIGXCPU)  # SIGALRM comes from the watchdog


class Signals:
    """Record SIGINT, SIGTERM, SIGXCPU and limits, and interrupt work with them.

    A signal or a time limit raises KeyboardInterrupt, and a memory limit MemoryError, only inside
    `until_interrupted()`, and only the first one does: code that writes results runs outside of it,
    or inside `shield()`, and is never cut off. A signal that the parent process ignores (as under
    `nohup`) stays ignored.

    The watchdog is patient with work outside of `until_interrupted()`, and inside of it after
    `keep_result()`. Elsewhere there is nothing to lose, and it soon ends the process.
    """

    def __init__(self) -> None:
        self.received: list[int] = []
        self.out_of_memory = False
        self._armed = False
        self._has_result = False
        self._raised_again = raised_again(self._is_lost)

    def __enter__(self) -> Self:
        watched = (*_INTERRUPTS, *_LIMITS)
        self._before = {number: signal.getsignal(number) for number in watched}
        for number, handler in self._before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, self._handle)
        self._raised_again.__enter__()
        if Watchdog.reason() in (StopReason.TIME, StopReason.MEMORY):
            self._handle(signal.SIGALRM, None)  # a library has swallowed its exception
        return self

    def __exit__(self, *_: object) -> None:
        self._raised_again.__exit__(None, None, None)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def until_interrupted(self) -> _Interruptible:
        """Run work that the first signal ends; nothing interrupts what follows the block.

        Call `check` first in the block where a signal may have arrived before it.
        """
        return _Interruptible(self)

    def interruptible(self) -> AbstractContextManager[None]:
        """Run work that the first signal ends, inside or outside of `until_interrupted()`."""
        return nullcontext() if self._armed or self.received else _Interruptible(self)

    @contextmanager
    def shield(self) -> Iterator[None]:
        """Run short work to its end, and raise a signal that arrives meanwhile afterwards."""
        armed, self._armed = self._armed, False
        Watchdog.set_patience(PATIENCE_WITH_RESULT)
        try:
            yield
        finally:
            self._armed = armed
            if armed:
                Watchdog.set_patience(PATIENCE_WITH_RESULT if self._has_result else PATIENCE)
                self.check()

    def keep_result(self) -> None:
        """Let the watchdog wait for a result that exists but is not yet written."""
        self._has_result = True
        Watchdog.set_patience(PATIENCE_WITH_RESULT)

    def check(self) -> None:
        """Raise KeyboardInterrupt or MemoryError if a signal or a limit has arrived.

        Long work calls this now and then: libraries that swallow all exceptions would lose one
        that the handler raised.
        """
        if self.received:
            self._armed = False
            raise MemoryError if self.out_of_memory else KeyboardInterrupt

    @property
    def out_of_time(self) -> bool:
        """Whether the first signal was the end of the time limit."""
        return bool(self.received) and self.received[0] in _LIMITS and not self.out_of_memory

    @property
    def reason(self) -> str:
        """The reason why the work ended early."""
        if self.out_of_memory:
            return "out of memory"
        return "out of time" if self.out_of_time else "interrupted"

    @property
    def outcome(self) -> str:
        """The outcome of work that ended early, as in JSON objects."""
        if self.out_of_memory:
            return "memory limit"
        return "time limit" if self.out_of_time else "interrupted"

    @property
    def exit_code(self) -> int:
        """Exit code of work that a signal ended, as a shell reports it."""
        if self.out_of_memory:
            return ExitCode.MEMORY_LIMIT
        if self.out_of_time:
            return ExitCode.TIME_LIMIT
        return 128 + self.received[0] if self.received else ExitCode.INTERRUPTED

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if not self.received and number == signal.SIGALRM:
            self.out_of_memory = Watchdog.reason() is StopReason.MEMORY
        self.received.append(number)
        if self._armed and not _Interruptible.is_ending(frame):
            self.check()

    def _arm(self) -> None:
        Watchdog.set_patience(PATIENCE_WITH_RESULT if self._has_result else PATIENCE)
        Watchdog.set_stops_work(True)
        self._armed = True

    def _disarm(self) -> None:
        Watchdog.set_stops_work(False)
        Watchdog.set_patience(PATIENCE_WITH_RESULT)

    def _is_lost(self, error: type[BaseException]) -> bool:
        """Return whether an exception is one of `check`, and raise it at the next signal."""
        is_lost = bool(self.received) and issubclass(error, (KeyboardInterrupt, MemoryError))
        self._armed = self._armed or is_lost
        return is_lost


class _Interruptible:
    """A block that the first signal ends.

    A signal can arrive when the block is left, and before `__exit__` has disarmed the handler. An
    exception would then escape from the block, so the handler only records such a signal.
    """

    def __init__(self, signals: Signals) -> None:
        self._signals = signals

    def __enter__(self) -> None:
        self._signals._arm()

    def __exit__(self, error: type[BaseException] | None, *_: object) -> bool:
        self._signals._armed = False  # the first statement: see `is_ending`
        self._signals._disarm()
        return error is not None and issubclass(error, KeyboardInterrupt)

    @classmethod
    def is_ending(cls, frame: FrameType | None) -> bool:
        """Whether a signal has arrived in `__exit__`."""
        return frame is not None and frame.f_code is cls.__exit__.__code__
