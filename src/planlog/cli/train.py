"""`planlog train`: rules and small tasks → model file."""

from __future__ import annotations

import hashlib
import importlib.util
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

import planlog
from planlog.cli.checkpoint import Checkpoint
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
from planlog.cli.limits import memory_errors
from planlog.cli.progress import TrainingProgress
from planlog.cli.wording import many, percent
from planlog.errors import NothingToLearnError
from planlog.settings import (
    Activation,
    Aggregation,
    Keep,
    Loss,
    NetworkSettings,
    Preset,
    Schedule,
    SurveySettings,
    TrainingSettings,
    preset,
)

if TYPE_CHECKING:
    from planlog.learn import Learned, LearningSettings
    from planlog.model import Model
    from planlog.policy import Policy

HELP = """Learn which of the actions that rules allow are best, and write a model file.

The states of all tasks that are small enough are labelled with their optimal actions; a network
that is built from domain and rules learns to score these above the others. Then, in some rounds,
search with the learned policy labels states of the larger tasks, too, and the network learns from
all of them. POLICY is a rule file, `none` (all applicable actions) or `shipped`.

Ctrl-C writes the best model so far; `--resume` goes on from where a training was ended.

**Examples**

    planlog train domain.pddl tasks/p*.pddl --policy my-rules.dl -o my-model.safetensors
    planlog train domain.pddl tasks/p*.pddl --policy shipped --settings paper -o m.safetensors
    planlog train domain.pddl tasks/p*.pddl --policy shipped -o m.safetensors --resume

**Exit codes**: 0 the model is written, 12 there is nothing to learn, 22 out of memory, 31 bad
input, 34 unsupported PDDL, 36 bad usage, 130 or 143 ended by Ctrl-C or SIGTERM (the best model
so far is written if there is one).
"""

_Settings = TypeVar("_Settings", TrainingSettings, SurveySettings)

CURVES = (".png", ".pdf", ".svg")


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
        str,
        typer.Option(
            metavar="NAME",
            help="`default`, `small` (from small tasks only) or `paper`: as the paper says. Any of "
            "them with other values: `default+epochs=40+weight_decay=0.1`.",
        ),
    ] = "default",
    layers: Annotated[
        int, typer.Option(metavar="L", min=0, max=100, help="Rounds of messages between objects.")
    ] = 1,
    over_derived: Annotated[
        bool | None,
        typer.Option(
            "--over-derived/--not-over-derived", help="Messages along derived predicates too."
        ),
    ] = None,
    width: Annotated[int, typer.Option(metavar="H", min=1, help="Dimension of vectors.")] = 16,
    aggregation: Annotated[
        Aggregation, typer.Option(help="How messages are taken together.")
    ] = Aggregation.MAX,
    activation: Annotated[
        Activation, typer.Option(help="Of messages and atoms.")
    ] = Activation.TANH,
    loss: Annotated[Loss | None, typer.Option(help="What is made small.")] = None,
    epochs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Passes over the data.")
    ] = None,
    batch: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Distinct decisions for each update.")
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(metavar="X", help="Of the first updates.")
    ] = None,
    schedule: Annotated[
        Schedule | None, typer.Option(help="How the learning rate goes on.")
    ] = None,
    keep: Annotated[
        Keep | None, typer.Option(help="The weights with the best of this are the result.")
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=2, help="Label all states of tasks with fewer ones.")
    ] = 10_000,
    max_tasks: Annotated[
        int, typer.Option(metavar="N", min=1, help="Of these tasks, so many at most.")
    ] = 25,
    max_states: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Labelled states of these at most.")
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, max=100, help="Rounds of search in larger tasks."),
    ] = None,
    search_states: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Labelled states of each round.")
    ] = None,
    effort: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Expansions for each step of a plan, to improve it."),
    ] = None,
    members: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=100, help="Networks whose scores are added up."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the first weights.")] = 0,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint beside the model file.")
    ] = False,
    curve: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the learning curve here (PNG, PDF, SVG)."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    start = time.monotonic()
    named = _preset(settings)
    if learning_rate is not None and not (learning_rate > 0 and math.isfinite(learning_rate)):
        raise bad_usage("--learning-rate: must be a positive number")
    training = _given(
        named.training,
        loss=loss,
        epochs=epochs,
        batch=batch,
        learning_rate=learning_rate,
        schedule=schedule,
        keep=keep,
    )
    surveys = _given(named.surveys, rounds=rounds, states=search_states, effort=effort)
    for file, name in ((out, "--out"), (curve, "--curve")):
        if file is not None:
            check_writable(file, name)
    if curve is not None and curve.suffix.lower() not in CURVES:
        raise bad_usage(f"--curve: the name must end in one of {', '.join(CURVES)}")
    need("torch", "train", "training")
    if curve is not None:
        need("matplotlib", "report", "--curve")
    with user_errors(as_json), catch_signals() as signals, memory_errors():
        try:
            from planlog.learn import LearningSettings, learn
            from planlog.task import Domain
            from planlog.template import TemplateSettings

            domain_text = domain_file.read_bytes()
            domain = Domain.parse(domain_text, str(domain_file))
            warn(domain.warnings)
            rules, name, _ = choose_policy(policy, domain)
            warn(rules.warnings)
            tasks, task_texts = [], []
            for file in task_files:
                task_texts.append(file.read_bytes())
                tasks.append(domain.parse_task(task_texts[-1], str(file)))
                warn(tasks[-1].warnings)
                rules.check_task(tasks[-1])
            chosen = LearningSettings(
                TemplateSettings(
                    layers, named.over_derived if over_derived is None else over_derived
                ),
                NetworkSettings(
                    width=width,
                    message_activation=activation,
                    atom_activation=activation,
                    aggregation=aggregation,
                ),
                training,
                surveys,
                named.members if members is None else members,
                limit,
                max_tasks,
                max_states,
            )
            _check_size(rules, chosen)
            made_for = {
                "domain": _hash(domain_text),
                "rules": rules.text,
                "tasks": _hash(*task_texts),
                "settings": str(chosen),
                "seed": str(seed),
                "version of Planlog": planlog.__version__,
            }
            checkpoint = Checkpoint(out, made_for)
            begun = checkpoint.read() if resume else None
            if resume and begun is None:
                say(f"note: there is no {checkpoint.file}, so the training begins anew")
            elif not resume and checkpoint.file.exists():
                say(f"note: {checkpoint.file} is not used, and replaced; --resume would go on")
            with TrainingProgress() as progress:
                learned = learn(
                    rules,
                    tasks,
                    chosen,
                    seed=seed,
                    resume=begun,
                    on_stage=progress.on_stage,
                    on_epoch=progress.on_epoch,
                    on_checkpoint=checkpoint.write_now_and_then,
                )
        except NothingToLearnError as error:
            if as_json:
                emit_json({"outcome": "nothing to learn", "message": str(error)})
            else:
                say(f"planlog: {error}")
            raise typer.Exit(ExitCode.NO_PLAN) from None
        except KeyboardInterrupt:
            say("planlog: interrupted before the first epoch: nothing is written")
            raise typer.Exit(signal_code(signals)) from None
        learned.model.write(out)
        if not learned.interrupted:
            checkpoint.remove()
        elif learned.checkpoint:  # there is none yet in the midst of the first epoch
            checkpoint.write(learned.checkpoint)
        if curve is not None:
            _draw(learned.model, curve)
    seconds = time.monotonic() - start
    if as_json:
        emit_json(
            {
                "outcome": "interrupted" if learned.interrupted else "trained",
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


def _preset(name: str) -> Preset:
    try:
        return preset(name)
    except ValueError as error:
        raise bad_usage(f"--settings: {error}") from None


def _given(settings: _Settings, **given: Any) -> _Settings:
    """Settings, and those that were given instead."""
    try:
        return replace(settings, **{key: v for key, v in given.items() if v is not None})
    except ValueError as error:
        raise bad_usage(f"--settings: {error}") from None


def need(module: str, extra: str, purpose: str) -> None:
    """Name the extra that brings a package, if that is not installed."""
    if importlib.util.find_spec(module) is None:
        raise bad_usage(f"{purpose} needs {module}: pip install 'planlog[{extra}]'")


def _check_size(rules: Policy, settings: LearningSettings) -> None:
    """Say at once that the model would be too large for a file."""
    from planlog.learned import weight_shapes
    from planlog.lifting import action_relations, structure_of
    from planlog.model import MOST_BYTES
    from planlog.template import template

    policy = template(rules, settings.template)
    scores = frozenset(action_relations(policy))
    network = replace(settings.network, width=settings.network.width * settings.members)
    shapes = weight_shapes(structure_of(policy, scores), network, scores)
    size = 4 * sum(rows * columns for rows, columns in shapes.values())
    if size > MOST_BYTES:
        raise bad_usage(
            f"--width: the weights would take {size:,} bytes; models may have {MOST_BYTES:,}"
        )


def _hash(*texts: bytes) -> str:
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def _summary(learned: Learned, out: Path, seconds: float) -> str:
    training = learned.model.training
    best, sharing = training["best"], training["sharing"]
    labelled = many(training["labelled_states"], "labelled state")
    tasks = len({*training["tasks"], *training["surveyed_tasks"]})
    epochs, members = training["epochs"], len(training["members"])
    first = f"{members} networks, the first of them " if members > 1 else ""
    accuracy = percent(round(best["accuracy"] * 1e6), 10**6)
    lines = [
        f"round {told['round']}: {many(told['surveyed_states'], 'labelled state')} by search, "
        f"from plans of cost {told['policy_cost']:,.15g} to {told['improved_cost']:,.15g}"
        for told in training["trainings"]
        if told["expansions"]
    ]
    lines += [
        f"learned from {sharing['states']:,} of {labelled} of {many(tasks, 'task')}: "
        f"{many(training['decisions'], 'distinct decision')}",
        f"{sharing['atoms']:,} atoms are {many(sharing['nodes'], 'node')}, "
        f"{sharing['ground_messages']:,} messages {sharing['messages']:,}",
        f"{first}best after {best['epoch']} of {many(epochs, 'epoch')}: loss {best['loss']:.4g}, "
        f"the chosen action is optimal in {accuracy} of these states",
        f"model in {out}, {seconds:.1f} s",
    ]
    if learned.interrupted:
        lines.append("interrupted: this is the best model so far, and --resume goes on")
    return "\n".join(lines)


def _draw(model: Model, file: Path) -> None:
    """The learning curve: loss and accuracy by epochs."""
    from matplotlib.figure import Figure

    def numbers(values: list[float | None]) -> list[float]:
        return [math.nan if value is None else value for value in values]

    figure = Figure(figsize=(6, 3.5), layout="constrained")
    left = figure.subplots()
    right = left.twinx()
    left.semilogy(numbers(model.training["loss"]), color="tab:blue")
    right.plot(numbers(model.training["accuracy"]), color="tab:orange")
    left.set(xlabel="epoch", ylabel="loss")
    right.set(ylabel="accuracy of the chosen action", ylim=(0, 1.02))
    left.yaxis.label.set_color("tab:blue")
    right.yaxis.label.set_color("tab:orange")
    figure.savefig(file, dpi=150)
