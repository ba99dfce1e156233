"""Worker processes: every pool has its own, and each record is serialised once."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from planlog import domains
from planlog.experiment import cluster, suite
from planlog.experiment.configurations import Rules
from planlog.experiment.jobs import Job, plan_jobs
from planlog.experiment.process_limits import Limits
from planlog.experiment.records import RECORDS, Record, Status
from planlog.experiment.worker_pool import WorkerGone, WorkerPool, local_workers

LIMITS = Limits(seconds=20.0, memory=2**31)


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    """The rules on a small task, with results in `tmp_path`."""
    place = tmp_path / "ferry"
    place.mkdir()
    (place / "domain.pddl").write_bytes((domains.path("ferry") / "domain.pddl").read_bytes())
    for file, text in domains.generate("ferry", seed=0, count=1, sizes={"cars": 1}):
        (place / file).write_text(text)
    [found] = suite.find(place)
    configurations = {"ferry": [Rules()]}
    [job] = plan_jobs(
        tmp_path, [found], configurations, seeds=1, plan_limits=LIMITS, training_limits=LIMITS
    )
    yield job


def test_leaving_one_pool_does_not_end_the_workers_of_another(job: Job, tmp_path: Path) -> None:
    with local_workers(tmp_path, 1) as outer:
        first = outer.submit(job).result(timeout=60)
        with local_workers(tmp_path, 1) as inner:
            inner.submit(job).result(timeout=60)
        second = outer.submit(job).result(timeout=60)
    for line in (first, second):
        assert Record.from_json(line).status is Status.SOLVED
    # The same worker did both: it was not ended in between.
    assert sorted(_lines_by_file(tmp_path)) == [1, 2]


def _lines_by_file(folder: Path) -> list[int]:
    return [len(file.read_text().splitlines()) for file in (folder / RECORDS).glob("*.jsonl")]


COUNTING_WORKER = """
import os, sys
from planlog.experiment import records, worker_process

to_json = records.Record.to_json
def counted(record):
    with open(sys.argv[2], "a") as file:
        file.write("x")
    return to_json(record)

records.Record.to_json = counted
worker_process.main()
"""


@pytest.mark.parametrize("fails", [False, True])
def test_a_record_is_serialised_once(job: Job, tmp_path: Path, fails: bool) -> None:
    """In the worker and in the process of the job together."""
    count = tmp_path / "count"
    if fails:
        (tmp_path / str(job.files.task)).write_text("(")
    worker = subprocess.Popen(
        [sys.executable, "-c", COUNTING_WORKER, str(tmp_path), str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert worker.stdin is not None and worker.stdout is not None
    with worker:
        pickle.dump(job, worker.stdin)
        worker.stdin.flush()
        line = worker.stdout.readline().decode()
        worker.stdin.close()
    assert Record.from_json(line).status is (Status.FAILED if fails else Status.SOLVED)
    assert count.read_text() == "x"
    [file] = (tmp_path / RECORDS).glob("*.jsonl")
    assert file.read_text() == line


def test_a_fork_has_workers_of_its_own(job: Job, tmp_path: Path) -> None:
    """A Dask worker may fork; both processes then execute jobs."""
    folder = str(tmp_path)
    cluster._perform(job, folder)
    child = os.fork()
    if child == 0:
        solved = Record.from_json(cluster._perform(job, folder)).status is Status.SOLVED
        os._exit(0 if solved else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    cluster._perform(job, folder)
    cluster._pool(folder, os.getpid()).close()
    assert sorted(_lines_by_file(tmp_path)) == [1, 2]


def test_a_closed_pool_starts_no_workers(job: Job, tmp_path: Path) -> None:
    pool = WorkerPool(tmp_path)
    pool.close()
    with pytest.raises(WorkerGone):
        pool.perform(job)
