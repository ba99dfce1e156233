"""Kinds of input files, recognised by their content."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path

from planlog.errors import Diagnostic, WrongFileError


class FileKind(Enum):
    """Kind of a file; UNKNOWN is left to the reader of the expected kind to complain about."""

    DOMAIN = "a PDDL domain"
    PROBLEM = "a PDDL problem"
    RULES = "a rule file"
    MODEL = "a model file"
    PLAN = "a plan"
    BINARY = "a binary file"
    FOLDER = "a folder"
    UNKNOWN = "an unknown file"


_READ = 65_536  # bytes; comments at the top of a file are shorter
_PDDL_COMMENT = re.compile(r";[^\n]*")
_DEFINE = re.compile(r"\s*\(\s*define\s*\(\s*(domain|problem)\b", re.IGNORECASE)
_ACTION_LINE = re.compile(r"(?:[\d.]+:)?\s*\([^()]*\)(?:\s*\[[\d.]+\])?")
_RULE = re.compile(r":-|←|\)\s*\.\s*$", re.MULTILINE)


def recognise(file: Path) -> FileKind:
    """Return the kind of a file from the beginning of its content."""
    if file.is_dir():
        return FileKind.FOLDER
    if not file.is_file():
        return FileKind.UNKNOWN  # a pipe can be read only once
    with file.open("rb") as stream:
        data = stream.read(_READ)
    header = int.from_bytes(data[:8], "little")
    if data[8:9] == b"{" and header <= file.stat().st_size:
        return FileKind.MODEL
    if b"\0" in data:
        return FileKind.BINARY
    text = _PDDL_COMMENT.sub("", data.decode("utf-8-sig", errors="replace"))
    if define := _DEFINE.match(text):
        return FileKind.DOMAIN if define[1].lower() == "domain" else FileKind.PROBLEM
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(data) == _READ:
        lines = lines[:-1]  # the last one is cut off
    if lines and all(_ACTION_LINE.fullmatch(line) for line in lines):
        return FileKind.PLAN
    rules = re.sub(r"%[^\n]*", "", text)
    return FileKind.RULES if _RULE.search(rules) else FileKind.UNKNOWN


# Arguments that a file of another kind belongs to.
_PLACES = {
    FileKind.RULES: "give it with --policy",
    FileKind.MODEL: "give it with --model",
}


def expect(file: Path, expected: FileKind, argument: str) -> None:
    """Raise WrongFileError if the file is recognised as something else than expected."""
    kind = recognise(file)
    if expected is FileKind.MODEL and kind is FileKind.BINARY:
        return  # the reader of models knows better what is wrong with it
    if kind not in (expected, FileKind.UNKNOWN, FileKind.FOLDER):
        raise wrong_file(file, kind, expected, argument)


def wrong_file(file: Path, kind: FileKind, expected: FileKind, argument: str) -> WrongFileError:
    """Return the error that names the argument, the file and what it is."""
    message = f"{argument} must be {expected.value}, but this is {kind.value}"
    hint = _PLACES.get(kind, "")
    if {kind, expected} == {FileKind.DOMAIN, FileKind.PROBLEM}:
        hint = "the domain comes first, then the problem"
    return WrongFileError([Diagnostic(str(file), 1, 1, message, hint)])
