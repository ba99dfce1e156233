"""`planlog train`: rules and small tasks → model file."""

from __future__ import annotations

import importlib.util
import json
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planlog.cli.exits import (
    ExitCode,
    bad_usage,
    catch_signals,
    emit,
    emit_json,
    say,
    signal_code,
    user_errors,
    warn,
)
from planlog.cli.files import check_writable, choose_policy
from planlog.cli.progress import TrainingProgress
from planlog.cli.wording import many, percent
from planlog.errors import NothingToLearnError

if TYPE_CHECKING:
    from planlog.learn import Learned, LearningSettings
    from planlog.model import Model

HELP = """Learn which of the actions that rules allow are best, and write a model file.

The states of all tasks that are small enough are labelled with their optimal actions; a network
that is built from domain and rules learns to score these above the others. POLICY is a rule
file, `none` (all applicable actions) or `shipped`.

Ctrl-C writes the best model so far; `--resume` goes on from where a training was ended.

**Examples**

    planlog train domain.pddl tasks/p*.pddl --policy my-rules.dl -o my-model.safetensors
    planlog train domain.pddl tasks/p*.pddl --policy shipped --settings paper -o m.safetensors
    planlog train domain.pddl tasks/p*.pddl --policy shipped -o m.safetensors --resume

**Exit codes**: 0 the model is written, 12 there is nothing to learn, 22 out of memory, 31 bad
input, 34 unsupported PDDL, 36 bad usage, 130 or 143 ended by Ctrl-C or SIGTERM (the best model
so far is written if there is one).
"""


def train(
    domain_file: Annotated[
        Path, typer.Argument(metavar="DOMAIN", help="PDDL file.", show_default=False)
    ],
    task_files: Annotated[
        list[Path], typer.Argument(metavar="TASK...", help="PDDL files.", show_default=False)
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="Model file.", show_default=False)
    ],
    policy: Annotated[
        str, typer.Option(metavar="POLICY", help="Rule file, `none` or `shipped`.")
    ] = "shipped",
    settings: Annotated[
        str, typer.Option(metavar="NAME", help="`default`, or `paper`: as the paper says.")
    ] = "default",
    layers: Annotated[
        int, typer.Option(metavar="L", min=0, help="Rounds of messages between objects.")
    ] = 1,
    width: Annotated[
        int | None, typer.Option(metavar="H", min=1, help="Dimension of embeddings (16).")
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Passes over the data.")
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(metavar="X", help="Of the first steps.")
    ] = None,
    over_derived: Annotated[
        bool, typer.Option("--over-derived", help="Messages along derived predicates too.")
    ] = False,
    limit: Annotated[
        int, typer.Option(metavar="N", min=2, help="Learn from tasks with fewer states.")
    ] = 10_000,
    max_tasks: Annotated[
        int, typer.Option(metavar="N", min=1, help="Of these, so many at most.")
    ] = 25,
    max_states: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Labelled states of all tasks at most.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the first weights.")] = 0,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint beside the model file.")
    ] = False,
    curve: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the learning curve (PNG, PDF) here."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    start = time.monotonic()
    for file, name in ((out, "--out"), (curve, "--curve")):
        if file is not None:
            check_writable(file, name)
    _need("torch", "train", "training")
    if curve is not None:
        _need("matplotlib", "report", "--curve")
    with user_errors(as_json), catch_signals() as signals:
        try:
            chosen = _settings(settings, layers, over_derived, width, epochs, learning_rate)
            from planlog.learn import learn
            from planlog.task import Domain

            domain = Domain.read(domain_file)
            warn(domain.warnings)
            rules, name, _ = choose_policy(policy, domain)
            warn(rules.warnings)
            tasks = []
            for file in task_files:
                task = domain.read_task(file)
                warn(task.warnings)
                rules.check_task(task)
                tasks.append(task)
            chosen = replace(chosen, limit=limit, max_tasks=max_tasks, max_states=max_states)
            checkpoint = Checkpoint(out, [str(domain_file), name, str(chosen), str(seed)])
            with TrainingProgress() as progress:
                learned = learn(
                    rules,
                    tasks,
                    chosen,
                    seed=seed,
                    resume=checkpoint.read() if resume else None,
                    on_stage=progress.on_stage,
                    on_epoch=progress.on_epoch,
                    on_checkpoint=checkpoint.write_now_and_then,
                )
        except NothingToLearnError as error:
            say(f"planlog: {error}")
            raise typer.Exit(ExitCode.NO_PLAN) from None
        except KeyboardInterrupt:
            say("planlog: interrupted before the first epoch: nothing is written")
            raise typer.Exit(signal_code(signals)) from None
        learned.model.write(out)
        if learned.interrupted:
            checkpoint.write(learned.checkpoint)
        else:
            checkpoint.remove()
        if curve is not None:
            _draw(learned.model, curve)
    seconds = time.monotonic() - start
    if as_json:
        emit_json(
            {
                "model": str(out),
                "policy": name,
                "seconds": round(seconds, 3),
                "training": dict(learned.model.training),
            }
        )
    else:
        emit(_summary(learned, out, seconds))
    raise typer.Exit(signal_code(signals) if learned.interrupted else ExitCode.SUCCESS)


train.__doc__ = HELP


class Checkpoint:
    """A file beside the model file from which a training can go on."""

    SECONDS = 5.0  # between two of them

    def __init__(self, model_file: Path, made_for: list[str]) -> None:
        """What it is made for must be the same when a training goes on."""
        self.file = model_file.with_name(f"{model_file.name}.checkpoint")
        self._made_for = json.dumps(made_for)
        self._next = time.monotonic() + self.SECONDS

    def read(self) -> dict[str, Any] | None:
        """The arrays to go on with; ModelError if they are of another training."""
        from safetensors import SafetensorError, safe_open

        from planlog.errors import ModelError

        if not self.file.exists():
            say(f"note: there is no {self.file}; the training begins at the beginning")
            return None
        try:
            with safe_open(self.file, framework="numpy") as file:
                metadata = file.metadata() or {}
                arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        except SafetensorError as error:
            raise ModelError(f"{self.file} is no checkpoint, or cut short: {error}") from None
        if metadata.get("made_for") != self._made_for:
            raise ModelError(f"{self.file} is of a training with other settings")
        return arrays

    def write_now_and_then(self, arrays: Mapping[str, Any]) -> None:
        if time.monotonic() >= self._next:
            self.write(arrays)
            self._next = time.monotonic() + self.SECONDS

    def write(self, arrays: Mapping[str, Any]) -> None:
        from safetensors.numpy import save

        from planlog.execution import write_whole

        write_whole(self.file, save(dict(arrays), metadata={"made_for": self._made_for}))

    def remove(self) -> None:
        self.file.unlink(missing_ok=True)


def _settings(
    name: str,
    layers: int,
    over_derived: bool,
    width: int | None,
    epochs: int | None,
    learning_rate: float | None,
) -> LearningSettings:
    from planlog.learn import LearningSettings
    from planlog.settings import PRESETS, NetworkSettings
    from planlog.template import TemplateSettings

    if name not in PRESETS:
        raise bad_usage(f"--settings: expected one of {', '.join(PRESETS)}, got '{name}'")
    training = PRESETS[name]
    if epochs is not None:
        training = replace(training, epochs=epochs)
    if learning_rate is not None:
        if not learning_rate > 0:
            raise bad_usage("--learning-rate: must be positive")
        training = replace(training, learning_rate=learning_rate)
    network = NetworkSettings() if width is None else NetworkSettings(width=width)
    return LearningSettings(TemplateSettings(layers, over_derived), network, training)


def _need(module: str, extra: str, purpose: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise bad_usage(f"{purpose} needs {module}: pip install 'planlog[{extra}]'")


def _summary(learned: Learned, out: Path, seconds: float) -> str:
    training = learned.model.training
    best, sharing = training["best"], training["sharing"]
    lines = [
        f"learned from {many(len(training['tasks']), 'task')}, "
        f"{many(training['labelled_states'], 'labelled state')}, "
        f"{many(training['decisions'], 'distinct decision')}",
        f"{sharing['atoms']:,} atoms are {many(sharing['nodes'], 'node')}, "
        f"{sharing['ground_messages']:,} messages {sharing['messages']:,}",
        f"after {many(training['epochs'], 'epoch')}: loss {best['loss']:.4g}, the chosen action is "
        f"optimal in {percent(round(best['accuracy'] * 1e6), 10**6)} of the states",
        f"model in {out}, {seconds:.1f} s",
    ]
    if learned.interrupted:
        lines.append("interrupted: this is the best model so far; --resume goes on")
    return "\n".join(lines)


def _draw(model: Model, file: Path) -> None:
    """The learning curve: loss and accuracy by epochs."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, left = pyplot.subplots(figsize=(6, 3.5), layout="constrained")
    right = left.twinx()
    left.semilogy(model.training["loss"], color="tab:blue")
    right.plot(model.training["accuracy"], color="tab:orange")
    left.set(xlabel="epoch", ylabel="loss")
    right.set(ylabel="accuracy of the chosen action", ylim=(0, 1.02))
    left.yaxis.label.set_color("tab:blue")
    right.yaxis.label.set_color("tab:orange")
    figure.savefig(file, dpi=150)
    pyplot.close(figure)
