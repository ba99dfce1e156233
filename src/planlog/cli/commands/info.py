"""`planlog info`: the contents of a model file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from planlog.api.file_kinds import FileKind, expect
from planlog.cli import options
from planlog.cli.command import Command
from planlog.cli.console import emit, emit_json
from planlog.cli.formatting import many
from planlog.network.model_file import Model

HELP = """Show the contents of a model file: rules, settings, weights and training.

Examples:

    planlog info model.safetensors
    planlog info model.safetensors --json

Exit codes: 0 done, 31 bad input, 36 bad usage.
"""

# What is shown of long lists; --json has all of everything.
MOST_ITEMS = 6


@click.command("info", cls=Command, help=HELP)
@click.argument("file", metavar="MODEL", type=options.FILE)
@options.as_json
def command(file: Path, as_json: bool) -> None:
    expect(file, FileKind.MODEL, "MODEL")
    model = Model.read(file)
    size = file.stat().st_size
    if as_json:
        emit_json({"outcome": "done", "file": str(file), **_facts(model, size)})
    else:
        emit(_printable("\n".join(_text(model, size))))


def _facts(model: Model, size: int) -> dict[str, Any]:
    """The description, with the size of what it describes."""
    numbers = sum(weight.size for weight in model.weights.values())
    weights = {"matrices": len(model.weights), "numbers": numbers}
    return {"bytes": size, "weights": weights, **model.describe()}


def _text(model: Model, size: int) -> Iterator[str]:
    facts = _facts(model, size)
    matrices = many(facts["weights"]["matrices"], "matrix").replace("matrixs", "matrices")
    network = {**facts["template"], **facts["network"]}
    if network["score_width"] is None:
        network["score_width"] = network["width"]
    overview = {
        "domain": model.domain,
        "signature": model.signature_hash,
        "weights": f"{matrices}, {many(facts['weights']['numbers'], 'number')}",
        "file": f"{many(size, 'byte')}, format {facts['format']}",
        "made with": ", ".join(f"{name} {version}" for name, version in model.versions.items()),
    }
    yield from _rows(overview, "")
    yield from ("", "network", *_rows(network, "  "))
    if model.training:
        training = dict(model.training)
        if isinstance(training.get("ensemble"), list):
            training["ensemble"] = len(training["ensemble"])
        yield from ("", "training", *_rows(training, "  "))
    yield from ("", "rules")
    rules = "none: all applicable actions" if model.rules is None else model.rules
    yield from (f"  {line}".rstrip() for line in rules.strip("\n").splitlines())


def _rows(values: Mapping[str, Any], indent: str) -> Iterator[str]:
    """A line for each value, and more for those that hold others."""
    width = max((len(key) for key, value in values.items() if not _is_nested(value)), default=0)
    for key, value in values.items():
        name = key.replace("_", " ")
        if not _is_nested(value):
            yield f"{indent}{name:<{width}}  {_plain(value)}".rstrip()
        elif isinstance(value, dict):
            yield f"{indent}{name}"
            yield from _rows(value, indent + "  ")
        else:
            yield f"{indent}{name}"
            for item in _shortened(value):
                if isinstance(item, dict) and not any(map(_is_nested, item.values())):
                    item = ", ".join(f"{k.replace('_', ' ')} {_plain(v)}" for k, v in item.items())
                yield f"{indent}  {_plain(item)}"


def _is_nested(value: Any) -> bool:
    """Whether it needs lines of its own: an object with entries, or a list with such or lists."""
    if isinstance(value, list):
        return any(isinstance(item, (dict, list)) for item in value)
    return isinstance(value, dict) and bool(value)


def _plain(value: Any) -> str:
    if value is None or value == {} or value == []:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.5g}"
    if isinstance(value, list):
        return ", ".join(map(_plain, _shortened(value)))
    return str(value)


def _shortened(values: list[Any]) -> list[Any]:
    """Of a long list the beginning and the end."""
    if len(values) <= MOST_ITEMS:
        return values
    half = MOST_ITEMS // 2
    return [*values[:half], f"… ({len(values) - 2 * half:,} more)", *values[-half:]]


def _printable(text: str) -> str:
    """Without characters by which a file could play tricks on a terminal."""
    return "".join(
        c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text
    )
