"""Exit codes of the command line."""

from __future__ import annotations

import signal
from enum import IntEnum


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
    OUTPUT = 73  # an output that cannot be written, as in sysexits.h
    INTERRUPTED = 128 + signal.SIGINT
    BROKEN_PIPE = 128 + signal.SIGPIPE
