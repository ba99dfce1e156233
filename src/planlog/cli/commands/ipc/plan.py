"""`planlog ipc plan`: domain knowledge and a task → plan files, all of them valid."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import click
import numpy as np

from planlog.api.resolve import read_model, split_files
from planlog.cli import options
from planlog.cli.command import BadUsage, Command
from planlog.cli.console import say
from planlog.cli.exit_codes import ExitCode
from planlog.cli.plan_files import (
    LONGEST,
    PlanManager,
    exit_code,
    numbered_files,
    summarise,
)
from planlog.cli.process import remaining
from planlog.cli.resolve import check_writable, read_domain, read_tasks
from planlog.cli.signals import Signals
from planlog.locks import locked
from planlog.policy.execution import Outcome, PlanResult, execute
from planlog.policy.policy import Policy
from planlog.search.action_elimination import eliminate_redundant_actions
from planlog.search.improve import improve

HELP = """Plan with the domain knowledge of `planlog ipc learn`.

The knowledge is DK, or without such a file the DK.N with the highest N. If the learned policy does
not reach the goal, a depth-first search by its scores, its rules with several seeds, and a search
through all applicable actions are tried. A plan file appears, complete, after its validation.

With --anytime, a search for better plans runs until a limit or a signal, and writes PLAN.1,
PLAN.2, … Files of these names from earlier runs are deleted when the first plan is in place.

Examples:

    planlog ipc plan dk domain.pddl p01.pddl plan
    planlog ipc plan dk domain.pddl p01.pddl plan --anytime --time-limit 1800 --memory-limit 8192

Exit codes: 0 solved, 12 ended without a plan, 22 out of memory, 23 out of time, 31 bad
input, 34 unsupported PDDL, 36 bad usage, 73 the plan cannot be written to its file (and is on
the standard output), 130 or 143 ended by Ctrl-C or SIGTERM without a plan.
"""

# Runs a policy for a number of steps, with backtracking or without.
Run = Callable[[Policy, int, bool], PlanResult]

# Steps of each strategy in the first round, and their growth from round to round.
STEPS = 10_000
GROWTH = 4
# Number of seeds that the rules are tried with in a round.
SEEDS = 3
# Outcomes after which no other strategy can be tried.
_LIMITS = (Outcome.TIME_LIMIT, Outcome.MEMORY_LIMIT, Outcome.INTERRUPTED)


@click.command("plan", cls=Command, help=HELP)
@click.argument("dk", metavar="DK", type=options.FILE)
@click.argument("domain_file", metavar="DOMAIN", type=options.FILE)
@click.argument("task_file", metavar="TASK", type=options.FILE)
@click.argument("plan_file", metavar="PLAN", type=options.FILE)
@options.flag("--anytime", help="Search for better plans until a limit or a signal.")
@options.time_limit
@options.memory_limit
@options.seed
def command(
    dk: Path,
    domain_file: Path,
    task_file: Path,
    plan_file: Path,
    anytime: bool,
    time_limit: float | None,
    memory_limit: int | None,
    seed: int,
) -> int:
    start = time.monotonic()
    check_writable(plan_file, "PLAN", LONGEST if anytime else "")
    domain_file, task_files = split_files([domain_file, task_file])
    if len(task_files) != 1:
        raise BadUsage(f"TASK: {task_file} has {len(task_files)} problems; give one of them")
    (task_file,) = task_files
    result: PlanResult | None = None
    rngs = (np.random.default_rng(seed + i) for i in count())
    with Signals() as signals, locked(plan_file):
        plans = PlanManager(domain_file, task_file, plan_file, start, signals, series=True)

        def run(policy: Policy, steps: int, search: bool) -> PlanResult:
            return execute(
                policy,
                task,
                rng=next(rngs),
                max_steps=steps,
                time_limit=remaining(time_limit),
                memory_limit=memory_limit,
                avoid_revisits=search,
                observer=lambda *_: signals.check(),
            )

        with signals.until_interrupted():
            signals.check()
            learned = read_model(_newest(dk)).policy(read_domain(domain_file))
            (task,) = read_tasks(learned.rules, [task_file])
            for result, name in _results(list(_strategies(learned)), run):
                first = result if anytime else eliminate_redundant_actions(task, result)
                if first.solved and plans.add(first, name):
                    break
            if result is not None and plans.best is not None and anytime:
                signals.keep_result()
                with suppress(MemoryError):
                    for better in improve(learned, task, result, seed=seed, threads=1):
                        plans.add(better, "improved")
        if result is not None and result.solved and plans.best is None and plans.valid is None:
            plans.add(result, name)  # a signal came before the plan was written
        if plans.best is not None:
            return ExitCode.OUTPUT if plans.is_unwritten else ExitCode.SUCCESS
        if signals.received or result is None:
            say(f"planlog: no plan: {signals.reason}")
            return signals.exit_code
        if not result.solved:
            say(summarise(result, time.monotonic() - start))
        return exit_code(result, signals, plans)


def _newest(dk: Path) -> Path:
    """Return the file itself, or if it does not exist the one with the highest number."""
    if dk.exists() or not dk.parent.is_dir():
        return dk
    files = numbered_files(dk)
    return files[max(files)] if files else dk


@dataclass(frozen=True)
class Strategy:
    """A way to look for a plan."""

    name: str
    policy: Policy
    by_rules: bool  # takes only actions that the rules derive
    search: bool = False  # depth-first, entering no state twice
    draws: int = 1  # tries in a round, each with another seed


def _strategies(learned: Policy) -> Iterator[Strategy]:
    """Yield the strategies, the most promising first: sampled plans are longer than scored ones."""
    yield Strategy("learned policy", learned, by_rules=True)
    yield Strategy("search by scores", learned, by_rules=True, search=True)
    yield Strategy("rules", learned.rules, by_rules=True, draws=SEEDS)
    if learned.rules.program is not None:
        everything = Policy.applicable(learned.domain)
        yield Strategy("search without rules", everything, by_rules=False, search=True)


def _results(strategies: list[Strategy], run: Run) -> Iterator[tuple[PlanResult, str]]:
    """Try the strategies in rounds of more and more steps, until a limit or an exhausted search."""
    steps = STEPS
    while strategies:
        for strategy in strategies[:]:
            if strategy not in strategies:
                continue
            for _ in range(strategy.draws):
                result = run(strategy.policy, steps, strategy.search)
                yield result, strategy.name
                if result.outcome in _LIMITS:
                    return
            if result.outcome is not Outcome.STEP_LIMIT and strategy.draws == 1:
                # An exhausted search has seen every state that the rules can reach.
                strategies = [
                    other
                    for other in strategies
                    if other is not strategy and not (strategy.search and other.by_rules)
                ]
        steps *= GROWTH
