"""Records of an experiment: one for each run, stored as one line of JSON in an append-only file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any, Self

from planlog.errors import PlanlogError

RECORDS = "records"  # subfolder of the results folder


class ResultsError(PlanlogError):
    """A results folder without records, or with a file that no experiment writes."""


class Status(Enum):
    """Outcome of a run."""

    SOLVED = "solved"
    TRAINED = "trained"
    UNSOLVABLE = "unsolvable"  # proved
    NO_PLAN = "no plan"  # the run ended by itself without a plan
    TIME = "time limit"
    MEMORY = "memory limit"
    INVALID = "invalid plan"  # rejected by the validator
    FAILED = "failed"  # an error, which the message describes


class Family(Enum):
    """Kind of planner."""

    RULES = "rules"  # a policy that draws actions uniformly
    SEARCH = "search"  # action elimination or local search on plans of the rules
    LEARNED = "learned"  # a policy with a trained network
    PLANNER = "planner"  # an external planner
    EXACT = "exact"  # an exact method for one domain


@dataclass(frozen=True)
class Record:
    """The result of one run: a planner on a task, or the training of a model (without a task)."""

    run: str  # id of the run: a hash of everything that its result depends on
    domain: str
    planner: str  # such as rules, lama-first, lrnn-1-16-default
    family: Family
    status: Status
    split: str = ""  # such as easy
    task: str = ""  # such as p01
    objects: int | None = None  # of the task
    seed: int | None = None
    length: int | None = None  # actions of the plan
    cost: float | None = None
    optimal: bool = False  # proved by the planner
    lower_bound: float | None = None  # on the cost of every plan
    # Cost of every plan found and the seconds until then; costs decrease.
    plans: tuple[tuple[float, float], ...] = ()
    seconds: float = 0.0  # wall-clock
    cpu_seconds: float = 0.0  # of all processes
    memory: int = 0  # peak resident bytes
    started: str = ""  # UTC, ISO 8601
    message: str = ""
    # Everything needed to repeat the run: configuration, limits, files, hashes, versions, machine.
    details: Mapping[str, Any] = field(default_factory=dict)
    # Trainings only: loss, accuracy and F1 by epoch (lists), seconds, and the training data.
    training: Mapping[str, Any] | None = None

    def to_json(self) -> str:
        """Return the record as one line."""
        values = {name: value for name, value in asdict(self).items() if value not in (None, "")}
        return json.dumps(values | {"family": self.family.value, "status": self.status.value})

    @classmethod
    def from_json(cls, line: str | bytes) -> Self:
        """Return the record of a line; raise ValueError for any other text."""
        values = json.loads(line)
        if not isinstance(values, dict):
            raise ValueError("not an object")
        try:
            values["family"] = Family(values["family"])
            values["status"] = Status(values["status"])
            values["plans"] = tuple((cost, at) for cost, at in values.get("plans", ()))
            return cls(**{key: value for key, value in values.items() if key in _FIELDS})
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a record: {error}") from None


_BEGINNING = b'{"run": "'  # first bytes of every record
_FIELDS = frozenset(field.name for field in fields(Record))


def timestamp() -> str:
    """Return the current time as records store it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def append_line(file: Path, line: str) -> None:
    """Append the line of a record to a file that no other process writes, and flush it to disk."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab+") as records:
        if records.tell():
            records.seek(-1, os.SEEK_END)
            if records.read(1) != b"\n":  # a killed process has left a part of a line
                records.write(b"\n")
        records.write(line.encode() + b"\n")
        records.flush()
        os.fsync(records.fileno())


def read_records(folder: Path) -> Iterator[Record]:
    """Yield the records of a results folder; of several records of a run, the one started last.

    Incomplete lines, which a killed process leaves, are skipped.
    """
    files = sorted((folder / RECORDS).glob("*.jsonl"))
    if not files:
        raise ResultsError(f"{folder}: no results here: there is no file {RECORDS}/*.jsonl")
    records: dict[str, Record] = {}
    for file in files:
        for number, line in enumerate(file.read_bytes().split(b"\n"), start=1):
            if not line.strip():
                continue
            try:
                record = Record.from_json(line)
            except ValueError as error:
                if isinstance(error, json.JSONDecodeError) and _BEGINNING.startswith(line[:8]):
                    continue  # an incomplete line
                raise ResultsError(f"{file}:{number}: {error}") from None
            before = records.get(record.run)
            if before is None or before.started <= record.started:
                records[record.run] = record
    yield from records.values()
