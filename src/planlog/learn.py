"""From rules and small tasks to a model: all of learning in one function."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from planlog.decisions import gather
from planlog.errors import NothingToLearnError
from planlog.labels import PAPER_TASKS, select_training
from planlog.lifting import action_relations, structure_of
from planlog.model import Model
from planlog.network import Network
from planlog.policy import Policy
from planlog.settings import NetworkSettings, TrainingSettings
from planlog.statespace import DEFAULT_LIMIT
from planlog.task import Task
from planlog.template import TemplateSettings, template
from planlog.training import OnProgress as OnEpoch
from planlog.training import train


class Stage(Enum):
    """What learning is doing."""

    SPACES = "expanding state spaces"
    LIFTING = "sharing computations"


@dataclass(frozen=True)
class LearningSettings:
    """Everything that can be chosen."""

    template: TemplateSettings = field(default_factory=TemplateSettings)
    network: NetworkSettings = field(default_factory=NetworkSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    limit: int = DEFAULT_LIMIT  # tasks with fewer states are learned from
    max_tasks: int | None = PAPER_TASKS
    max_states: int | None = None  # labelled states of all tasks


@dataclass(frozen=True)
class Learned:
    """A model, and what is needed to go on if learning was interrupted."""

    model: Model
    interrupted: bool
    checkpoint: Mapping[str, npt.NDArray[Any]]


def learn(
    rules: Policy,
    tasks: Collection[Task],
    settings: LearningSettings,
    *,
    seed: int = 0,
    workers: int | None = None,
    resume: Mapping[str, npt.NDArray[Any]] | None = None,
    on_stage: Callable[[Stage, int], None] | None = None,
    on_epoch: OnEpoch | None = None,
    on_checkpoint: Callable[[Mapping[str, npt.NDArray[Any]]], None] | None = None,
) -> Learned:
    """Learn which of the actions that the rules allow are best, from the states of small tasks.

    The result depends on the tasks, settings and seed only. State spaces are expanded by so many
    `workers`, one for each processor by default. A KeyboardInterrupt during training gives the best
    model so far.
    """
    start = time.monotonic()

    def told(stage: Stage) -> Callable[[int], None] | None:
        return None if on_stage is None else lambda done: on_stage(stage, done)

    spaces = select_training(
        tasks,
        limit=settings.limit,
        max_tasks=settings.max_tasks,
        max_states=settings.max_states,
        workers=workers,
        on_progress=told(Stage.SPACES),
    )
    policy = template(rules, settings.template)
    data = gather(
        policy,
        spaces,
        settings.network.aggregation,
        settings.training,
        on_progress=told(Stage.LIFTING),
    )
    if not data.decisions.optimal.any():
        raise NothingToLearnError(
            f"there is nothing to learn: of {len(tasks)} tasks {len(spaces)} have fewer than "
            f"{settings.limit:,} states, and these offer no choice between good and bad actions"
        )
    scores = action_relations(policy)
    network = Network(structure_of(policy, scores), settings.network, scores=scores, seed=seed)
    ready = time.monotonic()
    result = train(
        data,
        network,
        settings.training,
        seed=seed,
        resume=resume,
        on_progress=on_epoch,
        on_checkpoint=on_checkpoint,
    )
    counts = data.circuit.counts
    summary = {
        "seed": seed,
        "tasks": [space.task.name for space in spaces],
        "labelled_states": data.labelled,
        "decisions": len(data.decisions),
        "sharing": asdict(counts),
        "settings": _plain(asdict(settings.training)),
        "epochs": len(result.history) - 1,
        "interrupted": result.interrupted,
        "best": asdict(result.best),
        "loss": _rounded([progress.loss for progress in result.history]),
        "accuracy": _rounded([progress.accuracy for progress in result.history]),
        "f1": _rounded([progress.f1 for progress in result.history]),
        "seconds": {
            "data": round(ready - start, 3),
            "training": round(time.monotonic() - ready, 3),
        },
    }
    model = Model.of(
        rules,
        settings.template,
        settings.network,
        result.weights,
        training=summary,
        versions={"torch": torch.__version__},
    )
    return Learned(model, result.interrupted, result.checkpoint)


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    return {k: v.value if isinstance(v, Enum) else v for k, v in settings.items()}


def _rounded(values: Sequence[float]) -> list[float]:
    return [float(np.format_float_positional(value, 6, fractional=False)) for value in values]
