"""Reading once, writing whole or not at all, and locks."""

from __future__ import annotations

import errno
import itertools
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from planlog.api.arguments import policy_of
from planlog.files import (
    OutputError,
    append_line,
    check_folder,
    check_replaceable,
    explain,
    inputs_read_once,
    read_input,
    read_input_text,
    save_elsewhere,
    write_atomically,
    write_or_save,
    write_together,
)
from planlog.locks import LockedError, locked
from planlog.pddl.task import Domain
from support.waiting import wait_until

# --- Writing -----------------------------------------------------------------------------


def fail_with(number: int):
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize("call", ["write", "fsync", "replace", "open"])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    monkeypatch.setattr(os, call, fail_with(errno.ENOSPC))
    with pytest.raises(OutputError) as raised:
        write_atomically(file, "new")
    monkeypatch.undo()
    assert raised.value.filename == str(file)
    assert "free some space" in explain(raised.value)
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_an_interrupt_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "file", "new")
    assert list(tmp_path.iterdir()) == []


def test_the_mode_of_a_replaced_file_stays(tmp_path: Path) -> None:
    file = tmp_path / "file"
    for mode in (0o600, 0o640, 0o755):
        file.write_text("old")
        file.chmod(mode)
        write_atomically(file, "new")
        assert stat.S_IMODE(file.stat().st_mode) == mode
        write_together(tmp_path, [("file", "newer")])
        assert stat.S_IMODE(file.stat().st_mode) == mode
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "new", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_a_prepared_link_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / f".file.{os.getpid()}").symlink_to(victim)
    write_atomically(tmp_path / "file", "new")
    assert victim.read_text() == "precious"
    # Even a name that was guessed is not followed.
    monkeypatch.setattr(os, "urandom", bytes)
    (tmp_path / f".planlog-{bytes(8).hex()}").symlink_to(victim)
    with pytest.raises(OutputError):
        write_atomically(tmp_path / "file", "newer")
    assert victim.read_text() == "precious"
    assert (tmp_path / "file").read_text() == "new"


def test_links_are_written_through(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_atomically(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OutputError, match="symbolic links"):
        write_atomically(tmp_path / "a", "new")


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    file = tmp_path / ("x" * 255)
    check_replaceable(file)
    with locked(file):
        write_atomically(file, "new")
    assert [each.name for each in tmp_path.iterdir()] == [file.name]
    with pytest.raises(OutputError, match="too long"):
        check_replaceable(tmp_path / ("x" * 256))


def test_checks_before_the_work(tmp_path: Path) -> None:
    file = tmp_path / "file"
    check_replaceable(file)
    check_folder(tmp_path / "new" / "folder")
    assert list(tmp_path.iterdir()) == []
    for bad, number in (
        (tmp_path, errno.EISDIR),
        (tmp_path / "none" / "file", errno.ENOENT),
        (Path("/proc/none/file"), errno.ENOENT),
    ):
        with pytest.raises(OutputError) as raised:
            check_replaceable(bad)
        assert raised.value.errno == number
    check_replaceable(Path("/dev/null"))
    file.touch()
    with pytest.raises(OutputError):
        check_folder(file / "folder")


def test_a_full_disk_is_known_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "write", fail_with(errno.ENOSPC))
    for check, place in ((check_replaceable, tmp_path / "file"), (check_folder, tmp_path)):
        with pytest.raises(OutputError, match="No space"):
            check(place)
    assert list(tmp_path.iterdir()) == []


def test_results_are_saved_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    with pytest.raises(OutputError) as raised:
        write_or_save(tmp_path / "none" / "model", b"weights", ".safetensors")
    saved = raised.value.saved
    assert saved is not None and saved.parent == tmp_path / "tmp"
    assert saved.read_bytes() == b"weights"
    assert str(saved) in str(raised.value) and str(saved) in explain(raised.value)
    monkeypatch.setattr(os, "write", fail_with(errno.ENOSPC))
    assert save_elsewhere(b"weights", ".safetensors") is None


def test_many_files_or_none(tmp_path: Path) -> None:
    def files():
        yield "a", "1"
        yield "b", "2"
        raise OSError(errno.EIO, "broken")

    with pytest.raises(OutputError):
        write_together(tmp_path / "new" / "folder", files())
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "c").mkdir()
    with pytest.raises(OutputError):
        write_together(tmp_path, [("a", "1"), ("c", "2")])
    assert [file.name for file in tmp_path.iterdir()] == ["c"]
    assert write_together(tmp_path, [("a", "1"), ("b", b"2")]) == 2
    assert (tmp_path / "b").read_text() == "2"


def test_lines_are_appended_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "lines"
    append_line(file, "one", is_whole=lambda line: False)
    with file.open("a") as stream:
        stream.write("unfinis")
    append_line(file, "two", is_whole=lambda line: False)
    assert file.read_text() == "one\ntwo\n"
    with file.open("a") as stream:
        stream.write("three")
    append_line(file, "four", is_whole=lambda line: line == b"three")
    assert file.read_text() == "one\ntwo\nthree\nfour\n"
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail_with(errno.ENOSPC))
        with pytest.raises(OutputError):
            append_line(file, "five", is_whole=lambda line: False)
    assert file.read_text() == "one\ntwo\nthree\nfour\n"


# --- Reading -----------------------------------------------------------------------------


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_text, args=("content",)).start()
    with inputs_read_once():
        assert [read_input(pipe) for _ in range(3)] == [b"content"] * 3


def test_an_input_that_changes_stays_what_was_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r")
    with inputs_read_once():
        assert read_input_text(file) == "one\ntwo\n"
        file.write_text("other")
        assert read_input_text(file) == "one\ntwo\n"
    assert read_input_text(file) == "other"


def test_endless_inputs_are_refused(tmp_path: Path) -> None:
    for file in (Path("/dev/zero"), tmp_path / "sparse"):
        if file.parent == tmp_path:
            file.touch()
            os.truncate(file, 2**40)
        with pytest.raises(OSError, match="too large: more than 268,435,456 bytes"):
            read_input(file)


def test_long_inputs_are_checked_while_they_are_read() -> None:
    calls = itertools.count(1)

    def check() -> None:
        if next(calls) == 3:
            raise MemoryError

    with inputs_read_once(check), inputs_read_once(), pytest.raises(MemoryError):
        read_input("/dev/zero")
    assert next(calls) == 4


def test_a_policy_may_be_a_pipe(tmp_path: Path) -> None:
    domain = Domain.of_predicates("graphs", {"edge": 2})
    pipe = tmp_path / "rules"
    os.mkfifo(pipe)
    text = "node(X) :- edge(X, _).\n"
    threading.Thread(target=pipe.write_text, args=(text,)).start()
    assert policy_of(pipe, domain).text == text


def test_a_pipe_that_nobody_reads_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError) as raised:
        write_atomically(tmp_path / "pipe", "new")
    assert "nobody reads from it" in explain(raised.value)


# --- Locks -------------------------------------------------------------------------------

HOLD = """
import sys, time
from pathlib import Path
from planlog.locks import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_lock_names_its_holder_and_ends_with_it(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "target"
    if kind == "folder":
        target.mkdir()
    holder = subprocess.Popen([sys.executable, "-c", HOLD, target], stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
        with pytest.raises(LockedError) as raised, locked(target):
            pass
        host = os.uname().nodename
        assert f"process {holder.pid} on {host} since 20" in explain(raised.value)
        with locked(tmp_path / "other"):
            pass
    finally:
        holder.kill()
        holder.communicate()
    with locked(target):  # whatever a killed process has left
        pass
    assert not list(tmp_path.rglob(".planlog*"))


def test_locks_exclude_each_other(tmp_path: Path) -> None:
    inside = most = 0
    guard = threading.Lock()

    def work() -> None:
        nonlocal inside, most
        done = 0
        while done < 30:
            try:
                with locked(tmp_path / "file"):
                    with guard:
                        inside += 1
                        most = max(most, inside)
                    done += 1
                    with guard:
                        inside -= 1
            except LockedError:
                pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert wait_until(lambda: not any(thread.is_alive() for thread in threads), 60)
    assert most == 1
    assert list(tmp_path.iterdir()) == []


def test_devices_are_not_locked() -> None:
    with locked(Path("/dev/null")), locked(Path("/dev/null")):
        pass


def test_a_lock_does_not_follow_links(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / ".planlog.lock").symlink_to(victim)
    with pytest.raises(OutputError), locked(tmp_path / "folder"):
        pass
    assert victim.read_text() == "precious"
