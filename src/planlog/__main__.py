"""`python -m planlog` and the command `planlog`: a process that signals can end from its start."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]
import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# Nothing else is imported here, and of `signal` only its core: most of the start-up time goes into
# imports, and Ctrl-C prints a traceback until the handlers below are installed.


def run() -> None:
    """Run one command, and end the process with its exit code."""
    for number in (signal.SIGINT, signal.SIGTERM):
        # A signal that the parent process ignores (as under `nohup`) stays ignored.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    _open_standard_files()
    # What the imports make stays: to look through it again and again takes 5 % of a short run.
    gc.set_threshold(10_000)
    from planlog.cli import process

    process.own_process()
    _start_timer(process.remaining)
    from planlog.cli import main
    from planlog.cli.console import flush

    code = flush(main())
    # The interpreter would free all memory piece by piece, which takes seconds for gigabytes.
    os._exit(code)


def _end(number: int, frame: object) -> None:
    """End the process at once: this handler is replaced where there may be a result to write."""
    is_timer = number == signal.SIGALRM
    text, outcome = ("out of time", "time limit") if is_timer else ("interrupted", "interrupted")
    try:
        os.write(2, f"planlog: {text}\n".encode())
        if "--json" in sys.argv:
            os.write(1, f'{{"outcome": "{outcome}", "message": "{text}"}}\n'.encode())
    finally:
        os._exit(23 if is_timer else 128 + number)


def _start_timer(remaining: Callable[[float], float | None]) -> None:
    """Keep a time limit until the command line is parsed, which takes long on a busy machine."""
    for argument, following in zip(sys.argv, [*sys.argv[1:], ""], strict=True):
        option, _, value = argument.partition("=")
        if option == "--time-limit":
            try:
                left = remaining(float(value or following))
                signal.signal(signal.SIGALRM, _end)
                signal.setitimer(signal.ITIMER_REAL, max(left or 0.0, 1e-6))
            except (ValueError, OverflowError, OSError):
                pass  # it is refused when the command line is parsed


def _open_standard_files() -> None:
    """Open standard files that the parent process has closed: no other file may take their place.

    Messages to a closed standard error vanish. The output keeps failing: it must not vanish.
    """
    if _is_closed(0):
        os.open(os.devnull, os.O_RDONLY)
    if _is_closed(1):
        os.open(os.devnull, os.O_RDONLY)
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 (it stays open)
    if _is_closed(2):
        os.open(os.devnull, os.O_WRONLY)
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115


def _is_closed(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return True
    return False


if __name__ == "__main__":
    run()
