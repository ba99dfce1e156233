"""Check a policy on a task: expand states, decide the properties, walk for undecided ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable
from dataclasses import dataclass
from enum import Enum

from planlog.checking.counterexample import Probe
from planlog.checking.optimality import Optimality
from planlog.checking.properties import cycle_free, goal_achieving, optimality_preserving
from planlog.checking.random_walks import WalkSearch
from planlog.checking.reachability import Reachability
from planlog.checking.report import (
    Finding,
    Fond,
    Fraction,
    Property,
    Scope,
    TaskReport,
    Verdict,
)
from planlog.checking.rule_coverage import rule_report
from planlog.parallel import CheckCancelled, map_in_order
from planlog.pddl.task import Task
from planlog.policy.policy import Policy
from planlog.ragged import Mask
from planlog.statespace.space import DEFAULT_LIMIT, derive, expand


class Stage(Enum):
    """Stage of a check, for progress reports."""

    WHOLE = "expanding the state space"
    DERIVING = "evaluating the policy in all states"
    REACHED = "expanding the states the policy reaches"
    WALKS = "walking at random"
    PROBES = "probing single states"


# Called with the stage and the number of states (or walks) done in it.
Progress = Callable[[Stage, int], None]


@dataclass(frozen=True)
class CheckSettings:
    """Settings of a check."""

    properties: Collection[Property] = tuple(Property)
    limit: int = DEFAULT_LIMIT  # states of each expansion
    walks: int = 100  # random walks on a task
    walk_steps: int = 5_000  # actions of a walk
    seed: int = 0  # of the random choices in walks


def check(
    policy: Policy,
    task: Task,
    settings: CheckSettings | None = None,
    on_progress: Progress | None = None,
) -> TaskReport:
    """Decide properties of a policy on a task, and find counterexamples.

    The third property needs the whole state space, which is expanded up to the limit. If it is
    larger or not needed, the states that the policy reaches are expanded up to the same limit; they
    decide the first two properties. If a property is still undecided, random walks look for
    counterexamples. `on_progress` is called with the stage and the number of states or walks done.

    Returns the report on the task. Raises RuleError if the rules name an object that the task
    lacks; exceptions of `on_progress` end the check.

    >>> from planlog.checking import check
    >>> policy = Policy.parse("go(X, Y) :- not seen(Y).", domain)
    >>> report = check(policy, task)
    >>> report.verdict.value, report.reached
    ('proved', 3)
    >>> stuck = check(Policy.parse("go(a, Y).", domain), task)
    >>> example = stuck.findings[Property.GOAL_ACHIEVING].counterexample
    >>> example.reason.value, [str(action) for action in example.optimal]
    ('no goal can be reached from here under the policy', ['(go a b)'])
    """

    def progress(stage: Stage) -> Callable[[int], None] | None:
        return None if on_progress is None else lambda done: on_progress(stage, done)

    settings = settings or CheckSettings()
    properties, limit = settings.properties, settings.limit
    probe = Probe(policy, task, limit, progress(Stage.PROBES))
    whole = optimality = None
    if Property.OPTIMALITY_PRESERVING in properties:
        whole = expand(task, limit=limit, on_progress=progress(Stage.WHOLE))
        derived = derive(whole, policy, on_progress=progress(Stage.DERIVING))
        optimality = Optimality(whole, derived.mask)
    if optimality is not None and optimality.space.complete:
        reached, counts = Reachability(optimality.space, optimality.graph), derived.rules
    else:
        space = expand(task, policy, limit=limit, on_progress=progress(Stage.REACHED))
        graph = space.graph
        if policy.dead_relation(policy.core) is not None:
            graph = graph.keep(derive(space, policy).mask)
        reached, counts = Reachability(space, graph), space.rules

    findings = {
        Property.GOAL_ACHIEVING: goal_achieving(reached, probe),
        Property.CYCLE_FREE: cycle_free(reached, probe),
    }
    if optimality is not None:
        findings[Property.OPTIMALITY_PRESERVING] = optimality_preserving(optimality, probe)

    undecided = {p for p in properties if findings[p].verdict is Verdict.UNDECIDED}
    walked = None
    if undecided and settings.walks > 0:
        search = WalkSearch(probe, undecided, settings.seed)
        search.run(settings.walks, settings.walk_steps, progress(Stage.WALKS))
        walked = search.report
        for property, found in search.found.items():
            findings[property] = Finding(
                property, Verdict.REFUTED, Scope.WALKS, walked.states, None, None, found
            )

    # Weak: some execution reaches a goal.
    weak = Verdict.REFUTED if reached.complete else Verdict.UNDECIDED
    if reached.goals.any() or (walked is not None and walked.solved):
        weak = Verdict.PROVED
    strong_cyclic = findings[Property.GOAL_ACHIEVING].verdict
    strong = Verdict.all_of((strong_cyclic, findings[Property.CYCLE_FREE].verdict))
    return TaskReport(
        task=task,
        findings={p: findings[p] for p in Property if p in properties},
        fond=Fond(weak, strong_cyclic, strong),
        unsolvable=weak is not Verdict.PROVED and probe.goal_distance(task.initial).dead_end,
        whole=None if whole is None else len(whole),
        whole_complete=whole is not None and whole.complete,
        solvable=int((whole.goal_distances >= 0).sum()) if whole and whole.complete else None,
        reached=int(reached.states.sum()),
        reached_complete=reached.complete,
        dead=None if optimality is None else _dead(optimality, derived.dead),
        rules=rule_report(policy, reached, counts, optimality),
        walks=walked,
    )


def _dead(optimality: Optimality, dead: Mask) -> Fraction | None:
    """Return how many of the states that the rules call dead have a plan."""
    if not dead.any():
        return None
    return Fraction(int((dead & optimality.space.solvable).sum()), int(dead.sum()))


def check_all(
    policy: Policy,
    tasks: Iterable[Task],
    settings: CheckSettings | None = None,
    *,
    workers: int | None = None,
    on_progress: Callable[[Task, Stage, int], None] | None = None,
) -> Generator[TaskReport, None, None]:
    """Check many tasks on `workers` threads, and yield the reports in the order of the tasks.

    By default there is one thread for each processor;
    `on_progress` is called from these threads. Raises what `check` raises.

    >>> policy = Policy.parse("go(X, Y).", domain)
    >>> [report.verdict.value for report in check_all(policy, [task, task])]
    ['proved', 'proved']
    """

    def run(task: Task, check_cancelled: CheckCancelled) -> TaskReport:
        def progress(stage: Stage, done: int) -> None:
            check_cancelled()
            if on_progress:
                on_progress(task, stage, done)

        return check(policy, task, settings, progress)

    yield from map_in_order(run, tasks, workers)
