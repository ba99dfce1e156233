"""Reports as one self-contained HTML page, without scripts and external files."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from html import escape

from planlog.report.document import Cell, Document, Figure, Item, Listing, Table

_STYLE = """
:root { color-scheme: light; }
body { font: 1rem/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff;
       max-width: 70rem; margin: 0 auto; padding: 1rem 1.5rem 4rem; }
h1, h2 { line-height: 1.2; }
h2 { margin-top: 3rem; border-bottom: 2px solid #ccc; padding-bottom: .3rem; }
a { color: #00508a; }
p, figcaption { max-width: 46rem; }
.wide { overflow-x: auto; margin: 1.5rem 0; }
.wide:focus { outline: 3px solid #00508a; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: .5rem; max-width: 46rem; color: #444; }
caption b { color: #1a1a1a; }
th, td { padding: .25rem .7rem; text-align: right; white-space: nowrap; }
th:first-child { text-align: left; font-weight: normal; }
thead th, thead th:first-child { font-weight: bold; border-bottom: 2px solid #1a1a1a; }
tbody { border-bottom: 1px solid #999; }
tbody th.group { font-style: italic; color: #444; }
tbody tr:hover { background: #f0f4f8; }
.reference { color: #5a5a5a; }
figure { margin: 2rem 0; }
figure img { max-width: 100%; height: auto; }
figcaption { color: #444; }
pre { background: #f4f4f4; padding: .7rem 1rem; overflow-x: auto; }
@media print { body { max-width: none; } figure, table { break-inside: avoid; } }
"""


def render(document: Document, images: Mapping[str, bytes]) -> str:
    """Return the page; `images` are the figures as SVG, by name."""
    title = escape(document.title)
    contents = "".join(
        f'<li><a href="#part-{i}">{escape(section.title)}</a></li>'
        for i, section in enumerate(document.sections, start=1)
    )
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title>",
        f"<style>{_STYLE}</style>",
        "</head>",
        "<body>",
        f"<header><h1>{title}</h1>",
        f'<nav aria-label="Contents"><ul>{contents}</ul></nav></header>',
        "<main>",
    ]
    for i, section in enumerate(document.sections, start=1):
        parts.append(f'<section id="part-{i}">')
        parts.append(f"<h2>{escape(section.title)}</h2>")
        parts += [_item(item, images) for item in section.items]
        parts.append("</section>")
    parts += ["</main>", "</body>", "</html>"]
    return "\n".join(parts) + "\n"


def _item(item: Item, images: Mapping[str, bytes]) -> str:
    match item:
        case Table():
            return _table(item)
        case Figure():
            data = base64.b64encode(images[item.name]).decode()
            source = f"data:image/svg+xml;base64,{data}"
            return (
                f'<figure>\n<img alt="{escape(item.description)}" src="{source}">\n'
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
