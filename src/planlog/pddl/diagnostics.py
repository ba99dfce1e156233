"""Diagnostics of the core's PDDL parser, with the source lines that they point at."""

from __future__ import annotations

from typing import TypeVar

from planlog import _core
from planlog.errors import Diagnostic, PddlError, Severity, UnsupportedError

_Found = list[tuple[_core.Severity, int, int, int, str, str]]
_Parsed = TypeVar("_Parsed", _core.Domain, _core.Task)


def with_warnings(
    parsed: _Parsed | None, found: _Found, content: bytes, file: str
) -> tuple[_Parsed, tuple[Diagnostic, ...]]:
    """Return the core's domain or task with the parser's warnings.

    Raises PddlError or UnsupportedError if it failed, so that `parsed` is None.
    """
    lines = content.split(b"\n") if found else []
    diagnostics = []
    for severity, line, column, length, message, hint in found:
        source = lines[line - 1] if line <= len(lines) else b""
        # The core counts bytes, a Diagnostic characters.
        before = source[: column - 1].decode(errors="replace")
        shown = source[column - 1 : column - 1 + length].decode(errors="replace")
        place = (file, line, len(before) + 1)
        text = source.decode(errors="replace").rstrip("\r")
        kind = Severity[severity.name]
        diagnostics.append(Diagnostic(*place, message, hint, text, len(shown), kind))
    if parsed is None:
        # A file is unsupported only if nothing else is wrong with it.
        unsupported = all(d.severity is not Severity.ERROR for d in diagnostics)
        raise (UnsupportedError if unsupported else PddlError)(diagnostics)
    return parsed, tuple(diagnostics)
