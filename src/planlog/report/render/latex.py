"""Tables for papers in LaTeX."""

from __future__ import annotations

import textwrap

from planlog.report.table import Cell, Table

# Beyond ASCII, only what tables hold is known to every engine.
_SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
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
    r"""A tabular to be put into a table with \input; needs the package booktabs."""
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
    mean, sign, rest = cell.text.partition(" ± ")
    text = rf"\textbf{{{_text(mean)}}}" if cell.best else _text(mean)
    return text + (rf" {{\scriptsize $\pm$ {_text(rest)}}}" if sign else "")
