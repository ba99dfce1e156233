"""PDDL text as nested lists of lower-case words, fast on files of many megabytes.

Nodes only remember which token of the text they start at; a line and a column are
worked out by scanning the text again, and only when there is something to report.
"""

from __future__ import annotations

import re
from typing import NoReturn

from planlog.errors import Diagnostic, PddlError, Severity, UnsupportedError

MAX_DEPTH = 150  # conditions are walked recursively, so their depth is bounded here

_TOKEN = re.compile(r"[()]|[^\s();]+")
_COMMENT = re.compile(r";[^\n]*")


class Node(list["Node | str"]):
    """A parenthesised list; `start` is the number of its opening token."""

    __slots__ = ("start",)
    start: int


class Source:
    """A text with the name of its file, and the way to complain about a place in it."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text

    def fail(
        self, node: Node, message: str, child: int | None = None, unsupported: bool = False
    ) -> NoReturn:
        """Raise an error located at a node, or at one of its children."""
        token = node.start
        if child is not None and child < len(node):
            token += 1 + sum(_size(item) for item in node[:child])
        self.fail_at_token(token, message, unsupported)

    def fail_at_token(self, token: int, message: str, unsupported: bool = False) -> NoReturn:
        """Raise an error located at a token, or at the end of the text if it has fewer."""
        # Blanks of the same length instead of comments keep all offsets.
        bare = _COMMENT.sub(lambda match: " " * len(match.group()), self.text)
        offset, length = len(bare.rstrip()), 1
        for number, match in enumerate(_TOKEN.finditer(bare)):
            if number == token:
                offset, length = match.start(), len(match.group())
                break
        begin = self.text.rfind("\n", 0, offset) + 1
        end = self.text.find("\n", offset)
        diagnostic = Diagnostic(
            file=self.file,
            line=self.text.count("\n", 0, offset) + 1,
            column=offset - begin + 1,
            message=message,
            source=self.text[begin : len(self.text) if end < 0 else end].rstrip("\r"),
            length=length,
            severity=Severity.UNSUPPORTED if unsupported else Severity.ERROR,
        )
        raise (UnsupportedError if unsupported else PddlError)([diagnostic])


def _size(item: Node | str) -> int:
    """How many tokens an item is made of."""
    return 1 if isinstance(item, str) else 2 + sum(_size(child) for child in item)


def read(source: Source) -> Node:
    """The one list that the text consists of; words are in lower case."""
    root: Node | None = None
    current: Node | None = None
    enclosing: list[Node | None] = []
    number = -1
    for number, token in enumerate(_TOKEN.findall(_COMMENT.sub("", source.text).lower())):
        if token == "(":
            node = Node()
            node.start = number
            if current is not None:
                current.append(node)
            elif root is None:
                root = node
            else:
                source.fail_at_token(number, "text after the end of the definition")
            enclosing.append(current)
            current = node
            if len(enclosing) > MAX_DEPTH:
                source.fail_at_token(number, f"more than {MAX_DEPTH} nested parentheses")
        elif current is None:
            if root is not None:
                source.fail_at_token(number, "text after the end of the definition")
            source.fail_at_token(number, "expected '(define ...)'")
        elif token == ")":
            current = enclosing.pop()
        else:
            current.append(token)
    if current is not None:
        source.fail(current, "this '(' is never closed")
    if root is None:
        source.fail_at_token(0, "expected '(define ...)', but the file has no content")
    return root


def show(item: Node | str) -> str:
    """The text of an item, on one line."""
    return item if isinstance(item, str) else f"({' '.join(show(child) for child in item)})"
