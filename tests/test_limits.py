"""Interrupts that end work in good order, and files that come one after the other."""

from __future__ import annotations

import signal
import time
from contextlib import suppress
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from planlog.cli.limits import Interrupts
from planlog.cli.numbered import numbered, remove


def test_only_the_first_interrupt_interrupts(interruptible: None) -> None:
    done: list[str] = []
    with Interrupts(None) as interrupts:
        with interrupts.end():
            try:
                with interrupts.wait():
                    signal.raise_signal(signal.SIGTERM)
                    done.append("what was begun")
                done.append("too much")
            finally:
                signal.raise_signal(signal.SIGINT)
                done.append("the ending")
        signal.raise_signal(signal.SIGTERM)
        done.append("what follows")
    assert done == ["what was begun", "the ending", "what follows"]
    assert interrupts.received == [signal.SIGTERM, signal.SIGINT, signal.SIGTERM]
    assert interrupts.code == 143


def test_an_interrupt_that_was_ignored_comes_again(interruptible: None) -> None:
    with Interrupts(None) as interrupts, interrupts.end():
        with suppress(BaseException):
            signal.raise_signal(signal.SIGTERM)
        interrupts.check()
        raise AssertionError
    assert interrupts.received == [signal.SIGTERM]


def test_the_end_of_the_time_interrupts(interruptible: None) -> None:
    before = signal.getsignal(signal.SIGALRM)
    with Interrupts(0.02) as interrupts, interrupts.end():
        time.sleep(30)
        raise AssertionError
    assert interrupts.out_of_time
    assert interrupts.code == 23
    assert signal.getsignal(signal.SIGALRM) is before


def test_signals_that_are_ignored_stay_so() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interrupts(None) as interrupts, interrupts.end():
            signal.raise_signal(signal.SIGINT)
        assert interrupts.received == []
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
        assert set(numbered(folder / "a+b")) == values
        remove(folder / "a+b")
        assert numbered(folder / "a+b") == {}
        assert not (folder / "a+b").exists()
        assert len(list(folder.iterdir())) == 7
