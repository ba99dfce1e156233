"""A worker process, which executes jobs one after the other, each in its own process.

    python -m planlog.experiment.worker_process RESULTS

Standard input holds pickled jobs. Each is executed in a fork of this process, so that modules are
imported once; a fork that exceeds its limits is killed with all its children. The fork serialises
the record to a line of JSON. The worker appends this line to a file that no other process writes,
and prints it on standard output, marked if it could not be appended. It exits at the end of its
input, or after a minute without jobs.
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
import traceback
import uuid
from dataclasses import replace
from pathlib import Path
from typing import IO

from planlog.errors import PlanlogError
from planlog.experiment import process_limits
from planlog.experiment.job_execution import execute_job
from planlog.experiment.jobs import Job
from planlog.experiment.process_limits import Limits, Stop, Usage
from planlog.experiment.records import RECORDS, UNWRITTEN, Record, Status, append_record, timestamp
from planlog.files import OutputError, explain

IDLE_SECONDS = 60.0
# A job that ends at its limits by itself can report more than one that is killed.
GRACE_SECONDS = 5.0
GRACE_MEMORY = 256 * 1024**2
GRACE_SECONDS_FOR_PLANS = 60.0  # to validate all plans of a local search


def main() -> None:
    folder = Path(sys.argv[1])
    name = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}.jsonl"
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process handles Ctrl-C
    while _has_input(IDLE_SECONDS):
        try:
            job = pickle.load(sys.stdin.buffer)
        except (EOFError, pickle.UnpicklingError):  # the caller has ended
            break
        record = run(job, folder)
        if record is None:
            break
        try:
            append_record(folder / RECORDS / name, record)
        except OutputError as error:
            record = f"{UNWRITTEN}{explain(error)}\t{record}"
        sys.stdout.write(f"{record}\n")
        sys.stdout.flush()


def _has_input(seconds: float = 0.0) -> bool:
    """Return whether standard input has a job or has ended within some seconds."""
    return bool(select.select([sys.stdin], [], [], seconds)[0])


def run(job: Job, folder: Path) -> str | None:
    """Execute a job within its limits, and return its record as a line of JSON.

    Return None if the input ends meanwhile: the caller no longer waits for the record. No other
    job arrives before.
    """
    started = timestamp()
    with tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as output:
        gc.freeze()  # otherwise collections in the child would copy the pages of all objects
        child = os.fork()
        if child == 0:
            _child(job, folder, started, answer, output)
        usage = process_limits.watch(child, _with_grace(job), is_cancelled=_has_input)
        if _has_input():
            return None
        ended = usage.returncode == 0 and usage.stopped is None
        file = answer if ended else output
        file.seek(0)
        text = file.read().decode(errors="replace")
    return text if ended else _failure(job, started, usage, text).to_json()


def _with_grace(job: Job) -> Limits:
    limits = job.limits
    grace = GRACE_SECONDS_FOR_PLANS if job.configuration.improves else GRACE_SECONDS
    return Limits(
        None if limits.seconds is None else limits.seconds + grace,
        None if limits.memory is None else limits.memory + GRACE_MEMORY,
    )


def _child(job: Job, folder: Path, started: str, answer: IO[bytes], output: IO[bytes]) -> None:
    """Execute the job, write its record, and exit."""
    code = 1
    try:
        process_limits.die_with_parent()
        os.setsid()
        with open(os.devnull, "rb") as nothing:  # noqa: PTH123 (a device)
            os.dup2(nothing.fileno(), 0)
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        try:
            record = execute_job(job, folder)
        except MemoryError:
            record = job.record(Status.MEMORY, message="out of memory")
        cpu_seconds, memory = process_limits.own_usage()
        record = replace(
            record,
            started=started,
            cpu_seconds=record.cpu_seconds or cpu_seconds,  # planners report their own
            memory=record.memory or memory,
        )
        answer.write(record.to_json().encode())
        answer.flush()
        code = 0
    except (PlanlogError, LookupError, ImportError) as error:
        os.write(2, str(error).encode())
    except OSError as error:
        os.write(2, explain(error).encode())
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _failure(job: Job, started: str, usage: Usage, output: str) -> Record:
    """Return the record of a job that was killed or that failed."""
    status, message = Status.FAILED, output.strip()[-2000:]
    if usage.stopped in (Stop.TIME, Stop.MEMORY):
        status, message = Status(usage.stopped.value), "stopped from outside"
    elif not message:
        message = "failed"
        if usage.returncode < 0:
            message = f"ended by signal {-usage.returncode}"
    return job.record(
        status,
        message=message,
        started=started,
        seconds=usage.seconds,
        cpu_seconds=usage.cpu_seconds,
        memory=usage.memory,
    )


if __name__ == "__main__":
    main()
