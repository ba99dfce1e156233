"""Faults: system calls on files that fail at a chosen moment, in a process of its own."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

SHIM = Path(__file__).parents[1] / "faults" / "shim.c"

# Without a compiler, the same functions are replaced in Python: these are all that Planlog uses.
SEAM = """
import os
def _watch(name, path_of):
    real = getattr(os, name)
    def call(*arguments, **options):
        path = str(path_of(*arguments))
        if path.startswith(os.environ["FAULT_ROOT"]):
            descriptor = open_(os.environ["FAULT_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            write_(descriptor, b".")
            count = os.lseek(descriptor, 0, os.SEEK_CUR)
            os.close(descriptor)
            failing = int(os.environ["FAULT_NUMBER"])
            later = "FAULT_FOREVER" in os.environ and count > failing
            if failing and (count == failing or later):
                number = int(os.environ["FAULT_ERRNO"])
                raise OSError(number, os.strerror(number))
        return real(*arguments, **options)
    setattr(os, name, call)
open_, write_ = os.open, os.write
def _of(descriptor, *_):
    return os.readlink(f"/proc/self/fd/{descriptor}")
_watch("open", lambda path, flags, *_: path if flags & (os.O_CREAT | os.O_WRONLY) else "")
for name in ("write", "pwrite", "fsync", "ftruncate", "fchmod"):
    _watch(name, _of)
_watch("replace", lambda source, target: target)
_watch("mkdir", lambda path, *_: path)
"""


@cache
def _injection() -> dict[str, str]:
    """Return the environment that brings the faults into a process."""
    folder = Path(tempfile.mkdtemp(prefix="planlog-faults-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    shim = folder / "shim.so"
    if compiler and "PLANLOG_FAULTS_SEAM" not in os.environ:
        built = subprocess.run([compiler, "-shared", "-fPIC", "-o", shim, SHIM, "-ldl"])
        if built.returncode == 0:
            return {"LD_PRELOAD": str(shim)}
    (folder / "sitecustomize.py").write_text(SEAM)
    return {"PYTHONPATH": str(folder)}


def run_with_fault(
    root: Path,
    arguments: list[str],
    number: int,
    error: int = 0,
    *,
    forever: bool = False,
) -> tuple[subprocess.CompletedProcess[str], int]:
    """Run `planlog`; its system call of this number below `root` fails.

    Number 0 lets all of them succeed. Returns the result and the number of calls.
    """
    with tempfile.TemporaryDirectory() as other:
        log = Path(other) / "log"
        log.touch()
        faults = {
            **_injection(),
            "FAULT_ROOT": str(root),
            "FAULT_LOG": str(log),
            "FAULT_NUMBER": str(number),
            "FAULT_ERRNO": str(error),
            "TMPDIR": other,  # so that saved results do not stay
        } | ({"FAULT_FOREVER": "1"} if forever else {})
        result = subprocess.run(
            [sys.executable, "-m", "planlog", *arguments],
            capture_output=True,
            text=True,
            timeout=120,
            env=os.environ | faults,
        )
        saved = [file for file in Path(other).iterdir() if file.name.startswith("planlog-")]
        stored = [*root.rglob("*.jsonl"), *Path(other).glob("*.jsonl")]
        records = "".join(file.read_text() for file in stored)
        for file in saved:  # a message names it, or the record of a run in an experiment
            assert str(file) in result.stderr + records, "a result is saved in silence"
            assert file.stat().st_size > 0
        return result, log.stat().st_size
