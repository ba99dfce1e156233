"""`planlog.validate`: is this a plan of the task?"""

from __future__ import annotations

from pathlib import Path

from planlog.api.resolve import find_domain
from planlog.files import read_input_text
from planlog.pddl.plan import Plan
from planlog.pddl.task import Task
from planlog.validation import Report, Validator


def validate(
    task: Task | str | Path,
    plan: Plan | str | Path,
    *,
    domain: str | Path | None = None,
    prefix: bool = False,
) -> Report:
    """Replay a plan by code that shares nothing with the code that made it.

    `task` is a Task or the name of a problem file, whose domain file is `domain`, or else
    `domain.pddl` beside it or in a folder above. `plan` is a Plan or the name of a plan file. With
    `prefix` the actions need not reach the goal.

    Returns a report that says whether the plan is `valid`, what it costs, and otherwise the
    `reason`: the first action that fails and the literal that is false. Raises PddlError or
    PlanFileError for texts that cannot be read, and OSError for files that cannot be opened.

    >>> report = planlog.validate(task, planlog.Plan.parse("(go b c)"))
    >>> report.valid, report.reason
    (False, 'step 1 (go b c): precondition (at b) is false')
    """
    if isinstance(task, Task):
        texts, files = (task.domain.text, task.text), (task.domain.file, task.file)
    else:
        paths = (Path(domain or find_domain(Path(task))), Path(task))
        texts = (read_input_text(paths[0]), read_input_text(paths[1]))
        files = (str(paths[0]), str(paths[1]))
    validator = Validator(*texts, names=files)
    if isinstance(plan, Plan):
        return validator.replay(str(plan), prefix=prefix)
    return validator.replay(read_input_text(plan), prefix=prefix, name=str(plan))
