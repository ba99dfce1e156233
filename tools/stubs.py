"""Write src/planlog/_core.pyi, the type stubs of the compiled core, with nanobind's generator.

The generator knows the types in the bindings' C++ signatures; tools/stub_patterns.txt adds
the rest.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STUBS = ROOT / "src" / "planlog" / "_core.pyi"
PATTERNS = ROOT / "tools" / "stub_patterns.txt"
# The generator also writes the memory layout of arrays, which no type checker uses.
ANNOTATED_ARRAY = re.compile(r"Annotated\[(NDArray\[numpy\.\w+\]), dict\([^\]]*?\)\]")


def generate() -> str:
    """Return the stubs of the module that is installed, formatted."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "_core.pyi"
        stubgen = ["nanobind.stubgen", "-q", "-m", "planlog._core", "-p", PATTERNS, "-o", file]
        run([sys.executable, "-m", *stubgen])
        text = ANNOTATED_ARRAY.sub(r"\1", file.read_text())
        text = re.sub(r'^"""\n(.*)\n"""\n', r'"""\1"""\n', text)
    ruff, options = Path(sys.executable).with_name("ruff"), ["--stdin-filename", STUBS, "-"]
    text = run([ruff, "check", "-q", "--fix", "--select", "F401,I", *options], text)
    return run([ruff, "format", *options], text)


def run(command: list[object], text: str | None = None) -> str:
    """Return the output of a command that must succeed."""
    return subprocess.run(
        [str(part) for part in command], input=text, capture_output=True, text=True, check=True
    ).stdout


if __name__ == "__main__":
    STUBS.write_text(generate())
