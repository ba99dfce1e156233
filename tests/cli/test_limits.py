"""Interrupts that end work in good order, and files that come one after the other."""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
import weakref
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog._core import resident_memory
from planlog.cli.limits import OutOfTime, limited
from planlog.cli.plan_files import delete_older, numbered_files
from planlog.cli.process import begin_command
from planlog.cli.signals import Signals


def test_only_the_first_interrupt_interrupts(interruptible: None) -> None:
    done: list[str] = []
    with Signals() as signals:
        with signals.until_interrupted():
            try:
                with signals.shield():
                    signal.raise_signal(signal.SIGTERM)
                    done.append("what was begun")
                done.append("too much")
            finally:
                signal.raise_signal(signal.SIGINT)
                done.append("the ending")
        signal.raise_signal(signal.SIGTERM)
        done.append("what follows")
    assert done == ["what was begun", "the ending", "what follows"]
    assert signals.received == [signal.SIGTERM, signal.SIGINT, signal.SIGTERM]
    assert signals.exit_code == 143


def test_a_signal_at_the_end_of_a_block_does_not_escape(interruptible: None) -> None:
    rng, during = random.Random(0), 0
    for _ in range(10_000):
        with Signals() as signals:
            with signals.until_interrupted():
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-6, 12e-6))
            signal.setitimer(signal.ITIMER_REAL, 0)
        during += bool(signals.received)
    assert during > 0


def test_an_interrupt_that_was_ignored_comes_again(interruptible: None) -> None:
    with Signals() as signals, signals.until_interrupted():
        with suppress(BaseException):
            signal.raise_signal(signal.SIGTERM)
        signals.check()
        raise AssertionError
    assert signals.received == [signal.SIGTERM]


def test_the_end_of_the_time_interrupts(interruptible: None) -> None:
    before = signal.getsignal(signal.SIGALRM)
    begin_command()
    with limited(0.02, None), Signals() as signals, signals.until_interrupted():
        time.sleep(30)
        raise AssertionError
    assert signals.out_of_time
    assert signals.exit_code == 23
    assert signal.getsignal(signal.SIGALRM) is before


def test_too_much_memory_interrupts(interruptible: None) -> None:
    limit = resident_memory() + 20 * 2**20
    taken = []
    with (
        pytest.raises(MemoryError),
        limited(None, limit),
        Signals() as signals,
        signals.until_interrupted(),
    ):
        while len(taken) < 1000:
            taken.append(bytearray(os.urandom(2**20)))
    assert signals.exit_code == 22
    assert len(taken) < 100


def test_signals_that_are_ignored_stay_so() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Signals() as signals, signals.until_interrupted():
            signal.raise_signal(signal.SIGINT)
        assert signals.received == []
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@given(st.sets(st.integers(1, 2000), max_size=8))
def test_numbered_files(values: set[int]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for other in ("a+b", "a+b.0", "a+b.01", "a+b.x", "aab.1", "a+b.1.2", ".a+b.3.99"):
            (folder / other).touch()
        (folder / "a+b.77777").mkdir()
        for value in values:
            (folder / f"a+b.{value}").touch()
        assert set(numbered_files(folder / "a+b")) == values
        delete_older([folder / "a+b", *numbered_files(folder / "a+b").values()])
        assert numbered_files(folder / "a+b") == {}
        assert not (folder / "a+b").exists()
        assert len(list(folder.iterdir())) == 7


def _be_busy(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


class _Deleted:
    """An object that is busy when it is deleted, where Python cannot raise an exception."""

    def __del__(self) -> None:
        _be_busy(0.05)


def _delete_for_ever() -> None:
    for _ in range(100):
        item = _Deleted()
        reference = weakref.ref(item, lambda _: _be_busy(0.05))
        del item
        _be_busy(0.005)
    assert reference() is None
    raise AssertionError


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_objects_are_deleted_comes_again(
    number: signal.Signals, interruptible: None, capsys: pytest.CaptureFixture[str]
) -> None:
    timer = threading.Timer(0.1, os.kill, (os.getpid(), number))
    timer.start()
    with Signals() as signals, signals.until_interrupted():
        _delete_for_ever()
    timer.join()
    assert signals.received[0] == number
    assert signals.exit_code == 128 + number
    assert capsys.readouterr().err == ""


def test_a_time_limit_while_objects_are_deleted_comes_again(
    interruptible: None, capsys: pytest.CaptureFixture[str]
) -> None:
    begin_command()
    with pytest.raises(OutOfTime), limited(0.1, None):
        _delete_for_ever()
    begin_command()
    with limited(0.1, None), Signals() as signals, signals.until_interrupted():
        _delete_for_ever()
    assert signals.out_of_time
    assert capsys.readouterr().err == ""


def test_other_exceptions_while_objects_are_deleted_are_reported() -> None:
    reported = []
    before, sys.unraisablehook = sys.unraisablehook, reported.append
    try:
        with limited(None, None), Signals():
            item = _Deleted()
            reference = weakref.ref(item, lambda _: 1 / 0)
            del item
    finally:
        sys.unraisablehook = before
    assert [each.exc_type for each in reported] == [ZeroDivisionError]
    assert reference() is None
