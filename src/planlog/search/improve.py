"""Better plans around a policy, for as long as one has time: local search in the core.

Somewhere along the best plan so far another action of the policy is taken, and the rest is made to
fit. Several threads do this at the same time and share the best plan from time to time. The first
thing that is tried is what a learned policy does by itself.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from planlog import _core
from planlog.errors import MissingValueError
from planlog.parallel import available_processors
from planlog.pddl.task import Task
from planlog.policy.execution import Outcome, PlanResult
from planlog.policy.policy import Policy
from planlog.search.action_elimination import eliminate_redundant_actions

# An execution that ended so would not end better with another policy.
_FINAL = (Outcome.SOLVED, Outcome.TIME_LIMIT, Outcome.MEMORY_LIMIT, Outcome.INTERRUPTED)


def first_plan(policy: Policy, run: Callable[[Policy], PlanResult]) -> PlanResult:
    """A plan to begin with, as soon as there is one: that of the rules, which are faster than a
    network, or of the policy where they find none. `run` executes either of them."""
    if policy.scorer is not None:
        result = run(policy.rules)
        if result.outcome in _FINAL:
            return result
    return run(policy)


def improve(
    policy: Policy,
    task: Task,
    plan: PlanResult,
    *,
    seed: int = 0,
    threads: int | None = None,
    time_limit: float | None = None,
    max_expansions: int | None = None,
    eliminate: bool = True,
) -> Iterator[PlanResult]:
    """Better and better plans, each as soon as it is found, until a limit is reached or nothing
    can cost less.

    The plan may come from anywhere. Each result costs less than the one before, and the first less
    than this plan; with `eliminate` they have no redundant actions. `seconds` counts from here,
    and `steps` are the expansions: actions that the search has chosen and applied, by all
    threads. By default there are as many threads as processors. Without a time limit the results
    depend on the seed, the number of threads and that of expansions only.

    Raises ValueError if there is no plan to begin with, and MissingValueError if the policy derives
    an action whose cost the task does not give. KeyboardInterrupt ends the search.
    """
    start = time.monotonic()
    if not plan.solved:
        raise ValueError(f"no plan to improve: {plan.outcome.value}")
    if threads is not None and threads < 1:
        raise ValueError("the search needs one thread at least")
    policy.check_task(task)
    threads = available_processors() if threads is None else threads
    most = sys.maxsize if max_expansions is None else max_expansions
    deadline = None if time_limit is None else start + time_limit

    def search() -> Iterator[PlanResult]:
        program, network = policy.chooser
        parallel = _core.ParallelSearch(task.core, program, network, seed % 2**64, threads)
        parallel.start(task.initial.ids, task.encode(plan.actions))  # which checks the plan
        yield replace(plan, steps=0, seconds=time.monotonic() - start)
        try:
            while parallel.improve(most, deadline and deadline - time.monotonic()):
                yield PlanResult(
                    outcome=Outcome.SOLVED,
                    actions=tuple(task.decode(*step) for step in parallel.plan()),
                    cost=parallel.cost,
                    unit_cost=plan.unit_cost,
                    steps=parallel.expansions,
                    goals_left=0,
                    seconds=time.monotonic() - start,
                )
        except _core.MissingValue as error:
            raise MissingValueError(f"an action has no cost: {error}") from None

    found = (
        (eliminate_redundant_actions(task, result) for result in search())
        if eliminate
        else search()
    )
    return _cheaper_and_cheaper(found, plan.cost)


def _cheaper_and_cheaper(plans: Iterator[PlanResult], cost: float) -> Iterator[PlanResult]:
    """Of the plans, each that costs less than all before, and less than this."""
    for plan in plans:
        if plan.cost < cost:
            cost = plan.cost
            yield plan
