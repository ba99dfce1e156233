"""Give jobs to workers, here or on a cluster, until all are done."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue

from planlog.experiment.jobs import Job, is_done
from planlog.results import RECORDS, Record, RecordFile, Status

# A job on which the worker itself dies is not tried for ever.
ATTEMPTS = 2

# Every run has one processor.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class WorkerGone(Exception):
    """A worker ended without an answer."""


class _Worker:
    """A worker process, as seen by the thread that gives it jobs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-m", "planlog.experiment.worker", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **_ONE_THREAD},
            start_new_session=True,  # Ctrl-C is for us alone
        )

    def do(self, job: Job) -> Record:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(job.to_json() + "\n")
            self._process.stdin.flush()
            return Record.from_json(self._process.stdout.readline())
        except (OSError, ValueError):
            raise WorkerGone(f"the worker ended with code {self._process.poll()}") from None

    def close(self) -> None:
        """End the worker, and what it is doing."""
        assert self._process.stdin is not None
        with suppress(OSError):  # it may be gone already
            self._process.stdin.close()
        self._process.wait()


_own = threading.local()  # .worker: that of this thread
_all: set[_Worker] = set()
_closing = threading.Event()  # no more workers are wanted


def perform(job_line: str, folder: str) -> str:
    """Let this thread's worker do a job; the record. (Texts, so that it can be sent anywhere.)"""
    job = Job.from_json(job_line)
    for attempt in range(ATTEMPTS):
        worker: _Worker | None = getattr(_own, "worker", None)
        if worker is None or worker.folder != Path(folder):
            worker = _own.worker = _Worker(Path(folder))
            _all.add(worker)
        try:
            return worker.do(job).to_json()
        except WorkerGone:
            _forget(worker)
            _own.worker = None
            if attempt == ATTEMPTS - 1 or _closing.is_set():
                raise
    raise AssertionError


def _forget(worker: _Worker) -> None:
    _all.discard(worker)
    worker.close()


@contextmanager
def local_executor(workers: int) -> Iterator[Executor]:
    """Workers on this machine; leaving ends them, with what they are doing."""
    pool = ThreadPoolExecutor(workers, thread_name_prefix="worker")
    _closing.clear()
    try:
        yield pool
    finally:
        _closing.set()
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in list(_all):
            _forget(worker)
        pool.shutdown()


OnRecord = Callable[[Job, Record], None]


def run(
    jobs: Iterable[Job],
    done: Mapping[str, Record],
    folder: Path,
    executor: Executor,
    *,
    retry_failed: bool = False,
    on_record: OnRecord | None = None,
) -> list[Record]:
    """Do all jobs that are not `done`; what depends on a training that fails is left out.

    Records are on the disk before they are returned, or given to `on_record`. Trainings begin
    before everything else, since others wait for them.
    """
    jobs = list(jobs)
    trained: dict[str, bool] = {}
    missing: list[Job] = []
    for job in jobs:
        record = done.get(job.run)
        if record is not None and is_done(job, record, folder, retry_failed=retry_failed):
            trained[job.run] = record.status is Status.TRAINED
        else:
            missing.append(job)
    waiting: dict[str, list[Job]] = {}
    finished: SimpleQueue[tuple[Job, Future[str]]] = SimpleQueue()
    running = 0

    def submit(job: Job) -> None:
        nonlocal running
        future = executor.submit(perform, job.to_json(), str(folder))
        running += 1
        future.add_done_callback(lambda future: finished.put((job, future)))

    for job in sorted(missing, key=lambda job: not job.trains):
        if not job.after or trained.get(job.after):
            submit(job)
        elif job.after not in trained:
            waiting.setdefault(job.after, []).append(job)
    records = []
    while running:
        job, future = finished.get()
        running -= 1
        record = _record(job, future, folder)
        records.append(record)
        if record.status is Status.TRAINED:
            for waiting_job in waiting.pop(job.run, ()):
                submit(waiting_job)
        if on_record is not None:
            on_record(job, record)
    return records


def _record(job: Job, future: Future[str], folder: Path) -> Record:
    """What a worker answered, or else our own record of its end."""
    try:
        return Record.from_json(future.result())
    except Exception as error:
        started = datetime.now(UTC).isoformat(timespec="milliseconds")
        message = f"{type(error).__name__}: {error}"
        record = job.record(Status.FAILED, started=started, message=message)
        file = RecordFile(folder / RECORDS / "lost.jsonl")
        file.add(record)
        file.close()
        return record
