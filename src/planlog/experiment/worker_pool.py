"""Worker processes on this machine, one for each thread that submits jobs."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from planlog.experiment.jobs import Job

ATTEMPTS = 2  # for a job whose worker dies

# Every job uses one processor.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class WorkerGone(Exception):
    """A worker process ended without an answer."""


class _WorkerProcess:
    """A worker process and its pipes."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "planlog.experiment.worker_process", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **_ONE_THREAD},
            start_new_session=True,  # Ctrl-C reaches only the main process
        )

    def perform(self, job: Job) -> str:
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(OSError):
            pickle.dump(job, self._process.stdin)
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
            if answer.endswith(b"\n"):
                return answer.decode().removesuffix("\n")
        raise WorkerGone(f"the worker ended with code {self._process.poll()}")

    def close(self) -> None:
        """End the worker and the job that it executes."""
        assert self._process.stdin is not None
        with suppress(OSError):  # the worker may have ended
            self._process.stdin.close()
        self._process.wait()


class WorkerPool:
    """One worker process for each thread that calls `perform`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._workers: dict[int, _WorkerProcess] = {}  # by thread
        self._lock = threading.Lock()
        self._closed = False

    def perform(self, job: Job) -> str:
        """Execute a job in this thread's worker, and return the record as a line of JSON."""
        for attempt in range(ATTEMPTS):
            worker = self._worker()
            try:
                return worker.perform(job)
            except WorkerGone:
                with self._lock:
                    self._workers.pop(threading.get_ident(), None)
                worker.close()
                if attempt == ATTEMPTS - 1:
                    raise
        raise AssertionError

    def _worker(self) -> _WorkerProcess:
        thread = threading.get_ident()
        with self._lock:
            if self._closed:
                raise WorkerGone("the pool is closed")
            if thread not in self._workers:
                self._workers[thread] = _WorkerProcess(self._folder)
            return self._workers[thread]

    def close(self) -> None:
        """End all workers and the jobs that they execute."""
        with self._lock:
            self._closed = True
            workers, self._workers = self._workers, {}
        for worker in workers.values():
            worker.close()


@dataclass(frozen=True)
class Workers:
    """A number of workers; `submit` returns the record of a job as a line of JSON."""

    number: int
    submit: Callable[[Job], Future[str]]


@contextmanager
def local_workers(folder: Path, number: int) -> Iterator[Workers]:
    """Start workers on this machine; leaving the context ends them and their jobs."""
    pool = WorkerPool(folder)
    threads = ThreadPoolExecutor(number, thread_name_prefix="worker")
    try:
        yield Workers(number, lambda job: threads.submit(pool.perform, job))
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        pool.close()
        threads.shutdown()
