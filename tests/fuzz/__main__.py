"""Fuzz all targets for some minutes; `make fuzz` runs this.

Every input depends on target, seed and number only, so a run can be repeated, or continued with
--first. Findings are saved, shrunk, in the output folder with the command that reproduces them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from fuzz import targets
from fuzz.shrink import shrink
from fuzz.worker import failure

TESTS = Path(__file__).parents[1]
HANG = 60.0  # seconds that one input may take on a busy machine
SHRINK = 60.0  # seconds to shrink an input that ends the process


@dataclass
class Result:
    """The inputs of a target and what they showed."""

    name: str
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    findings: list[Path] = field(default_factory=list)
    next: int = 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="make fuzz", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--minutes", type=float, default=5, help="of all targets together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--targets", default=",".join(targets.NAMES))
    parser.add_argument("--out", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--input", type=Path, help="check this file only; needs one --targets")
    options = parser.parse_args()
    names = options.targets.split(",")
    if options.input:
        return _repeat(names[0], options.input)
    shutil.rmtree(options.out, ignore_errors=True)
    seconds = 60 * options.minutes * options.jobs / len(names)

    def run(name: str) -> Result:
        return _run(name, options.seed, options.first, seconds, options.out.absolute())

    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(run, names))
    found = [file for result in results for file in result.findings]
    total = sum(result.counts.total() for result in results)
    print(f"{total:,} inputs, {len(found)} findings, seed {options.seed}")
    return 1 if found else 0


def _repeat(name: str, file: Path) -> int:
    error = failure(name, file.read_bytes())
    if error is None:
        print(f"{file}: nothing found")
        return 0
    sys.stdout.flush()
    raise error


def _run(name: str, seed: int, first: int, seconds: float, out: Path) -> Result:
    """Fuzz a target, in a new process after each crash."""
    place = out / name
    place.mkdir(parents=True)
    result = Result(name, next=first)
    start = time.monotonic()
    while (left := seconds - (time.monotonic() - start)) > 0.5:
        if not _work(result, seed, left, place):
            break
    result.seconds = time.monotonic() - start
    result.findings = sorted(place.glob("finding-????????????"))
    rate = 60 * result.counts.total() / result.seconds
    shown = ", ".join(f"{n:,} {word}" for word, n in result.counts.most_common(12))
    print(f"{name}: {result.counts.total():,} inputs, {rate:,.0f} per minute: {shown}", flush=True)
    for file in result.findings:
        first_line = file.with_suffix(".txt").read_text().partition("\n")[0]
        print(f"  {first_line}\n    {_command(name, file)}", flush=True)
    return result


def _work(result: Result, seed: int, seconds: float, place: Path) -> bool:
    """Run a worker to its end; return whether it crashed or hung, and another must go on."""
    beat = place / "beat"
    beat.touch()
    arguments = [result.name, seed, result.next, seconds, place]
    with (place / "output.txt").open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", "-m", "fuzz.worker", *map(str, arguments)],
            cwd=TESTS,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    hung = False
    while process.poll() is None:
        time.sleep(0.2)
        # The first input waits for imports, and for files that the target makes once.
        if time.time() - beat.stat().st_mtime > HANG:
            hung = True
            process.kill()
            process.wait()
    state = place / "state.json"
    if state.exists():
        values = json.loads(state.read_text())
        result.counts.update(values["counts"])
        result.next = values["next"]
        state.unlink()
    if process.returncode == 0:
        return False
    kind = "hang" if hung else f"worker ended with {process.returncode}"
    present = place / "input"
    data = present.read_bytes() if present.exists() else b""
    found = place / f"finding-{targets.digest(data)}"
    found.write_bytes(data)
    tail = (place / "output.txt").read_text(errors="replace")[-3000:]
    found.with_suffix(".txt").write_text(f"{kind}\n{tail}")
    result.counts["FINDING"] += 1
    if data:
        _shrink_crash(result.name, found)
    # Those since the last report are repeated, but for the one that ended it.
    result.next += 1
    return bool(data)


def _shrink_crash(name: str, file: Path) -> None:
    """Shrink an input that ends the process, each time in a new one."""

    def fails(candidate: bytes) -> bool:
        file.write_bytes(candidate)
        arguments = [sys.executable, "-m", "fuzz", "--targets", name, "--input", str(file)]
        try:
            done = subprocess.run(arguments, cwd=TESTS, capture_output=True, timeout=HANG)
        except subprocess.TimeoutExpired:
            return True
        return done.returncode < 0

    data = file.read_bytes()
    file.with_suffix(".original").write_bytes(data)
    smaller = shrink(data, fails, SHRINK) if fails(data) else data
    file.write_bytes(smaller)


def _command(name: str, file: Path) -> str:
    return f"make fuzz TARGETS={name} INPUT={file}"


if __name__ == "__main__":
    sys.exit(main())
