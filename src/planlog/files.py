"""Reading and writing of files: inputs are read once, results appear complete or not at all.

Everything that Planlog reads comes through `read_input`, everything that it writes through
`write_atomically`, `write_together` or `append_line`. A file that cannot be written raises an
`OutputError`, which names the file, whatever the system call that failed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from planlog.printable import one_line

MOST_BYTES = 256 * 1024**2  # of an input; PDDL files and models are far smaller

_CHUNK = 1024**2  # bytes read at a time
_BLOCK = bytes(4096)  # a full file system still creates empty files


class OutputError(OSError):
    """A file that cannot be written. `saved` is the place where its content was saved instead."""

    saved: Path | None = None

    def __str__(self) -> str:
        return super().__str__() + (f"; saved in {self.saved}" if self.saved else "")


# --- What the system says ----------------------------------------------------------------

_READING = {
    errno.EACCES: "give yourself permission to read it",
    errno.EISDIR: "name a file in it",
    errno.ENOTDIR: "a part of the path is a file",
    errno.EIO: "the device is faulty or was removed",
    errno.ELOOP: "symbolic links lead to each other",
    errno.EMFILE: "raise the limit on open files with `ulimit -n`",
}
_ELSEWHERE = "write to another folder"
_WRITING = {
    errno.ENOSPC: f"free some space, or {_ELSEWHERE}",
    errno.EDQUOT: f"free some space, or {_ELSEWHERE}",
    errno.EROFS: _ELSEWHERE,
    errno.EACCES: f"change the permissions, or {_ELSEWHERE}",
    errno.EPERM: f"change the permissions, or {_ELSEWHERE}",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.EISDIR: "name a file, not a folder",
    errno.ENOTDIR: "a part of the path is a file",
    errno.ENOENT: "make the folder first",
    errno.ELOOP: "symbolic links lead to each other",
    errno.EIO: f"the device is faulty or was removed: {_ELSEWHERE}",
    errno.ENXIO: "nobody reads from it",
    errno.EFBIG: "raise the limit on the size of files with `ulimit -f`",
    errno.EMFILE: "raise the limit on open files with `ulimit -n`",
}


def explain(error: OSError) -> str:
    """Return what the system refused, for which file, and what to do about it."""
    remedies = _WRITING if isinstance(error, OutputError) else _READING
    remedy = remedies.get(error.errno or 0)
    parts = [one_line(os.fsdecode(error.filename))] if error.filename is not None else []
    parts.append(error.strerror or str(error))
    if remedy:
        parts.append(remedy)
    text = ": ".join(parts)
    saved = error.saved if isinstance(error, OutputError) else None
    return f"{text}; the result is saved in {saved}" if saved else text


@contextmanager
def _names(path: Path) -> Iterator[None]:
    """Turn every failure of the block into an OutputError that names the file."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(error.errno, error.strerror or str(error), str(path)) from error


# --- Reading -----------------------------------------------------------------------------

_inputs: ContextVar[dict[str, bytes] | None] = ContextVar("_inputs", default=None)
_check: ContextVar[Callable[[], None] | None] = ContextVar("_check", default=None)


@contextmanager
def inputs_read_once(check: Callable[[], None] | None = None) -> Iterator[None]:
    """Keep all inputs that the block reads, so that each is read once.

    A pipe gives its content only once, and a file may change during the run. Within the block,
    the planner, the validator and the recognition of files see the same bytes. `check` is called
    while an input is read, and may raise an exception.
    """
    token = _inputs.set({} if (kept := _inputs.get()) is None else kept)
    check_token = _check.set(check or _check.get())
    try:
        yield
    finally:
        _inputs.reset(token)
        _check.reset(check_token)


def read_input(path: str | Path, most: int = MOST_BYTES) -> bytes:
    """Return the content of a file, a pipe or a device.

    Raises OSError if it cannot be read, or if it has more than `most` bytes (as /dev/zero has).
    """
    kept = _inputs.get()
    key = os.path.abspath(path)  # noqa: PTH100 (as it is named, whatever links lead to)
    if kept is not None and key in kept:
        return kept[key]
    data = _read(Path(path), most)
    if kept is not None:
        kept[key] = data
    return data


def read_input_text(path: str | Path) -> str:
    """Return the text of an input; bytes that are not UTF-8 occur in comments of old files."""
    text = read_input(path).decode("utf-8-sig", errors="replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _read(path: Path, most: int) -> bytes:
    # Opening a pipe that nobody writes waits; a signal ends the wait.
    with path.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        check = _check.get()
        chunks = []
        length = 0
        try:
            while length <= most and size <= most and (chunk := file.read(_CHUNK)):
                chunks.append(chunk)
                length += len(chunk)
                if check is not None:
                    check()
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None
    if max(length, size) > most:
        raise OSError(errno.EFBIG, f"too large: more than {most:,} bytes", str(path))
    return b"".join(chunks)


# --- Writing -----------------------------------------------------------------------------


def write_atomically(path: Path, content: str | bytes, *, durable: bool = True) -> None:
    """Write a file that is never seen unfinished; an old file stays until the new one is there.

    `durable` data are on the disk before the function returns. Raises OutputError.
    """
    data = content.encode() if isinstance(content, str) else content
    with _names(path):
        if is_stream(path):
            _write_stream(path, data)
            return
        target = _target(path)
        with _temporary(target.parent) as temporary:
            _write_new(temporary, data, durable=durable, like=target)
            temporary.replace(target)
        if durable:
            _sync_folder(target.parent)


def write_or_save(path: Path, content: bytes, suffix: str) -> None:
    """Write a result that took long to compute, and save it elsewhere if that fails.

    Then the OutputError tells in `saved` where it is: in the first folder for temporary files that
    takes it, under a new name with this suffix.
    """
    try:
        write_atomically(path, content)
    except OutputError as error:
        error.saved = save_elsewhere(content, suffix)
        raise


def save_elsewhere(content: bytes, suffix: str) -> Path | None:
    """Save a result in a folder for temporary files; return its file, or None if all refuse it."""
    named = [os.environ[name] for name in ("TMPDIR", "TEMP", "TMP") if os.environ.get(name)]
    for folder in (*named, "/tmp", "/var/tmp", "/dev/shm", ".", "~"):
        place = Path(folder).expanduser().absolute()
        file = place / f"planlog-{os.urandom(8).hex()}{suffix}"
        try:
            write_atomically(file, content)
        except OutputError:
            continue
        return file
    return None


def make_folder(folder: Path) -> None:
    """Make a folder and those above it. Raises OutputError."""
    with _names(folder):
        folder.mkdir(parents=True, exist_ok=True)


def write_together(folder: Path, files: Iterable[tuple[str, str | bytes]]) -> int:
    """Write all files of a folder, or none if one cannot be made or written.

    The folder is made if there is none. Returns the number of files. Raises OutputError.
    """
    with _names(folder), _made(folder), _temporary(folder) as staging:
        staging.mkdir(mode=0o700)
        names = []
        new = []
        try:
            for name, content in files:
                data = content.encode() if isinstance(content, str) else content
                with _names(folder / name):
                    _refuse_folder(folder / name)
                    _write_new(staging / name, data, durable=False, like=folder / name)
                names.append(name)
            for name in names:
                is_new = not (folder / name).exists()
                with _names(folder / name):
                    (staging / name).replace(folder / name)
                if is_new:
                    new.append(folder / name)
        except BaseException:
            for file in new:
                file.unlink(missing_ok=True)
            raise
        finally:
            for left in staging.iterdir():
                left.unlink()
        return len(names)


def append_line(file: Path, line: str, is_whole: Callable[[bytes], bool]) -> None:
    """Append a line to a file that no other process writes, whole or not at all, and durably.

    A killed process leaves an unfinished last line. It is removed, or completed if `is_whole` says
    that only the line break is missing. Raises OutputError.
    """
    with _names(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab+", buffering=0) as stream:
            end, last = _last_line(stream.fileno())
            data = line.encode() + b"\n"
            if last and is_whole(last):
                end, data = end + len(last), b"\n" + data
            try:
                stream.truncate(end)
                _write_all(stream.fileno(), data)
                os.fsync(stream.fileno())
            except BaseException:
                with suppress(OSError):
                    stream.truncate(end)
                raise
        if end == 0:
            _sync_folder(file.parent)


def check_replaceable(path: Path) -> None:
    """Raise OutputError if the file cannot be written, which only a try can tell.

    A file is replaced, not overwritten, so that its folder matters more than the file itself.
    Permissions alone do not say whether there is space, and mean nothing to root.
    """
    with _names(path):
        if is_stream(path):
            if not os.access(path, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            return
        target = _target(path)
        _refuse_folder(target)
        if target.exists():
            _refuse_protected(target)
        _probe(target.parent)


def check_folder(folder: Path) -> None:
    """Raise OutputError if no file can be written to the folder, or to where it would be made."""
    with _names(folder):
        _probe(next(each for each in (folder, *folder.absolute().parents) if each.exists()))


def is_stream(path: Path) -> bool:
    """Return whether the path is a pipe or a device (/dev/stdout), which cannot be replaced."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _target(path: Path) -> Path:
    """Return the file that a path leads to: a rename would replace a symbolic link itself."""
    with suppress(FileNotFoundError):
        path.stat()  # raises for links in a circle and names that are too long
    return Path(os.path.realpath(path))


def _refuse_folder(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))


def _refuse_protected(file: Path) -> None:
    """Raise PermissionError for a file that only its owner may replace, or nobody."""
    found, folder = file.stat(), file.parent.stat()
    user = os.geteuid()
    is_ours = user in (0, found.st_uid, folder.st_uid)
    if not os.access(file, os.W_OK) or (folder.st_mode & stat.S_ISVTX and not is_ours):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _probe(folder: Path) -> None:
    with _temporary(folder) as temporary:
        _write_new(temporary, _BLOCK, durable=False)


@contextmanager
def _temporary(folder: Path) -> Iterator[Path]:
    """Yield a new name in a folder, and remove what has this name at the end.

    A file can only be renamed within its file system. The name is short, as names are limited, and
    random, so that nobody can prepare a link of this name.
    """
    temporary = folder / f".planlog-{os.urandom(8).hex()}"
    try:
        yield temporary
    finally:
        with suppress(OSError):  # usually there is nothing left
            if temporary.is_dir():
                temporary.rmdir()
            else:
                temporary.unlink()


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Make a folder and those above it; remove the new ones again if the block fails."""
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        with suppress(OSError):  # another process may have written there
            for each in new:
                each.rmdir()
        raise


def _write_new(path: Path, data: bytes, *, durable: bool, like: Path | None = None) -> None:
    """Write a file that does not exist yet, with owner and permissions of an old one."""
    old = like.stat() if like is not None and like.exists() else None
    mode = 0o666 if old is None else 0o600  # nobody opens what is about to become private
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    try:
        if old is not None:
            _take_over(descriptor, old)
        _write_all(descriptor, data)
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _take_over(descriptor: int, old: os.stat_result) -> None:
    with suppress(PermissionError):  # only root gives files away
        os.fchown(descriptor, old.st_uid, old.st_gid)
    with suppress(PermissionError):
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode) & 0o777)


def _write_stream(path: Path, data: bytes) -> None:
    # Opening a pipe that nobody reads is an error instead of a wait that nothing ends.
    descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    try:
        os.set_blocking(descriptor, True)
        _write_all(descriptor, data)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def _sync_folder(folder: Path) -> None:
    """Bring new names of a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        # Some file systems refuse this; there, names are on the disk when the rename returns.
        with suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _last_line(descriptor: int) -> tuple[int, bytes]:
    """Return the length of all finished lines of a file, and the unfinished line after them."""
    size = start = os.fstat(descriptor).st_size
    last = b""
    while start > 0 and b"\n" not in last:
        start = max(0, start - _CHUNK)
        last = os.pread(descriptor, size - start, start)
    last = last.rpartition(b"\n")[2]
    return size - len(last), last
