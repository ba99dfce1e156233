"""One process of a fuzz run: inputs of a target, one after the other, until time is up.

The present input stands in a file, so that the runner has it if this process crashes or hangs.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from fuzz import targets
from fuzz.shrink import shrink

SHRINK = 15.0  # seconds to shrink a finding
MEMORY = 4 * 1024**3  # bytes of address space; a small input must not need more


def signature(error: BaseException) -> str:
    """Return what two exceptions have in common if they are the same finding."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "planlog" in f.filename or "fuzz" in f.filename] or frames
    message = "".join(c for c in str(error)[:60] if not c.isdigit())
    return f"{type(error).__name__} {Path(own[-1].filename).name}:{own[-1].name} {message}"


def failure(name: str, data: bytes) -> BaseException | None:
    """Check an input, and return the exception that it raises."""
    try:
        targets.target(name).check(data)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return error
    return None


def work(name: str, seed: int, first: int, seconds: float, place: Path) -> None:
    """Check inputs; `place` gets the present one, the counts and the findings."""
    if "asan" not in os.environ.get("LD_PRELOAD", ""):  # sanitizers reserve terabytes
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    checked = targets.target(name)
    deadline = time.monotonic() + seconds
    counts: Counter[str] = Counter()
    seen: set[str] = set()
    number = first
    next_report = 0.0
    with (place / "input").open("wb", buffering=0) as present:
        while time.monotonic() < deadline:
            data = targets.input_number(name, seed, number)
            present.seek(0)
            present.truncate()
            present.write(data)
            (place / "beat").touch()
            try:
                counts[checked.check(data)] += 1
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                counts["FINDING"] += 1
                kind = signature(error)
                if kind not in seen:
                    seen.add(kind)
                    found = place / f"finding-{targets.digest(data)}"
                    found.write_bytes(data)
                    text = "".join(traceback.format_exception(error))
                    found.with_suffix(".txt").write_text(f"{kind}\n{text}", errors="replace")
            number += 1
            if time.monotonic() > next_report or time.monotonic() > deadline:
                next_report = time.monotonic() + 1
                state = {"next": number, "counts": counts}
                (place / "state.json").write_text(json.dumps(state))
        (place / "state.json").write_text(json.dumps({"next": number, "counts": counts}))
    for file in place.glob("finding-????????????"):
        _shrink(name, file, place / "beat")


def _shrink(name: str, file: Path, beat: Path) -> None:
    """Shrink a finding in place, and keep the original beside it."""
    data = file.read_bytes()
    kind = file.with_suffix(".txt").read_text().partition("\n")[0]

    def fails(candidate: bytes) -> bool:
        beat.touch()
        found = failure(name, candidate)
        return found is not None and signature(found) == kind

    if not file.with_suffix(".original").exists() and fails(data):
        file.with_suffix(".original").write_bytes(data)
        file.write_bytes(shrink(data, fails, SHRINK))


if __name__ == "__main__":
    _name, _seed, _first, _seconds, _place = sys.argv[1:]
    work(_name, int(_seed), int(_first), float(_seconds), Path(_place))
