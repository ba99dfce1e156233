"""Reports in Markdown."""

from __future__ import annotations

import re

from planlog.report.document import Cell, Document, Figure, Listing, Table


def render(document: Document, image: str | None) -> str:
    """Return the text; `image` is the suffix of the figures beside it, None for no figures."""
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
                        text = re.sub(r"[\[\]]", "", item.description)
                        parts.append(f"![{_escape(text)}]({item.name}.{image})")
                        parts.append(f"*{_escape(item.caption)}*")
                case Listing():
                    parts.append(_listing(item))
                case str():
                    parts.append(_escape(item))
    return "\n\n".join(parts) + "\n"


def _escape(text: str) -> str:
    """Return text without markup, on one line."""
    text = re.sub(r"([\\`*_<>|#~$\[\]])", r"\\\1", " ".join(text.split()))
    return text.replace("&", "&amp;")


def _listing(listing: Listing) -> str:
    # Indented lines are literal text.
    return "\n".join("    " + " ".join(line.split()) for line in listing.lines)


def _table(table: Table) -> str:
    rows = [tuple(map(_escape, table.header)), ("---", *("---:" for _ in table.header[1:]))]
    for group in table.groups:
        if group.title:
            rows.append((f"*{_escape(group.title)}*", *("" for _ in table.header[1:])))
        rows += [tuple(map(_cell, row)) for row in group.rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(cell: Cell) -> str:
    text = f"**{_escape(cell.text)}**" if cell.best else _escape(cell.text)
    return f"{text} ± {_escape(cell.std)}" if cell.std else text
