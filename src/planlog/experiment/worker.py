"""A worker: a process that does jobs one after the other, each in a process of its own.

    python -m planlog.experiment.worker RESULTS

Jobs come as lines on the standard input; each is done in a copy of this process (a fork, so that
nothing has to be loaded again), which is ended with all its children if it passes its limits. The
record is added to a file that only this worker writes, and then printed as the answer. A worker
whose input ends, since nobody waits for it any more, ends at once; one without work after a while.
"""

from __future__ import annotations

import gc
import os
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
from planlog.experiment.jobs import Job
from planlog.experiment.work import do
from planlog.processes import Limits, Stop, Usage, die_with_parent, watch
from planlog.results import RECORDS, Record, RecordFile, Status

IDLE_SECONDS = 60.0
# A job keeps its limits itself, and can say more than one that was ended from outside.
GRACE = Limits(seconds=5.0, memory=256 * 1024**2)
GRACE_FOR_PLANS = 60.0  # of what improves plans: it validates them all once the time is up


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
        records.add(record)
        sys.stdout.write(record.to_json() + "\n")
        sys.stdout.flush()
    return 0


def _next_line() -> bytes:
    """The next job; empty if there is none for a while, or never again."""
    ready, _, _ = select.select([sys.stdin], [], [], IDLE_SECONDS)
    return sys.stdin.buffer.readline() if ready else b""


def _own_file(folder: Path) -> Path:
    return folder / RECORDS / f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}.jsonl"


def run(job: Job, folder: Path) -> Record:
    """Do a job within its limits; whatever happens, there is a record of it."""
    started = datetime.now(UTC).isoformat(timespec="milliseconds")
    begin = time.monotonic()
    with tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as output:
        gc.freeze()  # what is there now is not looked at, and so not copied, in the child
        child = os.fork()
        if child == 0:
            _child(job, folder, answer, output)
        usage = watch(child, _with_grace(job), keep_on=_is_wanted)
        if not _is_wanted():
            raise _Unwanted
        answer.seek(0)
        text = answer.read()
        if text.endswith(b"\n"):
            record = Record.from_json(text)
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
    """While a job is done the input can only end."""
    return not select.select([sys.stdin], [], [], 0)[0]


def _with_grace(job: Job) -> Limits:
    assert GRACE.seconds is not None
    assert GRACE.memory is not None
    grace = GRACE_FOR_PLANS if job.improves else GRACE.seconds
    return Limits(
        None if job.seconds is None else job.seconds + grace,
        None if job.memory is None else job.memory + GRACE.memory,
    )


def _child(job: Job, folder: Path, answer: IO[bytes], output: IO[bytes]) -> None:
    """Do the job, answer, and end; never returns."""
    code = 1
    try:
        die_with_parent()
        os.setsid()
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123 (a device)
            os.dup2(nothing.fileno(), 0)
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        answer.write(do(job, folder).to_json().encode() + b"\n")
        answer.flush()
        code = 0
    except MemoryError:
        answer.write(job.record(Status.MEMORY, message="out of memory").to_json().encode() + b"\n")
        answer.flush()
        code = 0
    except (PlanlogError, LookupError, ImportError) as error:
        os.write(2, str(error).encode())
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _of_failure(job: Job, usage: Usage, output: str) -> Record:
    if usage.stopped is Stop.TIME:
        return job.record(Status.TIME, message="stopped from outside")
    if usage.stopped is Stop.MEMORY:
        return job.record(Status.MEMORY, message="stopped from outside")
    ending = f"ended by signal {-usage.returncode}" if usage.returncode < 0 else "failed"
    return job.record(Status.FAILED, message=output.strip()[-2000:] or ending)


if __name__ == "__main__":
    sys.exit(main())
