"""Make a failing input smaller while it keeps failing in the same way (Zeller 2002, ddmin)."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence

# Pieces to delete: lines first, then words, then bytes.
_PIECES = (re.compile(rb"[^\n]*\n?"), re.compile(rb"\s+|\w+|\W"), re.compile(rb".", re.DOTALL))


def shrink(data: bytes, fails: Callable[[bytes], bool], seconds: float) -> bytes:
    """Return a smaller input for which `fails` is true, within about `seconds`."""
    deadline = time.monotonic() + seconds
    for pattern in _PIECES:
        pieces = [piece for piece in pattern.findall(data) if piece]
        data = b"".join(_without(pieces, fails, deadline))
    return data


def _without(
    pieces: Sequence[bytes], fails: Callable[[bytes], bool], deadline: float
) -> list[bytes]:
    kept = list(pieces)
    size = max(1, len(kept) // 2)
    while True:
        start, changed = 0, False
        while start < len(kept):
            if time.monotonic() > deadline:
                return kept
            candidate = kept[:start] + kept[start + size :]
            if candidate and fails(b"".join(candidate)):
                kept, changed = candidate, True
            else:
                start += size
        if size == 1 and not changed:
            return kept
        size = size if changed and size == 1 else max(1, size // 2)
