"""`planlog report`: results of an experiment → tables, figures and pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planlog.cli.exits import bad_usage, emit, say, user_errors
from planlog.cli.wording import many

HELP = """Turn the results of an experiment into tables and figures.

RESULTS is the folder that `planlog experiment` writes to; it is only read, and the experiment may
still be running. The formats are

    md          report.md, with the figures beside it
    tex         table.tex (the table of the paper) and more tables, for LaTeX with booktabs
    png, pdf    each figure
    html        report.html, one page with everything in it
    properties  all runs as Downward Lab keeps them

The same results give the same files. Figures need matplotlib.

**Examples**

    planlog report results
    planlog report results --format tex,pdf --out paper/figures

**Exit codes**: 0 done, 31 no results there or they cannot be read, 36 bad usage.
"""


def report(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="Folder of results.", show_default=False)
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for the files (RESULTS/report).", show_default=False
        ),
    ] = None,
    formats: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="LIST", help="Some of the formats (all).", show_default=False
        ),
    ] = None,
) -> None:
    from planlog.execution import write_whole
    from planlog.report import FORMATS, MissingMatplotlibError
    from planlog.report import report as make_report

    chosen = FORMATS if formats is None else tuple(word.strip() for word in formats.split(","))
    for name in chosen:
        if name not in FORMATS:
            raise bad_usage(f"--format: expected some of {','.join(FORMATS)}, got '{name}'")
    with user_errors():
        try:
            made = make_report(results, chosen)
        except MissingMatplotlibError as error:
            raise bad_usage(str(error)) from None
        folder = results / "report" if out is None else out
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in made.files.items():
            write_whole(folder / name, content)
    for warning in made.warnings:
        say(f"planlog: {warning}")
    emit(f"{many(made.runs, 'run')}: {many(len(made.files), 'file')} in {folder}")


report.__doc__ = HELP
