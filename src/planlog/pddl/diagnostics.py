"""Diagnostics of the core's PDDL parser, with the source lines that they point at."""

from __future__ import annotations

import codecs
import re
from typing import TypeVar

from planlog import _core
from planlog.errors import Diagnostic, PddlError, Severity, UnsupportedError

_Found = list[tuple[_core.Severity, int, int, int, str, str]]
_Parsed = TypeVar("_Parsed", _core.Domain, _core.Task)

_LINE_END = re.compile(rb"\r\n|\n|\r")


def as_bytes(text: str | bytes) -> bytes:
    """Return the bytes of a PDDL text, without byte order marks."""
    # Lone surrogates, which UTF-8 does not have, become bytes that the parser refuses.
    content = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    while content.startswith(codecs.BOM_UTF8):
        content = content.removeprefix(codecs.BOM_UTF8)
    return content


def with_warnings(
    parsed: _Parsed | None, found: _Found, content: bytes, file: str
) -> tuple[_Parsed, tuple[Diagnostic, ...]]:
    """Return the core's domain or task with the parser's warnings.

    Raises PddlError or UnsupportedError if it failed, so that `parsed` is None.
    """
    lines = _LINE_END.split(content) if found else []
    diagnostics = []
    for severity, line, column, length, message, hint in found:
        source = lines[line - 1] if line <= len(lines) else b""
        # The core counts bytes, a Diagnostic characters.
        before = source[: column - 1].decode(errors="replace")
        shown = source[column - 1 : column - 1 + length].decode(errors="replace")
        place = (file, line, len(before) + 1)
        kind = Severity[severity.name]
        text = source.decode(errors="replace")
        diagnostics.append(Diagnostic(*place, message, hint, text, len(shown), kind))
    if parsed is None:
        # A file with an unsupported feature is unsupported, whatever else is wrong with it.
        unsupported = any(d.severity is Severity.UNSUPPORTED for d in diagnostics)
        raise (UnsupportedError if unsupported else PddlError)(diagnostics)
    return parsed, tuple(diagnostics)
