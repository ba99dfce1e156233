"""Worker processes: every pool has its own, and what they answer is the line on the disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from planlog import domains
from planlog.experiment import suite
from planlog.experiment.configurations import Rules
from planlog.experiment.jobs import Job, plan_jobs
from planlog.experiment.process_limits import Limits
from planlog.experiment.records import RECORDS, Record, Status
from planlog.experiment.worker_pool import LocalWorkers, WorkerGone, WorkerPool

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
    with LocalWorkers(tmp_path, 1) as outer:
        first = outer.submit(job.to_json()).result(timeout=60)
        with LocalWorkers(tmp_path, 1) as inner:
            inner.submit(job.to_json()).result(timeout=60)
        second = outer.submit(job.to_json()).result(timeout=60)
    for line in (first, second):
        assert Record.from_json(line).status is Status.SOLVED
    # The same worker did both: it was not ended in between.
    assert sorted(_lines_by_file(tmp_path)) == [1, 2]


def _lines_by_file(folder: Path) -> list[int]:
    return [len(file.read_text().splitlines()) for file in (folder / RECORDS).glob("*.jsonl")]


def test_a_record_becomes_json_once(job: Job, tmp_path: Path) -> None:
    with LocalWorkers(tmp_path, 1) as workers:
        answer = workers.submit(job.to_json()).result(timeout=60)
    [file] = (tmp_path / RECORDS).glob("*.jsonl")
    assert file.read_text() == answer


def test_a_closed_pool_starts_no_workers(job: Job, tmp_path: Path) -> None:
    pool = WorkerPool(tmp_path)
    pool.close()
    with pytest.raises(WorkerGone):
        pool.perform(job.to_json())
