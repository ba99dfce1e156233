"""`planlog.learn`: tasks and rules to a model, in a file that is written whole."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

import planlog
from planlog.api.arguments import PolicyArgument, TaskArgument, rules_of, tasks_of
from planlog.files import explain
from planlog.learning import learn as learning
from planlog.learning.checkpoint import Checkpoint
from planlog.learning.trainer import OnProgress as OnEpoch
from planlog.network.model_file import Model
from planlog.network.settings import LearningSettings, preset
from planlog.pddl.task import Task
from planlog.policy.policy import Policy


def learn(
    tasks: TaskArgument | Iterable[TaskArgument],
    policy: PolicyArgument = None,
    settings: LearningSettings | str = "default",
    *,
    seed: int = 0,
    workers: int | None = None,
    model_file: str | Path | None = None,
    resume: bool = False,
    on_stage: learning.OnStage | None = None,
    on_epoch: OnEpoch | None = None,
    on_warning: Callable[[str], None] = warnings.warn,
) -> Model:
    """Train a network to choose among the actions that the rules of a policy derive.

    `tasks` are small Tasks, or names of problem files, folders or glob patterns, all of one domain;
    `policy` is as for `planlog.solve`. `settings` are LearningSettings, or the name of a preset
    with changes, such as `default+width=16+epochs=30`. The model depends on tasks, rules, settings
    and seed only, not on `workers`, the number of threads, by default that of processors.

    The model is written to `model_file` if one is given. While the training lasts, a checkpoint
    lies beside that file, from which `resume` continues. `on_stage`, `on_epoch` and `on_warning`
    report progress, and checkpoints that cannot be written.

    Returns the model; after Ctrl-C, the best so far, with `training["interrupted"]`. Needs the
    extra `planlog[train]`. Raises NothingToLearnError if no state offers a choice between optimal
    and other actions, SettingsError for settings that do not fit, ModelError if the checkpoint is
    of another training, KeyboardInterrupt if there is no model yet, and errors of files as
    `planlog.solve` does. A model that cannot be written is saved in a folder for temporary files;
    the OSError names it.

    >>> planlog.learn(fork, policy, "small+epochs=1+width=8")
    Model('graph', 1 layer, width 8)
    """
    given = tasks_of(tasks)
    rules = rules_of(policy, given[0].domain)
    chosen = preset(settings) if isinstance(settings, str) else settings
    checkpoint = None
    if model_file is not None:
        checkpoint = checkpoint_of(Path(model_file), rules, given, chosen, seed, on_warning)
    learned = learning.learn(
        rules,
        given,
        chosen,
        seed=seed,
        workers=workers,
        resume=checkpoint.read() if checkpoint and resume else None,
        on_stage=on_stage,
        on_epoch=on_epoch,
        on_checkpoint=None if checkpoint is None else checkpoint.write_now_and_then,
    )
    if checkpoint is not None and model_file is not None:
        learned.model.write(model_file)
        end_checkpoint(learned, checkpoint, on_warning)
    return learned.model


def end_checkpoint(
    learned: learning.Learned, checkpoint: Checkpoint, on_warning: Callable[[str], None]
) -> None:
    """Write the checkpoint of an interrupted training; remove that of a finished one."""
    if learned.interrupted:
        if learned.checkpoint:  # there is none yet in the middle of the first epoch
            checkpoint.write(learned.checkpoint)
        return
    try:
        checkpoint.remove()
    except OSError as error:
        on_warning(f"warning: the checkpoint cannot be removed: {explain(error)}")


def checkpoint_of(
    model_file: Path,
    rules: Policy,
    tasks: list[Task],
    settings: LearningSettings,
    seed: int,
    on_warning: Callable[[str], None],
) -> Checkpoint:
    """Return the checkpoint beside a model file, which only the same training may continue."""
    identity = {
        "domain": _hash(rules.domain.text),
        "rules": rules.text,
        "tasks": _hash(*(task.text for task in tasks)),
        "settings": str(settings),
        "seed": str(seed),
        "version of Planlog": planlog.__version__,
    }
    return Checkpoint(model_file, identity, on_warning)


def _hash(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()
