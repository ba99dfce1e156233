"""Segments of flat arrays, against lists of lists."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from planlog.ragged import Segments

lists = st.lists(st.lists(st.booleans(), max_size=4), max_size=6)


@given(lists, st.data())
def test_segments_are_lists_of_lists(rows: list[list[bool]], data: st.DataObject) -> None:
    segments = Segments.of_lengths([len(row) for row in rows])
    flat = np.array([value for row in rows for value in row], dtype=bool)
    assert len(segments) == len(rows)
    assert [flat[part].tolist() for part in segments] == rows
    assert [flat[segments[i]].tolist() for i in range(len(rows))] == rows
    assert segments.lengths.tolist() == [len(row) for row in rows]
    assert segments.owners.tolist() == [i for i, row in enumerate(rows) for _ in row]
    assert segments.filter(flat).lengths.tolist() == [sum(row) for row in rows]
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1))) if rows else []
    selected, entries = segments.select(np.array(chosen, dtype=np.int64))
    assert [flat[entries][part].tolist() for part in selected] == [rows[i] for i in chosen]
    mask = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))), bool
    )
    selected, entries = segments.select(mask)
    kept = [row for row, keep in zip(rows, mask, strict=True) if keep]
    assert [flat[entries][part].tolist() for part in selected] == kept


@given(st.lists(st.integers(0, 4)))
def test_grouping_keeps_the_order_of_equal_keys(keys: list[int]) -> None:
    segments, order = Segments.grouped(np.array(keys, dtype=np.uint32), 5)
    groups = [[i for i, key in enumerate(keys) if key == group] for group in range(5)]
    assert [order[part].tolist() for part in segments] == groups
    assert Segments.singletons(3).lengths.tolist() == [1, 1, 1]
