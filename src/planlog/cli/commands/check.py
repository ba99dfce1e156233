"""`planlog check`: three properties of a policy on tasks, with counterexamples."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import click

from planlog.api.resolve import choose_rules
from planlog.checking import CheckSettings, Property, TaskReport, Verdict, check_all
from planlog.cli import options
from planlog.cli.command import BadUsage, Command
from planlog.cli.commands import check_json, check_text
from planlog.cli.commands.check_text import Checked
from planlog.cli.console import emit, emit_json, report_failure
from planlog.cli.exit_codes import ExitCode
from planlog.cli.formatting import counted
from planlog.cli.progress import CheckProgress
from planlog.cli.resolve import (
    announce,
    check_output_folder,
    check_output_name,
    find_inputs,
    read_domain,
    read_tasks,
    reported,
)
from planlog.cli.signals import Signals
from planlog.files import OutputError, make_folder, write_or_save

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
memory, 23 out of time, 31 bad input, 34 unsupported PDDL, 36 bad usage, 73 a counterexample
cannot be written (a message says where it is saved), 130 or 143 ended by Ctrl-C or SIGTERM.
"""

_EXIT_CODES = {
    Verdict.PROVED: ExitCode.SUCCESS,
    Verdict.REFUTED: ExitCode.INVALID,
    Verdict.UNDECIDED: ExitCode.NO_PLAN,
}


@click.command("check", cls=Command, help=HELP)
@options.files("[DOMAIN] [POLICY] TASK...")
@options.policy
@options.words("--property", "123", "Properties, such as 1,2.", default="1,2,3")
@options.number("--limit", help="Maximum number of states per task.", default=10_000)
@options.number(
    "--walks", help="Random walks in tasks with more states than the limit.", least=0, default=100
)
@options.number("--walk-steps", help="Maximum length of a walk.", default=5_000)
@options.number(
    "--seed", help="Random seed of the walks.", least=0, most=options.MOST_SEED, default=0
)
@options.file("--plan-dir", metavar="DIR", help="Folder for counterexamples as plan files.")
@options.number(
    "--jobs",
    help="Number of tasks checked at a time.",
    most=options.MOST_WORKERS,
    show_default="number of processors",
)
@options.time_limit
@options.memory_limit
@options.as_json
@options.flag("-v", "--verbose", help="All tasks and counterexamples in full.")
def command(
    files: tuple[Path, ...],
    policy: str | None,
    property: list[str],
    plan_dir: Path | None,
    jobs: int | None,
    time_limit: float | None,
    memory_limit: int | None,
    as_json: bool,
    verbose: bool,
    **bounds: int,  # limit, walks, walk_steps, seed
) -> int:
    start = time.monotonic()
    domain_file, task_files, policy = find_inputs(files, policy)
    if plan_dir is not None:
        _prepare(plan_dir, task_files)
    wanted = [p for p in Property if str(p.value) in property]
    results: list[Checked] = []
    failures: list[OutputError] = []
    problem: str | None = "interrupted"
    with Signals() as signals:
        with signals.until_interrupted():
            signals.check()
            choice = announce(choose_rules(read_domain(domain_file), policy))
            tasks = read_tasks(choice.policy, task_files, choice.shipped)
            with CheckProgress(len(tasks)) as progress:
                reports = check_all(
                    choice.policy,
                    tasks,
                    CheckSettings(wanted, **bounds),
                    workers=jobs,
                    on_progress=progress.on_progress,
                )
                try:
                    with closing(reports):
                        for file, report in zip(task_files, reports, strict=True):
                            plans: dict[Property, Path] = {}
                            if plan_dir is not None:
                                plans = _write_plans(report, file, plan_dir, failures)
                            results.append(Checked(file, report, plans))
                            signals.keep_result()
                            progress.done(len(results))
                    problem = None
                except MemoryError:
                    problem = "out of memory"
        if problem == "interrupted":
            problem = signals.reason
        verdicts = [result.report.verdict for result in results]
        # A task that was not checked is undecided.
        overall = Verdict.all_of([*verdicts, Verdict.UNDECIDED] if problem else verdicts)
        if problem and not results:
            outcome = "memory limit" if problem == "out of memory" else signals.outcome
            text = f"{problem} before any task was checked"
            report_failure(outcome, text, as_json=as_json)
        elif as_json:
            found = {
                "outcome": overall.value,
                "complete": problem is None,
                "problem": problem,
                "domain": str(domain_file),
                "policy": choice.name,
                **bounds,
                "seconds": round(time.monotonic() - start, 6),
            }
            emit_json(found | check_json.describe(results))
        else:
            in_full = verbose or len(task_files) == 1
            text = check_text.describe(results, domain_file, bounds["limit"], in_full, verbose)
            if problem:
                done = f"{len(results):,} of {counted(len(task_files), 'task')}"
                text += f"\n\nINCOMPLETE, {problem}: results of {done}"
            emit(text)
    if failures:
        return ExitCode.OUTPUT
    if problem == "out of memory":
        return ExitCode.MEMORY_LIMIT
    return signals.exit_code if problem else _EXIT_CODES[overall]


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
    check_output_folder(plan_dir, "--plan-dir")
    make_folder(plan_dir)
    for file in task_files:
        for property in Property:
            check_output_name(plan_dir / _plan_name(file, property.value), "--plan-dir")


def _write_plans(
    report: TaskReport, file: Path, plan_dir: Path, failures: list[OutputError]
) -> dict[Property, Path]:
    """Write the counterexamples as plan files, or save them elsewhere."""
    written = {}
    for property, finding in report.findings.items():
        if finding.counterexample:
            place = plan_dir / _plan_name(file, property.value)
            with reported(failures):
                write_or_save(place, str(finding.counterexample.plan).encode(), ".plan")
                written[property] = place
    return written
