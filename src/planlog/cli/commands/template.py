"""`planlog template`: the rules that define the network of a policy."""

from __future__ import annotations

from pathlib import Path

import click

from planlog.api.file_kinds import FileKind, expect
from planlog.api.resolve import choose_rules, find_domain
from planlog.cli import options
from planlog.cli.command import BadUsage, Command
from planlog.cli.console import emit
from planlog.cli.resolve import announce, read_domain, take_policy
from planlog.network.settings import RANGES, TemplateSettings
from planlog.network.template import build_template

HELP = """Print the rules that define the network of a policy: message passing and its own rules.

The rules derive the same actions as the policy. Preconditions are expanded, so that each rule
shows everything that its part of the network reads. DOMAIN is a PDDL file, or a folder with
`domain.pddl` in it or above it (by default the current folder). POLICY may be given without
its option.

Examples:

    planlog template domain.pddl --policy my-rules.dl --layers 2
    planlog template domain.pddl --policy shipped --derived-messages
    planlog template domain.pddl --policy none --layers 0

Exit codes: 0 done, 31 bad input, 34 unsupported PDDL, 36 bad usage, 73 the output cannot
be written.
"""


@click.command("template", cls=Command, help=HELP)
@options.files("[DOMAIN] [POLICY]", required=False)
@options.policy
@options.layers(RANGES["layers"])
@options.flag("--derived-messages", help="Messages along derived predicates too.")
def command(
    files: tuple[Path, ...], policy: str | None, layers: int | None, derived_messages: bool
) -> None:
    rest, policy = take_policy(files, policy)
    if len(rest) > 1:
        raise BadUsage(f"expected [DOMAIN] [POLICY], got {len(files)} files")
    domain_file = rest[0] if rest else Path()
    if domain_file.is_dir():
        domain_file = find_domain(domain_file)
    expect(domain_file, FileKind.DOMAIN, "DOMAIN")
    choice = announce(choose_rules(read_domain(domain_file), policy))
    settings = TemplateSettings(1 if layers is None else layers, derived_messages)
    emit(build_template(choice.policy, settings).text.rstrip())
