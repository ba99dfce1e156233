"""The files that a command line names."""

from __future__ import annotations

from pathlib import Path

from planlog.cli.exits import bad_usage


def domain_and_problem(files: list[Path]) -> tuple[Path, Path]:
    """`[DOMAIN] PROBLEM`: the domain is domain.pddl beside the problem if it is not named."""
    if len(files) == 2:
        return files[0], files[1]
    if len(files) != 1:
        raise bad_usage(f"expected [DOMAIN] PROBLEM, got {len(files)} files")
    domain = files[0].parent / "domain.pddl"
    if files[0].exists() and not domain.exists():
        raise bad_usage(f"no domain is given, and there is no {domain} beside the problem")
    return domain, files[0]
