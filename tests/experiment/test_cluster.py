"""Experiments on a Dask cluster: a real scheduler and real workers, one of which dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from planlog.experiment.records import Status, read_records
from support.waiting import wait_until


def start(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", f"distributed.cli.{module}", "--host", "127.0.0.1", *arguments]
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of a scheduler, and its two workers."""
    file = tmp_path / "scheduler.json"
    scheduler = start(
        "dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)
    )
    workers: list[subprocess.Popen[bytes]] = []
    try:
        assert wait_until(file.exists)
        address = json.loads(file.read_text())["address"]
        for number in (1, 2):
            place = str(tmp_path / f"worker-{number}")
            options = ["--nthreads", "1", "--no-nanny", "--no-dashboard"]
            workers.append(start("dask_worker", address, *options, "--local-directory", place))
        yield address, workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


@pytest.mark.slow
def test_all_runs_complete_though_a_worker_is_killed(cluster, tmp_path: Path) -> None:
    address, workers = cluster
    out = tmp_path / "results"
    command = [
        sys.executable, "-m", "planlog", "experiment", "-o", str(out), "--cluster", address,
        "--domains", "ferry,blocksworld", "--splits", "easy", "--count", "10", "--layers", "none",
        "--planners", "exact", "--shipped", "--json",
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    records = out / "records"
    # Both have done something, and there is much to do.
    assert wait_until(lambda: records.exists() and len(list(records.glob("*.jsonl"))) == 2)
    os.kill(workers[0].pid, signal.SIGKILL)
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors.decode()
    answer = json.loads(output)
    assert answer["outcomes"] == {"solved": 2 * 10 * (3 + 1 + 1)}
    found = list(read_records(out))
    assert len(found) == answer["runs"]
    assert {record.status for record in found} == {Status.SOLVED}
    by_file = Counter(
        {file.name: len(file.read_bytes().splitlines()) for file in records.iterdir()}
    )
    assert min(by_file.values()) < max(by_file.values())  # one has done the rest
    assert b"Traceback" not in errors
