"""`planlog completion`: shell scripts for completion."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from planlog.cli.command import Command
from planlog.cli.console import emit

HELP = """Print the shell script that completes commands, options, domains and settings.

Examples:

    planlog completion bash >> ~/.bashrc
    planlog completion zsh >> ~/.zshrc
    planlog completion fish > ~/.config/fish/completions/planlog.fish

Exit codes: 0 done, 36 bad usage, 73 the output cannot be written.
"""


@click.command("completion", cls=Command, help=HELP)
@click.argument("shell", metavar="SHELL", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    completion = get_completion_class(shell)
    assert completion is not None
    root = context.find_root().command
    emit(completion(root, {}, "planlog", "_PLANLOG_COMPLETE").source().rstrip())
