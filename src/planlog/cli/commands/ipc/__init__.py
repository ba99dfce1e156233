"""`planlog ipc`: the interface of the learning track of the planning competition."""

from __future__ import annotations

from planlog.cli.command import LazyGroup

HELP = """Learn and plan as in the learning track of the International Planning Competition.

Examples:

    planlog ipc learn dk domain.pddl learning/p*.pddl
    planlog ipc plan dk domain.pddl p01.pddl plan

Exit codes: `planlog ipc learn --help` and `planlog ipc plan --help` list them.
"""

SUMMARIES = {
    "learn": "Learn domain knowledge from tasks.",
    "plan": "Plan with learned domain knowledge.",
}

command = LazyGroup("ipc", package=__name__, summaries=SUMMARIES, help=HELP)
