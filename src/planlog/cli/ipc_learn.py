"""`planlog ipc learn`: domain and tasks → domain knowledge, which gets better as time goes on."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planlog.cli.exits import (
    ExitCode,
    emit,
    say,
    user_errors,
    warn,
)
from planlog.cli.files import check_writable, choose_policy
from planlog.cli.limits import Interrupts, MemoryLimit, TimeLimit, memory_errors, memory_limit
from planlog.cli.numbered import number, remove
from planlog.cli.progress import TrainingProgress
from planlog.cli.train import need
from planlog.cli.wording import as_number, many, plural
from planlog.errors import NothingToLearnError, RuleError

if TYPE_CHECKING:
    from planlog.learn import LearningSettings
    from planlog.model import Model
    from planlog.policy import Policy
    from planlog.task import Domain, Task
    from planlog.training import OnProgress, Progress

HELP = """Learn domain knowledge for `planlog ipc plan` from tasks.

DK.1 is there at once and holds the rules alone; DK.2, DK.3, … are models that make better plans
for the tasks, each better than the one before. At the end the last one is DK too. Files of these
names that are there already are removed first.

The rules are those of --policy, or else what Planlog ships for the domain, or else all applicable
actions.

**Examples**

    planlog ipc learn dk domain.pddl learning/p*.pddl
    planlog ipc learn dk domain.pddl learning/p*.pddl --policy my-rules.dl --time-limit 3600

**Exit codes**: 0 learned, 22 out of memory, 23 out of time, 130 or 143 ended by Ctrl-C or SIGTERM
(with all these the best so far is in DK); 31 bad input, 34 unsupported PDDL, 36 bad usage.
"""

# What plans are compared by, when models are: a search that goes on where the best action leads
# back, up to so many steps.
STEPS = 2_000
# A model is judged for so many seconds at most, by the tasks that it can be tried on meanwhile; and
# if a signal has come.
SECONDS = 60.0
SECONDS_LEFT = 5.0


def learn(
    dk: Annotated[
        Path, typer.Argument(metavar="DK", help="Domain knowledge to write.", show_default=False)
    ],
    domain_file: Annotated[
        Path, typer.Argument(metavar="DOMAIN", help="PDDL file.", show_default=False)
    ],
    task_files: Annotated[
        list[Path], typer.Argument(metavar="TASK...", help="PDDL files.", show_default=False)
    ],
    policy: Annotated[
        str | None,
        typer.Option(metavar="POLICY", help="Rule file, `none` or `shipped`."),
    ] = None,
    trainings: Annotated[
        int, typer.Option(metavar="N", min=1, help="Networks to train, with 1 and 2 layers.")
    ] = 4,
    time_limit: TimeLimit = None,
    megabytes: MemoryLimit = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the first weights.")] = 0,
) -> None:
    check_writable(dk, "DK")
    need("torch", "train", "learning")
    out_of_memory = False
    with user_errors(), Interrupts(time_limit) as interrupts:
        knowledge = Knowledge(dk, interrupts)
        with interrupts.end():
            interrupts.check()
            try:
                with memory_limit(megabytes):
                    rules, tasks = _read(domain_file, task_files, policy)
                    knowledge.begin(rules, tasks)
                import planlog.learn  # noqa: F401 (to have it loaded where there is no limit)

                with memory_limit(megabytes), memory_errors():
                    knowledge.judge_first()
                    _learn(rules, tasks, _trainings(trainings, seed), knowledge, interrupts)
            except MemoryError:
                if not knowledge.is_there:
                    raise
                out_of_memory = True
        if knowledge.is_there:
            knowledge.finish()
        else:
            say("planlog: interrupted while reading: nothing is written")
        if interrupts.received:
            raise typer.Exit(interrupts.code)
    raise typer.Exit(ExitCode.MEMORY_LIMIT if out_of_memory else ExitCode.SUCCESS)


learn.__doc__ = HELP


def _read(
    domain_file: Path, task_files: Sequence[Path], policy: str | None
) -> tuple[Policy, list[Task]]:
    from planlog.task import Domain

    domain = Domain.read(domain_file)
    warn(domain.warnings)
    rules = _choose_rules(policy, domain)
    warn(rules.warnings)
    tasks = []
    for file in task_files:
        tasks.append(domain.read_task(file))
        warn(tasks[-1].warnings)
        rules.check_task(tasks[-1])
    return rules, tasks


def _choose_rules(given: str | None, domain: Domain) -> Policy:
    """What was given, or what is shipped for the domain if that fits, or all applicable actions."""
    from planlog import domains
    from planlog.policy import Policy

    if given is not None:
        return choose_policy(given, domain)[0]
    shipped = domains.find(domain.name)
    if shipped is None:
        reason = f"no policy is shipped for the domain '{domain.name}'"
    else:
        try:
            return choose_policy("shipped", domain)[0]
        except RuleError:
            reason = f"the policy shipped for '{shipped}' does not fit this domain"
    say(f"note: {reason}, so any applicable action is allowed; give rules with --policy FILE")
    return Policy.applicable(domain)


def _learn(
    rules: Policy,
    tasks: Sequence[Task],
    trainings: Iterable[Training],
    knowledge: Knowledge,
    interrupts: Interrupts,
) -> None:
    """Train one network after the other, and offer what they are like."""
    from planlog.learn import learn as learn_model

    for training in trainings:
        if interrupts.received:
            return
        try:
            with TrainingProgress() as progress:

                def on_epoch(done: Progress, show: OnProgress = progress.on_epoch) -> None:
                    show(done)
                    interrupts.check()

                learned = learn_model(
                    rules,
                    tasks,
                    training.settings,
                    seed=training.seed,
                    workers=1,
                    on_stage=progress.on_stage,
                    on_epoch=on_epoch,
                )
        except NothingToLearnError as error:
            if training.is_brief:
                continue
            say(f"note: {error}")
            return
        if learned.interrupted:
            knowledge.offer(learned.model, f"{training.name}, interrupted", SECONDS_LEFT)
        else:
            knowledge.offer(learned.model, training.name)


@dataclass(frozen=True)
class Training:
    """A network to train."""

    name: str
    settings: LearningSettings
    seed: int
    is_brief: bool = False


def _trainings(count: int, seed: int) -> Iterator[Training]:
    """A brief one, which takes seconds, and then so many with all there is to learn from."""
    from planlog.learn import LearningSettings
    from planlog.settings import SurveySettings, TrainingSettings
    from planlog.template import TemplateSettings

    brief = LearningSettings(
        training=TrainingSettings(epochs=50),
        surveys=SurveySettings(rounds=0),
        members=1,
        limit=1_000,
    )
    yield Training("trained briefly", brief, seed, is_brief=True)
    for i in range(count):
        layers, own_seed = 1 + i % 2, seed + i // 2
        name = f"trained with {plural(layers, 'layer')}, seed {own_seed}"
        settings = LearningSettings(TemplateSettings(layers, over_derived=True))
        yield Training(name, settings, own_seed)


class Knowledge:
    """The files DK.1, DK.2, …: DK.1 is of the rules alone, each other one better than the last."""

    def __init__(self, file: Path, interrupts: Interrupts) -> None:
        self._file = file
        self._interrupts = interrupts
        self._start = time.monotonic()
        self._number = 0
        self._costs: list[float | None] = []

    @property
    def is_there(self) -> bool:
        """Whether at least the rules are."""
        return self._number > 0

    def begin(self, rules: Policy, tasks: Sequence[Task]) -> None:
        """Write DK.1, in the place of all that an earlier run has left."""
        self._domain = rules.domain
        self._tasks = tasks
        model = rules_alone(rules)
        with self._interrupts.wait():
            remove(self._file)
            self._write(model)

    def judge_first(self) -> None:
        """Find out how good the rules alone are."""
        self._costs = self._judge(self._best)
        self._tell(number(self._file, 1).name, "the rules alone", self._costs)

    def offer(self, model: Model, name: str, seconds: float = SECONDS) -> None:
        """Write the model if it is better than the last one, as far as the seconds allow to say."""
        costs = self._judge(model, seconds)
        new, old = scores(costs, self._costs)
        # The first one is preferred to the rules alone where they are equal, since it is right in
        # more states than those it was judged by.
        better = new > old or (new == old > 0 and self._number == 1)
        if better:
            with self._interrupts.wait():
                self._write(model)
            self._costs = costs
        verdict = number(self._file, self._number).name if better else "not better"
        self._tell(verdict, f"{name}, score {new:.2f} to {old:.2f}", costs)

    def finish(self) -> None:
        """Make DK equal to the last one."""
        self._best.write(self._file)
        emit(f"{self._file}: the same as {number(self._file, self._number).name}")

    def _write(self, model: Model) -> None:
        model.write(number(self._file, self._number + 1))
        self._number += 1
        self._best = model

    def _judge(self, model: Model, seconds: float = SECONDS) -> list[float | None]:
        """The cost of its plan for each task, None where it finds none; fewer if time is short."""
        import numpy as np

        from planlog.execution import Outcome, execute

        deadline = time.monotonic() + seconds
        policy = model.policy(self._domain)
        costs: list[float | None] = []
        for task in self._tasks:
            result = execute(
                policy,
                task,
                rng=np.random.default_rng(0),
                max_steps=STEPS,
                time_limit=max(0.0, deadline - time.monotonic()),
                avoid_revisits=True,
            )
            if result.outcome is Outcome.MEMORY_LIMIT:
                raise MemoryError
            if result.outcome in (Outcome.INTERRUPTED, Outcome.TIME_LIMIT):
                break
            costs.append(result.cost if result.solved else None)
        return costs

    def _tell(self, verdict: str, name: str, costs: Sequence[float | None]) -> None:
        solved = [cost for cost in costs if cost is not None]
        seconds = time.monotonic() - self._start
        emit(
            f"{verdict}: {name}; plans for {len(solved)} of {many(len(costs), 'task')}, "
            f"cost {as_number(sum(solved, 0.0))}, {seconds:.1f} s"
        )


def rules_alone(rules: Policy) -> Model:
    """The smallest model of some rules, with weights that make all scores equal."""
    import numpy as np

    from planlog.learned import weight_shapes
    from planlog.lifting import action_relations, structure_of
    from planlog.model import Model
    from planlog.settings import NetworkSettings
    from planlog.template import TemplateSettings, template

    settings, network = TemplateSettings(layers=0), NetworkSettings(width=1)
    policy = template(rules, settings)
    relations = frozenset(action_relations(policy))
    shapes = weight_shapes(structure_of(policy, relations), network, relations)
    weights = {name: np.zeros(shape, dtype=np.float32) for name, shape in shapes.items()}
    return Model.of(rules, settings, network, weights, training={"note": "the rules alone"})


def scores(new: Sequence[float | None], old: Sequence[float | None]) -> tuple[float, float]:
    """The competition's scores of two planners, as if they were the only ones, by the costs of
    their plans; of tasks that only one was tried on, nothing counts."""

    def score(own: float | None, other: float | None) -> float:
        if own is None:
            return 0.0
        return 1.0 if other is None or own <= other else other / own

    pairs = list(zip(new, old, strict=False))
    return sum(score(a, b) for a, b in pairs), sum(score(b, a) for a, b in pairs)
