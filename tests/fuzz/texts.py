"""Inputs of several texts, and checks of the diagnostics about a text."""

from __future__ import annotations

from collections.abc import Iterable

from planlog.errors import MOST_DIAGNOSTICS, Diagnostic, Severity

# Between the texts of an input; a comment in PDDL.
SEPARATOR = "\n;;;; ----\n"


def joined(*texts: str) -> bytes:
    return SEPARATOR.join(texts).encode(errors="surrogatepass")


def parts(data: bytes, count: int) -> list[bytes]:
    """Return the texts of an input; missing ones are empty."""
    found = data.split(SEPARATOR.encode(), count - 1)
    return found + [b""] * (count - len(found))


def check_diagnostics(diagnostics: Iterable[Diagnostic], text: str) -> None:
    """Every diagnostic points into the text and is short and printable; there are not too many."""
    lines = text.split("\n")
    found = list(diagnostics)
    warnings = [d for d in found if d.severity is Severity.WARNING]
    assert max(len(warnings), len(found) - len(warnings)) <= MOST_DIAGNOSTICS
    for diagnostic in found:
        assert diagnostic.message
        assert 1 <= diagnostic.line <= len(lines), diagnostic
        line = lines[diagnostic.line - 1]
        # Just behind the line is a place, too: that is where a missing dot belongs.
        assert 1 <= diagnostic.column <= len(line) + 1, diagnostic
        excerpt = diagnostic.source.removeprefix("… ").removesuffix(" …")
        assert excerpt in line, diagnostic
        shown = diagnostic.render()
        assert shown.startswith(f"{diagnostic.file}:{diagnostic.line}:{diagnostic.column}: ")
        assert shown.replace("\n", "").replace("\t", "").isprintable()
        assert len(shown) < 10_000
