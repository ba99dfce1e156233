"""Processes with limits that hold: for all their descendants, and even if the caller is killed.

`run` starts a program below a small supervisor: this file, run as a program of its own. On Linux
the supervisor asks for the role of a subreaper: a process whose parent ends becomes the
supervisor's child rather than that of process 1. So whatever the program starts stays below the
supervisor, daemons in sessions of their own too, and can be found and killed. The supervisor sees
to it when a limit is reached, when the program ends, when it is told to (SIGTERM), and when its
own parent is gone, however that ended.

`watch` does the same for a process that is already there, as far as that can be done from outside.

Where there is no /proc (not Linux), time limits kill the program's process group, and memory is
limited for each process alone, by RLIMIT_AS, if the system cares for that.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import Enum
from pathlib import Path
from typing import IO, NamedTuple

INTERVAL = 0.05  # seconds between two looks at the tree
GRACE = 0.5  # seconds from SIGTERM to SIGKILL

_HAS_PROC = Path("/proc/self/stat").exists()
_PAGE = resource.getpagesize()
_TICKS = os.sysconf("SC_CLK_TCK")
_UNKILLABLE = 10.0  # seconds after which a killed process is given up: the kernel holds it


@dataclass(frozen=True)
class Limits:
    """What all processes of a tree may use together; None: as much as there is."""

    seconds: float | None = None
    memory: int | None = None  # bytes resident at once


class Stop(Enum):
    """Why a tree of processes was ended."""

    TIME = "time limit"
    MEMORY = "memory limit"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Usage:
    """What a tree of processes has used, and how it ended."""

    seconds: float
    cpu_seconds: float
    memory: int  # most bytes resident at once; pages in two processes count twice
    returncode: int  # of the first process; -n: ended by signal n
    stopped: Stop | None = None  # None: it ended by itself
    started: float = 0.0  # as `time.time` counts


def run(
    argv: Sequence[str | Path],
    limits: Limits,
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdout: IO[bytes] | None = None,
    is_cancelled: Callable[[], bool] | None = None,
) -> Usage:
    """Run a program until it ends, reaches a limit, or `is_cancelled()` returns True.

    Both output streams go to `stdout` (None: nowhere), and there is no input. When this returns
    or raises, be it a KeyboardInterrupt, nothing that the program has started is alive. If this
    process is killed, the program and all it has started are killed too. Raises OSError if the
    program cannot be started.
    """
    # Not needed, and slow to load, in the supervisor.
    import subprocess

    read_end, write_end = os.pipe()
    order = {"report": write_end, "caller": os.getpid(), "limits": asdict(limits)}
    # Without the user's settings and packages it starts in a few hundredths of a second.
    supervisor = [sys.executable, "-I", "-S", __file__, json.dumps(order)]
    with open(read_end, "rb") as report:  # noqa: PTH123 (not a path)
        try:
            process = subprocess.Popen(
                [*supervisor, *(os.fspath(argument) for argument in argv)],
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL if stdout is None else stdout,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=[write_end],
            )
        finally:
            os.close(write_end)
        try:
            while is_cancelled and not select.select([report], [], [], INTERVAL)[0]:
                if is_cancelled():
                    process.terminate()
                    is_cancelled = None
            text = report.read()
        except BaseException:
            process.terminate()
            raise
        finally:
            process.wait()
    if not text:
        _kill_session(process.pid)
        raise ChildProcessError(f"somebody has killed the supervisor of {argv[0]}")
    values = json.loads(text)
    if "error" in values:
        raise OSError(values["error"], os.strerror(values["error"]), str(argv[0]))
    return Usage(**values | {"stopped": values["stopped"] and Stop(values["stopped"])})


def watch(pid: int, limits: Limits, *, is_cancelled: Callable[[], bool] | None = None) -> Usage:
    """Wait for a child that leads a session of its own; end it with all its descendants when a
    limit is reached, or `is_cancelled()` returns True, or waiting ends with an exception.

    The limits count from this call. What is left of its descendants when the child ends is
    killed. A process is missed only if it left the session, and its parent ended, between two
    looks at the tree; below `run` none is.
    """
    return _watch(pid, _Tree(pid), limits, is_cancelled)


def _watch(pid: int, tree: _Tree, limits: Limits, is_cancelled: Callable[[], bool] | None) -> Usage:
    started, start = time.time(), time.monotonic()
    deadline = None if limits.seconds is None else start + limits.seconds
    stopped = None
    try:
        with _ending(pid) as ended_within:
            while True:
                tree.look()
                now = time.monotonic()
                if limits.memory is not None and tree.memory > limits.memory:
                    stopped = Stop.MEMORY
                elif deadline is not None and now >= deadline:
                    stopped = Stop.TIME
                elif is_cancelled and is_cancelled():
                    stopped = Stop.CANCELLED
                left = INTERVAL if deadline is None else min(INTERVAL, deadline - now)
                if stopped or ended_within(left):
                    break
        # What is over its memory limit might take more of it, so there is no grace.
        if stopped in (Stop.TIME, Stop.CANCELLED):
            _terminate(tree)
    finally:
        _kill(tree)
        os.kill(pid, signal.SIGKILL)  # if only its first thread has ended, it looks dead to us
        _, status, usage = os.wait4(pid, 0)
    return Usage(
        seconds=time.monotonic() - start,
        cpu_seconds=max(usage.ru_utime + usage.ru_stime, tree.cpu_seconds),
        memory=tree.peak if _HAS_PROC else _bytes(usage.ru_maxrss),
        returncode=os.waitstatus_to_exitcode(status),
        stopped=stopped,
        started=started,
    )


@contextlib.contextmanager
def _ending(pid: int) -> Iterator[Callable[[float], bool]]:
    """A function that waits for so many seconds, or until the child has ended: whether it has."""
    if not hasattr(os, "pidfd_open"):

        def ended_within(seconds: float) -> bool:
            time.sleep(max(0.0, min(seconds, 0.01)))
            return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

        yield ended_within
        return
    descriptor = os.pidfd_open(pid)
    try:
        yield lambda seconds: bool(select.select([descriptor], [], [], max(0.0, seconds))[0])
    finally:
        os.close(descriptor)


def _terminate(tree: _Tree) -> None:
    """Ask all processes to end, and give them time for it."""
    tree.send(signal.SIGTERM)
    over = time.monotonic() + GRACE
    while time.monotonic() < over and tree.look():
        time.sleep(0.01)


def _kill(tree: _Tree) -> None:
    """Kill all processes, with those that they start in the meantime."""
    over = time.monotonic() + _UNKILLABLE
    while True:
        alive = tree.look(thorough=True)
        tree.send(signal.SIGKILL)
        if not alive or time.monotonic() > over:
            break
        time.sleep(0.002)


def _kill_session(session: int) -> None:
    """Kill what is left of a session whose first process is gone."""
    with contextlib.suppress(OSError):
        for pid, process in _everything().items():
            if process.session == session:
                os.kill(pid, signal.SIGKILL)


class _Process(NamedTuple):
    """What /proc tells of a living process."""

    parent: int
    session: int
    started: int  # with the id it names a process for all times, since ids are used again
    cpu_seconds: float
    memory: int  # bytes


class _Tree:
    """A process with all its descendants (without itself, if it is this very process)."""

    def __init__(self, root: int) -> None:
        self.memory = 0  # at the last look
        self.peak = 0
        self._root = root
        self._alive: dict[int, _Process] = {}
        self._cpu: dict[tuple[int, int], float] = {}  # of all there ever were

    @property
    def cpu_seconds(self) -> float:
        """As far as the looks could tell."""
        return sum(self._cpu.values())

    def look(self, *, thorough: bool = False) -> bool:
        """Whether any process is alive; all that are there are known after it.

        A thorough look goes through all processes of the system, to find those that have lost
        their parent but are still in the session, which has the number of the root.
        """
        if not _HAS_PROC:
            return self._look_at_group()
        known = self._alive
        self._alive = {}
        everything = _everything() if thorough or not _TELLS_CHILDREN else None
        pending = [self._root, *known]
        if everything is not None:
            pending += [pid for pid, other in everything.items() if other.session == self._root]
        seen = set()
        while pending:
            pid = pending.pop()
            if pid in seen:
                continue
            seen.add(pid)
            process = _look_up(pid)
            if process is None or (pid in known and known[pid].started != process.started):
                continue
            if pid != os.getpid():
                self._alive[pid] = process
                self._cpu[pid, process.started] = process.cpu_seconds
            if everything is None:
                pending += _children(pid)
            else:
                pending += [child for child, other in everything.items() if other.parent == pid]
        self.memory = sum(process.memory for process in self._alive.values())
        self.peak = max(self.peak, self.memory)
        return bool(self._alive)

    def _look_at_group(self) -> bool:
        try:
            os.killpg(self._root, 0)
        except OSError:
            return False
        # The first process is still there to be waited for; its ending is seen by the caller.
        return os.waitid(os.P_PID, self._root, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def send(self, number: signal.Signals) -> None:
        """Send a signal to all processes that were alive at the last look."""
        if not _HAS_PROC:
            with contextlib.suppress(OSError):
                os.killpg(self._root, number)
        for pid, process in self._alive.items():
            now = _look_up(pid)
            if now is not None and now.started == process.started:
                with contextlib.suppress(OSError):
                    os.kill(pid, number)


def _look_up(pid: int) -> _Process | None:
    """A process; None if it has ended, waited for or not."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 (called often)
            # The name in parentheses may contain anything.
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    if fields[0] in (b"Z", b"X"):
        return None
    return _Process(
        parent=int(fields[1]),
        session=int(fields[3]),
        started=int(fields[19]),
        cpu_seconds=(int(fields[11]) + int(fields[12])) / _TICKS,
        memory=int(fields[21]) * _PAGE,
    )


def _everything() -> dict[int, _Process]:
    """All living processes of the system."""
    ids = (int(name) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208
    return {pid: process for pid in ids if (process := _look_up(pid))}


def _children(pid: int) -> Iterator[int]:
    """The children of a process; a few may be missing if others end at this moment."""
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 (called often)
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:  # noqa: PTH123
                yield from map(int, file.read().split())
    except OSError:
        return


_TELLS_CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children").exists()


def _bytes(maxrss: int) -> int:
    return maxrss if sys.platform == "darwin" else maxrss * 1024


def _supervise(report: int, caller: int, limits: Limits, argv: list[str]) -> None:
    """Run a program as the supervisor, and write its usage to a file descriptor."""
    os.set_inheritable(report, False)
    asked = False

    def ask(*_: object) -> None:
        nonlocal asked
        asked = True

    handled = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    for number in handled:
        signal.signal(number, ask)
    _adopt_orphans()
    answer: dict[str, object]
    try:
        if not _HAS_PROC and limits.memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (limits.memory, resource.RLIM_INFINITY))
        pid = os.posix_spawnp(
            argv[0],
            argv,
            os.environ,
            # As shells do; signals for the group are not meant for the supervisor.
            setpgroup=0,
            # Python ignores these, and whoever is ignored here would be so in the program.
            setsigdef=[*handled, signal.SIGPIPE, signal.SIGXFSZ],
        )
    except OSError as error:
        answer = {"error": error.errno}
    else:
        tree = _Tree(os.getpid() if _HAS_PROC else pid)
        usage = _watch(pid, tree, limits, lambda: asked or os.getppid() != caller)
        # Whatever there was is this process's child by now, or will be in a moment. Waiting for
        # all of them makes sure that none is left, and lets the system add up their times.
        with contextlib.suppress(ChildProcessError):
            while True:
                if not os.waitpid(-1, os.WNOHANG)[0]:
                    _kill(tree)
        total = resource.getrusage(resource.RUSAGE_CHILDREN)
        usage = replace(usage, cpu_seconds=total.ru_utime + total.ru_stime)
        # Peaks between two looks. The system counts the memory that a process had before it
        # became another program, so that a peak like the supervisor's own says nothing.
        if _bytes(total.ru_maxrss) > _own_peak():
            usage = replace(usage, memory=max(usage.memory, _bytes(total.ru_maxrss)))
        answer = asdict(usage) | {"stopped": usage.stopped and usage.stopped.value}
    with contextlib.suppress(BrokenPipeError):
        os.write(report, json.dumps(answer).encode())


def own_usage() -> tuple[float, int]:
    """Return the CPU seconds and the peak resident bytes of this process up to now."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime, _own_peak()


def _own_peak() -> int:
    """Return the peak resident bytes of this program, without those before its `exec`."""
    try:
        with open("/proc/self/status", "rb") as file:  # noqa: PTH123 (as above)
            for line in file:
                if line.startswith(b"VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return _bytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def die_with_parent() -> None:
    """Let the system kill this process when the thread that has started it ends (Linux only)."""
    _control_process(1, signal.SIGKILL)


def _adopt_orphans() -> None:
    """Become the parent of all descendants whose own parent ends (Linux only)."""
    _control_process(36, 1)


def _control_process(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    _order = json.loads(sys.argv[1])
    _supervise(_order["report"], _order["caller"], Limits(**_order["limits"]), sys.argv[2:])
