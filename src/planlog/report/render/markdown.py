"""Reports in Markdown."""

from __future__ import annotations

import re

from planlog.report.document import Document, Listing
from planlog.report.figure import Figure
from planlog.report.table import Cell, Table


def render(document: Document, image: str | None) -> str:
    """The text; `image` is the ending of the figures' files beside it, if there are any."""
    parts = [f"# {_escape(document.title)}"]
    for section in document.sections:
        parts.append(f"## {_escape(section.title)}")
        for item in section.items:
            match item:
                case Table():
                    parts += [f"### {_escape(item.title)}", _escape(item.caption), _table(item)]
                case Figure():
                    if image is not None:
                        # Brackets would end the description.
                        told = re.sub(r"[\[\]]", "", item.description)
                        parts.append(f"![{_escape(told)}]({item.name}.{image})")
                        parts.append(f"*{_escape(item.caption)}*")
                case Listing():
                    parts.append(_listing(item))
                case str():
                    parts.append(_escape(item))
    return "\n\n".join(parts) + "\n"


def _escape(text: str) -> str:
    """Text that means nothing but itself, on one line."""
    text = re.sub(r"([\\`*_<>|#~$\[\]])", r"\\\1", " ".join(text.split()))
    return text.replace("&", "&amp;")


def _listing(listing: Listing) -> str:
    # Indented text means nothing but itself, whatever it holds.
    return "\n".join("    " + " ".join(line.split()) for line in listing.lines)


def _table(table: Table) -> str:
    rows = [table.header, tuple("---" if i == 0 else "---:" for i in range(len(table.header)))]
    for group in table.groups:
        if group.title:
            rows.append((f"*{_escape(group.title)}*", *("" for _ in table.header[1:])))
        rows += [tuple(map(_cell, row)) for row in group.rows]
    rows[0] = tuple(map(_escape, table.header))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(cell: Cell) -> str:
    text = _escape(cell.text)
    if not cell.best:
        return text
    # Of mean and deviation, the mean is what is compared.
    mean, sign, rest = text.partition(" ± ")
    return f"**{mean}**{sign}{rest}"
