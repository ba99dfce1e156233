"""Kinds of input files, recognised by their content."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path

from planlog.errors import Diagnostic, WrongFileError
from planlog.files import read_input


class FileKind(Enum):
    """Kind of a file. The reader of the expected kind judges an UNKNOWN one."""

    DOMAIN = "a PDDL domain"
    PROBLEM = "a PDDL problem"
    RULES = "a rule file"
    MODEL = "a model file"
    PLAN = "a plan"
    BINARY = "a binary file"
    FOLDER = "a folder"
    UNKNOWN = "an unknown file"


READ_BYTES = 65_536  # comments at the top of a file are shorter
_CONTROL = bytes({*range(32)} - {*b"\t\n\r\f\v"})
_PDDL_COMMENT = re.compile(r";[^\n]*")
_DEFINE = re.compile(r"\s*\(\s*define\s*\(\s*(domain|problem)\b", re.IGNORECASE)
_ACTION_LINE = re.compile(r"(?:[\d.]+:)?\s*\([^()]*\)(?:\s*\[[\d.]+\])?")
_RULE_COMMENT = re.compile(r"('[^'\n]*')|%[^\n]*")  # or a quoted name, which may contain `%`
_RULE = re.compile(r":-|←|\)\s*\.\s*$", re.MULTILINE)


def recognise(file: Path) -> FileKind:
    """Return the kind of an input from the beginning of its content."""
    if file.is_dir():
        return FileKind.FOLDER
    if not file.exists():
        return FileKind.UNKNOWN
    return kind_of(read_input(file))


def kind_of(data: bytes) -> FileKind:
    """Return the kind of a file with this content."""
    data = data[:READ_BYTES]
    # A safetensors file begins with the length of its header, which is JSON.
    if data[8:9] == b"{" and int.from_bytes(data[:8], "little") < 2**32:
        return FileKind.MODEL
    controls = len(data) - len(data.translate(None, _CONTROL))
    if b"\0" in data or 100 * controls > len(data):
        return FileKind.BINARY
    text = _PDDL_COMMENT.sub("", data.decode("utf-8-sig", errors="replace"))
    if define := _DEFINE.match(text):
        return FileKind.DOMAIN if define[1].lower() == "domain" else FileKind.PROBLEM
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(data) == READ_BYTES:
        lines = lines[:-1]  # the last one is cut off
    if lines and all(_ACTION_LINE.fullmatch(line) for line in lines):
        return FileKind.PLAN
    rules = _RULE_COMMENT.sub(r"\1", text)
    return FileKind.RULES if _RULE.search(rules) else FileKind.UNKNOWN


_HINTS = {
    FileKind.RULES: "rules are given with --policy FILE",
    FileKind.MODEL: "`planlog solve` takes a model with --model FILE",
}


def expect(file: Path, expected: FileKind, argument: str) -> None:
    """Raise WrongFileError if the file is recognised as another kind than the argument's."""
    kind = recognise(file)
    if kind not in (expected, FileKind.UNKNOWN, FileKind.FOLDER):
        raise wrong_file(file, kind, expected, argument)


def wrong_file(file: Path, kind: FileKind, expected: FileKind, argument: str) -> WrongFileError:
    """Return the error that names the argument, the file and its kind."""
    message = f"{argument} must be {expected.value}, but this is {kind.value}"
    hint = _HINTS.get(kind, "")
    if {kind, expected} == {FileKind.DOMAIN, FileKind.PROBLEM}:
        hint = "the domain comes first, then the task"
    return WrongFileError([Diagnostic(str(file), 1, 1, message, hint)])
