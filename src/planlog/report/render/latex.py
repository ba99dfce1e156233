"""Tables in LaTeX."""

from __future__ import annotations

import textwrap

from planlog.report.document import Cell, Table

# Non-ASCII characters outside of this table need an engine that reads UTF-8.
_SIGNS = {sign: rf"\{sign}" for sign in "{}&%$#_"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    "*": r"$^*$",
    "±": r"$\pm$",
    "−": r"$-$",
    "–": r"--",
    "…": r"\ldots{}",
}


def render(table: Table) -> str:
    r"""Return a `tabular` for \input; it needs the package booktabs."""
    columns = len(table.header)
    lines = [
        *(f"% {line}" for line in textwrap.wrap(f"{table.title}. {table.caption}", 96)),
        r"% Needs \usepackage{booktabs}.",
        rf"\begin{{tabular}}{{l{'r' * (columns - 1)}}}",
        r"\toprule",
        _row([_text(name) for name in table.header]),
    ]
    for group in table.groups:
        lines.append(r"\midrule")
        if group.title:
            lines.append(rf"\multicolumn{{{columns}}}{{l}}{{\emph{{{_text(group.title)}}}}} \\")
        lines += [_row([_cell(cell) for cell in row]) for row in group.rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _row(cells: list[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _text(text: str) -> str:
    return "".join(_SIGNS.get(sign, sign) for sign in " ".join(text.split()))


def _cell(cell: Cell) -> str:
    text = rf"\textbf{{{_text(cell.text)}}}" if cell.best else _text(cell.text)
    return text + (rf" {{\scriptsize $\pm$ {_text(cell.std)}}}" if cell.std else "")
