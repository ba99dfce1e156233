"""Learning: rules and tasks to a model, by expert iteration.

The states of small tasks are labelled exactly. The policy trained on them searches the larger tasks
for better plans and labels the states along these plans; the next policy is trained on both, and so
on for some iterations. The last iteration trains an ensemble: networks with different seeds make
different mistakes, and the sum of their scores evens them out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from planlog.errors import NothingToLearnError, SettingsError
from planlog.learning.dataset import Dataset, build_dataset
from planlog.learning.network import Network
from planlog.learning.search_labels import SearchLabels, label_by_search
from planlog.learning.trainer import OnProgress as OnEpoch
from planlog.learning.trainer import TrainingResult, train
from planlog.network.model_file import MOST_BYTES, Model
from planlog.network.scorer import NetworkScorer, Weights, ensemble, weight_shapes
from planlog.network.settings import LearningSettings, plain_values
from planlog.network.template import build_template
from planlog.pddl.task import Task
from planlog.policy.policy import Policy
from planlog.statespace.labels import label, select_training

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
    checkpoint: Mapping[str, npt.NDArray[Any]]


OnStage = Callable[[Stage, int], None]
OnCheckpoint = Callable[[Mapping[str, npt.NDArray[Any]]], None]


def learn(
    rules: Policy,
    tasks: Collection[Task],
    settings: LearningSettings,
    *,
    seed: int = 0,
    workers: int | None = None,
    resume: Mapping[str, npt.NDArray[Any]] | None = None,
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
    learning = _Learning(rules, tasks, settings, seed, workers, on_stage)
    if resume is not None:
        learning.load(resume)
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


@dataclass(frozen=True)
class _Trained:
    """A trained network."""

    result: TrainingResult
    data: Dataset
    number: int  # index of its description


class _Learning:
    """The state of learning between trainings: one per iteration, an ensemble in the last."""

    def __init__(
        self,
        rules: Policy,
        tasks: Collection[Task],
        settings: LearningSettings,
        seed: int,
        workers: int | None,
        on_stage: OnStage | None,
    ) -> None:
        self.result: list[_Trained] = []  # networks of the model
        self.checkpoint: dict[str, npt.NDArray[Any]] = {}
        self._rules = rules
        self._tasks = tasks
        self._settings = settings
        self._seed = seed
        self._workers = workers
        self._on_stage = on_stage
        self._template = build_template(rules, settings.template)
        self._check_size()
        self._search_labels: list[SearchLabels] = []
        self._weights: list[Weights] = []  # of finished trainings
        self._descriptions: list[dict[str, Any]] = []  # of finished trainings
        self._resume: dict[int, dict[str, npt.NDArray[Any]]] = {}  # checkpoints, by training

    def _check_size(self) -> None:
        network, size = self._settings.network, self._settings.ensemble_size
        wider = replace(network, width=network.width * size)
        shapes = weight_shapes(self._template.structure, wider, self._template.scores)
        needed = 4 * sum(rows * columns for rows, columns in shapes.values())
        if needed > MOST_BYTES:
            raise SettingsError(
                f"width {network.width}: the weights would take {needed:,} bytes, and a model file "
                f"may have {MOST_BYTES:,}"
            )

    def expand(self) -> None:
        """Expand the small tasks and label their states."""
        chosen = self._settings
        spaces = select_training(
            self._tasks,
            limit=chosen.limit,
            max_tasks=chosen.max_tasks,
            max_states=chosen.max_states,
            workers=self._workers,
            on_progress=self._progress_of(Stage.SPACES),
        )
        self._labels = [label(space, self._rules) for space in spaces]
        small = {space.task for space in spaces}
        self._larger = [task for task in self._tasks if task not in small]

    @property
    def _last_iteration(self) -> int:
        return self._settings.search_labels.iterations if self._larger else 0

    @property
    def is_done(self) -> bool:
        return len(self._weights) == self._last_iteration + self._settings.ensemble_size

    def next_training(self, on_epoch: OnEpoch | None, on_checkpoint: OnCheckpoint | None) -> bool:
        """Label states, except for further networks of an ensemble, and train a network.

        Returns whether the training was interrupted.
        """
        start = time.monotonic()
        number = len(self._weights)
        member = max(0, number - self._last_iteration)
        new = self._label_by_search(number) if number > 0 and member == 0 else []
        self._search_labels += new
        if member == 0:
            self._data = self._build_dataset()
        data, template, chosen = self._data, self._template, self._settings
        seed = self._seed + _SEEDS * member
        network = Network(template.structure, chosen.network, scores=template.scores, seed=seed)
        if not data.choice_sets.optimal.any():
            if number >= self._last_iteration:
                raise NothingToLearnError(
                    f"nothing to learn: of {len(self._tasks)} tasks {len(self._labels)} have fewer "
                    f"than {chosen.limit:,} states, and no labelled state offers a choice between "
                    "good and bad actions"
                )
            self._weights.append(network.weights())  # search with an untrained network
            return False
        ready = time.monotonic()
        before = dict(self.checkpoint)
        result = train(
            data,
            network,
            chosen.training,
            seed=seed,
            resume=self._resume.pop(number, None),
            on_progress=on_epoch,
            on_checkpoint=on_checkpoint
            and (lambda arrays: on_checkpoint({**before, **_named(number, arrays)})),
        )
        self.checkpoint.update(_named(number, result.checkpoint))
        seconds = time.monotonic() - ready
        self._descriptions.append(
            {
                "iteration": number - member,
                "search_labelled_states": sum(map(len, new)),
                "policy_cost": sum(labels.first_cost for labels in new),
                "improved_cost": sum(labels.last_cost for labels in new),
                "expansions": sum(labels.expansions for labels in new),
                "choice_sets": len(data.choice_sets),
                "best": asdict(result.best),
                "seconds": {"data": round(ready - start, 3), "training": round(seconds, 3)},
            }
        )
        trained = _Trained(result, data, len(self._descriptions) - 1)
        if not result.interrupted:
            self._weights.append(result.weights)
            self.result = [*self.result, trained] if member else [trained]
        elif not self.result:
            self.result = [trained]
        return result.interrupted

    def load(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Continue from a checkpoint: label states again, but repeat no finished training."""
        self.checkpoint = dict(arrays)
        for key, array in arrays.items():
            number, name = key.split(": ")
            self._resume.setdefault(int(number), {})[name] = array

    def model(self, interrupted: bool) -> Model:
        """Return the model of the last iteration, of finished trainings if there are any."""
        result, data = self.result[0].result, self.result[0].data
        networks = [trained.result.weights for trained in self.result]
        network, weights = ensemble(self._template, self._settings.network, networks)
        summary = {
            "seed": self._seed,
            "tasks": [labels.space.task.name for labels in self._labels],
            "search_labelled_tasks": sorted({labels.task.name for labels in self._search_labels}),
            "labelled_states": data.labelled,
            "choice_sets": len(data.choice_sets),
            "sharing": asdict(data.circuit.counts),
            "settings": plain_values(self._settings.training),
            "search_labels": asdict(self._settings.search_labels),
            "trainings": self._descriptions,
            "ensemble": [trained.number for trained in self.result],
            "epochs": len(result.history) - 1,
            "interrupted": interrupted,
            "best": asdict(result.best),
            **{
                name: _rounded([getattr(progress, name) for progress in result.history])
                for name in ("loss", "accuracy", "f1")
            },
            "seconds": {
                part: round(sum(each["seconds"][part] for each in self._descriptions), 3)
                for part in ("data", "training")
            },
        }
        versions = {"torch": torch.__version__}
        return Model.of(self._template, network, weights, training=summary, versions=versions)

    def _label_by_search(self, number: int) -> list[SearchLabels]:
        """Label states of larger tasks with the policy of the previous iteration."""
        scorer = NetworkScorer(self._template, self._settings.network, self._weights[-1])
        return label_by_search(
            self._rules.with_scorer(scorer),
            self._larger,
            self._settings.search_labels,
            seed=(self._seed, number),
            workers=self._workers,
            on_progress=self._progress_of(Stage.SEARCH_LABELS),
        )

    def _build_dataset(self) -> Dataset:
        chosen = self._settings
        return build_dataset(
            self._template,
            self._labels,
            chosen.network.aggregation,
            chosen.training,
            sample=chosen.search_labels.exact_states if self._last_iteration else None,
            search_labels=self._search_labels,
            on_progress=self._progress_of(Stage.LIFTING),
        )

    def _progress_of(self, stage: Stage) -> Callable[[int], None] | None:
        on_stage = self._on_stage
        return None if on_stage is None else lambda done: on_stage(stage, done)


def _named(number: int, checkpoint: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """Return the checkpoint of a training as a part of the checkpoint of learning."""
    return {f"{number}: {name}": array for name, array in checkpoint.items()}


def _rounded(values: Sequence[float]) -> list[float]:
    return [float(np.format_float_positional(value, 6, fractional=False)) for value in values]
