"""`planlog train`: policy and small tasks → model file."""

from __future__ import annotations

import io
import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from planlog.api.resolve import choose_rules
from planlog.cli import options, resolve
from planlog.cli.command import BadUsage, Command
from planlog.cli.console import emit, emit_json, report_failure, say
from planlog.cli.exit_codes import ExitCode
from planlog.cli.formatting import counted, percent
from planlog.cli.limits import memory_errors
from planlog.cli.progress import TrainingProgress
from planlog.cli.signals import Signals
from planlog.costs import cost_from_json
from planlog.files import OutputError, write_atomically
from planlog.locks import locked
from planlog.network import settings
from planlog.network.model_file import Model

if TYPE_CHECKING:
    from planlog.learning.learn import Learned

HELP = """Train a network to rank the actions that a policy derives, and save it as a model file.

States of tasks with a small state space are labelled with their optimal actions. The network,
which is built from the domain and the rules, learns to score these actions higher than others.
Then, for a number of iterations, search with the learned policy labels states of larger tasks,
and the network is trained on all labels.

TASK is a PDDL file, a folder or a glob pattern. Without a DOMAIN, `domain.pddl` is looked for
beside the first task and in the folders above it. POLICY may stand before the tasks without
its option. Ctrl-C and --time-limit write the best model so far; --resume continues the
training.

Examples:

    planlog train domain.pddl tasks/p*.pddl --policy my-rules.dl -o my-model.safetensors
    planlog train tasks --settings paper -o m.safetensors --time-limit 600
    planlog train tasks -o m.safetensors --resume

Exit codes: 0 the model is written, 12 there is nothing to learn, 22 out of memory, 23 out of
time, 31 bad input, 34 unsupported PDDL, 36 bad usage, 73 a file cannot be written (a message
says where a model is saved), 130 or 143 ended by Ctrl-C or SIGTERM (the best model so far is
written if there is one).
"""

CURVES = (".png", ".pdf", ".svg")


def _complete_settings(context: click.Context, parameter: click.Parameter, text: str) -> list[str]:
    """Complete the name of a preset or, after `+`, of a setting."""
    before, plus, last = text.rpartition("+")
    words = [f"{name}=" for name in settings.setting_names()] if plus else settings.PRESETS
    return [before + plus + word for word in words if word.startswith(last)]


@click.command("train", cls=Command, help=HELP)
@options.files("[DOMAIN] [POLICY] TASK...")
@options.file("-o", "--out", help="Model file.", required=True)
@options.policy
@click.option(
    "--settings",
    "preset",
    metavar="NAME",
    default="default",
    shell_complete=_complete_settings,
    help="Preset: default, small (small tasks only, takes seconds) or paper. Other values "
    "follow it: default+epochs=40+weight_decay=0.1.",
)
@options.layers(settings.RANGES["layers"])
@click.option(
    "--derived-messages/--no-derived-messages",
    default=None,
    help="Messages along derived predicates too, or not.",
)
@options.in_range(
    "--width",
    range=settings.RANGES["width"],
    help="Dimension of embeddings.",
    metavar="H",
    show_default="16",
)
@options.one_of(
    "--aggregation", settings.Aggregation, "Aggregation of messages.", show_default="max"
)
@options.one_of(
    "--activation", settings.Activation, "Activation of messages and atoms.", show_default="tanh"
)
@options.one_of(
    "--loss",
    settings.Loss,
    "Training loss: binary cross-entropy, or listwise softmax over the actions of a state.",
)
@options.in_range(
    "--epochs", range=settings.RANGES["epochs"], help="Number of passes over the data."
)
@options.in_range(
    "--batch", range=settings.RANGES["batch"], help="Distinct choice sets per update."
)
@options.in_range(
    "--learning-rate",
    range=settings.RANGES["learning_rate"],
    metavar="X",
    help="Initial learning rate.",
)
@options.one_of("--schedule", settings.Schedule, "Schedule of the learning rate.")
@options.one_of(
    "--select-by",
    settings.SelectBy,
    "Checkpoint to keep: lowest loss, or highest F1 score on the training data.",
)
@options.in_range(
    "--limit",
    range=settings.RANGES["limit"],
    help="Bound on the states of a task: only smaller state spaces are expanded.",
    show_default="10000",
)
@options.in_range(
    "--max-tasks",
    range=settings.RANGES["max_tasks"],
    help="Maximum number of tasks to expand.",
    show_default="25",
)
@options.in_range(
    "--max-states",
    range=settings.RANGES["max_states"],
    help="Maximum number of labelled states of these tasks.",
)
@options.in_range(
    "--iterations",
    range=settings.RANGES["iterations"],
    help="Iterations of search in larger tasks, each followed by training.",
)
@options.in_range(
    "--states-per-iteration",
    range=settings.RANGES["states_per_iteration"],
    help="States that search labels in each iteration.",
)
@options.in_range(
    "--expansions-per-step",
    range=settings.RANGES["expansions_per_step"],
    help="Expansions of the search per step of a plan.",
)
@options.in_range(
    "--ensemble-size",
    range=settings.RANGES["ensemble_size"],
    help="Number of networks whose scores are added.",
)
@options.seed
@options.time_limit
@options.memory_limit
@options.flag("--resume", help="Training from the checkpoint beside the model file.")
@options.file("--curve", help="Learning curve (PNG, PDF or SVG).")
@options.as_json
def command(
    files: tuple[Path, ...],
    out: Path,
    policy: str | None,
    preset: str,
    seed: int,
    time_limit: float | None,
    memory_limit: int | None,
    resume: bool,
    curve: Path | None,
    as_json: bool,
    **values: Any,  # the fields of LearningSettings that are given
) -> int:
    start = time.monotonic()
    chosen = _settings(preset, values)
    _check_outputs(out, curve)
    domain_file, task_files, policy = resolve.find_inputs(files, policy)
    learned: Learned | None = None
    with Signals() as signals, memory_errors(), locked(out):
        # Torch, which learning imports, is an extra. An exception of a signal handler inside of
        # its C++ code would abort the process, so signals are only recorded here.
        from planlog.api.learn import checkpoint_of, end_checkpoint
        from planlog.learning.learn import learn

        with signals.until_interrupted():
            signals.check()
            choice = resolve.announce(choose_rules(resolve.read_domain(domain_file), policy))
            tasks = resolve.read_tasks(choice.policy, task_files)
            checkpoint = checkpoint_of(out, choice.policy, tasks, chosen, seed, say)
            begun = checkpoint.read() if resume else None
            if resume and begun is None:
                say(f"note: there is no {checkpoint.file}, so the training begins anew")
            elif not resume and checkpoint.file.exists():
                say(f"note: {checkpoint.file} is replaced; --resume would continue it")
            with TrainingProgress(signals) as progress:
                learned = learn(
                    choice.policy,
                    tasks,
                    chosen,
                    seed=seed,
                    resume=begun,
                    on_stage=progress.on_stage,
                    on_epoch=progress.on_epoch,
                    on_checkpoint=checkpoint.write_now_and_then,
                )
        if learned is None:
            text = f"{signals.reason} before the first epoch: nothing is written"
            report_failure(signals.outcome, text, as_json=as_json)
            return signals.exit_code
        failures: list[OutputError] = []
        place: Path | None = out
        with resolve.reported(failures):
            learned.model.write(out)
        if failures:
            place = failures[0].saved
        with resolve.reported(failures):
            end_checkpoint(learned, checkpoint, say)
        if curve is not None:
            with resolve.reported(failures):
                _draw(learned.model, curve)
        seconds = time.monotonic() - start
        outcome = signals.outcome
        if as_json:
            emit_json(
                {
                    "outcome": outcome if learned.interrupted else "trained",
                    "model": None if place is None else str(place),
                    "policy": choice.name,
                    "seconds": round(seconds, 3),
                    "training": dict(learned.model.training),
                }
            )
        else:
            emit(_summary(learned, place, seconds))
            if learned.interrupted:
                emit(f"{outcome}: this is the best model so far; --resume continues the training")
        if failures:
            return ExitCode.OUTPUT
        return signals.exit_code if learned.interrupted else ExitCode.SUCCESS


def _check_outputs(out: Path, curve: Path | None) -> None:
    """Reject output files that could not be written, and missing packages, before the work."""
    resolve.check_writable(out, "--out", ".checkpoint")
    resolve.require("torch", "train", "training")
    if curve is not None:
        resolve.check_writable(curve, "--curve")
        if curve.suffix.lower() not in CURVES:
            raise BadUsage(f"--curve: the name must end in one of {', '.join(CURVES)}")
        resolve.require("matplotlib", "report", "--curve")


def _settings(preset: str, values: dict[str, Any]) -> settings.LearningSettings:
    """Return the settings of a preset with the values of the given options."""
    given = {key: value for key, value in values.items() if value is not None}
    if "activation" in given:
        given["message_activation"] = given["atom_activation"] = given.pop("activation")
    try:
        return settings.preset(preset).changed(**given)
    except ValueError as error:
        raise BadUsage(f"--settings: {error}") from None


def _summary(learned: Learned, place: Path | None, seconds: float) -> str:
    training = learned.model.training
    best, sharing = training["best"], training["sharing"]
    labelled = counted(training["labelled_states"], "labelled state")
    tasks = len({*training["tasks"], *training["search_labelled_tasks"]})
    epochs, size = counted(training["epochs"], "epoch"), len(training["ensemble"])
    first = f"{size} networks, the first of them " if size > 1 else ""
    accuracy = percent(round(best["accuracy"] * 1e6), 10**6)
    minimises = training["minimises"]
    optimal = "optimal" if minimises == "length" else f"optimal in {minimises}"
    lines = [
        f"iteration {told['iteration']}: "
        f"{counted(told['search_labelled_states'], 'labelled state')} by search, "
        f"from plans of cost {_cost(told['policy_cost'])} to {_cost(told['improved_cost'])}"
        for told in training["trainings"]
        if told["expansions"]
    ]
    lines += [
        f"learned from {sharing['states']:,} of {labelled} of {counted(tasks, 'task')}: "
        f"{counted(training['choice_sets'], 'distinct choice set')}",
        f"{sharing['atoms']:,} atoms are {counted(sharing['nodes'], 'node')}, "
        f"{sharing['ground_messages']:,} messages {sharing['messages']:,}",
        f"{first}best after {best['epoch']} of {epochs}: loss {best['loss']:.4g}, "
        f"the chosen action is {optimal} in {accuracy} of these states",
        f"model in {place or 'no file'}, {seconds:.1f} s",
    ]
    return "\n".join(lines)


def _draw(model: Model, file: Path) -> None:
    """Draw the learning curve: loss and accuracy by epochs."""
    # Matplotlib is an extra.
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
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=150, format=file.suffix[1:].lower())
    write_atomically(file, drawn.getvalue(), durable=False)


def _cost(value: int | str) -> str:
    """Return a cost of the record of a training, as people write it."""
    cost = cost_from_json(value)
    return f"{cost:,}" if isinstance(cost, int) else f"{cost:,f}"
