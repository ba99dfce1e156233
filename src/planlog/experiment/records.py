"""Records of an experiment: one for each run, stored as one line of JSON in an append-only file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from enum import Enum
from itertools import count
from pathlib import Path
from typing import Any, Self

from planlog.costs import LARGEST, Cost, cost_from_json
from planlog.errors import PlanlogError, clip
from planlog.files import append_line
from planlog.json_text import read_json, to_json

RECORDS = "records"  # subfolder of the results folder
# Begins the answer of a worker that could not write a record: this, the reason, a tab, the record.
UNWRITTEN = "unwritten: "


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
    cost: Cost | None = None
    optimal: bool = False  # proved by the planner
    lower_bound: Cost | None = None  # on the cost of every plan
    # Cost of every plan found and the seconds until then; costs decrease.
    plans: tuple[tuple[Cost, float], ...] = ()
    seconds: float = 0.0  # wall-clock
    cpu_seconds: float = 0.0  # of all processes
    memory: int = 0  # peak resident bytes
    started: str = ""  # UTC, ISO 8601
    attempt: int = 0  # number of earlier records of this run that this one replaces
    message: str = ""
    # Everything needed to repeat the run: configuration, limits, files, hashes, versions, machine.
    details: Mapping[str, Any] = field(default_factory=dict)
    # Trainings only: loss, accuracy and F1 by epoch (lists), seconds, and the training data.
    training: Mapping[str, Any] | None = None

    def to_json(self) -> str:
        """Return the record as one line."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        values |= {"family": self.family.value, "status": self.status.value}
        empty = (None, "")
        return to_json({k: v for k, v in values.items() if k in _REQUIRED or v not in empty})

    @classmethod
    def from_json(cls, line: str | bytes) -> Self:
        """Return the record of a line. Raises ValueError, which names what is wrong with it."""
        values = read_json(line)
        if not isinstance(values, dict):
            raise ValueError("not a record: expected an object")
        values = {name: value for name, value in values.items() if value is not None}
        for name, expected in _SCHEMA.items():
            if name in values and not expected.accepts(values[name]):
                raise ValueError(f"not a record: '{name}' must be {expected.text}")
        missing = [name for name in _REQUIRED if name not in values]
        if missing:
            raise ValueError(f"not a record: '{missing[0]}' is missing")
        values["family"] = Family(values["family"])
        values["status"] = Status(values["status"])
        for name in ("cost", "lower_bound"):
            if name in values:
                values[name] = cost_from_json(values[name])
        plans = values.get("plans", ())
        values["plans"] = tuple((cost_from_json(cost), at) for cost, at in plans)
        return cls(**{key: value for key, value in values.items() if key in _SCHEMA})


@dataclass(frozen=True)
class _Expected:
    """The values of a field, as a message names them."""

    text: str
    accepts: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**63


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and _is_number(value) and value >= 0


def _is_cost(value: Any) -> bool:
    try:
        return -LARGEST <= cost_from_json(value) <= LARGEST
    except ValueError:
        return False


def _is_pair(value: Any) -> bool:
    """Return whether the value is a cost and the seconds until its plan was found."""
    return (
        isinstance(value, list) and len(value) == 2 and _is_cost(value[0]) and _is_number(value[1])
    )


def _is_details(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    parts = [value.get(name) for name in ("configuration", "limits", "machine")]
    if not all(part is None or isinstance(part, dict) for part in parts):
        return False
    configuration, limits, _ = (part or {} for part in parts)
    numbers = [configuration.get(name) for name in ("layers", "width", "seconds")]
    return all(number is None or _is_number(number) for number in (*numbers, *limits.values()))


def _is_training(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    lists = [value.get(name) for name in ("loss", "accuracy", "f1", "objects")]
    return all(
        each is None
        or (isinstance(each, list) and all(number is None or _is_number(number) for number in each))
        for each in lists
    )


_TEXT = _Expected("a text", lambda value: isinstance(value, str))
_COUNT = _Expected("a whole number from 0 on", _is_count)
_COST = _Expected("a cost", _is_cost)
_SECONDS = _Expected("a number from 0 on", lambda value: _is_number(value) and value >= 0)

_SCHEMA = {
    **dict.fromkeys(("run", "domain", "planner", "split", "task", "started", "message"), _TEXT),
    "family": _Expected("a kind of planner", lambda value: value in [f.value for f in Family]),
    "status": _Expected("an outcome of a run", lambda value: value in [s.value for s in Status]),
    **dict.fromkeys(("objects", "seed", "length", "memory", "attempt"), _COUNT),
    **dict.fromkeys(("cost", "lower_bound"), _COST),
    **dict.fromkeys(("seconds", "cpu_seconds"), _SECONDS),
    "optimal": _Expected("true or false", lambda value: isinstance(value, bool)),
    "plans": _Expected(
        "pairs of cost and seconds",
        lambda value: isinstance(value, list) and all(map(_is_pair, value)),
    ),
    "details": _Expected("an object, with numbers for sizes and limits", _is_details),
    "training": _Expected("an object, with lists of numbers", _is_training),
}
_REQUIRED = ("run", "domain", "planner", "family", "status")
_BEGINNING = b'{"run": "'  # first bytes of every record
_MOST_BYTES = 64 * 1024**2  # of a line


def timestamp() -> str:
    """Return the current time as records store it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def append_record(file: Path, line: str) -> None:
    """Append the line of a record to a file that no other process writes, and flush it to disk."""
    append_line(file, line, is_whole=_is_record)


def _is_record(line: bytes) -> bool:
    try:
        Record.from_json(line)
    except ValueError:
        return False
    return True


def read_records(folder: Path) -> Iterator[Record]:
    """Yield the records of a results folder; of several records of a run, the last attempt.

    Skips an unfinished last line of a file, which an experiment is writing or a killed one has
    left. Raises ResultsError with file and line for anything else that is not a record.
    """
    files = sorted((folder / RECORDS).glob("*.jsonl"))
    if not files:
        raise ResultsError(f"{folder}: no results here: there is no file {RECORDS}/*.jsonl")
    records: dict[str, Record] = {}
    for file in files:
        # Within a file, later is newer, whatever the clock said.
        own: dict[str, Record] = {}
        for record in _read_file(file):
            if record.run not in own or own[record.run].attempt <= record.attempt:
                own[record.run] = record
        for run, record in own.items():
            before = records.get(run)
            if before is None or _age(before) <= _age(record):
                records[run] = record
    yield from records.values()


def _age(record: Record) -> tuple[int, str]:
    """Order the records of a run in different files; their clocks decide last."""
    return record.attempt, record.started


def _read_file(file: Path) -> Iterator[Record]:
    if not file.is_file():
        raise ResultsError(f"{file}: not a file")
    with file.open("rb") as stream:
        for number in count(1):
            line = stream.readline(_MOST_BYTES)
            if not line:
                return
            if not line.strip():
                continue
            try:
                if len(line) == _MOST_BYTES:
                    raise ValueError(f"more than {_MOST_BYTES:,} bytes in a line")
                yield Record.from_json(line)
            except ValueError as error:
                if not line.endswith(b"\n") and _is_unfinished(line, error):
                    return
                reason = clip("damaged: " * isinstance(error, json.JSONDecodeError) + str(error))
                raise ResultsError(
                    f"{file}:{number}: {reason}; remove this line to repeat its run"
                ) from None


def _is_unfinished(line: bytes, error: ValueError) -> bool:
    """Return whether a last line is the beginning of a record, rather than something else."""
    cut = isinstance(error, json.JSONDecodeError | UnicodeDecodeError)
    return cut and line[: len(_BEGINNING)] == _BEGINNING[: len(line)]
