"""Work on many items at once, on threads: the core releases Python's lock while it works."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from threading import Event
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

# To be called often by long work: raises Cancelled when nobody waits for its result any more.
KeepOn = Callable[[], None]


class Cancelled(Exception):
    """Nobody waits for the result any more."""


def map_in_order(
    function: Callable[[Item, KeepOn], Result], items: Iterable[Item], workers: int | None = None
) -> Generator[Result, None, None]:
    """The function's results in the order of the items, computed on so many threads.

    Items are taken only as far ahead as the threads need. Whoever leaves early, by closing the
    generator or by an exception, makes the work in progress end.
    """
    workers = workers or available_processors()
    stop = Event()

    def keep_on() -> None:
        if stop.is_set():
            raise Cancelled

    remaining = iter(items)
    running: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for item in islice(remaining, 2 * workers):
                running.append(pool.submit(function, item, keep_on))
            while running:
                result = running.popleft().result()
                for item in islice(remaining, 1):
                    running.append(pool.submit(function, item, keep_on))
                yield result
        finally:
            stop.set()
            for future in running:
                future.cancel()


def available_processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
