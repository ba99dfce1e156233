"""Options and arguments that several commands share."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from planlog import domains

FILE = click.Path(path_type=Path)
COUNT = click.IntRange(min=1)
NATURAL = click.IntRange(min=0)
SECONDS = click.FloatRange(min=0)


class PolicyName(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A rule file, `none`, `shipped` or the name of a shipped domain."""

    name = "policy"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        words = ["none", "shipped", *domains.names()]
        found = [CompletionItem(word) for word in words if word.startswith(incomplete)]
        return found or [CompletionItem(incomplete, type="file")]


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
seed_option = click.option("--seed", type=NATURAL, metavar="N", default=0, help="Random seed.")
policy_option = click.option(
    "--policy",
    type=PolicyName(),
    metavar="POLICY",
    help="Rules: a file, none (all applicable actions), shipped, or the name of a shipped domain.",
)
time_limit_option = click.option(
    "--time-limit", type=SECONDS, metavar="SECONDS", help="Time limit of the command."
)
memory_limit_option = click.option(
    "--memory-limit", type=COUNT, metavar="MB", help="Memory limit of the process."
)


def one_of(values: type[Enum]) -> click.Choice[str]:
    """Return the type of an option that takes one of the enum's values."""
    return click.Choice([member.value for member in values])
