"""Text of files, models and command lines, made safe to print on a terminal."""

from __future__ import annotations


def printable(text: str, keep: str = "\n\t") -> str:
    """Replace characters that a terminal would act on by visible escapes such as `\\x1b`.

    Everything is escaped that Unicode does not count as visible: control characters, marks of
    direction and of zero width, unassigned and private characters, and bytes of file names that
    are not UTF-8. The characters of `keep` stay.

    >>> printable("a\\x1b[31m\\u202eb")
    'a\\\\x1b[31m\\\\u202eb'
    """
    if text.isprintable():  # the common case, and much faster than a loop
        return text
    return "".join(c if c.isprintable() or c in keep else _escape(ord(c)) for c in text)


def one_line(text: str) -> str:
    """Return text such as a file name, in which line breaks and tabs are escaped, too."""
    return printable(text, keep="")


def _escape(code: int) -> str:
    short = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r"}
    if code in short:
        return short[code]
    if 0xDC80 <= code <= 0xDCFF:  # how Python represents a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
