"""`planlog.check`: properties of a policy on tasks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from planlog.api.arguments import PolicyArgument, TaskArgument, rules_of, tasks_of
from planlog.checking import CheckSettings, Property, Stage, Summary, check_all
from planlog.pddl.task import Task
from planlog.statespace.space import DEFAULT_LIMIT


def check(
    tasks: TaskArgument | Iterable[TaskArgument],
    policy: PolicyArgument = None,
    *,
    properties: Collection[Property] = tuple(Property),
    limit: int = DEFAULT_LIMIT,
    walks: int = 100,
    walk_steps: int = 5_000,
    seed: int = 0,
    workers: int | None = None,
    on_progress: Callable[[Task, Stage, int], None] | None = None,
) -> Summary:
    """Decide properties of the rules of a policy on tasks.

    `tasks` are Tasks, or names of problem files, folders or glob patterns, all of one domain;
    `policy` is as for `planlog.solve`. State spaces are expanded up to `limit` states. Where they
    are larger, `walks` random walks of at most `walk_steps` actions look for counterexamples.
    `workers` tasks are checked at a time, by default one for each processor; `on_progress` is
    called from their threads.

    Returns the verdicts on all tasks together; `reports` has those of each, with counterexamples.
    Raises errors of files as `planlog.solve` does.

    >>> planlog.check("graph/problem.pddl", "graph/policy.dl").overall
    <Verdict.PROVED: 'proved'>
    """
    given = tasks_of(tasks)
    rules = rules_of(policy, given[0].domain)
    settings = CheckSettings(properties, limit, walks, walk_steps, seed)
    reports = check_all(rules, given, settings, workers=workers, on_progress=on_progress)
    return Summary(tuple(reports))
