"""Prefixes of rule files and long repetitions: located errors or a program, in little time."""

from __future__ import annotations

import pytest

from fuzz.rules import FILES, check


def test_every_prefix_of_a_file() -> None:
    for text in FILES:
        start = text.index("\n") + 1
        for end in range(start, len(text), 3):
            check(text[:end].encode())


@pytest.mark.parametrize(
    "part", ["(", ")", "p(", "p :- ", "p ", "p, ", "not ", ". ", "p(a", "@", "'"]
)
def test_long_repetitions(part: str) -> None:
    for start in ("", "putdown(A) :- "):
        check(f"% domain: blocks\n{start}{part * 10_000}".encode())
