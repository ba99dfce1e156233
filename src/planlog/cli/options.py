"""Options and arguments of the commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from planlog import domains
from planlog.ranges import Range

_F = TypeVar("_F", bound=Callable[..., Any])

FILE = click.Path(path_type=Path)


# Numbers that only have to be bounded, and those of threads and processes.
MOST = 10**9
MOST_WORKERS = 1024
# The longest duration, some thirty years, is no limit at all.
MOST_SECONDS = 1e9


class Number(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A number in a range."""

    name = "number"

    def __init__(self, range: Range) -> None:
        self.range = range

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | float:
        try:
            return self.range.read(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


def number(
    *names: str, help: str, least: int = 1, most: int = MOST, **settings: Any
) -> Callable[[_F], _F]:
    """Declare an option for a whole number."""
    return in_range(*names, help=help, range=Range(least, most), **settings)


def seconds(*names: str, help: str, least: float = 0.0, **settings: Any) -> Callable[[_F], _F]:
    """Declare an option for a duration."""
    settings = {"metavar": "SECONDS", **settings}
    return in_range(*names, help=help, range=Range(float(least), MOST_SECONDS), **settings)


def in_range(*names: str, help: str, range: Range, **settings: Any) -> Callable[[_F], _F]:
    """Declare an option for a number in a range."""
    settings = {"metavar": "N", **settings}
    return click.option(*names, type=Number(range), help=help, **settings)


def file(*names: str, help: str, metavar: str = "FILE", **settings: Any) -> Callable[[_F], _F]:
    """Declare an option for a file or a folder."""
    return click.option(*names, type=FILE, metavar=metavar, help=help, **settings)


def flag(*names: str, help: str) -> Callable[[_F], _F]:
    """Declare an option without a value."""
    return click.option(*names, is_flag=True, help=help)


def one_of(name: str, values: type[Enum], help: str, **settings: Any) -> Callable[[_F], _F]:
    """Declare an option for one member of an enum, named by its value."""
    kind = click.Choice([member.value for member in values])

    def member(
        context: click.Context, parameter: click.Parameter, value: str | None
    ) -> Enum | None:
        return None if value is None else values(value)

    return click.option(name, type=kind, callback=member, help=help, **settings)


class WordList(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """Words with commas between them; `none`, if it is among the known ones, is an empty list."""

    name = "list"

    def __init__(self, words: Iterable[str], *, others: bool) -> None:
        self._words = tuple(words)
        self._others = others  # whether other words are allowed

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[str]:
        words = list(dict.fromkeys(filter(None, map(str.strip, value.split(",")))))
        if words == ["none"] and "none" in self._words:
            return []
        unknown = [word for word in words if word not in self._words]
        if not words or (unknown and not self._others):
            got = unknown[0] if unknown else ""
            self.fail(f"expected some of {','.join(self._words)}, got '{got}'", param, ctx)
        return words

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        before, comma, last = incomplete.rpartition(",")
        matching = (word for word in self._words if word.startswith(last))
        return [CompletionItem(before + comma + word) for word in matching]


def words(
    name: str, known: Iterable[str], help: str, *, others: bool = False, **settings: Any
) -> Callable[[_F], _F]:
    """Declare an option for words with commas between them."""
    settings = {"metavar": "LIST", **settings}
    return click.option(name, type=WordList(known, others=others), help=help, **settings)


class PolicyName(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A rule file, `none`, `shipped` or the name of a shipped domain."""

    name = "policy"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        words = ["none", "shipped", *domains.names()]
        found = [CompletionItem(word) for word in words if word.startswith(incomplete)]
        return found or [CompletionItem(incomplete, type="file")]


policy = click.option(
    "--policy",
    type=PolicyName(),
    metavar="POLICY",
    help="Rules: a file, none (all applicable actions), shipped, or the name of a shipped domain.",
)
as_json = flag("--json", "as_json", help="Output as one JSON object.")
MOST_SEED = 2**64 - 1
seed = number("--seed", help="Random seed.", least=0, most=MOST_SEED, default=0)
time_limit = seconds("--time-limit", help="Time limit of the command, from its start.")
MOST_MEGABYTES = 10**8
memory_limit = number(
    "--memory-limit",
    help="Memory limit of the process.",
    most=MOST_MEGABYTES,
    metavar="MB",
    callback=lambda context, parameter, megabytes: megabytes and megabytes * 1024**2,
)


def layers(range: Range) -> Callable[[_F], _F]:
    """Declare the option `--layers`; most commands need not import the settings of networks."""
    help = "Number of message-passing layers."
    return in_range("--layers", help=help, range=range, metavar="L", show_default="1")


def files(metavar: str, *, required: bool = True) -> Callable[[_F], _F]:
    """Declare the files of a command, such as `[DOMAIN] [POLICY] TASK...`."""
    return click.argument("files", metavar=metavar, type=FILE, nargs=-1, required=required)
