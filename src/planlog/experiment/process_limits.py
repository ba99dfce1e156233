"""Limits on time and memory of a process tree, enforced even if the caller is killed.

`run` starts a program below a small supervisor, which is this file run as a program. On Linux the
supervisor is a subreaper: it becomes the parent of every descendant whose own parent ends. All
processes that the program starts, daemons included, therefore stay below the supervisor. It kills
them when a limit is reached, when the program ends, on SIGTERM, and when its own parent is gone.

`watch` enforces limits on a process that runs already, as far as possible from outside.

Without /proc (not Linux), a time limit kills the process group of the program, and RLIMIT_AS
limits the memory of each single process, if the system supports it.
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

INTERVAL = 0.05  # seconds between two scans of the tree
GRACE = 0.5  # seconds from SIGTERM to SIGKILL

_HAS_PROC = Path("/proc/self/stat").exists()
_PAGE = resource.getpagesize()
_TICKS = os.sysconf("SC_CLK_TCK")
_UNKILLABLE = 10.0  # seconds to wait for a killed process, which the kernel may hold


@dataclass(frozen=True)
class Limits:
    """Limits for all processes of a tree together; None: no limit."""

    seconds: float | None = None
    memory: int | None = None  # bytes resident at once


class Stop(Enum):
    """Reason for ending a process tree."""

    TIME = "time limit"
    MEMORY = "memory limit"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class Usage:
    """Resources that a process tree has used, and how it ended."""

    seconds: float
    cpu_seconds: float
    memory: int  # peak resident bytes; shared pages count for each process
    returncode: int  # of the root process; -n: ended by signal n
    stopped: Stop | None = None  # None: it ended by itself
    started: float = 0.0  # a value of `time.time`


def run(
    argv: Sequence[str | Path],
    limits: Limits,
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdout: IO[bytes] | None = None,
) -> Usage:
    """Run a program until it ends or reaches a limit.

    Both output streams go to `stdout` (None: discarded); the input is empty. No process of the
    program is alive when this function returns or raises, even KeyboardInterrupt. If this process
    is killed, so are they. Raise OSError if the program cannot be started.
    """
    # Slow to import; the supervisor does not need it.
    import subprocess

    read_end, write_end = os.pipe()
    order = {"report": write_end, "caller": os.getpid(), "limits": asdict(limits)}
    # Isolated from site packages, it starts faster.
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
            text = report.read()
        except BaseException:
            process.terminate()
            raise
        finally:
            process.wait()
    if not text:
        _kill_session(process.pid)
        raise ChildProcessError(f"the supervisor of {argv[0]} was killed")
    values = json.loads(text)
    if "error" in values:
        raise OSError(values["error"], os.strerror(values["error"]), str(argv[0]))
    return Usage(**values | {"stopped": values["stopped"] and Stop(values["stopped"])})


def watch(
    pid: int,
    limits: Limits,
    *,
    is_cancelled: Callable[[], bool] | None = None,
    tree: _Tree | None = None,
) -> Usage:
    """Wait for a child that leads its own session, and enforce limits that count from now.

    End the child with all its descendants when a limit is reached, `is_cancelled()` returns True,
    or an exception interrupts waiting. When the child ends, kill its remaining descendants. A
    descendant escapes only if it leaves the session and loses its parent between two scans of the
    tree; below `run` none can. By default, the root of the tree is the child.
    """
    tree = tree or _Tree(pid)
    started, start = time.time(), time.monotonic()
    deadline = None if limits.seconds is None else start + limits.seconds
    stopped = None
    try:
        with _ending(pid) as ended_within:
            while True:
                tree.scan()
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
        # No grace after a memory limit: the processes might allocate even more.
        if stopped in (Stop.TIME, Stop.CANCELLED):
            _terminate(tree)
    finally:
        _kill(tree)
        os.kill(pid, signal.SIGKILL)  # a process whose main thread has ended looks dead
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
    """Yield a function that waits for seconds, and returns whether the child has ended."""
    if hasattr(os, "pidfd_open"):
        with open(os.pidfd_open(pid), "rb") as end:  # noqa: PTH123 (not a path)
            yield lambda seconds: bool(select.select([end], [], [], max(0.0, seconds))[0])
        return

    def ended_within(seconds: float) -> bool:
        time.sleep(max(0.0, min(seconds, 0.01)))
        return _has_ended(pid)

    yield ended_within


def _has_ended(child: int) -> bool:
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _terminate(tree: _Tree) -> None:
    """Ask all processes to end, and wait for a grace period."""
    tree.send(signal.SIGTERM)
    over = time.monotonic() + GRACE
    while time.monotonic() < over and tree.scan():
        time.sleep(0.01)


def _kill(tree: _Tree) -> None:
    """Kill all processes, including those that start in the meantime."""
    over = time.monotonic() + _UNKILLABLE
    while True:
        alive = tree.scan(thorough=True)
        tree.send(signal.SIGKILL)
        if not alive or time.monotonic() > over:
            break
        time.sleep(0.002)


def _kill_session(session: int) -> None:
    """Kill the processes of a session whose leader has ended."""
    with contextlib.suppress(OSError):
        for pid, process in _all_processes().items():
            if process.session == session:
                os.kill(pid, signal.SIGKILL)


class _Process(NamedTuple):
    """A living process, as /proc describes it."""

    parent: int
    session: int
    started: int  # identifies a process together with its id, which may be reused
    cpu_seconds: float
    memory: int  # bytes


class _Tree:
    """A process with all its descendants, but without the current process."""

    def __init__(self, root: int) -> None:
        self.memory = 0  # at the last scan
        self.peak = 0
        self._root = root
        self._alive: dict[int, _Process] = {}
        # By id and start time, including ended processes.
        self._cpu: dict[tuple[int, int], float] = {}

    @property
    def cpu_seconds(self) -> float:
        """CPU time at the last scan of each process."""
        return sum(self._cpu.values())

    def scan(self, *, thorough: bool = False) -> bool:
        """Scan the tree, and return whether any process is alive.

        A thorough scan reads all processes of the system, to find those that have lost their
        parent but are still in the session of the root.
        """
        if not _HAS_PROC:
            return self._scan_group()
        known = self._alive
        self._alive = {}
        everything = _all_processes() if thorough or not _LISTS_CHILDREN else None
        pending = [self._root, *known]
        if everything is not None:
            pending += [pid for pid, other in everything.items() if other.session == self._root]
        seen = set()
        while pending:
            pid = pending.pop()
            if pid in seen:
                continue
            seen.add(pid)
            process = _read_process(pid)
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

    def _scan_group(self) -> bool:
        try:
            os.killpg(self._root, 0)
        except OSError:
            return False
        # An ended root stays in the group until the caller waits for it.
        return not _has_ended(self._root)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to all processes that were alive at the last scan."""
        if not _HAS_PROC:
            with contextlib.suppress(OSError):
                os.killpg(self._root, number)
        for pid, process in self._alive.items():
            now = _read_process(pid)
            if now is not None and now.started == process.started:
                with contextlib.suppress(OSError):
                    os.kill(pid, number)


def _read_process(pid: int) -> _Process | None:
    """Return a process; None if it has ended or is a zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 (called often)
            # The process name in parentheses may contain any character.
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


def _all_processes() -> dict[int, _Process]:
    """Return all living processes of the system."""
    ids = (int(name) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208
    return {pid: process for pid in ids if (process := _read_process(pid))}


def _children(pid: int) -> Iterator[int]:
    """Yield the children of a process; some may be missing while others end."""
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 (called often)
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:  # noqa: PTH123
                yield from map(int, file.read().split())
    except OSError:
        return


_LISTS_CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children").exists()


def _bytes(maxrss: int) -> int:
    return maxrss if sys.platform == "darwin" else maxrss * 1024


def _supervise(report: int, caller: int, limits: Limits, argv: list[str]) -> None:
    """Run a program as its supervisor, and write the usage to a file descriptor."""
    os.set_inheritable(report, False)
    asked: list[int] = []  # signals to end
    handled = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    for number in handled:
        signal.signal(number, lambda number, _: asked.append(number))
    _adopt_orphans()
    answer: dict[str, object]
    try:
        if not _HAS_PROC and limits.memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (limits.memory, resource.RLIM_INFINITY))
        pid = os.posix_spawnp(
            argv[0],
            argv,
            os.environ,
            # Signals for the group of the program must not reach the supervisor.
            setpgroup=0,
            # Python ignores the last two, and the program would inherit that.
            setsigdef=[*handled, signal.SIGPIPE, signal.SIGXFSZ],
        )
    except OSError as error:
        answer = {"error": error.errno}
    else:
        tree = _Tree(os.getpid() if _HAS_PROC else pid)
        usage = watch(
            pid, limits, is_cancelled=lambda: bool(asked) or os.getppid() != caller, tree=tree
        )
        # All remaining descendants become children of this process. Waiting for each of them
        # ensures that none is left, and lets the system add up their CPU times.
        with contextlib.suppress(ChildProcessError):
            while True:
                if not os.waitpid(-1, os.WNOHANG)[0]:
                    _kill(tree)
        total = resource.getrusage(resource.RUSAGE_CHILDREN)
        usage = replace(usage, cpu_seconds=total.ru_utime + total.ru_stime)
        # Peaks between two scans. The system includes the memory of a process before `exec`, so a
        # peak that does not exceed the supervisor's own carries no information.
        if _bytes(total.ru_maxrss) > _own_peak():
            usage = replace(usage, memory=max(usage.memory, _bytes(total.ru_maxrss)))
        answer = asdict(usage) | {"stopped": usage.stopped and usage.stopped.value}
    with contextlib.suppress(BrokenPipeError):
        os.write(report, json.dumps(answer).encode())


def own_usage() -> tuple[float, int]:
    """Return the CPU seconds and the peak resident bytes of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime, _own_peak()


def _own_peak() -> int:
    """Return the peak resident bytes since `exec`."""
    try:
        with open("/proc/self/status", "rb") as file:  # noqa: PTH123 (as above)
            for line in file:
                if line.startswith(b"VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return _bytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def die_with_parent() -> None:
    """Let the kernel kill this process when the thread that forked it ends (Linux only)."""
    _control_process(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _adopt_orphans() -> None:
    """Become a subreaper: the parent of descendants whose own parent ends (Linux only)."""
    _control_process(36, 1)  # PR_SET_CHILD_SUBREAPER


def _control_process(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    _order = json.loads(sys.argv[1])
    _supervise(_order["report"], _order["caller"], Limits(**_order["limits"]), sys.argv[2:])
