"""Results of experiments: one record for each run, kept as lines of JSON that are only added to."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import Enum
from pathlib import Path
from typing import Any, Self

from planlog.errors import PlanlogError

RECORDS = "records"  # the folder of the records, in that of the results


class ResultsError(PlanlogError):
    """A folder without results, or with what no experiment writes."""


class Status(Enum):
    """How a run ended."""

    SOLVED = "solved"
    TRAINED = "trained"
    UNSOLVABLE = "unsolvable"  # proved
    NO_PLAN = "no plan"  # it ended by itself, without one
    TIME = "time limit"
    MEMORY = "memory limit"
    INVALID = "invalid plan"  # refused by our validator
    FAILED = "failed"  # did not do its work; the message says why


class Family(Enum):
    """What kind of thing makes the plans."""

    RULES = "rules"  # a policy, actions drawn uniformly
    SEARCH = "search"  # around the plans of the rules
    LEARNED = "learned"  # a policy with a trained network
    PLANNER = "planner"  # somebody else's
    EXACT = "exact"  # ours, for one domain


@dataclass(frozen=True)
class Record:
    """One run: a planner on a task, or the training of a model (which has no task)."""

    run: str  # equal for two runs only if they are the same run; see `details`
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
    optimal: bool = False  # the planner has proved that no plan costs less
    lower_bound: float | None = None  # no plan costs less than this
    # Cost of every plan on the way, and the seconds after which it was there; the last is the best.
    plans: tuple[tuple[float, float], ...] = ()
    seconds: float = 0.0  # from start to end
    cpu_seconds: float = 0.0  # of all processes
    memory: int = 0  # most bytes resident at once
    started: str = ""  # UTC, ISO 8601
    message: str = ""
    # What is needed to repeat it: configuration, limits, files, hashes, versions, machine.
    details: Mapping[str, Any] = field(default_factory=dict)
    # Only of trainings: loss, accuracy, f1 by epochs (lists), seconds, and what was learned from.
    training: Mapping[str, Any] | None = None

    def to_json(self) -> str:
        """One line."""
        values = {name: value for name, value in asdict(self).items() if value not in (None, "")}
        return json.dumps(values | {"family": self.family.value, "status": self.status.value})

    @classmethod
    def from_json(cls, line: str | bytes) -> Self:
        """The record of a line; raises ValueError for anything else."""
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


_BEGINNING = b'{"run": "'  # of the line of a record
_FIELDS = frozenset(field.name for field in fields(Record))


class RecordFile:
    """A file that records are added to, by this process only."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._file = file.open("ab")
        # What a process that was killed has left of its last line is no record.
        if self._file.tell() and not file.read_bytes().endswith(b"\n"):
            self._file.write(b"\n")

    def add(self, record: Record) -> str:
        """Append a record and return its line; when this returns, the line is on the disk."""
        line = record.to_json() + "\n"
        self._file.write(line.encode())
        self._file.flush()
        os.fsync(self._file.fileno())
        return line

    def close(self) -> None:
        self._file.close()


def read_records(folder: Path) -> Iterator[Record]:
    """All records of a results folder; of runs that are there twice, only those begun last.

    Lines that were cut off by a kill are passed over.
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
                    continue  # it has been cut off
                raise ResultsError(f"{file}:{number}: {error}") from None
            before = records.get(record.run)
            if before is None or before.started <= record.started:
                records[record.run] = record
    yield from records.values()
