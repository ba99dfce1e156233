"""The files of a report, in memory, from a results folder."""

from __future__ import annotations

import gc
import importlib.util
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planlog.errors import PlanlogError
from planlog.experiment.records import ResultsError, read_records
from planlog.files import read_input
from planlog.json_text import read_json
from planlog.report.comparison import compare
from planlog.report.render import html, lab, latex, markdown
from planlog.report.sections import warnings, write

FORMATS = ("md", "tex", "png", "pdf", "html", "properties")
DRAWN = frozenset({"png", "pdf", "html"})  # formats with figures
_TEX = ("npli", "coverage", "satisficing", "agile")  # tables for LaTeX


class MissingMatplotlibError(PlanlogError):
    """A format with figures is requested, but matplotlib is not installed."""


@dataclass(frozen=True)
class Report:
    """The files of a report by name."""

    files: Mapping[str, bytes]
    runs: int  # number of runs that the report covers
    warnings: tuple[str, ...]


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Disable the garbage collector, which would visit all records again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@_no_garbage_collection()
def report(results: Path, formats: Collection[str] = FORMATS) -> Report:
    """Return all files of these formats. The same records give the same files."""
    if DRAWN & set(formats) and importlib.util.find_spec("matplotlib") is None:
        others = ",".join(name for name in FORMATS if name not in DRAWN)
        raise MissingMatplotlibError(
            "figures need matplotlib: pip install 'planlog[report]'; "
            f"without figures: --format {others}"
        )
    comparison = compare(read_records(results))
    document = write(comparison, _about(results))
    files: dict[str, bytes] = {}
    images: dict[str, dict[str, bytes]] = {}
    if DRAWN & set(formats):
        from planlog.report.drawing import draw

        kinds = [kind for kind in ("png", "pdf") if kind in formats]
        drawn = [*kinds, "svg"] if "html" in formats else kinds
        images = {figure.name: draw(figure, drawn) for figure in document.figures}
        files |= {f"{name}.{kind}": images[name][kind] for name in images for kind in kinds}
    if "md" in formats:
        image = "png" if "png" in formats else None
        files["report.md"] = _encoded(markdown.render(document, image))
    if "tex" in formats:
        for name, table in document.tables.items():
            if name in _TEX:
                file = "table.tex" if name == "npli" else f"table-{name}.tex"
                files[file] = _encoded(latex.render(table))
    if "html" in formats:
        svg = {name: kinds["svg"] for name, kinds in images.items()}
        files["report.html"] = _encoded(html.render(document, svg))
    if "properties" in formats:
        files["properties"] = _encoded(lab.render(comparison))
    runs = sum(measures.runs for measures in comparison.measures.values())
    return Report(files, runs, tuple(warnings(comparison)))


def _encoded(text: str) -> bytes:
    # The JSON of a record can hold half of a surrogate pair, which UTF-8 cannot.
    return text.encode(errors="backslashreplace")


def _about(results: Path) -> Mapping[str, Any]:
    """Return the content of `experiment.json`; empty if there is no such file."""
    file = results / "experiment.json"
    try:
        about = read_json(read_input(file)) if file.exists() else {}
    except ValueError as error:
        raise ResultsError(f"{file}: not a JSON object: {error}") from None
    if not isinstance(about, dict):
        raise ResultsError(f"{file}: not a JSON object")
    return about
