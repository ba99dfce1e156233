"""A target with planted bugs, to test the fuzzer itself."""

from __future__ import annotations

import os
import time
from random import Random


def make(rng: Random) -> bytes:
    return " ".join(rng.choices(["a", "b", "c", "d", "e"], k=30)).encode()


def check(data: bytes) -> str:
    words = data.split()
    planted = os.environ.get("PLANLOG_PLANTED", "")
    if words.count(b"a") > 9:
        if planted == "exception":
            raise ValueError("too many")
        if planted == "crash":
            os.abort()
        if planted == "hang":
            time.sleep(1000)
    return "fine"
