"""Locks: two runs never write the same files at the same time.

A lock is a file beside the results, locked by the system, which frees it when its holder ends,
however it ends. The file names the holder; it is removed at the end of the run. One that a killed
run has left is free and is taken over.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from planlog.files import OutputError, is_stream

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


class LockedError(OutputError):
    """A file or folder that another run is writing to."""


@contextmanager
def locked(target: Path) -> Iterator[None]:
    """Let no other run write to the same file or folder inside the block.

    Raises LockedError, which names the holder. Pipes and devices are never locked, and nothing is
    on a file system without locks.
    """
    if is_stream(target):
        yield
        return
    file = _lock_file(target)
    descriptor = _take(file, target)
    try:
        yield
    finally:
        if descriptor is not None:
            with suppress(OSError):
                file.unlink()  # while it is locked: a run that waits for this file opens it anew
            os.close(descriptor)


def _lock_file(target: Path) -> Path:
    target = Path(os.path.realpath(target))
    if target.is_dir():
        return target / ".planlog.lock"
    # Names of files may be as long as the system allows.
    name = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]
    return target.with_name(f".planlog-{name}.lock")


def _take(file: Path, target: Path) -> int | None:
    """Return the descriptor of a lock, or None on a file system without locks."""
    while True:
        try:
            descriptor = _open(file)
        except OSError as error:
            raise OutputError(error.errno, error.strerror, str(target)) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(descriptor, file):
                _write_holder(descriptor)
                return descriptor
            os.close(descriptor)  # its holder has just removed it
        except BlockingIOError:
            holder = _holder(descriptor)
            os.close(descriptor)
            message = f"another run is writing there ({holder}): wait for it, or write elsewhere"
            raise LockedError(errno.EAGAIN, message, str(target)) from None
        except OSError as error:
            os.close(descriptor)
            if error.errno in _NO_LOCKS:
                file.unlink(missing_ok=True)
                return None
            raise OutputError(error.errno, error.strerror, str(target)) from None


def _open(file: Path) -> int:
    flags = os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        return os.open(file, os.O_RDWR | flags, 0o666)
    except PermissionError:  # left by another user
        return os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)


def _is_at(descriptor: int, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), file.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False


def _write_holder(descriptor: int) -> None:
    since = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
    text = f"process {os.getpid()} on {os.uname().nodename} since {since}"
    with suppress(OSError):  # a full disk; the lock holds without it
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, text.encode(), 0)


def _holder(descriptor: int) -> str:
    with suppress(OSError):
        text = os.pread(descriptor, 200, 0).decode(errors="replace")
        return "".join(c for c in text if c.isprintable()) or "its process is not known"
    return "its process is not known"
