"""Speaks Scorpion's command line, with breadth-first search in place of Scorpion.

    fast-downward.py --plan-file FILE --alias scorpion DOMAIN TASK
    fast-downward.py --version

Like the real driver it runs the search as a process of its own, writes its log to the standard
output, and leaves with Fast Downward's exit codes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

UNSOLVABLE, INPUT_ERROR = 11, 36


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:
        self.print_usage()
        print(f"error: {message}")
        sys.exit(INPUT_ERROR)


def main() -> int:
    parser = Parser()
    parser.add_argument("--version", action="store_true")
    parser.add_argument("--alias")
    parser.add_argument("--plan-file", type=Path, default="sas_plan")
    parser.add_argument("files", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    if arguments.version:
        print("Fast Downward 23.06+")
        print("git revision [release]: 0123abcde")
        return 0
    if arguments.alias != "scorpion":
        parser.error(f"unknown alias: {arguments.alias!r}")
    if len(arguments.files) != 2:
        parser.error("translator needs one or two PDDL input files")
    sys.stdout.flush()
    component = [sys.executable, __file__, "search", arguments.plan_file, *arguments.files]
    code = subprocess.run(component).returncode
    print(f"search exit code: {code}")
    return code


def search(plan_file: Path, domain_file: Path, task_file: Path) -> int:
    from planlog import Domain
    from planlog.statespace.space import expand

    space = expand(Domain.read(domain_file).read_task(task_file), stop_at_goal=True)
    distances = space.goal_distances
    if distances[0] < 0:
        print("[t=0.1s, 1000 KB] Completely explored state space -- no solution!")
        return UNSOLVABLE
    print(f"[t=0.1s, 1000 KB] f = {distances[0]}, {len(space)} evaluated, 0 expanded", flush=True)
    lines = []
    state = 0
    while distances[state] > 0:
        step = next(i for i in space.transitions(state) if space.optimal[i])
        lines.append(f"{space.action_of(step)}\n")
        state = int(space.successors[step])
    plan_file.write_text("".join(lines) + f"; cost = {len(lines)} (unit cost)\n")
    print("Solution found.")
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["search"]:
        sys.exit(search(*map(Path, sys.argv[2:])))
    sys.exit(main())
