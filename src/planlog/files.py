"""Atomic writing of files: a file appears complete or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file that is never seen unfinished."""
    data = content.encode() if isinstance(content, str) else content
    if path.exists() and not path.is_file():
        # A pipe or a device (/dev/stdout) cannot be replaced, only written to.
        path.write_bytes(data)
        return
    # In the same folder, since a file can only be renamed within its file system; through
    # symbolic links, since a rename would replace the link itself.
    path = path.resolve()
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
