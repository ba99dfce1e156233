"""A worker process: does jobs one after the other, each in a process of its own.

    python -m planlog.experiment.worker_process RESULTS

Jobs are lines on the standard input. Each is executed in a fork of this process, so that nothing
is loaded twice; the fork is killed with all its children if it passes its limits. The record
becomes JSON exactly once: the line that is appended to a file which only this worker writes is
also the answer on the standard output. A worker ends when its input ends, since nobody waits for
it any more, and after a while without jobs.
"""

from __future__ import annotations

import gc
import os
import pickle
import select
import signal
import socket
import sys
import tempfile
import time
import traceback
import uuid
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from planlog.errors import PlanlogError
from planlog.experiment.configurations import PolicyConfiguration
from planlog.experiment.job_execution import execute_job
from planlog.experiment.jobs import Job
from planlog.experiment.process_limits import Limits, Stop, Usage, die_with_parent, watch
from planlog.experiment.records import RECORDS, Record, RecordFile, Status

IDLE_SECONDS = 60.0
# A job that keeps its limits itself reports more than one that is killed.
GRACE = Limits(seconds=5.0, memory=256 * 1024**2)
GRACE_FOR_PLANS = 60.0  # where plans are improved: all are validated once the time is up


class _Unwanted(Exception):
    """Nobody waits for the record any more."""


def main() -> int:
    folder = Path(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started us tells us when to end
    records: RecordFile | None = None
    while line := _next_line():
        job = Job.from_json(line)
        try:
            record = run(job, folder)
        except _Unwanted:
            return 1
        records = records or RecordFile(_own_file(folder))
        sys.stdout.write(records.add(record))
        sys.stdout.flush()
    return 0


def _next_line() -> bytes:
    """Return the next job; empty if the input ends or is silent for IDLE_SECONDS."""
    ready, _, _ = select.select([sys.stdin], [], [], IDLE_SECONDS)
    return sys.stdin.buffer.readline() if ready else b""


def _own_file(folder: Path) -> Path:
    return folder / RECORDS / f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}.jsonl"


def run(job: Job, folder: Path) -> Record:
    """Return the record of a job within its limits, whatever happens to its process."""
    started = datetime.now(UTC).isoformat(timespec="milliseconds")
    begin = time.monotonic()
    with tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as output:
        gc.freeze()  # the child does not visit, and so not copy, objects that exist now
        child = os.fork()
        if child == 0:
            _child(job, folder, answer, output)
        usage = watch(child, _with_grace(job), keep_on=_is_wanted)
        if not _is_wanted():
            raise _Unwanted
        if usage.returncode == 0 and usage.stopped is None:
            record = _received(answer)
        else:
            output.seek(0)
            record = _of_failure(job, usage, output.read().decode(errors="replace"))
            record = replace(record, seconds=time.monotonic() - begin)
    return replace(
        record,
        started=started,
        cpu_seconds=record.cpu_seconds or usage.cpu_seconds,
        memory=record.memory or usage.memory,
    )


def _is_wanted() -> bool:
    """Return whether the input is still open; no job is sent while one is done."""
    return not select.select([sys.stdin], [], [], 0)[0]


def _with_grace(job: Job) -> Limits:
    assert GRACE.seconds is not None
    assert GRACE.memory is not None
    improves = (
        isinstance(job.configuration, PolicyConfiguration) and job.configuration.seconds is not None
    )
    grace = GRACE_FOR_PLANS if improves else GRACE.seconds
    return Limits(
        None if job.limits.seconds is None else job.limits.seconds + grace,
        None if job.limits.memory is None else job.limits.memory + GRACE.memory,
    )


def _child(job: Job, folder: Path, answer: IO[bytes], output: IO[bytes]) -> None:
    """Execute the job, send the record, and exit."""
    code = 1
    try:
        die_with_parent()
        os.setsid()
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123 (a device)
            os.dup2(nothing.fileno(), 0)
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        _send(execute_job(job, folder), answer)
        code = 0
    except MemoryError:
        _send(job.record(Status.MEMORY, message="out of memory"), answer)
        code = 0
    except (PlanlogError, LookupError, ImportError) as error:
        os.write(2, str(error).encode())
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _send(record: Record, answer: IO[bytes]) -> None:
    """Send a record to the parent process, which runs the same program: a pickle suffices."""
    pickle.dump(record, answer)
    answer.flush()


def _received(answer: IO[bytes]) -> Record:
    answer.seek(0)
    record = pickle.load(answer)
    assert isinstance(record, Record)
    return record


def _of_failure(job: Job, usage: Usage, output: str) -> Record:
    if usage.stopped is Stop.TIME:
        return job.record(Status.TIME, message="stopped from outside")
    if usage.stopped is Stop.MEMORY:
        return job.record(Status.MEMORY, message="stopped from outside")
    ending = f"ended by signal {-usage.returncode}" if usage.returncode < 0 else "failed"
    return job.record(Status.FAILED, message=output.strip()[-2000:] or ending)


if __name__ == "__main__":
    sys.exit(main())
