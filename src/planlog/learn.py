"""From rules and tasks to a model: all of learning in one function."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from planlog.decisions import TrainingData, gather
from planlog.errors import NothingToLearnError
from planlog.labels import PAPER_TASKS, select_training
from planlog.learned import LearnedPolicy, Weights, side_by_side
from planlog.lifting import action_relations, structure_of
from planlog.model import Model
from planlog.network import Network
from planlog.policy import Policy
from planlog.settings import Activation, NetworkSettings, SurveySettings, TrainingSettings
from planlog.statespace import DEFAULT_LIMIT
from planlog.surveys import Survey, survey_all
from planlog.task import Task
from planlog.template import TemplateSettings, template
from planlog.training import OnProgress as OnEpoch
from planlog.training import TrainingResult, train

_SEEDS = 1_000_000  # members have seeds of their own


class Stage(Enum):
    """What learning is doing."""

    SPACES = "expanding state spaces"
    SURVEYS = "searching larger tasks"
    LIFTING = "sharing computations"


@dataclass(frozen=True)
class LearningSettings:
    """Everything that can be chosen."""

    template: TemplateSettings = field(
        default_factory=lambda: TemplateSettings(layers=1, over_derived=True)
    )
    network: NetworkSettings = field(default_factory=NetworkSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    surveys: SurveySettings = field(default_factory=SurveySettings)
    members: int = 3  # networks whose scores are added up
    limit: int = DEFAULT_LIMIT  # all states of tasks with fewer ones are labelled
    max_tasks: int | None = PAPER_TASKS  # of these
    max_states: int | None = None  # labelled states of these

    def __post_init__(self) -> None:
        if self.members < 1:
            raise ValueError("there must be one network at least")
        if self.members > 1 and self.network.score_activation is not Activation.IDENTITY:
            raise ValueError("scores can be added up only if they have no activation")


@dataclass(frozen=True)
class Learned:
    """A model, and what is needed to go on if learning was interrupted."""

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
    """Learn which of the actions that the rules allow are best.

    The states of small tasks are labelled exactly. The policy that is learned from them searches
    the other tasks for better plans, in states that are labelled by what it finds; the next policy
    is learned from both, and so on for some rounds. In the last round several networks are trained:
    what one of them has by chance misunderstood, the others make good when their scores are added.

    The result depends on the tasks, settings and seed only. Tasks are expanded and searched by so
    many `workers`, one for each processor by default. A KeyboardInterrupt gives the best model so
    far if there is one.
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
        if not learning.has_result:
            raise
    return Learned(learning.model(interrupted), interrupted, learning.checkpoint)


@dataclass(frozen=True)
class _Trained:
    """A network, and how it came about."""

    result: TrainingResult
    data: TrainingData
    number: int  # of the training


class _Learning:
    """The state of learning between trainings: one a round, and all members in the last."""

    def __init__(
        self,
        rules: Policy,
        tasks: Collection[Task],
        settings: LearningSettings,
        seed: int,
        workers: int | None,
        on_stage: OnStage | None,
    ) -> None:
        self._result: list[_Trained] = []  # the networks that the model is made of
        self.checkpoint: dict[str, npt.NDArray[Any]] = {}
        self._rules = rules
        self._tasks = tasks
        self._settings = settings
        self._seed = seed
        self._workers = workers
        self._on_stage = on_stage
        self._policy = template(rules, settings.template)
        self._scores = action_relations(self._policy)
        self._surveys: list[Survey] = []
        self._weights: list[Weights] = []  # of the trainings that are done
        self._told: list[dict[str, Any]] = []  # about them
        self._resume: dict[int, dict[str, npt.NDArray[Any]]] = {}  # checkpoints, by training

    def expand(self) -> None:
        """Find the small tasks, and all their states."""
        chosen = self._settings
        self._spaces = select_training(
            self._tasks,
            limit=chosen.limit,
            max_tasks=chosen.max_tasks,
            max_states=chosen.max_states,
            workers=self._workers,
            on_progress=self._told_of(Stage.SPACES),
        )
        small = {space.task for space in self._spaces}
        self._larger = [task for task in self._tasks if task not in small]

    @property
    def _last_round(self) -> int:
        return self._settings.surveys.rounds if self._larger else 0

    @property
    def is_done(self) -> bool:
        return len(self._weights) == self._last_round + self._settings.members

    @property
    def has_result(self) -> bool:
        return bool(self._result)

    def next_training(self, on_epoch: OnEpoch | None, on_checkpoint: OnCheckpoint | None) -> bool:
        """Label, unless the last training's labels are to be used again, and train; whether that
        was interrupted."""
        start = time.monotonic()
        number = len(self._weights)
        member = max(0, number - self._last_round)
        new = self._survey(number) if number > 0 and member == 0 else []
        self._surveys += new
        if member == 0:
            self._data = self._gather()
        data = self._data
        seed = self._seed + _SEEDS * member
        network = Network(
            structure_of(self._policy, self._scores),
            self._settings.network,
            scores=self._scores,
            seed=seed,
        )
        if not data.decisions.optimal.any():
            if number >= self._last_round:
                raise NothingToLearnError(self._nothing())
            self._weights.append(network.weights())  # the search begins with what there is
            return False
        ready = time.monotonic()
        before = dict(self.checkpoint)
        result = train(
            data,
            network,
            self._settings.training,
            seed=seed,
            resume=self._resume.pop(number, None),
            on_progress=on_epoch,
            on_checkpoint=on_checkpoint
            and (lambda arrays: on_checkpoint({**before, **_named(number, arrays)})),
        )
        self.checkpoint.update(_named(number, result.checkpoint))
        seconds = time.monotonic() - ready
        self._told.append(
            {
                "round": number - member,
                "surveyed_states": sum(map(len, new)),
                "policy_cost": sum(survey.first_cost for survey in new),
                "improved_cost": sum(survey.last_cost for survey in new),
                "expansions": sum(survey.expansions for survey in new),
                "decisions": len(data.decisions),
                "best": asdict(result.best),
                "seconds": {"data": round(ready - start, 3), "training": round(seconds, 3)},
            }
        )
        trained = _Trained(result, data, len(self._told) - 1)
        if not result.interrupted:
            self._weights.append(result.weights)
            self._result = [*self._result, trained] if member else [trained]
        elif not self._result:
            self._result = [trained]
        return result.interrupted

    def load(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on from a checkpoint. Labels are found again, trainings that were done are not
        repeated."""
        self.checkpoint = dict(arrays)
        for key, array in arrays.items():
            number, name = key.split(": ")
            self._resume.setdefault(int(number), {})[name] = array

    def model(self, interrupted: bool) -> Model:
        """What was learned last: by complete trainings, if there are any."""
        result, data = self._result[0].result, self._result[0].data
        network, weights = side_by_side(
            self._policy,
            self._settings.network,
            [trained.result.weights for trained in self._result],
        )
        summary = {
            "seed": self._seed,
            "tasks": [space.task.name for space in self._spaces],
            "surveyed_tasks": sorted({survey.task.name for survey in self._surveys}),
            "labelled_states": data.labelled,
            "decisions": len(data.decisions),
            "sharing": asdict(data.circuit.counts),
            "settings": _plain(asdict(self._settings.training)),
            "surveys": asdict(self._settings.surveys),
            "trainings": self._told,
            "members": [trained.number for trained in self._result],
            "epochs": len(result.history) - 1,
            "interrupted": interrupted,
            "best": asdict(result.best),
            "loss": _rounded([progress.loss for progress in result.history]),
            "accuracy": _rounded([progress.accuracy for progress in result.history]),
            "f1": _rounded([progress.f1 for progress in result.history]),
            "seconds": {
                part: round(sum(told["seconds"][part] for told in self._told), 3)
                for part in ("data", "training")
            },
        }
        return Model.of(
            self._rules,
            self._settings.template,
            network,
            weights,
            training=summary,
            versions={"torch": torch.__version__},
        )

    def _survey(self, number: int) -> list[Survey]:
        """States of larger tasks, labelled with the policy of the round before."""
        return survey_all(
            self._learned(self._weights[-1]),
            self._larger,
            self._settings.surveys,
            seed=(self._seed, number),
            workers=self._workers,
            on_progress=self._told_of(Stage.SURVEYS),
        )

    def _gather(self) -> TrainingData:
        chosen = self._settings
        return gather(
            self._policy,
            self._spaces,
            chosen.network.aggregation,
            chosen.training,
            sample=chosen.surveys.exact if self._last_round else None,
            surveys=self._surveys,
            on_progress=self._told_of(Stage.LIFTING),
        )

    def _learned(self, weights: Weights) -> LearnedPolicy:
        return LearnedPolicy(self._rules, self._settings.template, self._settings.network, weights)

    def _told_of(self, stage: Stage) -> Callable[[int], None] | None:
        on_stage = self._on_stage
        return None if on_stage is None else lambda done: on_stage(stage, done)

    def _nothing(self) -> str:
        return (
            f"there is nothing to learn: of {len(self._tasks)} tasks {len(self._spaces)} have "
            f"fewer than {self._settings.limit:,} states, and no labelled state offers a choice "
            "between good and bad actions"
        )


def _named(number: int, checkpoint: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """The checkpoint of a training as a part of that of the whole."""
    return {f"{number}: {name}": array for name, array in checkpoint.items()}


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    return {k: v.value if isinstance(v, Enum) else v for k, v in settings.items()}


def _rounded(values: Sequence[float]) -> list[float]:
    return [float(np.format_float_positional(value, 6, fractional=False)) for value in values]
