"""`planlog template`: the rules that the network of a policy consists of."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planlog.cli.exits import emit, user_errors, warn
from planlog.cli.files import choose_policy

HELP = """Print the rules of a policy's network: message passing and the policy's own rules.

The rules derive the same actions as the policy. Preconditions are written out, so that each
rule shows all that its network reads. POLICY is a rule file, or `none` for all applicable
actions, or `shipped` for the policy that Planlog ships for the domain's name (`shipped:NAME`
for another one of those).

**Examples**

    planlog template domain.pddl my-rules.dl --layers 2
    planlog template domain.pddl shipped --over-derived
    planlog template domain.pddl none --layers 0

**Exit codes**: 0 done, 31 bad input, 34 unsupported PDDL, 36 bad usage.
"""


def template(
    domain_file: Annotated[
        Path, typer.Argument(metavar="DOMAIN", help="PDDL file.", show_default=False)
    ],
    policy: Annotated[
        str,
        typer.Argument(
            metavar="POLICY", help="Rule file, `none` or `shipped`.", show_default=False
        ),
    ],
    layers: Annotated[
        int, typer.Option(metavar="L", min=0, max=100, help="Rounds of message passing.")
    ] = 1,
    over_derived: Annotated[
        bool,
        typer.Option(
            "--over-derived", help="Pass messages along the policy's derived predicates too."
        ),
    ] = False,
) -> None:
    with user_errors():
        from planlog.task import Domain
        from planlog.template import TemplateSettings, template_text

        domain = Domain.read(domain_file)
        warn(domain.warnings)
        chosen, _, _ = choose_policy(policy, domain)
        warn(chosen.warnings)
        text = template_text(chosen, TemplateSettings(layers, over_derived))
    emit(text.rstrip())


template.__doc__ = HELP
