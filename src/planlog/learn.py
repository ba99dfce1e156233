"""From rules and tasks to a model: all of learning in one function."""

from __future__ import annotations

import re
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
from planlog.learned import LearnedPolicy, Weights
from planlog.lifting import action_relations, structure_of
from planlog.model import Model
from planlog.network import Network
from planlog.policy import Policy
from planlog.settings import NetworkSettings, SurveySettings, TrainingSettings
from planlog.statespace import DEFAULT_LIMIT
from planlog.surveys import Survey, survey_all
from planlog.task import Task
from planlog.template import TemplateSettings, template
from planlog.training import OnProgress as OnEpoch
from planlog.training import TrainingResult, train


class Stage(Enum):
    """What learning is doing."""

    SPACES = "expanding state spaces"
    SURVEYS = "searching larger tasks"
    LIFTING = "sharing computations"


@dataclass(frozen=True)
class LearningSettings:
    """Everything that can be chosen."""

    template: TemplateSettings = field(default_factory=TemplateSettings)
    network: NetworkSettings = field(default_factory=NetworkSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    surveys: SurveySettings = field(default_factory=SurveySettings)
    limit: int = DEFAULT_LIMIT  # all states of tasks with fewer ones are labelled
    max_tasks: int | None = PAPER_TASKS  # of these
    max_states: int | None = None  # labelled states of these


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
    is learned from both, and so on for some rounds.

    The result depends on the tasks, settings and seed only. Tasks are expanded and searched by so
    many `workers`, one for each processor by default. A KeyboardInterrupt gives the best model so
    far if there is one.
    """
    learning = _Learning(rules, tasks, settings, seed, workers, on_stage)
    if resume is not None:
        learning.load(resume)
    interrupted = False
    try:
        learning.prepare()
        while not learning.is_done and not interrupted:
            interrupted = learning.next_round(on_epoch, on_checkpoint)
    except KeyboardInterrupt:
        interrupted = True
        if learning.result is None:
            raise
    return Learned(learning.model(), interrupted, learning.checkpoint)


class _Learning:
    """The state of learning between rounds."""

    def __init__(
        self,
        rules: Policy,
        tasks: Collection[Task],
        settings: LearningSettings,
        seed: int,
        workers: int | None,
        on_stage: OnStage | None,
    ) -> None:
        self.result: TrainingResult | None = None
        self.checkpoint: Mapping[str, npt.NDArray[Any]] = {}
        self._rules = rules
        self._tasks = tasks
        self._settings = settings
        self._seed = seed
        self._workers = workers
        self._on_stage = on_stage
        self._policy = template(rules, settings.template)
        self._scores = action_relations(self._policy)
        self._weights: list[Weights] = []  # of the rounds that are done
        self._surveys: list[Survey] = []
        self._rounds: list[dict[str, Any]] = []  # what is told about them
        self._data_of_result: TrainingData | None = None
        # From a checkpoint: the weights of rounds that were done, and the training to go on with.
        self._finished: list[Weights] = []
        self._resume: Mapping[str, npt.NDArray[Any]] | None = None

    def prepare(self) -> None:
        """Expand the small tasks."""
        chosen = self._settings
        self._spaces = select_training(
            self._tasks,
            limit=chosen.limit,
            max_tasks=chosen.max_tasks,
            max_states=chosen.max_states,
            workers=self._workers,
            on_progress=self._told(Stage.SPACES),
        )
        small = {space.task for space in self._spaces}
        self._larger = [task for task in self._tasks if task not in small]

    @property
    def is_done(self) -> bool:
        return bool(self._weights) and self._is_last(len(self._weights) - 1)

    def next_round(self, on_epoch: OnEpoch | None, on_checkpoint: OnCheckpoint | None) -> bool:
        """Label, and train; whether that was interrupted."""
        number, chosen = len(self._weights), self._settings
        start = time.monotonic()
        new = self._survey(number) if number > 0 else []
        self._surveys += new
        if number < len(self._finished):
            self._weights.append(self._finished[number])
            return False
        data = self._data()
        network = Network(
            structure_of(self._policy, self._scores),
            chosen.network,
            scores=self._scores,
            seed=self._seed,
        )
        if not data.decisions.optimal.any():
            if self._is_last(number):
                raise NothingToLearnError(self._nothing())
            self._weights.append(network.weights())  # the search begins with what there is
            return False
        ready = time.monotonic()
        before = self._checkpoint_of_rounds()
        self.result = train(
            data,
            network,
            chosen.training,
            seed=self._seed,
            resume=self._resume,
            on_progress=on_epoch,
            on_checkpoint=on_checkpoint and (lambda arrays: on_checkpoint({**before, **arrays})),
        )
        self._resume = None
        self.checkpoint = {**before, **self.result.checkpoint}
        self._data_of_result = data
        self._rounds.append(
            {
                "surveyed_states": sum(map(len, new)),
                "policy_cost": sum(survey.first_cost for survey in new),
                "improved_cost": sum(survey.last_cost for survey in new),
                "expansions": sum(survey.expansions for survey in new),
                "decisions": len(data.decisions),
                "best": asdict(self.result.best),
                "seconds": {
                    "data": round(ready - start, 3),
                    "training": round(time.monotonic() - ready, 3),
                },
            }
        )
        if not self.result.interrupted:
            self._weights.append(self.result.weights)
        return self.result.interrupted

    def load(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Go on from a checkpoint."""
        finished: dict[int, dict[str, npt.NDArray[Any]]] = {}
        for key, array in arrays.items():
            if (found := re.fullmatch(r"round (\d+): (.*)", key)) is not None:
                finished.setdefault(int(found[1]), {})[found[2]] = array
        self._finished = [finished[number] for number in sorted(finished)]
        self._resume = {key: a for key, a in arrays.items() if not key.startswith("round ")}

    def model(self) -> Model:
        """What was learned last."""
        result, data = self.result, self._data_of_result
        assert result is not None
        assert data is not None
        summary = {
            "seed": self._seed,
            "tasks": [space.task.name for space in self._spaces],
            "surveyed_tasks": sorted({survey.task.name for survey in self._surveys}),
            "labelled_states": data.labelled,
            "decisions": len(data.decisions),
            "sharing": asdict(data.circuit.counts),
            "settings": _plain(asdict(self._settings.training)),
            "surveys": asdict(self._settings.surveys),
            "rounds": self._rounds,
            "epochs": len(result.history) - 1,
            "interrupted": result.interrupted,
            "best": asdict(result.best),
            "loss": _rounded([progress.loss for progress in result.history]),
            "accuracy": _rounded([progress.accuracy for progress in result.history]),
            "f1": _rounded([progress.f1 for progress in result.history]),
            "seconds": {
                part: round(sum(told["seconds"][part] for told in self._rounds), 3)
                for part in ("data", "training")
            },
        }
        return Model.of(
            self._rules,
            self._settings.template,
            self._settings.network,
            result.weights,
            training=summary,
            versions={"torch": torch.__version__},
        )

    def _survey(self, number: int) -> list[Survey]:
        """States of larger tasks, labelled by the policy of the round before."""
        chosen = self._settings
        return survey_all(
            LearnedPolicy(self._rules, chosen.template, chosen.network, self._weights[-1]),
            self._larger,
            chosen.surveys,
            seed=(self._seed, number),
            workers=self._workers,
            on_progress=self._told(Stage.SURVEYS),
        )

    def _data(self) -> TrainingData:
        chosen = self._settings
        return gather(
            self._policy,
            self._spaces,
            chosen.network.aggregation,
            chosen.training,
            sample=chosen.surveys.exact if self._larger and chosen.surveys.rounds else None,
            surveys=self._surveys,
            on_progress=self._told(Stage.LIFTING),
        )

    def _is_last(self, number: int) -> bool:
        return number == (self._settings.surveys.rounds if self._larger else 0)

    def _checkpoint_of_rounds(self) -> dict[str, npt.NDArray[Any]]:
        return {
            f"round {number}: {name}": array
            for number, weights in enumerate(self._weights)
            for name, array in weights.items()
        }

    def _told(self, stage: Stage) -> Callable[[int], None] | None:
        on_stage = self._on_stage
        return None if on_stage is None else lambda done: on_stage(stage, done)

    def _nothing(self) -> str:
        return (
            f"there is nothing to learn: of {len(self._tasks)} tasks {len(self._spaces)} have "
            f"fewer than {self._settings.limit:,} states, and in no state that was labelled is "
            "there a choice between good and bad actions"
        )


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    return {k: v.value if isinstance(v, Enum) else v for k, v in settings.items()}


def _rounded(values: Sequence[float]) -> list[float]:
    return [float(np.format_float_positional(value, 6, fractional=False)) for value in values]
