"""From a folder of results to the files of its report, in memory."""

from __future__ import annotations

import gc
import importlib.util
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planlog.errors import PlanlogError
from planlog.experiment.records import ResultsError, read_records
from planlog.report.document import warnings, write
from planlog.report.metrics import compare
from planlog.report.render import html, lab, latex, markdown

FORMATS = ("md", "tex", "png", "pdf", "html", "properties")
DRAWN = frozenset({"png", "pdf", "html"})  # formats with figures

_TEX = ("coverage", "satisficing", "agile")  # besides the table of the paper


class MissingMatplotlibError(PlanlogError):
    """Figures were asked for, and matplotlib is not installed."""


@dataclass(frozen=True)
class Report:
    """The files of a report by their names, and what is to be said at once."""

    files: Mapping[str, bytes]
    runs: int  # that it tells of
    warnings: tuple[str, ...]


def report(results: Path, formats: Collection[str] = FORMATS) -> Report:
    """All files of these formats. The same records give the same files."""
    with _no_collection():
        return _report(results, formats)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Nothing of many records is garbage before the end, so looking for it only takes time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _report(results: Path, formats: Collection[str]) -> Report:
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

        wanted = [kind for kind in ("png", "pdf") if kind in formats]
        wanted += ["svg"] if "html" in formats else []
        images = {figure.name: draw(figure, wanted) for figure in document.figures}
    for name, kinds in images.items():
        files |= {f"{name}.{kind}": data for kind, data in kinds.items() if kind != "svg"}
    if "md" in formats:
        files["report.md"] = markdown.render(document, "png" if "png" in formats else None).encode()
    if "tex" in formats:
        tables = document.tables
        if "npli" in tables:
            files["table.tex"] = latex.render(tables["npli"]).encode()
        for name in _TEX:
            if name in tables:
                files[f"table-{name}.tex"] = latex.render(tables[name]).encode()
    if "html" in formats:
        svg = {name: kinds["svg"] for name, kinds in images.items()}
        files["report.html"] = html.render(document, svg).encode()
    if "properties" in formats:
        files["properties"] = lab.render(comparison).encode()
    runs = sum(measures.runs for measures in comparison.measures.values())
    return Report(files, runs, tuple(warnings(comparison)))


def _about(results: Path) -> Mapping[str, Any]:
    """What the experiment says of itself; results without it can be reported on, too."""
    file = results / "experiment.json"
    if not file.exists():
        return {}
    try:
        about = json.loads(file.read_bytes())
    except ValueError as error:
        raise ResultsError(f"{file}: not a JSON object: {error}") from None
    if not isinstance(about, dict):
        raise ResultsError(f"{file}: not a JSON object")
    return about
