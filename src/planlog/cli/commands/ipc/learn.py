"""`planlog ipc learn`: domain and tasks → domain knowledge, which gets better as time goes on."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from planlog.api.resolve import choose_rules
from planlog.cli import options, resolve
from planlog.cli.command import Command
from planlog.cli.console import emit, say
from planlog.cli.exit_codes import ExitCode
from planlog.cli.formatting import counted
from planlog.cli.limits import memory_errors
from planlog.cli.plan_files import LONGEST, delete_older, numbered_file, numbered_files
from planlog.cli.progress import TrainingProgress
from planlog.cli.signals import Signals
from planlog.costs import Cost, cost_text, sum_costs
from planlog.errors import NothingToLearnError, RuleError
from planlog.files import OutputError, explain
from planlog.locks import locked
from planlog.network.model_file import Model
from planlog.network.scorer import weight_shapes
from planlog.network.settings import PRESETS, LearningSettings, NetworkSettings, TemplateSettings
from planlog.network.template import build_template
from planlog.pddl.task import Domain, Task
from planlog.policy.execution import Outcome, execute
from planlog.policy.policy import Policy

HELP = """Learn domain knowledge for `planlog ipc plan` from tasks.

DK.1 is written at once and holds the rules alone. DK.2, DK.3, … are models, each of which makes
better plans for the tasks than the one before. The last one is also written to DK. Files of these
names from earlier runs are deleted when DK.1 is in place.

The rules are those of --policy, or else the rules that Planlog ships for the domain's name, or
else all applicable actions.

Examples:

    planlog ipc learn dk domain.pddl learning/p*.pddl
    planlog ipc learn dk domain.pddl learning/p*.pddl --policy my-rules.dl --time-limit 3600

Exit codes: 0 learned, 22 out of memory, 23 out of time, 130 or 143 ended by Ctrl-C or SIGTERM
(DK holds the best model so far); 31 bad input, 34 unsupported PDDL, 36 bad usage, 73 DK cannot
be written (a message says where the model is saved).
"""

# Steps of the depth-first search whose plans models are compared by.
STEPS = 2_000
# Maximum time in seconds to compare a model, and after a signal.
SECONDS = 60.0
SECONDS_LEFT = 0.25


@click.command("learn", cls=Command, help=HELP)
@click.argument("dk", metavar="DK", type=options.FILE)
@options.files("[DOMAIN] [POLICY] TASK...")
@options.policy
@options.number(
    "--trainings", help="Number of networks to train, with 1 and 2 layers in turn.", default=4
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
    resolve.check_writable(dk, "DK", LONGEST)
    resolve.require("torch", "train", "learning")
    domain_file, task_files, policy = resolve.find_inputs(files, policy)
    knowledge: Knowledge | None = None
    out_of_memory = False
    with Signals() as signals, locked(dk):
        import planlog.learning.learn  # noqa: F401 (as in `planlog train`: torch may abort)

        with signals.until_interrupted():
            signals.check()
            try:
                rules = _choose_rules(resolve.read_domain(domain_file), policy)
                tasks = resolve.read_tasks(rules, task_files)
                with signals.shield():
                    knowledge = Knowledge(dk, rules, tasks, signals)
                signals.keep_result()
                with memory_errors():
                    knowledge.judge_rules()
                    _learn(rules, tasks, _trainings(trainings, seed), knowledge, signals)
            except MemoryError:
                if knowledge is None:
                    raise
                out_of_memory = True
        if knowledge is not None:
            knowledge.finish()
        else:
            say(f"planlog: {signals.reason} while reading: nothing is written")
        if knowledge is not None and knowledge.is_unwritten:
            return ExitCode.OUTPUT
        if signals.received:
            return signals.exit_code
    return ExitCode.MEMORY_LIMIT if out_of_memory else ExitCode.SUCCESS


def _choose_rules(domain: Domain, given: str | None) -> Policy:
    """Choose rules as all commands do, but fall back to `none` if shipped rules do not fit.

    A competition runs this without anybody who could answer a message.
    """
    try:
        return resolve.announce(choose_rules(domain, given)).policy
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
    """Train one network after the other, and offer each to the knowledge."""
    # Torch, which learning imports, is an extra.
    from planlog.learning import learn as learning

    for training in trainings:
        signals.check()
        try:
            with TrainingProgress(signals) as progress:
                learned = learning.learn(
                    rules,
                    tasks,
                    training.settings,
                    seed=training.seed,
                    workers=1,
                    on_stage=progress.on_stage,
                    on_epoch=progress.on_epoch,
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
    """Yield a brief training, which takes seconds, and then `count` with the default settings."""
    brief = PRESETS["default"].changed(epochs=50, iterations=0, ensemble_size=1, limit=1_000)
    yield Training("trained briefly", brief, seed, is_brief=True)
    for i in range(count):
        layers, own_seed = 1 + i % 2, seed + i // 2
        name = f"trained with {counted(layers, 'layer')}, seed {own_seed}"
        yield Training(name, PRESETS["default"].changed(layers=layers), own_seed)


class Knowledge:
    """The files DK.1, DK.2, …: DK.1 has the rules alone, each other model is better than the last.

    The files of earlier runs are deleted when DK.1 is in place. A model that cannot be written is
    kept for DK.
    """

    def __init__(self, file: Path, rules: Policy, tasks: Sequence[Task], signals: Signals) -> None:
        self._file = file
        self._rules = rules
        self._tasks = tasks
        self._signals = signals
        self._start = time.monotonic()
        self._number = 0
        self._costs: list[Cost | None] = []
        self.is_unwritten = False  # whether DK cannot be written
        older = numbered_files(file)
        self._write(rules_alone(rules))
        delete_older([file, *(older[number] for number in sorted(older)[::-1] if number > 1)])

    def judge_rules(self) -> None:
        """Compute the costs of plans by the rules alone."""
        self._costs = self._judge(self._best, SECONDS)
        self._tell(self._last_name, "the rules alone", self._costs)

    def offer(self, model: Model, name: str, seconds: float = SECONDS) -> None:
        """Write the model if it is better than the last one; compare them for at most `seconds`."""
        costs = self._judge(model, seconds)
        new, old = scores(costs, self._costs)
        # A first model wins a tie against the rules alone: it has learned from more states than
        # those of these plans.
        better = new > old or (new == old > 0 and self._number == 1)
        if better:
            self._costs = costs
            try:
                with self._signals.shield():
                    self._write(model)
            except OutputError as error:
                say(f"planlog: {explain(error)}; the learning goes on")
        verdict = self._last_name if better else "not better"
        self._tell(verdict, f"{name}, score {new:.2f} to {old:.2f}", costs)

    def finish(self) -> None:
        """Write the last model to DK."""
        try:
            self._best.write(self._file)
        except OutputError as error:
            self.is_unwritten = True
            say(f"planlog: {explain(error)}")
        else:
            numbered = numbered_file(self._file, self._number)
            relation = "the same as" if numbered.exists() else "in place of"
            emit(f"{self._file}: {relation} {numbered.name}")

    @property
    def _last_name(self) -> str:
        return numbered_file(self._file, self._number).name

    def _write(self, model: Model) -> None:
        self._best = model
        self._number += 1
        model.write(numbered_file(self._file, self._number))

    def _judge(self, model: Model, seconds: float) -> list[Cost | None]:
        """Return the cost of a plan for each task, None without one; fewer if time is short."""
        deadline = time.monotonic() + seconds
        policy = model.policy(self._rules.domain)
        costs: list[Cost | None] = []
        for task in self._tasks:
            left = max(0.0, deadline - time.monotonic())
            result = execute(policy, task, max_steps=STEPS, time_limit=left, avoid_revisits=True)
            if result.outcome is Outcome.MEMORY_LIMIT:
                raise MemoryError
            if result.outcome in (Outcome.INTERRUPTED, Outcome.TIME_LIMIT):
                break
            costs.append(result.cost if result.solved else None)
        return costs

    def _tell(self, verdict: str, name: str, costs: Sequence[Cost | None]) -> None:
        solved = [cost for cost in costs if cost is not None]
        seconds = time.monotonic() - self._start
        emit(
            f"{verdict}: {name}; plans for {len(solved)} of {counted(len(costs), 'task')}, "
            f"cost {cost_text(sum_costs(solved))}, {seconds:.1f} s"
        )


def rules_alone(rules: Policy) -> Model:
    """Return the smallest model of some rules, with weights that make all scores equal."""
    template, network = build_template(rules, TemplateSettings(layers=0)), NetworkSettings(width=1)
    shapes = weight_shapes(template.structure, network, template.scores)
    weights = {name: np.zeros(shape, dtype=np.float32) for name, shape in shapes.items()}
    return Model.of(template, network, weights, training={"note": "the rules alone"})


def scores(new: Sequence[Cost | None], old: Sequence[Cost | None]) -> tuple[float, float]:
    """Return the IPC scores of two planners by the costs of their plans.

    The best known cost is the cheaper of the two. Tasks that only one has tried do not count.
    """

    def score(own: Cost | None, other: Cost | None) -> float:
        if own is None:
            return 0.0
        return 1.0 if other is None or own <= other else float(other / own)

    pairs = list(zip(new, old, strict=False))
    return sum(score(a, b) for a, b in pairs), sum(score(b, a) for a, b in pairs)
