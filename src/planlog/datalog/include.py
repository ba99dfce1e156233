"""Files that a rule file includes: their predicates, under the names that the rule file gives them.

    include "paths.dl" with edge = road, distance = steps.

An included file defines predicates. Of its rules, those are kept that the rule file needs; they
stand at the end of the text, so that a model holds all of its rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from planlog.datalog.desugar import names_in
from planlog.datalog.diagnostics import Diagnostics, Place, enumeration, nearest
from planlog.datalog.lexer import Kind, tokenize
from planlog.datalog.parser import ParsedFile, ParsedRule, parse
from planlog.datalog.syntax import quoted, written
from planlog.files import read_input_text

LIBRARY = Path(__file__).with_name("library")
_LONGEST_NAME = 256  # of a file; systems refuse longer ones


class Origin(NamedTuple):
    """Where a line of a text comes from."""

    file: str
    line: int


class Source(NamedTuple):
    """The text of a rule file and of all that it includes, without `include`."""

    text: str
    origins: tuple[Origin, ...] = ()  # of the lines behind those of the rule file


class _Include(NamedTuple):
    file: str
    names: dict[str, str]  # the name in the included file: the name in the text
    place: Place


_NAME = r"(?:[\w-]+|'(?:[^'\n]|'')*')"
_STATEMENT = re.compile(
    rf"""^[ \t]*(?P<word>include)\s+(?P<file>"[^"\n]*"|'[^'\n]*')
         (?:\s+with\s+(?P<names>{_NAME}\s*=\s*{_NAME}(?:\s*,\s*{_NAME}\s*=\s*{_NAME})*))?
         \s*\.""",
    re.VERBOSE | re.MULTILINE,
)
_BEGINNING = re.compile(r"""^[ \t]*include\s+["']""", re.MULTILINE)
_HELP = "write 'include \"paths.dl\" with edge = road.'"


def with_includes(
    text: str,
    file: str,
    folder: Path | None,
    diagnostics: Diagnostics,
    including: tuple[Path, ...] = (),
) -> Source:
    """Return the text of a rule file with what it includes.

    Files are looked for in the folder, if it is given, and then in the library. A file is never
    included by one of those that it is included by.
    """
    if not _BEGINNING.search(text):
        return Source(text)
    includes = list(_includes(text, diagnostics))
    own = _STATEMENT.sub(lambda match: re.sub("^", "% ", match.group(), flags=re.MULTILINE), text)
    if _BEGINNING.search(own):
        for match in _BEGINNING.finditer(own):
            place = _place(own, match.start(), len(match.group()) - 1)
            diagnostics.error(place, "this 'include' is not complete", _HELP)
        return Source(_BEGINNING.sub("% ", own))
    lines: list[str] = []
    origins: list[Origin] = []
    needed = set(_read(parse(own, Diagnostics(file, own)).rules))
    for include in includes:
        found = _included(include, folder, diagnostics, including)
        if found is None:
            continue
        renamed, source, path = found
        rules = _parsed(renamed, source, path, include, diagnostics)
        for rule in _reachable(rules.rules, needed):
            lines.append(rule.text)
            origins.append(_origin(rule.head.place.line, renamed, source, path))
    return Source("\n".join([own.rstrip("\n"), *lines, ""]), tuple(origins))


def _includes(text: str, diagnostics: Diagnostics) -> Iterator[_Include]:
    for match in _STATEMENT.finditer(text):
        pairs = re.findall(rf"({_NAME})\s*=\s*({_NAME})", match["names"] or "")
        names = {_unquoted(old): _unquoted(new) for old, new in pairs}
        place = _place(text, match.start("word"), 7)
        if len(names) < len(pairs):
            diagnostics.error(place, "a name is renamed twice", "rename each name once")
        yield _Include(match["file"][1:-1], names, place)


def _included(
    include: _Include, folder: Path | None, diagnostics: Diagnostics, including: tuple[Path, ...]
) -> tuple[str, Source, str] | None:
    """Return an included text with its names, with what it includes itself, and its file."""
    is_name = include.file.isprintable() and 0 < len(include.file) < _LONGEST_NAME
    is_plain = is_name and Path(include.file).name == include.file
    folders = [*([folder] if folder and is_name else []), *([LIBRARY] if is_plain else [])]
    paths = [(each / include.file).resolve() for each in folders]
    path = next((path for path in paths if path.is_file() and path not in including), None)
    if path is None:
        shipped = enumeration(sorted(each.name for each in LIBRARY.glob("*.dl")))
        hint = f"files are looked for beside the rule file; Planlog has {shipped}"
        message = f"no such file: {include.file}"
        if any(each.is_file() for each in paths):
            message, hint = f"{include.file} includes itself", "break the cycle of files"
        diagnostics.error(include.place, message, hint)
        return None
    shown = include.file if path.parent == LIBRARY else str(path)
    whole = read_input_text(path)
    source = with_includes(whole, shown, path.parent, diagnostics, (*including, path))
    return _renamed(source.text, include, diagnostics), source, shown


def _renamed(text: str, include: _Include, diagnostics: Diagnostics) -> str:
    """Return a text with other names, on the same lines."""
    tokens = [t for t in tokenize(text, Diagnostics(include.file, text)) if t.kind is Kind.NAME]
    known = {token.text for token in tokens}
    for old in sorted(include.names.keys() - known):
        near = nearest(old, known)
        hint = f"did you mean {quoted(near)}?" if near else f"it has: {enumeration(sorted(known))}"
        message = f"{include.file} has no name {quoted(old)}"
        diagnostics.error(include.place, message, hint)
    for token in reversed(tokens):
        if new := include.names.get(token.text):
            end = token.start + token.place.length
            text = text[: token.start] + written(new) + text[end:]
    return text


def _parsed(
    renamed: str, source: Source, path: str, include: _Include, diagnostics: Diagnostics
) -> ParsedFile:
    """Parse an included text; what is wrong with it is reported with its own places."""
    own = Diagnostics(path, renamed, source.origins)
    parsed = parse(renamed, own)
    for order in parsed.orders:
        own.error(order.place, f"'{order.kind}' cannot stand in an included file", _ONLY_PREDICATES)
    for rule in parsed.rules:
        if rule.forbids:
            message = "a prohibition cannot stand in an included file"
            own.error(rule.head.place, message, _ONLY_PREDICATES)
    for family in parsed.families:
        message = "a family cannot stand in an included file"
        own.error(family.head.place, message, _ONLY_PREDICATES)
    diagnostics.extend(own)
    return parsed


_ONLY_PREDICATES = "an included file only defines predicates"


def _reachable(rules: Sequence[ParsedRule], needed: set[tuple[str, int]]) -> Iterator[ParsedRule]:
    """Yield the rules for these predicates, and for those that they need."""
    by_head: dict[tuple[str, int], list[ParsedRule]] = {}
    for rule in rules:
        by_head.setdefault((rule.head.name.text, len(rule.head.terms)), []).append(rule)
    waiting = [key for key in by_head if key in needed]
    reached: set[tuple[str, int]] = set(waiting)
    while waiting:
        more = set(_read(by_head[waiting.pop()])) & by_head.keys() - reached
        reached |= more
        waiting += more
    return (rule for key, group in by_head.items() if key in reached for rule in group)


def _read(rules: Sequence[ParsedRule]) -> Iterator[tuple[str, int]]:
    return (key for rule in rules for key in names_in(rule))


def _origin(line: int, text: str, source: Source, path: str) -> Origin:
    """Return where a line of a text with includes comes from."""
    own = text.count("\n") - len(source.origins)
    return source.origins[line - own - 1] if line > own else Origin(path, line)


def _place(text: str, start: int, length: int) -> Place:
    column = start - (text.rfind("\n", 0, start) + 1) + 1
    return Place(text.count("\n", 0, start) + 1, column, length)


def _unquoted(name: str) -> str:
    return name[1:-1].replace("''", "'") if name.startswith("'") else name.lower()
