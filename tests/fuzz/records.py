"""Records: a damaged file gives ResultsError, or records that a report can be made of.

An input is a file of records.
"""

from __future__ import annotations

import json
import os
import tempfile
from functools import cache
from pathlib import Path
from random import Random

from fuzz.mutations import change_bytes, change_json
from planlog.errors import PlanlogError
from planlog.experiment.records import RECORDS, Record, read_records
from planlog.report import report
from support.results_samples import sample_records

FORMATS = ["tex", "properties"]  # figures take seconds


@cache
def _lines() -> list[str]:
    sizes = {"tasks": 2, "seeds": 1, "networks": ((1, 8),), "epochs": 3, "settings": ("default",)}
    return [r.to_json() for r in sample_records(("ferry",), (("easy", 5, 29),), **sizes)]  # type: ignore[arg-type]


def make(rng: Random) -> bytes:
    lines = rng.sample(_lines(), rng.randint(1, min(6, len(_lines()))))
    kind = rng.random()
    if kind < 0.7:
        at = rng.randrange(len(lines))
        try:
            lines[at] = json.dumps(change_json(json.loads(lines[at]), rng))
        except RecursionError:
            lines[at] = "[" * 100_000
    elif kind < 0.8:
        lines += rng.choices(lines, k=2)
        lines[-1] = lines[-1][: rng.randrange(len(lines[-1]))]
        rng.shuffle(lines)
    text = "\n".join([*lines, ""]).encode(errors="surrogatepass")
    return change_bytes(text, rng) if kind >= 0.8 else text


def check(data: bytes) -> str:
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as name:
        folder = Path(name)
        (folder / RECORDS).mkdir()
        (folder / RECORDS / "worker.jsonl").write_bytes(data)
        try:
            records = list(read_records(folder))
        except PlanlogError as error:
            assert "worker.jsonl" in str(error), error
            return "refused"
        assert [Record.from_json(record.to_json()) for record in records] == records
        if records:
            report(folder, FORMATS)
    return "reported" if records else "empty"
