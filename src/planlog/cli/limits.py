"""Limits of time and memory that hold in every stage of a command."""

from __future__ import annotations

import re
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from planlog.policy.execution import resident_memory

# Extension modules hang or abort, instead of raising MemoryError, where hardly any memory is left.
_LEAST = 16 * 1024**2


def remaining(limit: float | None, start: float) -> float | None:
    """Return the seconds left of a time limit that began at `start`."""
    return None if limit is None else max(0.0, limit - (time.monotonic() - start))


@contextmanager
def limit_memory(limit: int | None) -> Iterator[None]:
    """Let the system refuse memory above `limit` bytes inside the block."""
    reserved = _reserved_memory()
    if limit is None or reserved is None:
        yield
        return
    # RLIMIT_DATA counts reserved memory, of which libraries use only a small part. So the process
    # may reserve the unused part of the limit in addition to what it has reserved already.
    left = limit - resident_memory()
    if left < _LEAST:
        raise MemoryError
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    allowed = reserved + left if hard == resource.RLIM_INFINITY else min(reserved + left, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (allowed, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


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
