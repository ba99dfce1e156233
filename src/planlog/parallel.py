"""A thread pool that maps a function over items; the core releases the interpreter lock."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from itertools import islice
from threading import Event
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

Item = TypeVar("Item")
Result = TypeVar("Result")

# Long-running work calls this often; it raises Cancelled once nobody waits for the result.
CheckCancelled = Callable[[], None]


class Cancelled(Exception):
    """Raised in work whose result nobody waits for."""


def map_in_order(
    function: Callable[[Item, CheckCancelled], Result],
    items: Iterable[Item],
    workers: int | None = None,
) -> Generator[Result, None, None]:
    """Yield the results of the function in the order of the items, computed by `workers` threads.

    Items are read only as far ahead as the threads need. Closing the generator, or an exception,
    cancels the work in progress. By default there is one thread for each processor.
    """
    from concurrent.futures import ThreadPoolExecutor  # most commands need no threads

    workers = workers or available_processors()
    stop = Event()

    def check_cancelled() -> None:
        if stop.is_set():
            raise Cancelled

    remaining = iter(items)
    running: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for item in islice(remaining, 2 * workers):
                running.append(pool.submit(function, item, check_cancelled))
            while running:
                result = running.popleft().result()
                for item in islice(remaining, 1):
                    running.append(pool.submit(function, item, check_cancelled))
                yield result
        finally:
            stop.set()
            for future in running:
                future.cancel()


def available_processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
