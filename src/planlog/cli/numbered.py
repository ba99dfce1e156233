"""Files that come one after the other, each better than the last: NAME.1, NAME.2, …"""

from __future__ import annotations

import re
from pathlib import Path


def numbered(file: Path) -> dict[int, Path]:
    """All files NAME.N beside a file NAME (which need not exist), by their numbers."""
    pattern = re.compile(re.escape(file.name) + r"\.([1-9][0-9]*)")
    found = {}
    for other in file.parent.iterdir():
        match = pattern.fullmatch(other.name)
        if match and other.is_file():
            found[int(match[1])] = other
    return found


def number(file: Path, value: int) -> Path:
    """The file NAME.N of a file NAME."""
    return file.with_name(f"{file.name}.{value}")


def remove(file: Path) -> None:
    """Remove what an earlier run has left: NAME, and every NAME.N."""
    for other in (file, *numbered(file).values()):
        if other.is_file():  # not /dev/stdout, say
            other.unlink()
