"""`planlog template`: the rules that define the network of a policy."""

from __future__ import annotations

from pathlib import Path

import click

from planlog.api.file_kinds import FileKind, recognise
from planlog.api.resolve import find_domain
from planlog.cli.command import BadUsage, Command
from planlog.cli.console import emit
from planlog.cli.options import FILE, policy_option
from planlog.cli.resolve import read_domain, read_rules, take_policy
from planlog.network.settings import TemplateSettings
from planlog.network.template import build_template

HELP = """Print the rules that define the network of a policy: message passing and its own rules.

The rules derive the same actions as the policy. Preconditions are expanded, so that each rule
shows everything that its part of the network reads. DOMAIN is a PDDL file, or a folder with
`domain.pddl` in it or above it (by default the current folder).

Examples:

    planlog template domain.pddl --policy my-rules.dl --layers 2
    planlog template domain.pddl --policy shipped --derived-messages
    planlog template domain.pddl --policy none --layers 0

Exit codes: 0 done, 31 bad input, 34 unsupported PDDL, 36 bad usage.
"""


@click.command("template", cls=Command, help=HELP)
@click.argument("files", metavar="[DOMAIN] [POLICY]", type=FILE, nargs=-1)
@policy_option
@click.option(
    "--layers",
    type=click.IntRange(0, 100),
    metavar="L",
    default=1,
    help="Number of message-passing layers.",
)
@click.option("--derived-messages", is_flag=True, help="Messages along derived predicates too.")
def command(
    files: tuple[Path, ...], policy: str | None, layers: int, derived_messages: bool
) -> None:
    rest, policy = take_policy(files, policy)
    if len(rest) > 1:
        raise BadUsage(f"expected [DOMAIN] [POLICY], got {len(files)} files")
    domain_file = rest[0] if rest else Path()
    if recognise(domain_file) is FileKind.FOLDER:
        domain_file = find_domain(domain_file / "domain.pddl")
    choice = read_rules(read_domain(domain_file), policy)
    settings = TemplateSettings(layers, derived_messages)
    emit(build_template(choice.policy, settings).text.rstrip())
