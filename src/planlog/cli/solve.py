"""`planlog solve`: domain, problem and rules → plan."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planlog.cli.exits import (
    bad_usage,
    catch_signals,
    emit_json,
    say,
    signal_code,
    user_errors,
    warn,
)
from planlog.cli.files import check_writable, domain_and_problem
from planlog.cli.limits import Interrupts, remaining
from planlog.cli.limits import memory_limit as limit_memory
from planlog.cli.numbered import remove
from planlog.cli.plans import Plans, exit_code, summary
from planlog.cli.progress import Progress, Trace
from planlog.cli.wording import as_number
from planlog.errors import RuleError

if TYPE_CHECKING:
    from planlog.execution import PlanResult
    from planlog.policy import Policy
    from planlog.task import Domain, Task

HELP = """Solve a task with a policy and print the plan.

The policy is the learned one of --model, or the rule file of --policy, or else what Planlog
ships for the domain's name (rules, with a model if there is one), or else "none": any
applicable action. A learned policy takes the best-scored action, rules alone draw one.
The plan goes to the standard output, or to --plan-file; the file appears only once the plan
is complete.

With --improve the first plan is there at once, and better ones follow for so many seconds, each
validated: with --plan-file in FILE.1, FILE.2, … The last is the best, and Ctrl-C keeps it.

**Examples**

    planlog solve domain.pddl p01.pddl --policy my-rules.dl
    planlog solve domain.pddl p01.pddl --model my-model.safetensors
    planlog solve p01.pddl --plan-file sas_plan --time-limit 60
    planlog solve p01.pddl --plan-file plan --improve 10
    planlog solve p01.pddl --json

**Exit codes**: 0 solved, 12 ended without a plan, 22 out of memory, 23 out of time, 31 bad
input, 34 unsupported PDDL, 36 bad usage, 130 or 143 ended by Ctrl-C or SIGTERM
without a plan.
"""


def solve(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="[DOMAIN] PROBLEM",
            help="PDDL files; DOMAIN defaults to domain.pddl beside the problem.",
            show_default=False,
        ),
    ],
    policy: Annotated[
        str | None,
        typer.Option(metavar="FILE|none", help="Rule file, or `none` for all applicable actions."),
    ] = None,
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Model file of a learned policy.")
    ] = None,
    no_model: Annotated[
        bool, typer.Option("--no-model", help="Use the rules alone, without a model.")
    ] = False,
    sample: Annotated[
        float | None,
        typer.Option(
            metavar="TEMPERATURE",
            help="Draw actions by the softmax of score / TEMPERATURE, not the best.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of what is drawn.")] = 0,
    no_prune: Annotated[
        bool, typer.Option("--no-prune", help="Keep actions that turn out to serve nothing.")
    ] = False,
    improve: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=0, help="Look for better plans for this time."),
    ] = None,
    expansions: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, help="Look for better plans until so many actions were tried."
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="That look for better plans.",
            show_default="processors available",
        ),
    ] = None,
    plan_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the plan here.")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=0, help="Give up after this time.")
    ] = None,
    memory_limit: Annotated[
        int | None, typer.Option(metavar="MB", min=1, help="Give up above this much memory.")
    ] = None,
    max_steps: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Give up after this many actions.")
    ] = None,
    avoid_revisits: Annotated[
        bool,
        typer.Option(
            "--avoid-revisits", help="Never enter a state twice; go back where that leads nowhere."
        ),
    ] = False,
    validate: Annotated[
        bool, typer.Option("--validate", help="Check the plan with `planlog validate` as well.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of the plan.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show what the policy derives at each step.")
    ] = False,
) -> None:
    start = time.monotonic()
    domain_file, problem_file = domain_and_problem(files)
    if model is not None and policy is not None:
        raise bad_usage("--model has rules of its own: give --policy or --model, not both")
    if sample is not None and not sample > 0:
        raise bad_usage("--sample: the temperature must be positive")
    if sample is not None and (no_model or policy is not None):
        raise bad_usage("--sample needs a model: rules alone give no scores")
    improving = improve is not None or expansions is not None
    if threads is not None and not improving:
        raise bad_usage("--threads is for --improve or --expansions")
    if plan_file is not None:
        check_writable(plan_file, "--plan-file")
        if improving and plan_file.exists() and not plan_file.is_file():
            raise bad_usage(f"--plan-file: {plan_file} cannot hold several plans")
    interrupts = Interrupts(None)
    plans = Plans(domain_file, problem_file, plan_file, start, interrupts, quiet=as_json)
    with user_errors(as_json), catch_signals() as signals:
        try:
            import numpy as np

            from planlog import domains  # noqa: F401 (see below)
            from planlog.execution import execute
            from planlog.pruning import pruned
            from planlog.task import Domain

            if policy is None:
                import planlog.model
            if improving:
                import planlog.validate  # noqa: F401 (see below)
                from planlog.search import first_plan, improvements

            rng = np.random.default_rng(seed)
            # All libraries have been loaded: where they cannot be, the limit is not to blame.
            with limit_memory(memory_limit):
                domain = Domain.read(domain_file)
                warn(domain.warnings)
                if model is not None:
                    chosen, name, shipped = _read_model(model, no_model, sample, domain)
                else:
                    chosen, name, shipped = _choose_policy(policy, domain)
                    if policy is None and not no_model:
                        chosen, name = _add_model(chosen, name, shipped, sample)
                warn(chosen.warnings)
                task = domain.read_task(problem_file)
                warn(task.warnings)
                if shipped:
                    _note(shipped, task)

                def run(policy: Policy) -> PlanResult:
                    return execute(
                        policy,
                        task,
                        rng=rng,
                        max_steps=max_steps,
                        time_limit=remaining(time_limit, start),
                        memory_limit=None if memory_limit is None else memory_limit * 1024**2,
                        avoid_revisits=avoid_revisits,
                        observer=progress.observer,
                    )

                progress = Trace() if verbose else Progress()
                with progress:
                    result = first_plan(chosen, run) if improving else run(chosen)
                if result.solved:
                    with interrupts, interrupts.end():
                        if improving and plan_file is not None:
                            remove(plan_file)
                        # The search begins with pruning, if that is wanted.
                        first = result if improving or no_prune else pruned(task, result)
                        if plans.add(first, check=validate) and improving:
                            better = improvements(
                                chosen,
                                task,
                                result,
                                seed=seed,
                                threads=threads,
                                time_limit=_least(improve, remaining(time_limit, start)),
                                max_expansions=expansions,
                                prune=not no_prune,
                            )
                            try:
                                for plan in better:
                                    if not plans.add(plan):
                                        break
                            except MemoryError:
                                say("note: out of memory, so no better plans are looked for")
        except KeyboardInterrupt:
            # Before the execution started, or after it ended: there is nothing to tell.
            say("planlog: interrupted before the first step")
            raise typer.Exit(signal_code(signals)) from None
    if result.solved and not plans.found and interrupts.received:
        say("planlog: interrupted before the plan was written")
        raise typer.Exit(interrupts.code)
    seconds = time.monotonic() - start
    best = plans.best or result
    if as_json:
        found = plans.found if improving else None
        emit_json(_as_json(best, seconds, seed, name, plans.valid, found))
    elif not result.solved:
        say(summary(result, seconds, None, None))
    elif improving:
        file = f", plan in {plans.file}" if plan_file else ""
        say(f"best: cost {as_number(best.cost)} after {seconds:.2f} s{file}")
    raise typer.Exit(exit_code(best, signals, plans.valid))


solve.__doc__ = HELP


def _least(*limits: float | None) -> float | None:
    return min((limit for limit in limits if limit is not None), default=None)


def _choose_policy(given: str | None, domain: Domain) -> tuple[Policy, str, str | None]:
    """The policy, what to call it, and the shipped domain if it is the policy of one."""
    from planlog import domains
    from planlog.policy import Policy

    if given == "none":
        return Policy.applicable(domain), "none", None
    if given is not None:
        return Policy.read(Path(given), domain), given, None
    shipped = domains.find(domain.name)
    if shipped is None:
        say(
            f"planlog: no policy is shipped for the domain '{domain.name}', so any applicable "
            "action is taken; give rules with --policy FILE"
        )
        return Policy.applicable(domain), "none", None
    try:
        return Policy.read(domains.policy_path(shipped), domain), f"shipped: {shipped}", shipped
    except RuleError as error:
        say(
            f"planlog: the policy shipped for '{shipped}' does not fit this domain; give another "
            "with --policy FILE, or --policy none for all applicable actions"
        )
        raise error


def _read_model(
    file: Path, rules_alone: bool, temperature: float | None, domain: Domain
) -> tuple[Policy, str, None]:
    """The learned policy of a file, or its rules alone; and what to call it."""
    from planlog.model import Model

    model = Model.read(file)
    if rules_alone:
        return model.rules_for(domain), f"rules of {file}", None
    return model.policy(domain, temperature=temperature), str(file), None


def _add_model(
    rules: Policy, name: str, shipped: str | None, temperature: float | None
) -> tuple[Policy, str]:
    """The shipped model of a domain with its rules; without one that fits, the rules alone, unless
    there is a temperature, which only a model has a use for."""
    from planlog import domains
    from planlog.errors import ModelError
    from planlog.model import Model

    file = domains.model_path(shipped) if shipped else None
    if file is None:
        if temperature is not None:
            raise ModelError(
                f"--sample needs a model, and none is shipped for the domain "
                f"'{rules.domain.name}': give one with --model FILE"
            )
        return rules, name
    try:
        learned = Model.read(file).policy(rules.domain, temperature=temperature)
        return learned, f"{name}, learned"
    except ModelError as error:
        if temperature is not None:
            raise
        say(f"note: the rules are used alone: {error}")
        return rules, name


def _note(shipped: str, task: Task) -> None:
    """Say what the shipped policy was not made for, if the task has such goals."""
    from planlog import domains

    for note in domains.problem_notes(shipped, task):
        say(f"note: {note}")


def _as_json(
    result: PlanResult,
    seconds: float,
    seed: int,
    policy: str,
    valid: bool | None,
    plans: list[tuple[PlanResult, float]] | None,
) -> dict[str, Any]:
    described: dict[str, Any] = {
        "outcome": result.outcome.value,
        "plan_length": len(result.actions) if result.solved else None,
        "cost": as_number(result.cost) if result.solved else None,
        "seconds": round(seconds, 6),
        "steps": result.steps,
        "goals_left": result.goals_left,
        "valid": valid,
        "policy": policy,
        "seed": seed,
        "plan": [str(action) for action in result.actions] if result.solved else None,
    }
    if plans is not None:
        described["plans"] = [
            {
                "plan_length": len(plan.actions),
                "cost": as_number(plan.cost),
                "seconds": round(found_after, 6),
            }
            for plan, found_after in plans
        ]
    return described
