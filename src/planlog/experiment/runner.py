"""Distribute jobs to workers, on this machine or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue

from planlog.experiment.jobs import Job, is_done
from planlog.experiment.records import RECORDS, UNWRITTEN, Record, Status, append_record, timestamp
from planlog.experiment.worker_pool import Workers
from planlog.files import OutputError, save_elsewhere

LOST = "lost.jsonl"  # records that no worker could write

OnRecord = Callable[[Job, Record], None]


def run(
    jobs: Iterable[Job],
    done: Mapping[str, Record],
    folder: Path,
    workers: Workers,
    *,
    retry_failed: bool = False,
    on_record: OnRecord | None = None,
) -> list[Record]:
    """Execute all jobs that have no valid result in `done`, and return their records.

    Records are on disk before they are returned or passed to `on_record`. Trainings start first,
    since other jobs wait for them. Jobs whose training failed are skipped.
    """
    trained: dict[str, bool] = {}
    missing: list[Job] = []
    for job in jobs:
        record = done.get(job.run)
        if record is not None and is_done(job, record, folder, retry_failed=retry_failed):
            trained[job.run] = record.status is Status.TRAINED
        else:
            attempt = 0 if record is None else record.attempt + 1
            missing.append(replace(job, attempt=attempt))
    waiting: dict[str, list[Job]] = {}
    finished: SimpleQueue[tuple[Job, Future[str]]] = SimpleQueue()
    running = 0

    def submit(job: Job) -> None:
        nonlocal running
        future = workers.submit(job)
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
    """Return the record of a worker; if the worker was lost, store and return a failure.

    Raises OutputError if the record cannot be written; it is saved elsewhere then.
    """
    try:
        answer = future.result()
        line = answer.partition("\t")[2] if answer.startswith(UNWRITTEN) else answer
        record = Record.from_json(line)
        if line is answer:
            return record
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        record = job.record(Status.FAILED, started=timestamp(), message=message)
    try:
        append_record(folder / RECORDS / LOST, record.to_json())
    except OutputError as error:
        error.saved = save_elsewhere(f"{record.to_json()}\n".encode(), ".jsonl")
        raise
    return record
