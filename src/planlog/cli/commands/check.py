"""`planlog check`: three properties of a policy on tasks, with counterexamples."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Generator
from contextlib import closing
from enum import Enum
from pathlib import Path
from typing import Any

import click

from planlog.checking import CheckSettings, Property, Summary, TaskReport, Verdict, check_all
from planlog.cli import options
from planlog.cli.command import BadUsage, Command
from planlog.cli.commands.check_json import as_json as describe
from planlog.cli.commands.check_text import (
    Checked,
    counterexamples,
    rules_block,
    summary_block,
    task_block,
    task_line,
)
from planlog.cli.console import emit, emit_json, say
from planlog.cli.exit_codes import ExitCode
from planlog.cli.formatting import many
from planlog.cli.progress import CheckProgress
from planlog.cli.resolve import find_inputs, read_domain, read_rules, read_tasks
from planlog.cli.signals import Signals

HELP = """Check three properties of a policy on tasks, and print counterexamples.

1. Goal achieving: from every state that the policy reaches, it can reach a goal.
2. Cycle-free: no execution sees a state twice.
3. Optimality preserving: in every solvable state some derived action is optimal.

Each property is proved on a task, refuted, or undecided within the limit of states. TASK is a
PDDL file, a folder or a glob pattern. Without a DOMAIN, `domain.pddl` is looked for beside the
first task and in the folders above it. POLICY may stand before the tasks without its option.

Examples:

    planlog check domain.pddl tasks/p*.pddl --policy my-rules.dl
    planlog check tasks --policy my-rules.dl --property 1,2 --plan-dir found
    planlog check p01.pddl --policy shipped --limit 100000 --json

Exit codes: 0 everything asked is proved, 1 something is refuted, 12 undecided, 22 out of
memory, 23 out of time, 31 bad input, 34 unsupported PDDL, 36 bad usage, 130 or 143 ended by
Ctrl-C or SIGTERM.
"""


class Problem(Enum):
    """Reason why the work ended early."""

    INTERRUPTED = "interrupted"
    MEMORY = "out of memory"
    TIME = "out of time"


@click.command("check", cls=Command, help=HELP)
@options.files("[DOMAIN] [POLICY] TASK...")
@options.policy
@click.option(
    "--property", "properties", metavar="LIST", default="1,2,3", help="Properties, such as 1,2."
)
@options.number("--limit", "Maximum number of states per task.", default=10_000)
@options.number(
    "--walks", "Random walks in tasks with more states than the limit.", least=0, default=100
)
@options.number("--walk-steps", "Maximum length of a walk.", default=5_000)
@options.number("--seed", "Random seed of the walks.", least=0, default=0)
@options.file("--plan-dir", metavar="DIR", help="Folder for counterexamples as plan files.")
@options.number("--jobs", "Number of tasks checked at a time.", show_default="number of processors")
@options.as_json
@options.flag("-v", "--verbose", help="All tasks and counterexamples in full.")
def command(
    files: tuple[Path, ...],
    policy: str | None,
    properties: str,
    limit: int,
    walks: int,
    walk_steps: int,
    seed: int,
    plan_dir: Path | None,
    jobs: int | None,
    as_json: bool,
    verbose: bool,
) -> int:
    start = time.monotonic()
    wanted = _parse_properties(properties)
    domain_file, task_files, policy = find_inputs(files, policy)
    if plan_dir is not None:
        _prepare(plan_dir, task_files)
    results: list[Checked] = []
    problem: Problem | None = Problem.INTERRUPTED
    with Signals() as signals:
        with signals.until_interrupted():
            choice = read_rules(read_domain(domain_file), policy)
            tasks = read_tasks(choice.policy, task_files, choice.shipped)
            with CheckProgress(len(tasks)) as progress:
                reports = check_all(
                    choice.policy,
                    tasks,
                    CheckSettings(wanted, limit, walks, walk_steps, seed),
                    workers=jobs,
                    on_progress=progress.on_progress,
                )
                problem = _collect(reports, task_files, plan_dir, progress, results)
        if problem is Problem.INTERRUPTED and signals.out_of_time:
            problem = Problem.TIME
        if problem and not results:
            say(f"planlog: {problem.value} before any task was checked")
            return _exit_code(results, problem, signals)
        if as_json:
            settings = {
                "domain": str(domain_file),
                "policy": choice.name,
                "limit": limit,
                "walks": walks,
                "walk_steps": walk_steps,
                "seed": seed,
                "seconds": round(time.monotonic() - start, 6),
            }
            _emit_json(results, problem, settings)
        else:
            asked = len(task_files)
            _emit_text(results, problem, asked, domain_file, limit, verbose)
        return _exit_code(results, problem, signals)


def _parse_properties(text: str) -> list[Property]:
    """Parse a list of properties such as `1,2`."""
    parts = [part.strip() for part in text.split(",")]
    if not set(parts) <= {"1", "2", "3"}:
        raise BadUsage(f"--property: expected some of 1,2,3 with commas between, got '{text}'")
    return [Property(number) for number in sorted({int(part) for part in parts})]


def _plan_name(task_file: Path, number: int) -> str:
    return f"{task_file.stem}.p{number}.plan"


def _prepare(plan_dir: Path, task_files: list[Path]) -> None:
    """Make the folder, and reject before the work what could not be written after it."""
    stem, times = Counter(file.stem for file in task_files).most_common(1)[0]
    if times > 1:
        raise BadUsage(
            f"--plan-dir: {times} tasks would write to {plan_dir / _plan_name(Path(stem), 1)}; "
            "give tasks of different file names"
        )
    if plan_dir.exists() and not plan_dir.is_dir():
        raise BadUsage(f"--plan-dir: {plan_dir} is not a folder")
    try:
        plan_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadUsage(f"--plan-dir: {plan_dir}: {error.strerror}") from None
    if not os.access(plan_dir, os.W_OK | os.X_OK):
        raise BadUsage(f"--plan-dir: {plan_dir} cannot be written")


def _collect(
    reports: Generator[TaskReport, None, None],
    files: list[Path],
    plan_dir: Path | None,
    progress: CheckProgress,
    results: list[Checked],
) -> Problem | None:
    """Append the reports to `results` until all are there or the work ends early."""
    try:
        with closing(reports):
            for file, report in zip(files, reports, strict=True):
                plans = {} if plan_dir is None else _write_plans(report, file, plan_dir)
                results.append(Checked(file, report, plans))
                progress.done(len(results))
    except KeyboardInterrupt:
        return Problem.INTERRUPTED
    except MemoryError:
        return Problem.MEMORY
    except TimeoutError:
        return Problem.TIME
    return None


def _write_plans(report: TaskReport, file: Path, plan_dir: Path) -> dict[Property, Path]:
    """Write the counterexamples as plan files."""
    written = {}
    for property, finding in report.findings.items():
        if finding.counterexample:
            written[property] = plan_dir / _plan_name(file, property.value)
            finding.counterexample.plan.write(written[property])
    return written


def _emit_json(results: list[Checked], problem: Problem | None, settings: dict[str, Any]) -> None:
    found = {
        "outcome": _overall(results, problem).value,
        "complete": problem is None,
        "problem": problem and problem.value,
    }
    emit_json(found | settings | describe(results))


def _emit_text(
    results: list[Checked],
    problem: Problem | None,
    asked: int,
    domain: Path,
    limit: int,
    verbose: bool,
) -> None:
    if asked == 1 or verbose:
        blocks = [task_block(result, limit) for result in results]
    else:
        blocks = ["\n".join(task_line(result, limit) for result in results)]
    blocks += counterexamples(results, domain, every=verbose)
    if len(results) > 1:
        blocks.append(summary_block(results))
    if results:
        blocks.append(rules_block(Summary(tuple(result.report for result in results)).rules))
    if problem:
        done = f"{len(results):,} of {many(asked, 'task')}"
        blocks.append(f"INCOMPLETE, {problem.value}: this is what was found on {done}")
    emit("\n\n".join(blocks))


def _overall(results: list[Checked], problem: Problem | None) -> Verdict:
    """Combine the verdicts on all tasks; a task that was not checked is undecided."""
    verdicts = [result.report.verdict for result in results]
    return Verdict.all_of([*verdicts, Verdict.UNDECIDED] if problem else verdicts)


def _exit_code(results: list[Checked], problem: Problem | None, signals: Signals) -> int:
    match problem:
        case Problem.INTERRUPTED:
            return signals.exit_code
        case Problem.MEMORY:
            return ExitCode.MEMORY_LIMIT
        case Problem.TIME:
            return ExitCode.TIME_LIMIT
    return {
        Verdict.PROVED: ExitCode.SUCCESS,
        Verdict.REFUTED: ExitCode.INVALID,
        Verdict.UNDECIDED: ExitCode.NO_PLAN,
    }[_overall(results, problem)]
