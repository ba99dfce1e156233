"""`planlog generate`: tasks of the shipped domains, of any size."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import click

from planlog import domains
from planlog.cli import options
from planlog.cli.command import BadUsage, Command
from planlog.cli.console import emit
from planlog.cli.formatting import plural
from planlog.domains import Size
from planlog.errors import UnknownNameError

_SIZES = "\n".join(
    f"    {name:<12} " + " ".join(f"--{size.name}" for size in domains.parameters(name))
    for name in domains.names()
)

HELP = f"""Generate tasks of a shipped domain, and write them beside its domain.pddl.

All tasks are solvable, and the same seed gives the same files. Their size is that of a split
of the IPC 2023 learning track (growing from p01 to the last task), or is given by the
options of the domain:

{_SIZES}

Examples:

    planlog generate blocksworld --split medium --count 30 --out tasks
    planlog generate ferry --cars 200 --locations 50 --seed 7 --out tasks

Exit codes: 0 done, 31 the folder cannot be written, 36 bad usage.
"""


@click.command(
    "generate",
    cls=Command,
    help=HELP,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.argument("domain", metavar="DOMAIN", shell_complete=options.completes(domains.names()))
@options.file("--out", metavar="DIR", help="Folder for the files.", required=True)
@options.names("--split", domains.SPLITS, "Sizes: training, easy, medium or hard.", metavar="NAME")
@options.number("--count", "Number of tasks.", show_default="1, or that of the split in the IPC")
@options.seed
@click.pass_context
def command(
    context: click.Context,
    domain: str,
    out: Path,
    split: str | None,
    count: int | None,
    seed: int,
) -> None:
    try:
        sizes = _sizes(context.args, domains.parameters(domain))
        tasks = domains.generate(domain, seed=seed, split=split, count=count, sizes=sizes)
    except (UnknownNameError, domains.SizeError) as error:
        raise BadUsage(str(error)) from None
    out.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(domains.path(domain) / "domain.pddl", out / "domain.pddl")
    number = 0
    for name, text in tasks:
        (out / name).write_text(text, encoding="utf-8")
        number += 1
    emit(f"{plural(number, 'task')} and domain.pddl in {out}")


def _sizes(arguments: list[str], known: tuple[Size, ...]) -> dict[str, int]:
    """The sizes given as `--name N` or `--name=N`."""
    options = ", ".join(f"--{size.name}" for size in known)
    names = {size.name for size in known}
    sizes: dict[str, int] = {}
    for name, value in _pairs(arguments):
        if name not in names:
            raise BadUsage(f"no such option: --{name}; the sizes of this domain are {options}")
        if value is None or not re.fullmatch(r"\d+", value):
            raise BadUsage(f"--{name}: expected a whole number, got {value or 'nothing'}")
        sizes[name] = int(value)
    return sizes


def _pairs(arguments: list[str]) -> Iterator[tuple[str, str | None]]:
    words = iter(arguments)
    for word in words:
        if not word.startswith("--"):
            raise BadUsage(f"unexpected argument '{word}'")
        name, equals, value = word[2:].partition("=")
        yield name, value if equals else next(words, None)
