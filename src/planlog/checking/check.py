"""Checking a policy on a task: what is explored, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable
from enum import Enum

from planlog.checking.counterexample import Probe
from planlog.checking.optimality import Optimality
from planlog.checking.properties import cycle_free, goal_achieving, optimality_preserving
from planlog.checking.random_walks import WalkSearch
from planlog.checking.reachability import Reached
from planlog.checking.report import (
    Finding,
    Fond,
    Property,
    Scope,
    TaskReport,
    Verdict,
    WalkReport,
)
from planlog.checking.rule_coverage import rule_report
from planlog.parallel import CheckCancelled, map_in_order
from planlog.pddl.task import Task
from planlog.policy.policy import Policy
from planlog.statespace.space import DEFAULT_LIMIT, derive, expand


class Stage(Enum):
    """What a check is doing."""

    WHOLE = "expanding the state space"
    DERIVING = "asking the policy in all states"
    REACHED = "expanding the states the policy reaches"
    WALKS = "walking at random"
    PROBES = "looking around single states"


# Called with the number of states (or walks) done in a stage.
Progress = Callable[[Stage, int], None]


def check(
    policy: Policy,
    task: Task,
    *,
    properties: Collection[Property] = tuple(Property),
    limit: int = DEFAULT_LIMIT,
    walks: int = 100,
    walk_steps: int = 5_000,
    seed: int = 0,
    on_progress: Progress | None = None,
) -> TaskReport:
    """Decide properties of a policy on a task.

    The whole state space is expanded for the third property, as far as `limit` states go. If it
    is larger (or not needed), the states that the policy reaches are expanded, again up to the
    limit: they decide the first two. For properties that are still undecided, `walks` random
    walks of at most `walk_steps` steps look for counterexamples; all their choices depend on
    the seed only.
    """

    def progress(stage: Stage) -> Callable[[int], None] | None:
        return None if on_progress is None else lambda done: on_progress(stage, done)

    probe = Probe(limit, progress(Stage.PROBES))
    whole = optimality = None
    if Property.OPTIMALITY_PRESERVING in properties:
        whole = expand(task, limit=limit, on_progress=progress(Stage.WHOLE))
        derived = derive(whole, policy, on_progress=progress(Stage.DERIVING))
        optimality = Optimality(whole, derived.mask)
    if optimality is not None and optimality.space.complete:
        reached = Reached(optimality.space, optimality.graph)
        counts = derived.rules
    else:
        space = expand(task, policy, limit=limit, on_progress=progress(Stage.REACHED))
        reached = Reached(space, space.graph)
        counts = space.rules

    findings = {
        Property.GOAL_ACHIEVING: goal_achieving(policy, reached, probe),
        Property.CYCLE_FREE: cycle_free(policy, reached, probe),
    }
    if optimality is not None:
        findings[Property.OPTIMALITY_PRESERVING] = optimality_preserving(policy, optimality, probe)

    undecided = {p for p in properties if findings[p].verdict is Verdict.UNDECIDED}
    walked = None
    if undecided and walks > 0:
        search = WalkSearch(policy, task, undecided, seed=seed, probe=probe)
        search.run(walks, walk_steps, progress(Stage.WALKS))
        walked = search.report
        for property, found in search.found.items():
            findings[property] = Finding(
                property, Verdict.REFUTED, Scope.WALKS, walked.states, None, None, found
            )

    weak = _weak(reached, walked)
    return TaskReport(
        task=task,
        findings={p: findings[p] for p in Property if p in properties},
        fond=Fond(
            weak,
            findings[Property.GOAL_ACHIEVING].verdict,
            Verdict.all_of(
                findings[p].verdict for p in (Property.GOAL_ACHIEVING, Property.CYCLE_FREE)
            ),
        ),
        unsolvable=False if weak is Verdict.PROVED else probe.outlook(task, task.initial).dead_end,
        whole=None if whole is None else len(whole),
        whole_complete=whole is not None and whole.complete,
        solvable=int((whole.goal_distances >= 0).sum()) if whole and whole.complete else None,
        reached=int(reached.states.sum()),
        reached_complete=reached.complete,
        rules=rule_report(policy, reached, counts, optimality),
        walks=walked,
    )


def check_all(
    policy: Policy,
    tasks: Iterable[Task],
    *,
    properties: Collection[Property] = tuple(Property),
    limit: int = DEFAULT_LIMIT,
    walks: int = 100,
    walk_steps: int = 5_000,
    seed: int = 0,
    workers: int | None = None,
    on_progress: Callable[[Task, Stage, int], None] | None = None,
) -> Generator[TaskReport, None, None]:
    """Check many tasks, on as many threads as there are processors; reports in their order.

    `on_progress` is called from these threads.
    """

    def run(task: Task, check_cancelled: CheckCancelled) -> TaskReport:
        def progress(stage: Stage, done: int) -> None:
            check_cancelled()
            if on_progress:
                on_progress(task, stage, done)

        return check(
            policy,
            task,
            properties=properties,
            limit=limit,
            walks=walks,
            walk_steps=walk_steps,
            seed=seed,
            on_progress=progress,
        )

    yield from map_in_order(run, tasks, workers)


def _weak(reached: Reached, walked: WalkReport | None) -> Verdict:
    """Whether some execution reaches a goal."""
    if reached.goals.any() or (walked is not None and walked.solved):
        return Verdict.PROVED
    return Verdict.REFUTED if reached.complete else Verdict.UNDECIDED
