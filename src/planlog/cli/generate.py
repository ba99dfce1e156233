"""`planlog generate`: tasks of the shipped domains, of any size."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planlog.cli.exits import bad_usage, emit, user_errors
from planlog.cli.wording import plural
from planlog.errors import UnknownNameError

if TYPE_CHECKING:
    from planlog.domains import Size

HELP = """Generate tasks of a shipped domain, and write them beside its domain.pddl.

All tasks are solvable, and the same seed gives the same files. Their size is that of a split
of the IPC 2023 learning track (growing from p01 to the last task), or is given by the
options of the domain:

    blocksworld  --blocks
    ferry        --cars --locations
    rover        --rovers --waypoints --cameras --objectives
    satellite    --satellites --instruments --modes --directions

**Examples**

    planlog generate blocksworld --split medium --count 30 --out tasks
    planlog generate ferry --cars 200 --locations 50 --seed 7 --out tasks

**Exit codes**: 0 done, 31 the folder cannot be written, 36 bad usage.
"""


def generate(
    context: typer.Context,
    domain: Annotated[
        str,
        typer.Argument(
            metavar="DOMAIN", help="blocksworld, ferry, rover or satellite.", show_default=False
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the files.", show_default=False)
    ],
    split: Annotated[
        str | None, typer.Option(metavar="NAME", help="training, easy, medium or hard.")
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Number of tasks (1, or as many as the split has in the IPC)."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the generator.")] = 0,
) -> None:
    from planlog import domains

    try:
        sizes = _sizes(context.args, domains.parameters(domain))
        tasks = domains.generate(domain, seed=seed, split=split, count=count, sizes=sizes)
    except (UnknownNameError, domains.SizeError) as error:
        raise bad_usage(str(error)) from None
    with user_errors():
        out.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(domains.path(domain) / "domain.pddl", out / "domain.pddl")
        number = 0
        for name, text in tasks:
            (out / name).write_text(text, encoding="utf-8")
            number += 1
    emit(f"{plural(number, 'task')} and domain.pddl in {out}")


generate.__doc__ = HELP


def _sizes(arguments: list[str], known: tuple[Size, ...]) -> dict[str, int]:
    """The sizes given as `--name N` or `--name=N`."""
    options = ", ".join(f"--{size.name}" for size in known)
    names = {size.name for size in known}
    sizes: dict[str, int] = {}
    for name, value in _pairs(arguments):
        if name not in names:
            raise bad_usage(f"no such option: --{name}; the sizes of this domain are {options}")
        if value is None or not re.fullmatch(r"\d+", value):
            raise bad_usage(f"--{name}: expected a whole number, got {value or 'nothing'}")
        sizes[name] = int(value)
    return sizes


def _pairs(arguments: list[str]) -> Iterator[tuple[str, str | None]]:
    words = iter(arguments)
    for word in words:
        if not word.startswith("--"):
            raise bad_usage(f"unexpected argument '{word}'")
        name, equals, value = word[2:].partition("=")
        yield name, value if equals else next(words, None)
