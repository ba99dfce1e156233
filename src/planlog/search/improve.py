"""Local search over plans: perturb a plan at one step, then repair its suffix.

The search runs in the core, on several threads that share the best plan from time to time. With a
learned policy, the policy's own plan is tried first.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator

from planlog import _core
from planlog.errors import CostOverflowError, MissingValueError
from planlog.parallel import available_processors
from planlog.pddl.task import Task
from planlog.policy.execution import Outcome, PlanResult
from planlog.policy.policy import Policy

# Outcomes after which another policy need not be executed.
_FINAL = (Outcome.SOLVED, Outcome.TIME_LIMIT, Outcome.MEMORY_LIMIT, Outcome.INTERRUPTED)


def first_plan(policy: Policy, run: Callable[[Policy], PlanResult]) -> PlanResult:
    """Return the plan of the rules, which are fast, or the policy's plan if the rules find none.

    `run` executes either of them.
    """
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
    """Yield cheaper and cheaper plans, each as soon as it is found.

    The plan to begin with may come from anywhere. Each result costs less than the one before, and
    the first less than the given plan. `eliminate` removes redundant actions from the given plan
    and from every plan that the search finds, before it continues from there.

    The search ends at a limit, or when no plan can cost less. `seconds` of a result counts from the
    call; `steps` is the number of expansions (actions chosen and applied) of all threads. By
    default there are as many threads as processors. Without a time limit, the results depend only
    on the seed, the number of threads and that of expansions.

    Raises ValueError if there is no plan to begin with, MissingValueError if the policy derives an
    action whose cost the task does not give, and CostOverflowError if the cost of the given plan is
    too large. KeyboardInterrupt ends the search, after a last result if there is one.
    """
    start = time.monotonic()
    if not plan.solved:
        raise ValueError(f"no plan to improve: {plan.outcome.value}")
    if threads is not None and threads < 1:
        raise ValueError("the search needs one thread at least")
    policy.check_task(task)
    threads = available_processors() if threads is None else threads
    # Rules behind `prefer` are for searches. A learned policy has no scores for their actions.
    loose = policy.loose if policy.scorer is None else None
    chooser = (loose.core, None) if loose else policy.chooser
    most = sys.maxsize if max_expansions is None else max_expansions
    deadline = None if time_limit is None else start + time_limit

    def results() -> Iterator[PlanResult]:
        cost = plan.cost
        try:
            search = _core.ParallelSearch(  # which checks the plan
                task.core,
                *chooser,
                task.initial.ids,
                task.encode(plan.actions),
                seed % 2**64,
                threads,
                eliminate,
                deadline and deadline - time.monotonic(),
            )
            interrupt: KeyboardInterrupt | None = None
            is_better = True  # the given plan may have redundant actions
            while is_better:
                if (found := task.decode_cost(search.cost)) < cost:
                    cost = found
                    yield PlanResult(
                        outcome=Outcome.SOLVED,
                        actions=tuple(task.decode(*step) for step in search.plan()),
                        cost=cost,
                        unit_cost=plan.unit_cost,
                        steps=search.expansions,
                        goals_left=0,
                        seconds=time.monotonic() - start,
                    )
                if interrupt:
                    raise interrupt
                try:
                    is_better = search.improve(most, deadline and deadline - time.monotonic())
                except KeyboardInterrupt as error:  # which must not lose a plan just found
                    interrupt = error
        except TimeoutError:  # before the search has looked at the first plan
            return
        except _core.MissingValue as error:
            raise MissingValueError(f"an action has no cost: {error}") from None
        except _core.CostOverflow:
            raise CostOverflowError("the cost of the plan to begin with is too large") from None

    return results()
