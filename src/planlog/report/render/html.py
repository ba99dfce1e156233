"""Reports as one self-contained HTML page, without scripts and external files."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from html import escape
from pathlib import Path
from string import Template

from planlog.report.document import Cell, Document, Figure, Item, Listing, Table


def render(document: Document, images: Mapping[str, bytes]) -> str:
    """Return the page; `images` are the figures as SVG, by name."""
    contents, sections = [], []
    for i, section in enumerate(document.sections, start=1):
        title = escape(section.title)
        contents.append(f'<li><a href="#part-{i}">{title}</a></li>')
        sections += [f'<section id="part-{i}">', f"<h2>{title}</h2>"]
        sections += [_item(item, images) for item in section.items]
        sections.append("</section>")
    page = Template(Path(__file__).with_name("page.html").read_text("utf-8"))
    return page.substitute(
        title=escape(document.title), contents="".join(contents), sections="\n".join(sections)
    )


def _item(item: Item, images: Mapping[str, bytes]) -> str:
    match item:
        case Table():
            return _table(item)
        case Figure():
            data = base64.b64encode(images[item.name]).decode()
            return (
                f'<figure>\n<img alt="{escape(item.description)}" '
                f'src="data:image/svg+xml;base64,{data}">\n'
                f"<figcaption>{escape(item.caption)}</figcaption>\n</figure>"
            )
        case Listing():
            return f"<pre>{escape(chr(10).join(item.lines))}</pre>"
        case _:
            return f"<p>{escape(item)}</p>"


def _table(table: Table) -> str:
    header = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.header)
    parts = [
        # A focusable region can be scrolled with the keyboard.
        f'<div class="wide" role="region" tabindex="0" aria-label="{escape(table.title)}">',
        f"<table>\n<caption><b>{escape(table.title)}.</b> {escape(table.caption)}</caption>",
        f"<thead><tr>{header}</tr></thead>",
    ]
    for group in table.groups:
        parts.append("<tbody>")
        if group.title:
            span = f'colspan="{len(table.header)}" scope="rowgroup"'
            parts.append(f'<tr><th class="group" {span}>{escape(group.title)}</th></tr>')
        for name, *cells in group.rows:
            texts = "".join(
                _cell(cell, column in table.references)
                for column, cell in enumerate(cells, start=1)
            )
            parts.append(f'<tr><th scope="row">{escape(name.text)}</th>{texts}</tr>')
        parts.append("</tbody>")
    parts.append("</table>\n</div>")
    return "\n".join(parts)


def _cell(cell: Cell, reference: bool) -> str:
    text = f"<strong>{escape(cell.text)}</strong>" if cell.best else escape(cell.text)
    std = f" ± {escape(cell.std)}" if cell.std else ""
    kind = ' class="reference"' if reference else ""
    return f"<td{kind}>{text}{std}</td>"
