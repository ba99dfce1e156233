"""Tasks and policies as the functions of `planlog` take them: as values, or by file name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from planlog.api.file_kinds import FileKind, recognise
from planlog.api.resolve import choose_policy, choose_rules, find_domain, task_files
from planlog.files import inputs_read_once
from planlog.pddl.task import Domain, Task
from planlog.policy.policy import Policy

# Rules alone, which many tasks are solved with, need no networks, whose import takes time.
if TYPE_CHECKING:
    from planlog.network.model_file import Model

TaskArgument: TypeAlias = Task | str | Path
PolicyArgument: TypeAlias = "Policy | Model | str | Path | None"


def task_of(task: TaskArgument, domain: Domain | None = None) -> Task:
    """Return the task, or read its file, with `domain.pddl` unless a domain is given."""
    if isinstance(task, Task):
        return task
    file = Path(task)
    return (domain or Domain.read(find_domain(file))).read_task(file)


@inputs_read_once()
def tasks_of(tasks: TaskArgument | Iterable[TaskArgument]) -> list[Task]:
    """Return the tasks; read the files that are named, all of the first task's domain.

    A name may be that of a folder or a glob pattern. Raises ValueError if there is no task.
    """
    named = [tasks] if isinstance(tasks, Task | str | Path) else list(tasks)
    found: list[Task] = []
    for each in named:
        arguments = [each] if isinstance(each, Task) else task_files([Path(each)])
        for argument in arguments:
            found.append(task_of(argument, found[0].domain if found else None))
    if not found:
        raise ValueError("no task is given")
    return found


@inputs_read_once()
def policy_of(policy: PolicyArgument, domain: Domain) -> Policy:
    """Return the policy for tasks of a domain.

    A name is that of a rule file or model file, or one of the words of `--policy`. None stands for
    the shipped rules and model of the domain's name, or else for all applicable actions.
    """
    if isinstance(policy, Policy):
        return policy
    if not isinstance(policy, str | Path | None):
        return policy.policy(domain)
    if policy is not None and recognise(Path(policy)) is FileKind.MODEL:
        return choose_policy(domain, model=policy).policy
    return choose_policy(domain, policy).policy


def rules_of(policy: PolicyArgument, domain: Domain) -> Policy:
    """Return the rules of the policy, without a scorer."""
    if policy is None:
        return choose_rules(domain).policy
    return policy_of(policy, domain).rules
