"""`planlog check`: does a policy have the three properties on these tasks?"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Generator
from contextlib import closing
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planlog.cli.exits import (
    ExitCode,
    bad_usage,
    catch_signals,
    emit,
    emit_json,
    say,
    signal_code,
    user_errors,
    warn,
)
from planlog.cli.files import choose_policy
from planlog.cli.progress import TasksProgress
from planlog.cli.wording import many

if TYPE_CHECKING:
    from planlog.check import Property, TaskReport, Verdict
    from planlog.cli.check_text import Checked
    from planlog.policy import Policy
    from planlog.task import Task

HELP = """Tell whether a policy is right on some tasks, with counterexamples where it is not.

1. Goal achieving: from every state that the policy reaches, it can reach a goal.
2. Cycle-free: no execution sees a state twice.
3. Optimality preserving: in every solvable state some derived action is optimal.

Each is proved on a task, refuted, or undecided within the limit of states. POLICY is a rule
file, or `none` for all applicable actions, or `shipped` for the policy that Planlog ships for
the domain's name (`shipped:NAME` for another one of those).

**Examples**

    planlog check domain.pddl my-rules.dl p01.pddl p02.pddl
    planlog check domain.pddl my-rules.dl tasks/p*.pddl --property 1,2 --plan-dir found
    planlog check domain.pddl shipped p01.pddl --limit 100000 --json

**Exit codes**: 0 everything asked is proved, 1 something is refuted, 12 undecided, 22 out of
memory, 23 out of time, 31 bad input, 34 unsupported PDDL, 36 bad usage, 130 or 143 ended by
Ctrl-C or SIGTERM.
"""


class Problem(Enum):
    """What ended the work early."""

    INTERRUPTED = "interrupted"
    MEMORY = "out of memory"
    TIME = "out of time"


def check(
    domain_file: Annotated[
        Path, typer.Argument(metavar="DOMAIN", help="PDDL file.", show_default=False)
    ],
    policy: Annotated[
        str,
        typer.Argument(
            metavar="POLICY", help="Rule file, `none` or `shipped`.", show_default=False
        ),
    ],
    task_files: Annotated[
        list[Path], typer.Argument(metavar="TASK", help="PDDL files.", show_default=False)
    ],
    properties: Annotated[
        str, typer.Option("--property", metavar="LIST", help="Which ones, such as 1,2.")
    ] = "1,2,3",
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, help="States to look at, for each task.")
    ] = 10_000,
    walks: Annotated[
        int, typer.Option(metavar="N", min=0, help="Random walks where the limit is too small.")
    ] = 100,
    walk_steps: Annotated[
        int, typer.Option(metavar="N", min=1, help="Longest random walk.")
    ] = 5_000,
    seed: Annotated[int, typer.Option(min=0, help="Of the random walks.")] = 0,
    plan_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write each counterexample as a plan file here."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Tasks at a time.", show_default="processors available"
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show all counterexamples in full.")
    ] = False,
) -> None:
    start = time.monotonic()
    wanted = _numbers(properties)
    if plan_dir is not None:
        _prepare(plan_dir, task_files)
    with user_errors(as_json), catch_signals() as signals:
        try:
            from planlog.check import Property, check_all
            from planlog.task import Domain

            domain = Domain.read(domain_file)
            warn(domain.warnings)
            chosen, name, shipped = choose_policy(policy, domain)
            warn(chosen.warnings)
            tasks = _read_tasks(chosen, task_files, shipped)
            with TasksProgress(len(tasks)) as progress:
                reports = check_all(
                    chosen,
                    tasks,
                    properties=[Property(number) for number in wanted],
                    limit=limit,
                    walks=walks,
                    walk_steps=walk_steps,
                    seed=seed,
                    workers=jobs,
                    on_progress=progress.on_progress,
                )
                results, problem = _collect(reports, task_files, plan_dir, progress)
        except KeyboardInterrupt:
            say("planlog: interrupted before any task was checked")
            raise typer.Exit(signal_code(signals)) from None
    if as_json:
        settings = {
            "domain": str(domain_file),
            "policy": name,
            "limit": limit,
            "walks": walks,
            "walk_steps": walk_steps,
            "seed": seed,
            "seconds": round(time.monotonic() - start, 6),
        }
        _emit_json(results, problem, settings)
    else:
        _emit_text(results, problem, len(tasks), domain_file, chosen, limit, verbose)
    raise typer.Exit(_exit_code(results, problem, signals))


check.__doc__ = HELP


def _numbers(text: str) -> list[int]:
    """The properties of a list such as 1,2."""
    parts = [part.strip() for part in text.split(",")]
    if not set(parts) <= {"1", "2", "3"}:
        raise bad_usage(f"--property: expected some of 1,2,3 with commas between, got '{text}'")
    return sorted({int(part) for part in parts})


def _plan_name(task_file: Path, number: int) -> str:
    return f"{task_file.stem}.p{number}.plan"


def _prepare(plan_dir: Path, task_files: list[Path]) -> None:
    """Make the folder, and say at once what would otherwise be found out after the work."""
    stem, times = Counter(file.stem for file in task_files).most_common(1)[0]
    if times > 1:
        raise bad_usage(
            f"--plan-dir: {times} tasks would write to {plan_dir / _plan_name(Path(stem), 1)}; "
            "give tasks of different file names"
        )
    if plan_dir.exists() and not plan_dir.is_dir():
        raise bad_usage(f"--plan-dir: {plan_dir} is not a folder")
    try:
        plan_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise bad_usage(f"--plan-dir: {plan_dir}: {error.strerror}") from None
    if not os.access(plan_dir, os.W_OK | os.X_OK):
        raise bad_usage(f"--plan-dir: {plan_dir} cannot be written")


def _read_tasks(policy: Policy, files: list[Path], shipped: str | None) -> list[Task]:
    """All tasks, so that a mistake in one is told before any work is done."""
    from planlog import domains

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


def _collect(
    reports: Generator[TaskReport, None, None],
    files: list[Path],
    plan_dir: Path | None,
    progress: TasksProgress,
) -> tuple[list[Checked], Problem | None]:
    """The results, be it that only the first ones are there when the work is ended."""
    from planlog.cli.check_text import Checked

    results: list[Checked] = []
    try:
        with closing(reports):
            for file, report in zip(files, reports, strict=True):
                plans = {} if plan_dir is None else _write_plans(report, file, plan_dir)
                results.append(Checked(file, report, plans))
                progress.done(len(results))
    except KeyboardInterrupt:
        return results, Problem.INTERRUPTED
    except MemoryError:
        return results, Problem.MEMORY
    except TimeoutError:
        return results, Problem.TIME
    return results, None


def _write_plans(report: TaskReport, file: Path, plan_dir: Path) -> dict[Property, Path]:
    """The counterexamples as plan files."""
    from planlog.execution import write_whole

    written = {}
    for property, finding in report.findings.items():
        if finding.counterexample:
            written[property] = plan_dir / _plan_name(file, property.value)
            write_whole(written[property], finding.counterexample.plan_text)
    return written


def _emit_json(results: list[Checked], problem: Problem | None, settings: dict[str, Any]) -> None:
    from planlog.cli.check_json import as_json

    found = {
        "outcome": _overall(results, problem).value,
        "complete": problem is None,
        "problem": problem and problem.value,
    }
    emit_json(found | settings | as_json(results))


def _emit_text(
    results: list[Checked],
    problem: Problem | None,
    asked: int,
    domain: Path,
    policy: Policy,
    limit: int,
    verbose: bool,
) -> None:
    from planlog.check import Summary
    from planlog.cli.check_text import counterexamples, rules_block, summary_block, task_block

    blocks = [task_block(result, limit) for result in results]
    blocks += counterexamples(results, domain, policy, every=verbose)
    if len(results) > 1:
        blocks.append(summary_block(results))
    if results:
        blocks.append(rules_block(Summary(tuple(result.report for result in results)).rules))
    if problem:
        done = f"{len(results):,} of {many(asked, 'task')}"
        blocks.append(f"INCOMPLETE, {problem.value}: this is what was found on {done}")
    emit("\n\n".join(blocks))


def _overall(results: list[Checked], problem: Problem | None) -> Verdict:
    """Whether everything asked holds on all tasks; of those not checked nothing is known."""
    from planlog.check import Verdict

    verdicts = [result.report.verdict for result in results]
    return Verdict.all_of([*verdicts, Verdict.UNDECIDED] if problem else verdicts)


def _exit_code(results: list[Checked], problem: Problem | None, signals: list[int]) -> int:
    from planlog.check import Verdict

    match problem:
        case Problem.INTERRUPTED:
            return signal_code(signals)
        case Problem.MEMORY:
            return ExitCode.MEMORY_LIMIT
        case Problem.TIME:
            return ExitCode.TIME_LIMIT
    return {
        Verdict.PROVED: ExitCode.SUCCESS,
        Verdict.REFUTED: ExitCode.INVALID,
        Verdict.UNDECIDED: ExitCode.NO_PLAN,
    }[_overall(results, problem)]
