"""The files and the policy that a command line names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from planlog.cli.exits import bad_usage

if TYPE_CHECKING:
    from planlog.policy import Policy
    from planlog.task import Domain


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


def choose_policy(given: str, domain: Domain) -> tuple[Policy, str, str | None]:
    """`FILE`, `none` or `shipped[:VARIANT]`: the policy, what to call it, and the shipped domain
    if it is the policy of one."""
    from planlog import domains
    from planlog.errors import UnknownNameError
    from planlog.policy import Policy

    if given == "none":
        return Policy.applicable(domain), "none", None
    word, _, variant = given.partition(":")
    if word != "shipped":
        return Policy.read(Path(given), domain), given, None
    shipped = domains.find(domain.name)
    if shipped is None:
        raise UnknownNameError(f"no policy is shipped for the domain '{domain.name}'")
    file = domains.policy_path(shipped, variant or "policy")
    return Policy.read(file, domain), f"shipped: {shipped}/{file.name}", shipped


def check_writable(file: Path, option: str) -> None:
    """Say at once what would otherwise be found out after the work is done."""
    if file.is_dir():
        raise bad_usage(f"{option}: {file} is a folder")
    if not file.parent.is_dir():
        raise bad_usage(f"{option}: there is no folder {file.parent}")
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise bad_usage(f"{option}: {file} cannot be written")
