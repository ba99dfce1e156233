"""Text of strangers is printed with visible escapes, and never longer than it was by much."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.printable import one_line, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, é, 漢字", "plain, é, 漢字"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("over\rwritten\x08\x7f\x00", "over\\rwritten\\x08\\x7f\\x00"),
        ("\x9b31m", "\\u009b31m"),
        ("a\u202eb\u2066c\u200bd\ufeff", "a\\u202eb\\u2066c\\u200bd\\ufeff"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("byte \udcff", "byte \\xff"),
        ("lone \ud800", "lone \\ud800"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
    ],
)
def test_escapes(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text(st.characters()))
def test_nothing_invisible_is_left(text: str) -> None:
    shown = printable(text)
    for c in shown:
        assert c in "\n\t " or unicodedata.category(c)[0] not in "CZ"
    assert printable(shown) == shown
    assert len(shown) <= 10 * len(text)
    assert one_line(text).isprintable()
    shown.encode()
