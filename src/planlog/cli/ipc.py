"""`planlog ipc`: learn and plan as the learning track of the planning competition asks for it."""

from __future__ import annotations

import typer

from planlog.cli.ipc_learn import learn
from planlog.cli.ipc_plan import plan

HELP = """Learn and plan as in the learning track of the International Planning Competition.

**Examples**

    planlog ipc learn dk domain.pddl learning/p*.pddl
    planlog ipc plan dk domain.pddl p01.pddl plan

**Exit codes**: those of each command stand in its own help.
"""

ipc = typer.Typer(help=HELP, no_args_is_help=True)
ipc.command()(learn)
ipc.command()(plan)
