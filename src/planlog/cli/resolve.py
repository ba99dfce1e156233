"""Files, policies and tasks that a command line names, with the messages about them."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path

from planlog import domains
from planlog.api.file_kinds import FileKind, recognise
from planlog.api.resolve import Choice, is_policy_word, split_files
from planlog.cli.command import BadUsage
from planlog.cli.console import say, warn
from planlog.pddl.task import Domain, Task
from planlog.policy.policy import Policy


def take_policy(files: Sequence[Path], policy: str | None) -> tuple[list[Path], str | None]:
    """Take the policy out of `[DOMAIN] [POLICY] …`, where it may stand without its option.

    It is the first or second argument if that is a rule file, or a policy's name and no file.
    """
    rest = list(files)
    for index, file in enumerate(rest[:2]):
        is_word = not file.exists() and is_policy_word(str(file))
        if is_word or file.suffix == ".dl" or recognise(file) is FileKind.RULES:
            if policy is not None:
                raise BadUsage(f"the policy is given twice: {file} and --policy {policy}")
            return rest[:index] + rest[index + 1 :], str(file)
    return rest, policy


def find_inputs(files: Sequence[Path], policy: str | None) -> tuple[Path, list[Path], str | None]:
    """Find the domain file, the task files and the policy of `[DOMAIN] [POLICY] TASK…`."""
    rest, policy = take_policy(files, policy)
    if not rest:
        raise BadUsage("no TASK is given")
    return *split_files(rest), policy


def read_domain(file: Path) -> Domain:
    """Read a domain and print its warnings."""
    domain = Domain.read(file)
    warn(domain.warnings)
    return domain


def announce(choice: Choice) -> Choice:
    """Print the notes and warnings about a policy."""
    for note in choice.notes:
        say(f"note: {note}")
    warn(choice.policy.warnings)
    return choice


def read_tasks(policy: Policy, files: Sequence[Path], shipped: str | None = None) -> list[Task]:
    """Read all tasks before any work is done, so that a mistake in one is reported at once."""
    tasks = []
    notes: dict[str, None] = {}
    for file in files:
        task = policy.domain.read_task(file)
        warn(task.warnings)
        policy.check_task(task)
        if shipped:
            notes |= dict.fromkeys(domains.problem_notes(shipped, task))
        tasks.append(task)
    for note in notes:
        say(f"note: {note}")
    return tasks


def check_writable(file: Path, option: str) -> None:
    """Raise BadUsage before the work is done if its result could not or should not be written."""
    if file.is_dir():
        raise BadUsage(f"{option}: {file} is a folder")
    if not file.parent.is_dir():
        raise BadUsage(f"{option}: there is no folder {file.parent}")
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise BadUsage(f"{option}: {file} cannot be written")
    if (kind := recognise(file)) in (FileKind.DOMAIN, FileKind.PROBLEM, FileKind.RULES):
        raise BadUsage(f"{option}: {file} is {kind.value}, and would be overwritten")


def require(module: str, extra: str, purpose: str) -> None:
    """Raise BadUsage that names the extra of a package that is not installed."""
    if importlib.util.find_spec(module) is None:
        raise BadUsage(f"{purpose} needs {module}: pip install 'planlog[{extra}]'")
