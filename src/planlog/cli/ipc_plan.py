"""`planlog ipc plan`: domain knowledge and a task → plan files, all of them valid."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planlog.cli.exits import ExitCode, say, user_errors, warn
from planlog.cli.files import check_writable
from planlog.cli.limits import Interrupts, MemoryLimit, TimeLimit, memory_limit, remaining
from planlog.cli.numbered import numbered, remove
from planlog.cli.plans import Plans, exit_code, summary

if TYPE_CHECKING:
    from planlog.execution import Outcome, PlanResult
    from planlog.learned import LearnedPolicy
    from planlog.policy import Policy

HELP = """Plan with the domain knowledge of `planlog ipc learn`.

The knowledge is DK, or if there is no such file the DK.N with the highest N. If the learned policy
does not reach the goal, its rules are tried with several seeds and then searched, and at last all
applicable actions. Every plan is validated, and only then its file appears, whole.

With --anytime better plans are looked for until a limit or a signal, and written to PLAN.1,
PLAN.2, … Files of these names that are there already are removed first.

**Examples**

    planlog ipc plan dk domain.pddl p01.pddl plan
    planlog ipc plan dk domain.pddl p01.pddl plan --anytime --time-limit 1800 --memory-limit 8192

**Exit codes**: 0 solved, 12 ended without a plan, 22 out of memory, 23 out of time, 31 bad
input, 34 unsupported PDDL, 36 bad usage, 130 or 143 ended by Ctrl-C or SIGTERM without a plan.
"""

# Run a policy for so many steps, and let it take back actions or not.
Run = Callable[["Policy", int, bool], "PlanResult"]

# Steps of the first try in each way, and how many times more each further round has.
STEPS = 10_000
GROWTH = 4
# With how many seeds the rules are tried in a round.
SEEDS = 3


def plan(
    dk: Annotated[Path, typer.Argument(metavar="DK", help="Domain knowledge.", show_default=False)],
    domain_file: Annotated[
        Path, typer.Argument(metavar="DOMAIN", help="PDDL file.", show_default=False)
    ],
    task_file: Annotated[
        Path, typer.Argument(metavar="TASK", help="PDDL file.", show_default=False)
    ],
    plan_file: Annotated[
        Path, typer.Argument(metavar="PLAN", help="Plan file to write.", show_default=False)
    ],
    anytime: Annotated[
        bool, typer.Option("--anytime", help="Go on to look for better plans.")
    ] = False,
    time_limit: TimeLimit = None,
    megabytes: MemoryLimit = None,
    seed: Annotated[int, typer.Option(min=0, help="Of what is drawn.")] = 0,
) -> None:
    start = time.monotonic()
    check_writable(plan_file, "PLAN")
    result: PlanResult | None = None
    with user_errors(), Interrupts(time_limit) as interrupts:
        plans = Plans(domain_file, task_file, plan_file, start, interrupts)
        with interrupts.end():
            interrupts.check()
            import numpy as np

            import planlog.validate  # noqa: F401 (see below)
            from planlog.execution import execute
            from planlog.model import Model
            from planlog.pruning import pruned
            from planlog.search import improvements
            from planlog.task import Domain

            rngs = (np.random.default_rng(seed + i) for i in count())

            def run(policy: Policy, steps: int, search: bool) -> PlanResult:
                return execute(
                    policy,
                    task,
                    rng=next(rngs),
                    max_steps=steps,
                    time_limit=remaining(time_limit, start),
                    memory_limit=None if megabytes is None else megabytes * 1024**2,
                    avoid_revisits=search,
                    observer=lambda *_: interrupts.check(),
                )

            # All libraries have been loaded: where they cannot be, the limit is not to blame.
            with memory_limit(megabytes):
                domain = Domain.read(domain_file)
                warn(domain.warnings)
                learned = Model.read(_newest(dk)).policy(domain)
                task = domain.read_task(task_file)
                warn(task.warnings)
                learned.rules.check_task(task)
                remove(plan_file)
                for result, way in _results(list(_ways(learned)), run):
                    first = result if anytime else pruned(task, result)
                    if first.solved and plans.add(first, way):
                        break
                if result is not None and plans.best is not None and anytime:
                    with suppress(MemoryError):
                        for better in improvements(learned, task, result, seed=seed, threads=1):
                            plans.add(better, "improved")
    if plans.best is not None:
        raise typer.Exit(ExitCode.SUCCESS)
    if interrupts.received or result is None:
        say(f"planlog: no plan: {'out of time' if interrupts.out_of_time else 'interrupted'}")
        raise typer.Exit(interrupts.code)
    if not result.solved:
        say(summary(result, time.monotonic() - start, None, None))
    raise typer.Exit(exit_code(result, [], plans.valid))


plan.__doc__ = HELP


def _newest(dk: Path) -> Path:
    """The file itself, or if there is none the one with the highest number."""
    if dk.exists() or not dk.parent.is_dir():
        return dk
    files = numbered(dk)
    return files[max(files)] if files else dk


@dataclass(frozen=True)
class Way:
    """A way to a plan."""

    name: str
    policy: Policy
    by_rules: bool  # takes only actions that the rules allow
    search: bool = False  # depth-first, and never enters a state twice
    draws: int = 1  # to be tried so often, since it ends otherwise each time


def _ways(learned: LearnedPolicy) -> Iterator[Way]:
    """The most promising first: plans that are drawn are longer than those by scores."""
    from planlog.policy import Policy

    yield Way("learned policy", learned, by_rules=True)
    yield Way("search by scores", learned, by_rules=True, search=True)
    yield Way("rules", learned.rules, by_rules=True, draws=SEEDS)
    if learned.rules.program is not None:
        everything = Policy.applicable(learned.domain)
        yield Way("search without rules", everything, by_rules=False, search=True)


def _results(ways: list[Way], run: Run) -> Iterator[tuple[PlanResult, str]]:
    """Try all ways in rounds of more and more steps, until a limit is reached or there is nothing
    left to search."""
    from planlog.execution import Outcome

    steps = STEPS
    while ways:
        for way in ways[:]:
            if way not in ways:
                continue
            for _ in range(way.draws):
                result = run(way.policy, steps, way.search)
                yield result, way.name
                if result.outcome in _limits():
                    return
            if result.outcome is not Outcome.STEP_LIMIT and way.draws == 1:
                # A search that has ended has seen all that the rules lead to.
                ways = [w for w in ways if w is not way and not (way.search and w.by_rules)]
        steps *= GROWTH


def _limits() -> tuple[Outcome, ...]:
    """The outcomes after which nothing more can be done."""
    from planlog.execution import Outcome

    return Outcome.TIME_LIMIT, Outcome.MEMORY_LIMIT, Outcome.INTERRUPTED
