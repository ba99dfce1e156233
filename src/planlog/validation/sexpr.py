"""S-expressions: PDDL text as nested lists of lower-case words.

To read files of many megabytes fast, a node stores only the number of its first token. An error
scans the text again for the line and the column.
"""

from __future__ import annotations

import re
from typing import NoReturn

from planlog.errors import Diagnostic, PddlError, Severity, UnsupportedError

MAX_DEPTH = 250

# A question mark begins a variable, even without a space before it.
_TOKEN = re.compile(r"[()]|[^\s();?]+|\?[^\s();?]*", re.ASCII)
_COMMENT = re.compile(r";[^\n\r]*")
_LINE_END = re.compile(r"\r\n|\n|\r")
_LEGAL = bytes(range(0x20, 0x7F)) + b"\t\n\r\f\v"
_ILLEGAL = re.compile(r"[^ -~\t\n\r\f\v]")

# Words that begin a section, which stands directly in `(define ...)`.
_SECTIONS = frozenset(
    ":requirements :types :constants :predicates :functions :action :derived"
    " :domain :objects :init :goal :metric".split()
)


class Node(list["Node | str"]):
    """A parenthesised list; `start` is the number of its opening token in the text."""

    __slots__ = ("start",)
    start: int


class Source:
    """The text of a file; `fail` raises errors that point into it."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text.lstrip("\ufeff")  # byte order marks

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
        bare = self.without_comments()
        offset, length = len(bare.rstrip()), 1
        for number, match in enumerate(_TOKEN.finditer(bare)):
            if number == token:
                offset, length = match.start(), len(match.group())
                break
        self.fail_at(offset, length, message, unsupported)

    def fail_at(
        self, offset: int, length: int, message: str, unsupported: bool = False
    ) -> NoReturn:
        """Raise an error located at a character."""
        ends = [match.end() for match in _LINE_END.finditer(self.text, 0, offset)]
        begin = ends[-1] if ends else 0
        line = _LINE_END.split(self.text[begin:], maxsplit=1)[0]
        severity = Severity.UNSUPPORTED if unsupported else Severity.ERROR
        place = (self.file, len(ends) + 1, offset - begin + 1)
        diagnostic = Diagnostic(*place, message, "", line, length, severity)
        raise (UnsupportedError if unsupported else PddlError)([diagnostic])

    def without_comments(self) -> str:
        """Return the text with blanks for comments, so that all offsets stay."""
        return _COMMENT.sub(lambda match: " " * len(match.group()), self.text)


def _size(item: Node | str) -> int:
    """Return the number of tokens of an item."""
    return 1 if isinstance(item, str) else 2 + sum(_size(child) for child in item)


def read(source: Source) -> Node:
    """Return the one list of the text, with words in lower case."""
    root: Node | None = None
    current: Node | None = None
    enclosing: list[Node | None] = []
    bare = _COMMENT.sub("", source.text)
    if not bare.isascii() or bare.encode("ascii").translate(None, _LEGAL):
        illegal = _ILLEGAL.search(source.without_comments())
        assert illegal is not None
        source.fail_at(illegal.start(), 1, "illegal character: names consist of ASCII characters")
    for number, token in enumerate(_TOKEN.findall(bare.lower())):
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
            if token[0] == ":" and not current and len(enclosing) > 2 and token in _SECTIONS:
                source.fail_at_token(number, f"a ')' is missing before this section {token}")
            current.append(token)
    if current is not None:
        source.fail(current, "this '(' is never closed")
    if root is None:
        source.fail_at_token(0, "expected '(define ...)', but the file has no content")
    return root


def show(item: Node | str) -> str:
    """Return the text of an item on one line."""
    return item if isinstance(item, str) else f"({' '.join(show(child) for child in item)})"
