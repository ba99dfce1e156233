"""Real processes of the command line: their exit code, duration and peak memory."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Ended:
    """The end of a process."""

    code: int
    seconds: float  # since the start, or since the signal if one was sent
    peak: int  # resident memory in bytes
    out: str
    err: str


def run_to_end(
    *arguments: str | Path | float,
    folder: Path,
    number: signal.Signals | None = None,
    delay: float = 0,
    before: str = "",
) -> Ended:
    """Run `planlog`, and send it a signal after a delay; it must end within a minute.

    `before` is code that the process runs first, such as a patch.
    """
    start = ["-m", "planlog"]
    if before:
        start = ["-c", f"import planlog.__main__\n{before}\nplanlog.__main__.run()"]
    out, err = folder / "standard-output", folder / "standard-error"
    with out.open("wb") as output, err.open("wb") as errors:
        begin, peak = time.monotonic(), 0
        process = subprocess.Popen(
            [sys.executable, *start, *map(str, arguments)], stdout=output, stderr=errors
        )
        try:
            if number is not None:
                time.sleep(delay)
                begin = time.monotonic()
                process.send_signal(number)
            while True:
                peak = max(peak, _peak(process.pid))
                if process.poll() is not None:
                    break
                assert time.monotonic() < begin + 60, arguments
                time.sleep(0.002)
        except BaseException:
            process.kill()
            process.wait()
            raise
        seconds = time.monotonic() - begin
    text = err.read_text(errors="replace")
    return Ended(process.returncode, seconds, peak, out.read_text(errors="replace"), text)


def _peak(process: int) -> int:
    """Return the peak of the resident memory so far; the parent's counts in `ru_maxrss`."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s*(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0
