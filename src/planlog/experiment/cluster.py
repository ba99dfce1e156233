"""Workers on other machines: the same jobs, given out by the scheduler of a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from planlog.errors import PlanlogError


class ClusterError(PlanlogError):
    """A cluster that cannot be used."""


# How often a job may be on a machine that is lost before the job is to blame.
RETRIES = 3


@contextmanager
def cluster_executor(address: str, *, timeout: float = 10.0) -> Iterator[tuple[Executor, int]]:
    """The workers of a Dask scheduler, and how many runs they do at once.

    All of them must see the results folder, under the same path.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ClusterError("--cluster needs Dask: pip install 'planlog[cluster]'") from None
    try:
        client = Client(address, timeout=timeout, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as error:
        raise ClusterError(f"no Dask scheduler answers at {address}: {error}") from None
    threads = client.nthreads()  # type: ignore[no-untyped-call]
    executor = client.get_executor(pure=False, retries=RETRIES)  # type: ignore[no-untyped-call]
    with client, executor:
        try:
            yield executor, sum(threads.values())
        finally:
            executor.shutdown(wait=False)  # what is not done yet is not wanted any more
