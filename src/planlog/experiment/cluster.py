"""Workers on other machines: a Dask scheduler distributes the jobs."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from os import getpid
from pathlib import Path

from planlog.errors import PlanlogError
from planlog.experiment.worker_pool import WorkerPool

RETRIES = 3  # of a job whose machine is lost


class ClusterError(PlanlogError):
    """A cluster that is unreachable, or Dask is not installed."""


@dataclass(frozen=True)
class ClusterWorkers:
    """The workers of a Dask scheduler; all see the results folder under the same path."""

    folder: Path
    number: int
    executor: Executor

    def submit(self, job: str) -> Future[str]:
        return self.executor.submit(_perform, job, str(self.folder))


@cache
def _pool(folder: str, process: int) -> WorkerPool:
    """Return the worker pool of a Dask worker; a fork of it needs a pool of its own."""
    return WorkerPool(Path(folder))


def _perform(job: str, folder: str) -> str:
    """Execute a job; Dask calls this on one of its machines."""
    return _pool(folder, getpid()).perform(job)


@contextmanager
def cluster_workers(
    address: str, folder: Path, *, timeout: float = 10.0
) -> Iterator[ClusterWorkers]:
    """Connect to a Dask scheduler; raise ClusterError if none answers within `timeout` seconds."""
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
            yield ClusterWorkers(folder, sum(threads.values()), executor)
        finally:
            executor.shutdown(wait=False)  # nobody waits for the remaining jobs
