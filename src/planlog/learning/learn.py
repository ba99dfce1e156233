"""Learning: rules and tasks to a model, by expert iteration.

The states of small tasks are labelled exactly. The policy trained on them searches the larger tasks
for better plans and labels the states along these plans; the next policy is trained on both, and so
on for some iterations. The last iteration trains an ensemble: networks with different seeds make
different mistakes, and the sum of their scores evens them out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from functools import partial
from typing import Any

import torch

from planlog.costs import sum_costs
from planlog.errors import NothingToLearnError, SettingsError
from planlog.files import MOST_BYTES
from planlog.learning.dataset import Dataset, build_dataset
from planlog.learning.network import Network
from planlog.learning.search_labels import SearchLabels, label_by_search
from planlog.learning.trainer import Arrays, TrainingResult, train
from planlog.learning.trainer import OnProgress as OnEpoch
from planlog.network.model_file import Model
from planlog.network.scorer import NetworkScorer, Weights, ensemble, weight_shapes
from planlog.network.settings import LearningSettings, plain_values
from planlog.network.template import Template, build_template
from planlog.pddl.task import Task
from planlog.policy.policy import Policy
from planlog.statespace.labels import Labels, label, select_training

_SEEDS = 1_000_000  # distance of the seeds of an ensemble's networks


class Stage(Enum):
    """A stage of learning before a training."""

    SPACES = "expanding state spaces"
    SEARCH_LABELS = "searching larger tasks"
    LIFTING = "sharing computations"


@dataclass(frozen=True)
class Learned:
    """A model, and a checkpoint to resume from if learning was interrupted."""

    model: Model
    interrupted: bool
    checkpoint: Arrays


OnStage = Callable[[Stage, int], None]
OnCheckpoint = Callable[[Arrays], None]


def learn(
    rules: Policy,
    tasks: Collection[Task],
    settings: LearningSettings,
    *,
    seed: int = 0,
    workers: int | None = None,
    resume: Arrays | None = None,
    on_stage: OnStage | None = None,
    on_epoch: OnEpoch | None = None,
    on_checkpoint: OnCheckpoint | None = None,
) -> Learned:
    """Train a network to rank the actions that the rules derive.

    `workers` threads expand and search the tasks, by default one for each processor; the result
    depends on the tasks, settings and seed only. `on_stage` and `on_epoch` report progress.
    `on_checkpoint` receives, after each epoch, arrays that `resume` continues from.

    Returns the model. A KeyboardInterrupt returns the best model so far, if there is one. Raises
    NothingToLearnError if no labelled state offers a choice between optimal and other actions, and
    SettingsError if the model would be too large for a file.
    """
    template = build_template(rules, settings.template)
    _check_size(template, settings)
    learning = _Learning(rules, tasks, settings, template, seed, workers, on_stage, resume or {})
    interrupted = False
    try:
        learning.expand()
        while not learning.is_done and not interrupted:
            interrupted = learning.next_training(on_epoch, on_checkpoint)
    except KeyboardInterrupt:
        interrupted = True
        if not learning.result:
            raise
    return Learned(learning.model(interrupted), interrupted, learning.checkpoint)


def _check_size(template: Template, settings: LearningSettings) -> None:
    """Raise SettingsError if the weights would not fit into a model file."""
    network = settings.network
    wider = replace(network, width=network.width * settings.ensemble_size)
    shapes = weight_shapes(template.structure, wider, template.scores)
    needed = 4 * sum(rows * columns for rows, columns in shapes.values())
    if needed > MOST_BYTES:
        raise SettingsError(
            f"width {network.width}: the weights would take {needed:,} bytes, and a model file "
            f"may have {MOST_BYTES:,}"
        )


@dataclass(frozen=True)
class _Trained:
    """A trained network."""

    result: TrainingResult
    data: Dataset
    number: int  # index of its description


@dataclass
class _Learning:
    """The state of learning between trainings: one per iteration, an ensemble in the last."""

    rules: Policy
    tasks: Collection[Task]
    settings: LearningSettings
    template: Template
    seed: int
    workers: int | None
    on_stage: OnStage | None
    checkpoint: Arrays  # of all trainings, by `number: name`; finished ones are not repeated
    labels: list[Labels] = field(default_factory=list)  # of small tasks
    search_labels: list[SearchLabels] = field(default_factory=list)  # of larger tasks
    weights: list[Weights] = field(default_factory=list)  # of finished trainings
    descriptions: list[dict[str, Any]] = field(default_factory=list)  # of all trainings
    result: list[_Trained] = field(default_factory=list)  # networks of the model

    def expand(self) -> None:
        """Expand the small tasks and label their states."""
        chosen = self.settings
        spaces = select_training(
            self.tasks,
            limit=chosen.limit,
            max_tasks=chosen.max_tasks,
            max_states=chosen.max_states,
            workers=self.workers,
            on_progress=self._progress_of(Stage.SPACES),
        )
        self.labels = [label(space, self.rules) for space in spaces]
        small = {space.task for space in spaces}
        self.larger = [task for task in self.tasks if task not in small]

    @property
    def _last_iteration(self) -> int:
        return self.settings.search_labels.iterations if self.larger else 0

    @property
    def is_done(self) -> bool:
        return len(self.weights) == self._last_iteration + self.settings.ensemble_size

    def next_training(self, on_epoch: OnEpoch | None, on_checkpoint: OnCheckpoint | None) -> bool:
        """Label states, except for further networks of an ensemble, and train a network.

        Returns whether the training was interrupted.
        """
        start = time.monotonic()
        number = len(self.weights)
        member = max(0, number - self._last_iteration)
        new: list[SearchLabels] = []
        if member == 0:
            new = self._label_by_search(number) if number else []
            self.search_labels += new
            self.data = self._build_dataset()
        data, template, chosen = self.data, self.template, self.settings
        seed = self.seed + _SEEDS * member
        network = Network(template.structure, chosen.network, scores=template.scores, seed=seed)
        if not data.choice_sets.optimal.any():
            if number >= self._last_iteration:
                raise NothingToLearnError(
                    f"nothing to learn: of {len(self.tasks)} tasks {len(self.labels)} have fewer "
                    f"than {chosen.limit:,} states, and no labelled state offers a choice between "
                    "good and bad actions"
                )
            self.weights.append(network.weights())  # search with an untrained network
            return False
        ready = time.monotonic()
        prefix = f"{number}: "

        def with_checkpoint(arrays: Arrays) -> Arrays:
            """Return all checkpoints, with this one of the present training."""
            return {**self.checkpoint, **{prefix + name: array for name, array in arrays.items()}}

        result = train(
            data,
            network,
            chosen.training,
            seed=seed,
            resume={
                key.removeprefix(prefix): array
                for key, array in self.checkpoint.items()
                if key.startswith(prefix)
            },
            on_progress=on_epoch,
            on_checkpoint=on_checkpoint and (lambda own: on_checkpoint(with_checkpoint(own))),
        )
        self.checkpoint = with_checkpoint(result.checkpoint)
        seconds = time.monotonic() - ready
        self.descriptions.append(
            {
                "iteration": number - member,
                "search_labelled_states": sum(map(len, new)),
                "policy_cost": sum_costs(labels.first_cost for labels in new),
                "improved_cost": sum_costs(labels.last_cost for labels in new),
                "expansions": sum(labels.expansions for labels in new),
                "choice_sets": len(data.choice_sets),
                "best": asdict(result.best),
                "seconds": {"data": round(ready - start, 3), "training": round(seconds, 3)},
            }
        )
        trained = _Trained(result, data, len(self.descriptions) - 1)
        if not result.interrupted:
            self.weights.append(result.weights)
            self.result = [*self.result, trained] if member else [trained]
        elif not self.result:
            self.result = [trained]
        return result.interrupted

    def model(self, interrupted: bool) -> Model:
        """Return the model of the last iteration, of finished trainings if there are any."""
        result, data = self.result[0].result, self.result[0].data
        networks = [trained.result.weights for trained in self.result]
        network, weights = ensemble(self.template, self.settings.network, networks)
        summary = {
            "seed": self.seed,
            "minimises": self._minimises,
            "tasks": [labels.space.task.name for labels in self.labels],
            "search_labelled_tasks": sorted({labels.task.name for labels in self.search_labels}),
            "labelled_states": data.labelled,
            "choice_sets": len(data.choice_sets),
            "sharing": asdict(data.circuit.counts),
            "settings": plain_values(self.settings.training),
            "search_labels": asdict(self.settings.search_labels),
            "trainings": self.descriptions,
            "ensemble": [trained.number for trained in self.result],
            "epochs": len(result.history) - 1,
            "interrupted": interrupted,
            "best": asdict(result.best),
            **{
                name: [float(f"{getattr(progress, name):.6g}") for progress in result.history]
                for name in ("loss", "accuracy", "f1")
            },
            "seconds": {
                part: round(sum(each["seconds"][part] for each in self.descriptions), 3)
                for part in ("data", "training")
            },
        }
        versions = {"torch": torch.__version__}
        return Model.of(self.template, network, weights, training=summary, versions=versions)

    @property
    def _minimises(self) -> str:
        """What the labels minimise in the plans of the tasks."""
        metrics = {task.minimises_cost for task in self.tasks}
        if len(metrics) > 1:
            return "cost or length"  # each task as its metric says
        return "cost" if True in metrics else "length"

    def _label_by_search(self, number: int) -> list[SearchLabels]:
        """Label states of larger tasks with the policy of the previous iteration."""
        scorer = NetworkScorer(self.template, self.settings.network, self.weights[-1])
        return label_by_search(
            self.rules.with_scorer(scorer),
            self.larger,
            self.settings.search_labels,
            seed=(self.seed, number),
            workers=self.workers,
            on_progress=self._progress_of(Stage.SEARCH_LABELS),
        )

    def _build_dataset(self) -> Dataset:
        chosen = self.settings
        return build_dataset(
            self.template,
            self.labels,
            chosen.network.aggregation,
            chosen.training,
            sample=chosen.search_labels.exact_states if self._last_iteration else None,
            search_labels=self.search_labels,
            on_progress=self._progress_of(Stage.LIFTING),
        )

    def _progress_of(self, stage: Stage) -> Callable[[int], None] | None:
        return self.on_stage and partial(self.on_stage, stage)
