"""Files, policies and tasks that a command line names, with the messages about them."""

from __future__ import annotations

import errno
import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from planlog import domains
from planlog.api.file_kinds import READ_BYTES, FileKind, kind_of, recognise
from planlog.api.resolve import Choice, is_policy_word, split_files
from planlog.cli.command import BadUsage
from planlog.cli.console import say, warn
from planlog.files import OutputError, check_folder, check_replaceable, explain
from planlog.pddl.task import Domain, Task
from planlog.policy.goal_warnings import goal_warnings
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
    warn(goal_warnings(policy, tasks))
    for note in notes:
        say(f"note: {note}")
    return tasks


def check_writable(file: Path, option: str, ending: str = "") -> None:
    """Reject before the work an output that could not or should not be written after it.

    The command may also write a file whose name has this `ending`. Raises BadUsage for a mistake
    of the command line, and OutputError for what the system refuses.
    """
    try:
        check_output_name(file, option)
        if not file.parent.is_dir():
            raise BadUsage(f"{option}: there is no folder {file.parent}")
        if ending:
            check_output_name(file.with_name(file.name + ending), option)
        check_replaceable(file)
        if file.is_file() and (kind := _kind_of_output(file)) in _INPUTS:
            raise BadUsage(f"{option}: {file} is {kind.value}, and would be overwritten")
    except OSError as error:
        raise _rejected(error, file, option) from None


def check_output_name(file: Path, option: str) -> None:
    """Reject the name of a folder, and a name that is too long."""
    try:
        if file.is_dir():
            raise BadUsage(f"{option}: {file} is a folder")
    except OSError as error:
        raise _rejected(error, file, option) from None


def check_output_folder(folder: Path, option: str) -> None:
    """Reject before the work a folder that no file could be written to."""
    try:
        if folder.exists() and not folder.is_dir():
            raise BadUsage(f"{option}: {folder} is not a folder")
        check_folder(folder)
    except OSError as error:
        raise _rejected(error, folder, option) from None


_INPUTS = (FileKind.DOMAIN, FileKind.PROBLEM, FileKind.RULES)


def _kind_of_output(file: Path) -> FileKind:
    with file.open("rb") as stream:
        return kind_of(stream.read(READ_BYTES))


def _rejected(error: OSError, file: Path, option: str) -> Exception:
    found = OutputError(error.errno, error.strerror, f"{option}: {file}")
    is_mistake = error.errno in (errno.ENAMETOOLONG, errno.ENOTDIR, errno.ELOOP, errno.EINVAL)
    return BadUsage(explain(found)) if is_mistake else found


@contextmanager
def reported(failures: list[OutputError]) -> Iterator[None]:
    """Report and collect an output that cannot be written, so that the others are written."""
    try:
        yield
    except OutputError as error:
        failures.append(error)
        say(f"planlog: {explain(error)}")


def require(module: str, extra: str, purpose: str) -> None:
    """Raise BadUsage that names the extra of a package that is not installed."""
    if importlib.util.find_spec(module) is None:
        raise BadUsage(f"{purpose} needs {module}: pip install 'planlog[{extra}]'")
