"""Diagnostics of the core's PDDL parser, with the source lines that they point at."""

from __future__ import annotations

from planlog import _core
from planlog.errors import Diagnostic, PddlError, Severity, UnsupportedError


def warnings_or_error(
    content: bytes,
    file: str,
    found: list[tuple[_core.Severity, int, int, int, str, str]],
    failed: bool,
) -> tuple[Diagnostic, ...]:
    """Return the parser's warnings. Raises PddlError or UnsupportedError if it failed."""
    if not found and not failed:
        return ()
    lines = content.split(b"\n")
    diagnostics = []
    for severity, line, column, length, message, hint in found:
        source = lines[line - 1] if line <= len(lines) else b""
        # The core counts bytes, a Diagnostic characters.
        before = source[: column - 1].decode(errors="replace")
        shown = source[column - 1 : column - 1 + length].decode(errors="replace")
        diagnostics.append(
            Diagnostic(
                file=file,
                line=line,
                column=len(before) + 1,
                message=message,
                hint=hint,
                source=source.decode(errors="replace").rstrip("\r"),
                length=len(shown),
                severity=Severity[severity.name],
            )
        )
    if failed:
        # A file is unsupported only if nothing else is wrong with it.
        unsupported = all(d.severity is not Severity.ERROR for d in diagnostics)
        raise (UnsupportedError if unsupported else PddlError)(diagnostics)
    return tuple(diagnostics)
