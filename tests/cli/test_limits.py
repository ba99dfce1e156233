"""Interrupts that end work in good order, and files that come one after the other."""

from __future__ import annotations

import signal
import time
from contextlib import suppress
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from planlog.cli.plan_files import delete_numbered_files, numbered_files
from planlog.cli.signals import Signals


def test_only_the_first_interrupt_interrupts(interruptible: None) -> None:
    done: list[str] = []
    with Signals(None) as signals:
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


def test_an_interrupt_that_was_ignored_comes_again(interruptible: None) -> None:
    with Signals(None) as signals, signals.until_interrupted():
        with suppress(BaseException):
            signal.raise_signal(signal.SIGTERM)
        signals.check()
        raise AssertionError
    assert signals.received == [signal.SIGTERM]


def test_the_end_of_the_time_interrupts(interruptible: None) -> None:
    before = signal.getsignal(signal.SIGALRM)
    with Signals(0.02) as signals, signals.until_interrupted():
        time.sleep(30)
        raise AssertionError
    assert signals.out_of_time
    assert signals.exit_code == 23
    assert signal.getsignal(signal.SIGALRM) is before


def test_signals_that_are_ignored_stay_so() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Signals(None) as signals, signals.until_interrupted():
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
        delete_numbered_files(folder / "a+b")
        assert numbered_files(folder / "a+b") == {}
        assert not (folder / "a+b").exists()
        assert len(list(folder.iterdir())) == 7
