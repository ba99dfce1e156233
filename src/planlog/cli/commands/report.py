"""`planlog report`: records of an experiment → tables, figures and pages."""

from __future__ import annotations

from pathlib import Path

import click

from planlog.cli import options
from planlog.cli.command import BadUsage, Command
from planlog.cli.console import emit, say
from planlog.cli.formatting import counted
from planlog.cli.resolve import check_output_folder
from planlog.files import write_together
from planlog.report import FORMATS, MissingMatplotlibError, report

HELP = """Turn the records of an experiment into tables and figures.

RESULTS is the folder that `planlog experiment` writes to. It is only read, and the
experiment may still be running. The formats are

    md          report.md, with the figures beside it
    tex         table.tex (the table of the paper) and more tables, for LaTeX with booktabs
    png, pdf    each figure
    html        report.html, one page with everything in it
    properties  all runs as Downward Lab stores them

The same records give the same files. Figures need matplotlib.

Examples:

    planlog report results
    planlog report results --format tex,pdf --out paper/figures

Exit codes: 0 done, 31 no records or unreadable ones, 36 bad usage, 73 the files cannot be
written (then none of them is).
"""


@click.command("report", cls=Command, help=HELP)
@click.argument("results", metavar="RESULTS", type=options.FILE)
@options.file("--out", metavar="DIR", help="Folder for the files.", show_default="RESULTS/report")
@options.words("--format", FORMATS, "Formats, such as md,pdf.", show_default="all")
def command(results: Path, out: Path | None, format: list[str] | None) -> None:
    folder = results / "report" if out is None else out
    if results.is_dir():
        check_output_folder(folder, "--out")
    try:
        made = report(results, format or FORMATS)
    except MissingMatplotlibError as error:
        raise BadUsage(str(error)) from None
    write_together(folder, made.files.items())
    for warning in made.warnings:
        say(f"planlog: {warning}")
    emit(f"{counted(made.runs, 'run')}: {counted(len(made.files), 'file')} in {folder}")
