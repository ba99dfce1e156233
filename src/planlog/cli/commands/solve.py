"""`planlog solve`: domain, task and policy → plan."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from planlog.api.resolve import choose_policy
from planlog.api.solve import improve as improve_plan
from planlog.api.solve import solve
from planlog.cli import options
from planlog.cli.command import BadUsage, Command
from planlog.cli.console import emit_json, report_failure, say
from planlog.cli.limits import limited_further
from planlog.cli.plan_files import (
    LONGEST,
    PlanManager,
    before_search,
    exit_code,
    summarise,
)
from planlog.cli.process import remaining
from planlog.cli.progress import ExecutionProgress, ImproveProgress, Trace
from planlog.cli.resolve import announce, check_writable, find_inputs, read_domain, read_tasks
from planlog.cli.signals import Signals
from planlog.costs import cost_text
from planlog.locks import locked
from planlog.policy.execution import Outcome, PlanResult
from planlog.ranges import Range

# Seconds after the search for better plans in which the last one is validated.
_LAST_VALIDATION = 0.2

HELP = """Solve a task with a policy and print the plan.

Without a DOMAIN, `domain.pddl` is looked for beside the task and in the folders above it.

The policy is the model of --model, or the rules of --policy (which may stand before the task
without its option), or else the rules and the model that Planlog ships for the domain's name,
or else all applicable actions. A model takes the action with the highest score; rules alone
choose a derived action at random. Where the policy runs into a dead end or a circle, a search
looks for a plan among the derived actions, or proves that there is none.

The plan goes to the standard output, or to --plan-file, which appears only when it is complete.
With --improve the first plan is followed by better ones, each validated unless the time runs
out; with --plan-file they are FILE.1, FILE.2, … The last is the best. Ctrl-C ends the search and
keeps it. Files of these names from earlier runs are deleted when the first plan is in place.

Examples:

    planlog solve domain.pddl p01.pddl --policy my-rules.dl
    planlog solve domain.pddl p01.pddl --model my-model.safetensors
    planlog solve p01.pddl --plan-file sas_plan --time-limit 60
    planlog solve p01.pddl --plan-file plan --improve 10
    planlog solve p01.pddl --json

Exit codes: 0 solved, 12 no plan inside the rules, 22 out of memory, 23 out of time, 31 bad
input, 34 unsupported PDDL, 36 bad usage, 73 the plan cannot be written to its file (and is on
the standard output), 130 or 143 ended by Ctrl-C or SIGTERM without a plan.
"""


@click.command("solve", cls=Command, help=HELP)
@options.files("[DOMAIN] [POLICY] TASK")
@options.policy
@options.file("--model", help="Model file of a learned policy.")
@options.flag("--no-model", help="Rules alone, without the scores of a model.")
@options.in_range(
    "--sample",
    range=Range(1e-6, 1e6),
    metavar="TEMPERATURE",
    help="Softmax temperature of sampled actions, instead of the best action.",
)
@options.seed
@options.flag("--no-eliminate", help="No elimination of redundant actions.")
@options.seconds("--improve", help="Time for the search for better plans.")
@options.number(
    "--expansions",
    help="Number of expansions of the search for better plans.",
    least=0,
    most=10**15,
)
@options.number(
    "--threads",
    help="Number of search threads.",
    most=options.MOST_WORKERS,
    show_default="number of processors",
)
@options.file("--plan-file", help="File for the plan.")
@options.time_limit
@options.memory_limit
@options.number("--max-steps", help="Maximum number of actions.", least=0)
@options.flag("--avoid-revisits", help="Depth-first search that enters no state twice.")
@options.flag("--no-search", help="No search where the policy runs into a dead end or a circle.")
@options.flag("--validate", help="Validation of the plan, as by planlog validate.")
@options.as_json
@options.flag("-v", "--verbose", help="Trace of the actions derived at each step.")
def command(
    files: tuple[Path, ...],
    policy: str | None,
    model: Path | None,
    no_model: bool,
    sample: float | None,
    seed: int,
    no_eliminate: bool,
    improve: float | None,
    expansions: int | None,
    threads: int | None,
    plan_file: Path | None,
    time_limit: float | None,
    memory_limit: int | None,
    max_steps: int | None,
    avoid_revisits: bool,
    no_search: bool,
    validate: bool,
    as_json: bool,
    verbose: bool,
) -> int:
    start = time.monotonic()
    improving = improve is not None or expansions is not None
    if plan_file is not None:
        check_writable(plan_file, "--plan-file", LONGEST if improving else "")
        if improving and plan_file.exists() and not plan_file.is_file():
            raise BadUsage(f"--plan-file: {plan_file} cannot hold several plans")
    domain_file, task_files, policy = find_inputs(files, policy)
    task_file, *others = task_files
    if others:
        shown = ", ".join([*map(str, task_files[:2]), *["…"][: len(others) - 1]])
        raise BadUsage(f"expected one task, got {len(task_files)}: {shown}")
    if model is not None and policy is not None:
        raise BadUsage("--model has rules of its own: give --policy or --model, not both")
    if sample is not None and (no_model or policy is not None):
        raise BadUsage("--sample needs a model: rules alone give no scores")
    if threads is not None and not improving:
        raise BadUsage("--threads is for --improve or --expansions")
    result: PlanResult | None = None
    progress = Trace() if verbose else ExecutionProgress()
    lock = nullcontext() if plan_file is None else locked(plan_file)
    with Signals() as signals, lock:
        plans = PlanManager(
            domain_file, task_file, plan_file, start, signals, quiet=as_json, series=improving
        )
        with progress, signals.until_interrupted():
            signals.check()
            choice = announce(
                choose_policy(
                    read_domain(domain_file),
                    policy,
                    model=model,
                    use_model=not no_model,
                    temperature=sample,
                )
            )
            (task,) = read_tasks(choice.policy, [task_file], choice.shipped)
            has_rules = choice.policy.program is not None or choice.policy.scorer is not None

            def announce_search(result: PlanResult) -> None:
                say(before_search(result, has_rules=has_rules))

            # The search for better plans eliminates redundant actions itself.
            result = solve(
                task,
                choice.policy,
                rules_first=improving,
                seed=seed,
                eliminate=not (improving or no_eliminate),
                max_steps=max_steps,
                time_limit=remaining(time_limit),
                memory_limit=memory_limit,
                avoid_revisits=avoid_revisits,
                search=not no_search,
                observer=progress.observer,
                on_search=announce_search,
                on_progress=getattr(progress, "on_search", None),
            )
        # From here on a signal is only recorded: a plan that was found gets reported.
        if result is None:
            text = f"{signals.reason} before the first step"
            report_failure(signals.outcome, text, as_json=as_json)
            return signals.exit_code
        if result.outcome is Outcome.INTERRUPTED and signals.out_of_time:
            result = replace(result, outcome=Outcome.TIME_LIMIT)
        if result.solved and plans.add(result, validate=validate) and improving:
            signals.keep_result()
            left = [limit for limit in (improve, remaining(time_limit)) if limit is not None]
            limit = min(left, default=None)
            latest = None if improve is None else improve + _LAST_VALIDATION
            with (
                limited_further(latest, time_limit, memory_limit),
                ImproveProgress(limit, quiet=as_json) as bar,
                signals.until_interrupted(),
            ):
                signals.check()
                try:
                    for better in improve_plan(
                        task,
                        choice.policy,
                        result,
                        seed=seed,
                        threads=threads,
                        time_limit=limit,
                        max_expansions=expansions,
                        eliminate=not no_eliminate,
                    ):
                        bar.on_plan(better)
                        if not plans.add(better):
                            break
                except MemoryError:
                    say("note: out of memory, so the search for better plans ends")
        seconds = time.monotonic() - start
        best = plans.best or result
        if as_json:
            described = _as_json(best, seconds, plans.found if improving else None)
            described |= {"valid": plans.valid, "policy": choice.name, "seed": seed}
            emit_json(described)
        elif not result.solved:
            say(summarise(result, seconds))
        elif improving:
            file = f", plan in {plans.file}" if plans.file else ""
            say(f"best: cost {cost_text(best.cost)} after {seconds:.2f} s{file}")
        return exit_code(best, signals, plans)


def _as_json(
    result: PlanResult, seconds: float, plans: list[tuple[PlanResult, float]] | None
) -> dict[str, Any]:
    described: dict[str, Any] = {
        "outcome": result.outcome.value,
        "plan_length": None,
        "cost": None,
        **(_size(result) if result.solved else {}),
        "seconds": round(seconds, 6),
        "steps": result.steps,
        "goals_left": result.goals_left,
        "searched_states": result.searched_states,
        "plan": [str(action) for action in result.actions] if result.solved else None,
    }
    if plans is not None:
        described["plans"] = [
            {**_size(plan), "seconds": round(found_after, 6)} for plan, found_after in plans
        ]
    return described


def _size(result: PlanResult) -> dict[str, Any]:
    return {"plan_length": len(result.actions), "cost": result.cost}
