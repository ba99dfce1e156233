"""`planlog ipc learn`: domain and tasks → domain knowledge, which gets better as time goes on."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from planlog.cli import options
from planlog.cli.command import Command
from planlog.cli.console import emit, say
from planlog.cli.exit_codes import ExitCode
from planlog.cli.formatting import as_number, many, plural
from planlog.cli.limits import limit_memory, memory_errors
from planlog.cli.plan_files import delete_numbered_files, numbered_file
from planlog.cli.progress import TrainingProgress
from planlog.cli.resolve import (
    check_writable,
    find_inputs,
    read_domain,
    read_rules,
    read_tasks,
    require,
)
from planlog.cli.signals import Signals
from planlog.errors import NothingToLearnError, RuleError
from planlog.network.model_file import Model
from planlog.network.scorer import weight_shapes
from planlog.network.settings import (
    PRESETS,
    LearningSettings,
    NetworkSettings,
    TemplateSettings,
)
from planlog.network.template import build_template
from planlog.pddl.task import Domain, Task
from planlog.policy.execution import Outcome, execute
from planlog.policy.policy import Policy

# Torch, which learning imports, is an extra: without it the command ends with a message.
if TYPE_CHECKING:
    from planlog.learning.trainer import OnProgress, Progress

HELP = """Learn domain knowledge for `planlog ipc plan` from tasks.

DK.1 is there at once and holds the rules alone; DK.2, DK.3, … are models that make better plans
for the tasks, each better than the one before. At the end the last one is DK too. Files of these
names that are there already are removed first.

The rules are those of --policy, or else what Planlog ships for the domain, or else all applicable
actions.

Examples:

    planlog ipc learn dk domain.pddl learning/p*.pddl
    planlog ipc learn dk domain.pddl learning/p*.pddl --policy my-rules.dl --time-limit 3600

Exit codes: 0 learned, 22 out of memory, 23 out of time, 130 or 143 ended by Ctrl-C or SIGTERM
(with all these the best so far is in DK); 31 bad input, 34 unsupported PDDL, 36 bad usage.
"""

# What plans are compared by, when models are: a search that goes on where the best action leads
# back, up to so many steps.
STEPS = 2_000
# A model is judged for so many seconds at most, by the tasks that it can be tried on meanwhile; and
# if a signal has come.
SECONDS = 60.0
SECONDS_LEFT = 5.0


@click.command("learn", cls=Command, help=HELP)
@click.argument("dk", metavar="DK", type=options.FILE)
@options.files("[DOMAIN] [POLICY] TASK...")
@options.policy
@options.number(
    "--trainings", "Number of networks to train, with 1 and 2 layers in turn.", default=4
)
@options.time_limit
@options.memory_limit
@options.seed
def command(
    dk: Path,
    files: tuple[Path, ...],
    policy: str | None,
    trainings: int,
    time_limit: float | None,
    memory_limit: int | None,
    seed: int,
) -> int:
    check_writable(dk, "DK")
    require("torch", "train", "learning")
    domain_file, task_files, policy = find_inputs(files, policy)
    out_of_memory = False
    with Signals(time_limit) as signals:
        knowledge = Knowledge(dk, signals)
        with signals.until_interrupted():
            signals.check()
            try:
                with limit_memory(memory_limit):
                    rules = _choose_rules(read_domain(domain_file), policy)
                    tasks = read_tasks(rules, task_files)
                    knowledge.begin(rules, tasks)
                # Torch is loaded outside of the limit, which it must not be blamed for.
                import planlog.learning.learn  # noqa: F401

                with limit_memory(memory_limit), memory_errors():
                    knowledge.judge_first()
                    _learn(rules, tasks, _trainings(trainings, seed), knowledge, signals)
            except MemoryError:
                if not knowledge.is_there:
                    raise
                out_of_memory = True
        if knowledge.is_there:
            knowledge.finish()
        else:
            say("planlog: interrupted while reading: nothing is written")
        if signals.received:
            return signals.exit_code
    return ExitCode.MEMORY_LIMIT if out_of_memory else ExitCode.SUCCESS


def _choose_rules(domain: Domain, given: str | None) -> Policy:
    """Choose rules as all commands do, but fall back to `none` if shipped rules do not fit.

    A competition runs this without anybody who could answer a message.
    """
    try:
        return read_rules(domain, given).policy
    except RuleError:
        if given is not None:
            raise
        say(
            f"note: the policy shipped for '{domain.name}' does not fit this domain, so any "
            "applicable action is allowed; give rules with --policy FILE"
        )
        return Policy.applicable(domain)


def _learn(
    rules: Policy,
    tasks: Sequence[Task],
    trainings: Iterable[Training],
    knowledge: Knowledge,
    signals: Signals,
) -> None:
    """Train one network after the other, and offer what they are like."""
    from planlog.learning.learn import learn as learn_model

    for training in trainings:
        if signals.received:
            return
        try:
            with TrainingProgress() as progress:

                def on_epoch(done: Progress, show: OnProgress = progress.on_epoch) -> None:
                    show(done)
                    signals.check()

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
    brief = PRESETS["default"].changed(epochs=50, iterations=0, ensemble_size=1, limit=1_000)
    yield Training("trained briefly", brief, seed, is_brief=True)
    for i in range(count):
        layers, own_seed = 1 + i % 2, seed + i // 2
        name = f"trained with {plural(layers, 'layer')}, seed {own_seed}"
        settings = PRESETS["default"].changed(layers=layers)
        yield Training(name, settings, own_seed)


class Knowledge:
    """The files DK.1, DK.2, …: DK.1 is of the rules alone, each other one better than the last."""

    def __init__(self, file: Path, signals: Signals) -> None:
        self._file = file
        self._signals = signals
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
        with self._signals.shield():
            delete_numbered_files(self._file)
            self._write(model)

    def judge_first(self) -> None:
        """Find out how good the rules alone are."""
        self._costs = self._judge(self._best)
        self._tell(numbered_file(self._file, 1).name, "the rules alone", self._costs)

    def offer(self, model: Model, name: str, seconds: float = SECONDS) -> None:
        """Write the model if it is better than the last one, as far as the seconds allow to say."""
        costs = self._judge(model, seconds)
        new, old = scores(costs, self._costs)
        # The first one is preferred to the rules alone where they are equal, since it is right in
        # more states than those it was judged by.
        better = new > old or (new == old > 0 and self._number == 1)
        if better:
            with self._signals.shield():
                self._write(model)
            self._costs = costs
        verdict = numbered_file(self._file, self._number).name if better else "not better"
        self._tell(verdict, f"{name}, score {new:.2f} to {old:.2f}", costs)

    def finish(self) -> None:
        """Make DK equal to the last one."""
        self._best.write(self._file)
        emit(f"{self._file}: the same as {numbered_file(self._file, self._number).name}")

    def _write(self, model: Model) -> None:
        model.write(numbered_file(self._file, self._number + 1))
        self._number += 1
        self._best = model

    def _judge(self, model: Model, seconds: float = SECONDS) -> list[float | None]:
        """The cost of its plan for each task, None where it finds none; fewer if time is short."""
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
    settings, network = TemplateSettings(layers=0), NetworkSettings(width=1)
    template = build_template(rules, settings)
    shapes = weight_shapes(template.structure, network, template.scores)
    weights = {name: np.zeros(shape, dtype=np.float32) for name, shape in shapes.items()}
    return Model.of(template, network, weights, training={"note": "the rules alone"})


def scores(new: Sequence[float | None], old: Sequence[float | None]) -> tuple[float, float]:
    """The competition's scores of two planners, as if they were the only ones, by the costs of
    their plans; of tasks that only one was tried on, nothing counts."""

    def score(own: float | None, other: float | None) -> float:
        if own is None:
            return 0.0
        return 1.0 if other is None or own <= other else other / own

    pairs = list(zip(new, old, strict=False))
    return sum(score(a, b) for a, b in pairs), sum(score(b, a) for a, b in pairs)
