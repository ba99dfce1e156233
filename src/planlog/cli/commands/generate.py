"""`planlog generate`: tasks of the shipped domains, of any size."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from pathlib import Path

import click

from planlog import domains
from planlog.cli import options
from planlog.cli.command import BadUsage, Command
from planlog.cli.console import emit
from planlog.cli.formatting import counted
from planlog.cli.resolve import check_output_folder
from planlog.files import write_together

HELP = """Generate tasks of a shipped domain, and write them beside its domain.pddl.

All tasks are solvable, and the same seed gives the same files. Their size is that of a split of
the IPC 2023 learning track, growing from p01 to the last task, or is given by the options of the
domain.

Examples:

    planlog generate blocksworld --split medium --count 30 --out tasks
    planlog generate ferry --cars 200 --locations 50 --seed 7 --out tasks

Exit codes: 0 done, 36 bad usage, 73 the files cannot be written (then none of them is).
"""


# Objects of a kind, and tasks.
MOST_SIZE = 10**6


def _sizes(command: Callable[..., None]) -> Callable[..., None]:
    """Declare an option for each size; domains may share one."""
    sizes: dict[str, list[tuple[str, domains.Size]]] = {}
    for domain in domains.names():
        for size in domains.parameters(domain):
            sizes.setdefault(size.name, []).append((domain, size))
    for name, users in reversed(sizes.items()):
        help = f"{users[0][1].help.capitalize()} ({', '.join(domain for domain, _ in users)})."
        least = min(size.minimum for _, size in users)
        default = ", ".join(str(size.default) for _, size in users)
        command = options.number(
            f"--{name}", help=help, least=least, most=MOST_SIZE, show_default=default
        )(command)
    return command


@click.command("generate", cls=Command, help=HELP)
@click.argument("domain", metavar="DOMAIN", type=click.Choice(domains.names()))
@options.file("--out", metavar="DIR", help="Folder for the files.", required=True)
@click.option("--split", type=click.Choice(list(domains.SPLITS)), help="Sizes of a split.")
@options.number(
    "--count",
    help="Number of tasks.",
    most=MOST_SIZE,
    show_default="1, or that of the split in the IPC",
)
@options.seed
@_sizes
def command(
    domain: str, out: Path, split: str | None, count: int | None, seed: int, **sizes: int | None
) -> None:
    given = {name: size for name, size in sizes.items() if size is not None}
    try:
        tasks = domains.generate(domain, seed=seed, split=split, count=count, sizes=given)
    except domains.SizeError as error:
        raise BadUsage(str(error)) from None
    check_output_folder(out, "--out")
    own = ("domain.pddl", (domains.path(domain) / "domain.pddl").read_bytes())
    number = write_together(out, chain([own], tasks))
    emit(f"{counted(number - 1, 'task')} and domain.pddl in {out}")
