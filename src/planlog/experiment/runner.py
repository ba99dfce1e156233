"""Give jobs to workers, here or on a cluster, until all are done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from typing import Protocol

from planlog.experiment.jobs import Job, is_done
from planlog.experiment.records import RECORDS, Record, RecordFile, Status

OnRecord = Callable[[Job, Record], None]


class Workers(Protocol):
    """Workers that do a number of jobs at once."""

    @property
    def number(self) -> int: ...

    def submit(self, job: str) -> Future[str]:
        """Do a job, given as a line of JSON; the result is the line of its record."""
        ...


def run(
    jobs: Iterable[Job],
    done: Mapping[str, Record],
    folder: Path,
    workers: Workers,
    *,
    retry_failed: bool = False,
    on_record: OnRecord | None = None,
) -> list[Record]:
    """Do all jobs that are not `done`, and return their records.

    Jobs that depend on a training that failed are left out. Records are on the disk before they
    are returned or given to `on_record`. Trainings begin first, since other jobs wait for them.
    """
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
        future = workers.submit(job.to_json())
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
    """Return the record of a worker, or a record that it failed to make one."""
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
