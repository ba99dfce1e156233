"""`planlog info`: the contents of a model file."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from planlog.api.resolve import read_model
from planlog.cli import options
from planlog.cli.command import Command
from planlog.cli.console import emit, emit_json
from planlog.cli.formatting import counted
from planlog.errors import clip
from planlog.files import read_input
from planlog.printable import one_line

HELP = """Show the contents of a model file: rules, settings, weights and training.

Examples:

    planlog info model.safetensors
    planlog info model.safetensors --json

Exit codes: 0 done, 31 bad input, 36 bad usage, 73 the output cannot be written.
"""

# Parts shown of large values, which a file may have in any size; --json has all of them.
MOST_ITEMS = 6
MOST_LEVELS = 5
LONGEST_KEY = 40
LONGEST_VALUE = 2_000
WIDTH = 100


@click.command("info", cls=Command, help=HELP)
@click.argument("file", metavar="MODEL", type=options.FILE)
@options.as_json
def command(file: Path, as_json: bool) -> None:
    model = read_model(file, "MODEL")
    weights = {
        "matrices": len(model.weights),
        "numbers": sum(weight.size for weight in model.weights.values()),
    }
    facts = {"bytes": len(read_input(file)), "weights": weights, **model.describe()}
    if as_json:
        emit_json({"outcome": "done", "file": str(file), **facts})
    else:
        emit("\n".join(_text(facts)))


def _text(facts: Mapping[str, Any]) -> Iterator[str]:
    weights, network, training = facts["weights"], facts["network"], facts["training"]
    messages = "base and derived" if facts["template"]["derived_messages"] else "base"
    overview = {
        "domain": facts["domain"],
        "network": f"{counted(facts['template']['layers'], 'layer')}, width {network['width']}, "
        f"{network['aggregation']} of messages along {messages} predicates",
        "activations": f"{network['message_activation']} of messages, "
        f"{network['atom_activation']} of atoms, {network['score_activation']} of scores",
        "weights": f"{weights['numbers']:,} numbers in {weights['matrices']:,} matrices",
        "file": f"{facts['bytes']:,} bytes, format {facts['format']}",
        "made with": ", ".join(f"{name} {version}" for name, version in facts["versions"].items()),
        "signature": facts["signature_hash"],
    }
    yield from _rows(overview)
    if training:
        if isinstance(training.get("ensemble"), list):
            training = {**training, "ensemble": counted(len(training["ensemble"]), "network")}
        yield from ("", "training", *_rows(training, "  "))
    yield from ("", "rules")
    rules = "none: all applicable actions" if facts["rules"] is None else facts["rules"]
    yield from (f"  {line}".rstrip() for line in rules.strip("\n").splitlines())


def _rows(values: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """Name each value; a list of objects has a row for each of them."""
    keys = {key: one_line(clip(key, LONGEST_KEY)).replace("_", " ") for key in values}
    width = len(indent) + max(map(len, keys.values()), default=0) + 2
    for key, value in values.items():
        is_table = isinstance(value, list) and any(isinstance(item, dict) for item in value)
        heading = indent + keys[key]
        for item in _shortened(value) if is_table else [value]:
            text = f"{heading:<{width}}{clip(_plain(item), LONGEST_VALUE)}"
            yield textwrap.fill(text, WIDTH, subsequent_indent=" " * width, break_on_hyphens=False)
            heading = ""


def _plain(value: Any, levels: int = MOST_LEVELS) -> str:
    if value is None or value == {} or value == []:
        return "none"
    if levels == 0:
        return "…"
    inner = partial(_plain, levels=levels - 1)
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:.5g}"
        case list():
            return ", ".join(map(inner, _shortened(value)))
        case dict():
            items = ((key.replace("_", " "), item) for key, item in value.items())
            return ", ".join(
                f"{key} ({inner(item)})" if isinstance(item, dict) else f"{key} {inner(item)}"
                for key, item in items
            )
    return str(value)


def _shortened(values: list[Any]) -> list[Any]:
    """Return the beginning and the end of a long list."""
    if len(values) <= MOST_ITEMS:
        return values
    half = MOST_ITEMS // 2
    return [*values[:half], f"… ({len(values) - 2 * half:,} more)", *values[-half:]]
