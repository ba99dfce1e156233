"""Workers on other machines, to which a Dask scheduler distributes the jobs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from os import getpid
from pathlib import Path

from planlog.errors import PlanlogError
from planlog.experiment.jobs import Job
from planlog.experiment.worker_pool import WorkerPool, Workers

TIMEOUT = 10.0  # seconds until the scheduler answers
RETRIES = 3  # of a job whose machine disappears


class ClusterError(PlanlogError):
    """The scheduler does not answer, or Dask is not installed."""


@cache
def _pool(folder: str, process: int) -> WorkerPool:
    """Return the worker pool of a process; a fork of a Dask worker needs a pool of its own."""
    return WorkerPool(Path(folder))


def _perform(job: Job, folder: str) -> str:
    """Execute a job and return its record; Dask calls this on one of its machines."""
    return _pool(folder, getpid()).perform(job)


@contextmanager
def cluster_workers(address: str, folder: Path) -> Iterator[Workers]:
    """Connect to a Dask scheduler; raise ClusterError if none answers within TIMEOUT seconds.

    All machines see the results folder under the same path.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ClusterError("--cluster needs Dask: pip install 'planlog[cluster]'") from None
    try:
        client = Client(address, timeout=TIMEOUT, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as error:
        raise ClusterError(f"no Dask scheduler answers at {address}: {error}") from None
    threads = client.nthreads()  # type: ignore[no-untyped-call]
    executor = client.get_executor(pure=False, retries=RETRIES)  # type: ignore[no-untyped-call]
    with client, executor:
        try:
            submit = partial(executor.submit, _perform, folder=str(folder))
            yield Workers(sum(threads.values()), submit)
        finally:
            executor.shutdown(wait=False)  # nobody waits for the remaining jobs
