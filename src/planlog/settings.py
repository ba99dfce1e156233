"""What can be chosen about networks and their training; readable without torch."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Any, TypeVar


class Activation(Enum):
    """A function of each component of a vector. All of them are monotone."""

    TANH = "tanh"
    SIGMOID = "sigmoid"
    RELU = "relu"
    LEAKY_RELU = "leaky_relu"  # 0.01 x for negative x
    IDENTITY = "identity"


class Aggregation(Enum):
    """What the messages of a rule to an atom are taken together by, in each component."""

    MAX = "max"
    MEAN = "mean"
    SUM = "sum"


@dataclass(frozen=True)
class NetworkSettings:
    """The shape of a network; see `Network` for what the parts are."""

    width: int = 16  # dimension of derived relations
    message_activation: Activation = Activation.TANH
    atom_activation: Activation = Activation.TANH
    aggregation: Aggregation = Aggregation.MAX
    score_activation: Activation = Activation.IDENTITY  # in the place of the atom's
    score_width: int | None = None  # dimension of the messages to scores; None: `width`


class Loss(Enum):
    """What training makes small."""

    BINARY = "binary"  # cross-entropy of each derived action's score: is it optimal here?
    LISTWISE = "listwise"  # -log of the softmax's share of the optimal ones among the derived


class Schedule(Enum):
    """How the learning rate goes on from its first value."""

    CONSTANT = "constant"
    COSINE = "cosine"  # down to 0 at the end, as half a wave


class Keep(Enum):
    """Which of the weights on the way are the result."""

    LOSS = "loss"  # those of the smallest loss
    F1 = "f1"  # those that tell optimal actions, by scores above 0, with the highest F1


@dataclass(frozen=True)
class TrainingSettings:
    """How a network is trained."""

    loss: Loss = Loss.LISTWISE
    epochs: int = 20  # passes over all decisions
    batch: int | None = 300  # decisions for each update of the weights; None: all
    learning_rate: float = 0.01
    schedule: Schedule = Schedule.COSINE
    keep: Keep = Keep.LOSS
    weight_decay: float = 0.0  # share of each weight that an update takes off, per learning rate
    # Whether to leave out states in which every derived action is optimal, or none: the listwise
    # loss learns nothing from them.
    only_informative: bool = True

    def __post_init__(self) -> None:
        if self.epochs < 1 or (self.batch is not None and self.batch < 1):
            raise ValueError("epochs and batches must be positive")
        if not 0 < self.learning_rate < math.inf:
            raise ValueError("the learning rate must be positive, and finite")
        if not 0 <= self.weight_decay * self.learning_rate < 1:
            raise ValueError("weights must not decay below 0 at once, nor grow")


@dataclass(frozen=True)
class SurveySettings:
    """How states of tasks beyond the limit of state spaces are labelled, by search."""

    rounds: int = 2  # of training, search and training again; 0: learn from small tasks only
    states: int = 2000  # to be labelled in each round
    steps: int = 50  # of one plan, at which states are labelled
    effort: int = 20  # expansions for each step of a plan, to improve it
    expansions: int = 1_000_000  # in each round at most
    passes: int = 50  # through the tasks in each round at most
    exact: int = 2000  # states of small tasks that are learned from beside those

    def __post_init__(self) -> None:
        if self.rounds < 0 or self.effort < 0:
            raise ValueError("rounds and effort must not be negative")
        if min(self.states, self.steps, self.expansions, self.passes, self.exact) < 1:
            raise ValueError("all but rounds and effort must be positive")


@dataclass(frozen=True)
class Preset:
    """Settings that go together."""

    training: TrainingSettings
    surveys: SurveySettings
    over_derived: bool  # whether messages go along the policy's derived predicates, too
    members: int  # networks whose scores are added up

    def __post_init__(self) -> None:
        if self.members < 1:
            raise ValueError("there must be one network at least")


_Settings = TypeVar("_Settings", TrainingSettings, SurveySettings, Preset)


PRESETS = {
    "default": Preset(TrainingSettings(), SurveySettings(), over_derived=True, members=3),
    # From the states of small tasks alone: takes seconds.
    "small": Preset(
        TrainingSettings(epochs=200, batch=None),
        SurveySettings(rounds=0),
        over_derived=False,
        members=1,
    ),
    # The paper says no size of batches.
    "paper": Preset(
        TrainingSettings(
            loss=Loss.BINARY,
            epochs=100,
            batch=2048,
            learning_rate=1e-4,
            schedule=Schedule.CONSTANT,
            keep=Keep.F1,
            only_informative=False,
        ),
        SurveySettings(rounds=0),
        over_derived=False,
        members=1,
    ),
}


def preset(text: str) -> Preset:
    """Settings by name, perhaps with some values of their own: `default+members=1+epochs=30`.

    ValueError tells what is wrong with the text.
    """
    name, *changes = text.split("+")
    if name not in PRESETS:
        raise ValueError(f"expected one of {', '.join(PRESETS)}, got '{name}'")
    chosen = PRESETS[name]
    for change in changes:
        key, _, value = change.partition("=")
        if key in _names(TrainingSettings):
            chosen = replace(chosen, training=_changed(chosen.training, key, value))
        elif key in _names(SurveySettings):
            chosen = replace(chosen, surveys=_changed(chosen.surveys, key, value))
        elif key in _OWN:
            chosen = _changed(chosen, key, value)
        else:
            known = ", ".join([*_OWN, *_names(TrainingSettings), *_names(SurveySettings)])
            raise ValueError(f"there is no setting '{key}'; there are {known}")
    return chosen


_OWN = ("over_derived", "members")  # of a preset, beside its parts


def _names(settings: type[TrainingSettings] | type[SurveySettings]) -> list[str]:
    return [field.name for field in fields(settings)]


def _changed(settings: _Settings, key: str, text: str) -> _Settings:
    """Settings with another value of the kind that the present one is of."""
    try:
        return replace(settings, **{key: _value(key, getattr(settings, key), text)})
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None


def _value(key: str, present: Any, text: str) -> Any:
    kind = type(present)
    read: Callable[[str], Any]
    if kind is bool:
        read, expected = {"yes": True, "no": False}.__getitem__, "yes or no"
    elif issubclass(kind, Enum):
        read, expected = kind, f"one of {', '.join(member.value for member in kind)}"
    elif kind is float:
        read, expected = float, "a number"
    elif key == "batch":
        read, expected = (
            lambda word: None if word == "none" else int(word),
            "a whole number or none",
        )
    else:
        read, expected = int, "a whole number"
    try:
        return read(text)
    except (KeyError, ValueError):
        raise ValueError(f"expected {expected}, got '{text}'") from None
