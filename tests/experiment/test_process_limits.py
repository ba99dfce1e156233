"""Limits on process trees: no process that a program starts survives."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.experiment import process_limits
from planlog.experiment.process_limits import Limits, Stop, Usage, run, watch
from support.marked_processes import MARK, alive
from support.profiles import examples
from support.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

MIB = 1024 * 1024
NO_LIMITS = Limits()
PYTHON = (sys.executable, "-I", "-S", "-c")
PLACE = str(Path(process_limits.__file__).parent)

# A process that its JSON argument describes: it may ignore SIGTERM, leave its process group or
# session, hold memory or compute; it starts its children, and ends at once or after some time.
# Each process writes a file when it has started.
MEMBER = """
import json, os, signal, sys, time
def live(spec):
    if spec.get("stubborn"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if spec.get("leaves") == "group":
        os.setpgid(0, 0)
    # The leader of a group cannot leave its session.
    if spec.get("leaves") == "session" and os.getpgrp() != os.getpid():
        os.setsid()
    for child in spec.get("children", []):
        if os.fork() == 0:
            return live(child)
    memory = b"x" * (spec.get("mib", 0) << 20)  # after forking
    until = time.process_time() + spec.get("busy", 0)
    while time.process_time() < until:
        pass
    open(os.path.join(sys.argv[2], str(os.getpid())), "w").close()
    if not spec.get("orphans"):
        time.sleep(spec.get("seconds", 60))
    os._exit(spec.get("code", 0))
live(json.loads(sys.argv[1]))
"""


class Family:
    """Programs whose processes have a mark in their environment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mark = uuid.uuid4().hex
        self.env = os.environ | {MARK: self.mark}

    def argv(self, spec: dict[str, Any]) -> list[str]:
        return [*PYTHON, MEMBER, json.dumps(spec), str(self.folder)]

    def started(self) -> int:
        return len(list(self.folder.iterdir()))

    def alive(self) -> list[int]:
        """Return all marked processes, including supervisors."""
        return alive(self.mark)

    def run(self, spec: dict[str, Any], limits: Limits = NO_LIMITS) -> Usage:
        return run(self.argv(spec), limits, env=self.env)


@pytest.fixture
def family(tmp_path: Path) -> Iterator[Family]:
    made = Family(tmp_path)
    yield made
    for pid in made.alive():
        os.kill(pid, signal.SIGKILL)


def size(spec: dict[str, Any]) -> int:
    return 1 + sum(map(size, spec.get("children", [])))


members = st.fixed_dictionaries(
    {},
    optional={
        "stubborn": st.just(True),
        "orphans": st.just(True),
        "leaves": st.sampled_from(["group", "session"]),
    },
)
families = st.recursive(
    members,
    lambda children: st.builds(
        lambda member, below: member | {"children": below},
        members,
        st.lists(children, min_size=1, max_size=2),
    ),
    max_leaves=4,
)
DAEMON = {"leaves": "session", "stubborn": True}
# Daemons whose parent leads a session and ends.
WORST = {
    "stubborn": True,
    "children": [{"leaves": "session", "orphans": True, "children": [DAEMON, DAEMON]}, DAEMON],
}


@examples(6)
@given(spec=families)
def test_nothing_survives(spec: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    """The root is ended by a limit, or ends by itself and leaves others behind."""
    family = Family(tmp_path_factory.mktemp("family"))
    usage = family.run(spec, Limits(seconds=0.5))
    assert family.alive() == []
    if spec.get("orphans"):
        assert (usage.stopped, usage.returncode) == (None, 0)
    else:
        assert usage.stopped is Stop.TIME
        assert usage.returncode in (-signal.SIGTERM, -signal.SIGKILL)
        assert usage.seconds >= 0.5


def test_worst_family_at_time_limit(family: Family) -> None:
    usage = family.run(WORST, Limits(seconds=1.5))
    assert family.alive() == []
    assert usage.stopped is Stop.TIME
    assert family.started() == size(WORST)
    assert usage.returncode == -signal.SIGKILL


def test_grace_period(tmp_path: Path) -> None:
    with (tmp_path / "output").open("wb") as output:
        script = "trap 'echo goodbye; exit 5' TERM; while :; do sleep 0.05; done"
        usage = run(["sh", "-c", script], Limits(seconds=0.5), stdout=output)
    assert "goodbye" in (tmp_path / "output").read_text()
    assert (usage.stopped, usage.returncode) == (Stop.TIME, 5)


def test_main_thread_that_ends_first() -> None:
    """The system reports such a process as dead."""
    script = (
        "import ctypes, threading, time; threading.Thread(target=time.sleep, args=[60]).start();"
        "ctypes.CDLL(None).pthread_exit(None)"
    )
    usage = run([sys.executable, "-c", script], Limits(seconds=1))
    assert usage.returncode == -signal.SIGKILL


def test_memory_limit_of_the_tree(family: Family) -> None:
    part = {"mib": 60, "seconds": 1.0}
    spec = {**part, "children": [{**part, **DAEMON}, {**part, "children": [part]}]}
    enough = family.run(spec, Limits(memory=400 * MIB, seconds=20))
    assert (enough.stopped, enough.returncode) == (None, 0)
    assert 4 * 60 * MIB < enough.memory < 4 * 80 * MIB
    spec = {**spec, "seconds": 30}
    usage = family.run(spec, Limits(memory=200 * MIB, seconds=20))
    assert family.alive() == []
    assert usage.stopped is Stop.MEMORY
    assert usage.returncode == -signal.SIGKILL
    assert 200 * MIB < usage.memory < 400 * MIB


@pytest.mark.parametrize("mib", [50, 200])
def test_reported_memory(family: Family, mib: int) -> None:
    usage = family.run({"mib": mib, "seconds": 0.2})
    assert mib * MIB < usage.memory < (mib + 25) * MIB


def test_peaks_between_scans_are_reported() -> None:
    brief = "x = b'x' * (40 << 20)"
    large = b"x" * (100 * MIB)  # memory of the caller does not count
    usage = run([*PYTHON, brief], Limits())
    assert len(large) > usage.memory
    # The system may reclaim unused pages.
    assert 30 * MIB < usage.memory < 60 * MIB


def test_time_of_orphans_is_counted(family: Family) -> None:
    """They end between two scans, and only the supervisor waits for them."""
    brief = {"busy": 0.03, "orphans": True}
    spec = {"children": [{"orphans": True, "children": [brief] * 10}], "seconds": 1.5}
    usage = family.run(spec)
    assert family.started() == size(spec)
    assert usage.cpu_seconds >= 0.3
    assert usage.seconds >= 1.5


def test_environment_of_the_program(tmp_path: Path) -> None:
    with (tmp_path / "output").open("wb") as output:
        command = "pwd; echo $COLOUR; echo trouble >&2; cat; exit 7"
        environment = os.environ | {"COLOUR": "blue"}
        usage = run(["sh", "-c", command], Limits(), cwd=tmp_path, env=environment, stdout=output)
    assert (tmp_path / "output").read_text().split() == [str(tmp_path), "blue", "trouble"]
    assert usage.returncode == 7
    assert abs(usage.started - time.time()) < 10


def test_endings() -> None:
    assert run(["sh", "-c", "kill -SEGV $$"], Limits()).returncode == -signal.SIGSEGV
    with pytest.raises(FileNotFoundError, match="no-such-program"):
        run(["no-such-program"], Limits())
    with pytest.raises(PermissionError):
        run(["/etc/passwd"], Limits())


def test_signal_dispositions(tmp_path: Path) -> None:
    """The program does not inherit signals that Python ignores or blocks."""
    with (tmp_path / "output").open("wb") as output:
        run(["cat", "/proc/self/status"], Limits(), stdout=output)
    lines = (tmp_path / "output").read_text().splitlines()
    fields = dict(line.split(":\t") for line in lines if ":\t" in line)
    assert int(fields["SigBlk"], 16) == 0
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        assert not int(fields["SigIgn"], 16) & 1 << (number - 1), number


def test_inherited_descriptors(tmp_path: Path) -> None:
    with (tmp_path / "output").open("wb") as output:
        run(["ls", "/proc/self/fd"], Limits(), stdout=output)
    assert (tmp_path / "output").read_text().split() == ["0", "1", "2", "3"]  # 3: of ls itself


CALLER = """
import signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of shells
from process_limits import Limits, run
try:
    run(sys.argv[3:], Limits(seconds=60))
except KeyboardInterrupt:
    Path(sys.argv[2]).write_text("interrupted")
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_end_of_the_caller(family: Family, number: signal.Signals, tmp_path: Path) -> None:
    said = tmp_path / "said"
    family.folder = tmp_path / "family"
    family.folder.mkdir()
    command = [*PYTHON, CALLER, PLACE, str(said), *family.argv(WORST)]
    caller = subprocess.Popen(command, env=family.env)
    assert wait_until(lambda: family.started() == size(WORST))
    caller.send_signal(number)
    caller.wait(timeout=10)
    if number == signal.SIGINT:
        assert said.read_text() == "interrupted"
        assert family.alive() == []
    assert wait_until(lambda: family.alive() == [], 5)


def test_killed_supervisor(family: Family) -> None:
    spec = {"children": [{"leaves": "group"}]}

    def kill_supervisor() -> None:
        assert wait_until(lambda: family.started() == size(spec))
        leader = min(family.alive())
        assert b"process_limits.py" in Path(f"/proc/{leader}/cmdline").read_bytes()
        os.kill(leader, signal.SIGKILL)

    with ThreadPoolExecutor() as threads:
        killing = threads.submit(kill_supervisor)
        with pytest.raises(ChildProcessError, match="supervisor"):
            family.run(spec, Limits(seconds=20))
    killing.result()
    assert wait_until(lambda: family.alive() == [])


# Running processes

# Daemons whose parents live until a scan.
SEEN = {
    "stubborn": True,
    "children": [{"leaves": "session", "seconds": 0.5, "children": [DAEMON, DAEMON]}, DAEMON],
}


def watched(family: Family, spec: dict[str, Any], limits: Limits, **arguments: Any) -> Usage:
    # A Popen object would wait for the process too.
    pid = os.posix_spawn(sys.executable, family.argv(spec), family.env, setsid=True)
    return watch(pid, limits, **arguments)


@pytest.mark.parametrize("lists_children", [True, False])
def test_watch(family: Family, lists_children: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without lists of children in /proc."""
    monkeypatch.setattr(process_limits, "_LISTS_CHILDREN", lists_children)
    usage = watched(family, SEEN, Limits(seconds=1.5))
    assert family.started() == size(SEEN)
    assert family.alive() == []
    assert usage.stopped is Stop.TIME
    usage = watched(family, {"mib": 100, "seconds": 0.2}, Limits())
    assert (usage.stopped, usage.returncode) == (None, 0)
    assert 100 * MIB < usage.memory < 125 * MIB
    heavy = {"children": [{"mib": 100, "seconds": 20}], "seconds": 20}
    usage = watched(family, heavy, Limits(memory=80 * MIB))
    assert usage.stopped is Stop.MEMORY
    assert family.alive() == []


def test_watch_kills_remaining_descendants(family: Family) -> None:
    spec = {"orphans": True, "code": 3, "children": [{"stubborn": True}, {"leaves": "group"}]}
    usage = watched(family, spec, Limits())
    assert (usage.stopped, usage.returncode) == (None, 3)
    assert family.alive() == []


def test_watch_finds_orphans_by_their_session(family: Family) -> None:
    spec = {"children": [{"orphans": True, "children": [{"stubborn": True}] * 3}]}
    assert watched(family, spec, Limits(seconds=1)).stopped is Stop.TIME
    assert family.started() == size(spec)
    assert family.alive() == []


def test_watch_is_cancelled(family: Family) -> None:
    usage = watched(family, SEEN, Limits(), is_cancelled=lambda: family.started() == size(SEEN))
    assert usage.stopped is Stop.CANCELLED
    assert family.alive() == []
    with pytest.raises(ZeroDivisionError):
        watched(family, {}, Limits(), is_cancelled=lambda: 1 // (1 - family.started() // 6) > 1)
    assert family.alive() == []


@pytest.mark.parametrize("limits", [Limits(seconds=3), Limits(memory=150 * MIB)])
def test_watch_over_run(family: Family, limits: Limits) -> None:
    """A job that runs a planner is ended together with the planner and its daemons."""
    heavy = {**WORST, "children": [*WORST["children"], {"mib": 200}]}
    argv = [*PYTHON, CALLER, PLACE, "-", *family.argv(heavy if limits.memory else WORST)]
    usage = watch(os.posix_spawn(sys.executable, argv, family.env, setsid=True), limits)
    assert usage.stopped is (Stop.MEMORY if limits.memory else Stop.TIME)
    assert family.alive() == []


def test_watch_spares_others(family: Family) -> None:
    """A watched child in our own session does not endanger other processes of the session."""
    other = subprocess.Popen(family.argv({}), env=family.env)
    pid = os.posix_spawn(sys.executable, family.argv({}), family.env)
    assert wait_until(lambda: family.started() == 2)
    assert watch(pid, Limits(seconds=0)).stopped is Stop.TIME
    assert family.alive() == [other.pid]
    other.kill()
    other.wait()


def test_watch_without_proc(family: Family, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other systems than Linux end at least the process group."""
    monkeypatch.setattr(process_limits, "_HAS_PROC", False)
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    spec = {"stubborn": True, "children": [{"stubborn": True}]}
    usage = watched(family, spec, Limits(seconds=1.0))
    assert family.started() == size(spec)
    assert wait_until(lambda: family.alive() == [], 2)
    assert usage.stopped is Stop.TIME
    usage = watched(family, {"orphans": True, "mib": 50, "children": [{}]}, Limits(seconds=10))
    assert (usage.stopped, usage.returncode) == (None, 0)
    assert usage.memory > 50 * MIB
    assert wait_until(lambda: family.alive() == [], 2)


def test_die_with_parent(family: Family) -> None:
    program = (
        "import sys, os; sys.path.insert(0, sys.argv[1]); import process_limits;"
        "process_limits.die_with_parent(); os.system('true'); open(sys.argv[2], 'w').close();"
        "import time; time.sleep(60)"
    )
    ready = str(family.folder / "ready")
    starter = "import subprocess, sys; subprocess.run(sys.argv[1:])"
    child = [*PYTHON, program, PLACE, ready]
    parent = subprocess.Popen([*PYTHON, starter, *child], env=family.env)
    assert wait_until(Path(ready).exists)
    parent.kill()
    parent.wait()
    assert wait_until(lambda: family.alive() == [], 5)
