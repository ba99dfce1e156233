"""`planlog.solve` and `planlog.improve`: a task and a policy to a plan, and to better plans."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np

from planlog.api.arguments import PolicyArgument, TaskArgument, policy_of, task_of
from planlog.errors import PlanlogError
from planlog.pddl.plan import Plan
from planlog.pddl.task import Task
from planlog.policy.execution import Observer, Outcome, PlanResult, execute
from planlog.policy.policy import Policy
from planlog.search.action_elimination import eliminate_redundant_actions
from planlog.search.improve import first_plan
from planlog.search.improve import improve as search_better_plans

SearchObserver = Callable[[PlanResult], None]
Progress = Callable[[int], None]

# Steps without a new state after which a random execution counts as a circle.
PATIENCE = 1000


def solve(
    task: TaskArgument,
    policy: PolicyArgument = None,
    *,
    rules_first: bool = False,
    seed: int = 0,
    eliminate: bool = True,
    max_steps: int | None = None,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    avoid_revisits: bool = False,
    search: bool = True,
    observer: Observer | None = None,
    on_search: SearchObserver | None = None,
    on_progress: Progress | None = None,
) -> PlanResult:
    """Solve a task with a policy.

    `task` is a Task or the name of a problem file, whose domain is `domain.pddl` beside it or in a
    folder above. `policy` is a Policy, a Model or the name of a rule file or model file; by default
    Planlog's own for the domain's name, or else all applicable actions. A model takes the action
    with the best score; rules alone draw one of the derived actions at random, with `seed`.

    Where the execution ends in a dead end or a circle, a best-first search looks for a plan among
    the derived actions, unless `search` is false; see
    `planlog.search.best_first.search_inside_rules`. All applicable actions are searched at once.
    `on_search` is called with the result of the execution before, `on_progress` now and then with
    the number of states.

    `rules_first` tries the rules of a learned policy before the policy itself: they find a first
    plan sooner. `eliminate` removes redundant actions from the plan. The other arguments are those
    of `planlog.policy.execution.execute`: bounds on the number of actions, on seconds and on bytes;
    a depth-first search that enters no state twice; a function that is called before each action.

    `time_limit` bounds the evaluation of the initial state, the execution and the elimination. It
    does not bound the reading of files and the compilation of rules.

    Returns the result, whose `plan` is None unless the task is solved. Ctrl-C ends the execution,
    not the program. Raises PddlError, RuleError or ModelError for files with mistakes, and OSError
    for those that cannot be read.

    >>> planlog.solve("graph/problem.pddl", "graph/policy.dl").plan.actions
    (Action(name='go', arguments=('a', 'b')), Action(name='go', arguments=('b', 'c')))
    """
    task = task_of(task)
    policy = policy_of(policy, task.domain)
    rng = np.random.default_rng(seed)
    begin = time.monotonic()

    def left() -> float | None:
        return None if time_limit is None else begin + time_limit - time.monotonic()

    def run(policy: Policy) -> PlanResult:
        return execute(
            policy,
            task,
            rng=rng,
            max_steps=max_steps,
            time_limit=left(),
            memory_limit=memory_limit,
            avoid_revisits=avoid_revisits,
            patience=PATIENCE if search else None,
            observer=observer,
        )

    def look_further(result: PlanResult) -> PlanResult:
        from planlog.search.best_first import search_inside_rules  # few tasks need it

        if on_search is not None:
            on_search(result)
        found = search_inside_rules(
            policy,
            task,
            path=result.actions,
            time_limit=left(),
            memory_limit=memory_limit,
            on_progress=on_progress,
        )
        return replace(found, steps=result.steps + found.steps)

    searches = search and not avoid_revisits and max_steps is None
    if searches and policy.program is None and policy.scorer is None:
        result: PlanResult = look_further(_nothing_yet(task))
    else:
        result = first_plan(policy, run) if rules_first else run(policy)
        if searches and result.outcome in (Outcome.NO_ACTION, Outcome.CYCLE):
            result = look_further(result)
    try:
        if eliminate:
            result = eliminate_redundant_actions(task, result, time_limit=left())
        return replace(result, seconds=time.monotonic() - begin)
    except KeyboardInterrupt:  # which must not lose the plan
        return result


def improve(
    task: TaskArgument,
    policy: PolicyArgument = None,
    plan: PlanResult | Plan | str | Path | None = None,
    *,
    seed: int = 0,
    threads: int | None = None,
    time_limit: float | None = None,
    max_expansions: int | None = None,
    eliminate: bool = True,
) -> Iterator[PlanResult]:
    """Search for better and better plans of a task around the actions that a policy derives.

    `task` and `policy` are as for `solve`. `plan` is the plan to begin with, or the name of a plan
    file; without it, the policy finds one, which is the first result, or the only one if it is no
    plan. Every other result costs less than the result before, and less than the given plan.

    The search ends after `time_limit` seconds (without those of reading and compilation, but with
    those of the first plan if none is given) or `max_expansions` applied actions, or when no plan
    can cost less. By default it uses all processors. Without a time limit, the results depend on
    the seed, the number of threads and that of expansions only. `eliminate` removes redundant
    actions.

    Raises InapplicableError or PlanlogError if the given plan is not one, MissingValueError if the
    task lacks the cost of a derived action, CostOverflowError if the cost of the plan is too large,
    and errors of files as `solve` does.

    >>> *_, best = planlog.improve(task, policy, max_expansions=100, threads=1)
    >>> best.cost
    2
    """
    task = task_of(task)
    policy = policy_of(policy, task.domain)
    search = partial(
        search_better_plans,
        policy,
        task,
        seed=seed,
        threads=threads,
        max_expansions=max_expansions,
        eliminate=eliminate,
    )
    if plan is not None:
        first = plan if isinstance(plan, PlanResult) else _replay(task, plan)
        return search(first, time_limit=time_limit) if first.solved else iter(())
    first = solve(
        task, policy, rules_first=True, seed=seed, eliminate=eliminate, time_limit=time_limit
    )
    if not first.solved:
        return iter([first])
    better = search(first, time_limit=None if time_limit is None else time_limit - first.seconds)
    later = (replace(found, seconds=first.seconds + found.seconds) for found in better)
    return chain([first], later)


def _nothing_yet(task: Task) -> PlanResult:
    return PlanResult(Outcome.NO_ACTION, (), 0, not task.minimises_cost, 0, None, 0.0)


def _replay(task: Task, plan: Plan | str | Path) -> PlanResult:
    """Apply the actions of a plan, which may come from anywhere."""
    actions = (plan if isinstance(plan, Plan) else Plan.read(plan)).actions
    walk = Policy.applicable(task.domain).start(task)
    for action in actions:
        walk.apply(action)
    if not walk.is_goal:
        raise PlanlogError(f"the plan ends with {walk.goals_left} goals left")
    return PlanResult(
        Outcome.SOLVED, actions, walk.cost, not task.minimises_cost, len(actions), 0, 0.0
    )
