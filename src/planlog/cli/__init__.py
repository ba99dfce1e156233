"""The command line: the only package that parses arguments, prints and exits."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    # Imported here: a process installs its signal handlers before anything that takes time.
    from planlog.cli import app

    return app.main(arguments)
