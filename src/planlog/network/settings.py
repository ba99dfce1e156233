"""Settings of templates, networks and training: frozen values that can be read without torch.

`LearningSettings` holds all of them. A preset is a complete `LearningSettings`; `preset` parses
texts such as `default+epochs=30`, and the options of the command line map onto the same fields.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from enum import Enum
from typing import Any, get_args, get_type_hints

from planlog.ranges import Range, clipped

# Ranges of the settings that are numbers. They also bound the cost of reading a model file:
# sensible networks have far fewer layers.
RANGES = {
    "layers": Range(0, 100),
    "width": Range(1, 10**6),
    "score_width": Range(1, 10**6),
    "epochs": Range(1, 10**6),
    "batch": Range(1, 10**9),
    "learning_rate": Range(1e-12, 10.0),
    "weight_decay": Range(0.0, 1e12),
    "iterations": Range(0, 100),
    "states_per_iteration": Range(1, 10**9),
    "labelled_steps": Range(1, 10**9),
    "expansions_per_step": Range(0, 10**9),
    "max_expansions": Range(1, 10**15),
    "passes": Range(1, 10**9),
    "exact_states": Range(1, 10**9),
    "ensemble_size": Range(1, 100),
    "limit": Range(2, 10**9),
    "max_tasks": Range(1, 10**9),
    "max_states": Range(1, 10**9),
}


class Activation(Enum):
    """Activation function, applied to each component of a vector. All of them are monotone."""

    TANH = "tanh"
    SIGMOID = "sigmoid"
    RELU = "relu"
    LEAKY_RELU = "leaky_relu"  # 0.01 x for negative x
    IDENTITY = "identity"


class Aggregation(Enum):
    """Aggregation of the messages that a rule sends to an atom, component by component."""

    MAX = "max"
    MEAN = "mean"
    SUM = "sum"


class Loss(Enum):
    """Training loss."""

    BINARY = "binary"  # cross-entropy of each derived action's score: is the action optimal?
    LISTWISE = "listwise"  # -log of the softmax probability of the optimal derived actions


class Schedule(Enum):
    """Learning rate schedule."""

    CONSTANT = "constant"
    COSINE = "cosine"  # decays to 0 at the end of the training


class SelectBy(Enum):
    """Criterion that selects the epoch whose weights are kept."""

    LOSS = "loss"  # lowest loss
    F1 = "f1"  # highest F1 score of classifying actions as optimal if their score is above 0


def _check_numbers(settings: Any) -> None:
    """Raise ValueError unless the settings that are numbers are in their ranges."""
    for field in fields(settings):
        value = getattr(settings, field.name)
        if field.name in RANGES and not (value is None and "None" in str(field.type)):
            RANGES[field.name].check(value, field.name)


@dataclass(frozen=True)
class TemplateSettings:
    """Shape of a template: how far messages pass between objects, and along which atoms."""

    layers: int = 1  # rounds of message passing between objects
    derived_messages: bool = False  # whether messages also pass along derived predicates

    def __post_init__(self) -> None:
        _check_numbers(self)
        if type(self.derived_messages) is not bool:
            raise ValueError(f"derived_messages must be a bool, but is {self.derived_messages!r}")


@dataclass(frozen=True)
class NetworkSettings:
    """Shape of a network; `planlog.learning.network.Network` has the equations."""

    width: int = 16  # dimension of derived relations
    message_activation: Activation = Activation.TANH
    atom_activation: Activation = Activation.TANH
    aggregation: Aggregation = Aggregation.MAX
    score_activation: Activation = Activation.IDENTITY  # of actions, in place of the atoms'
    score_width: int | None = None  # dimension of the messages to scores; None: `width`

    def __post_init__(self) -> None:
        _check_numbers(self)


@dataclass(frozen=True)
class TrainingSettings:
    """Loss and optimisation."""

    loss: Loss = Loss.LISTWISE
    epochs: int = 20
    batch: int | None = 300  # choice sets per update of the weights; None: all
    learning_rate: float = 0.01
    schedule: Schedule = Schedule.COSINE
    select_by: SelectBy = SelectBy.LOSS
    weight_decay: float = 0.0  # fraction of each weight removed per update, per learning rate
    # Whether to leave out states in which every derived action is optimal, or none is: the
    # listwise loss learns nothing from them.
    only_informative: bool = True

    def __post_init__(self) -> None:
        _check_numbers(self)
        if not 0 <= self.weight_decay * self.learning_rate < 1:
            raise ValueError("weight_decay times learning_rate must be at least 0 and below 1")


@dataclass(frozen=True)
class SearchLabelSettings:
    """Labels of states beyond small state spaces, found by search."""

    iterations: int = 2  # of expert iteration; 0: learn from small tasks only
    states_per_iteration: int = 2000  # to label by search
    labelled_steps: int = 50  # of each plan
    expansions_per_step: int = 20  # of local search, for each step of a plan
    max_expansions: int = 1_000_000  # per iteration
    passes: int = 50  # over the tasks per iteration, at most
    exact_states: int = 2000  # of small state spaces, sampled as additional training data

    def __post_init__(self) -> None:
        _check_numbers(self)


@dataclass(frozen=True)
class LearningSettings:
    """All settings of a training."""

    template: TemplateSettings = TemplateSettings(derived_messages=True)
    network: NetworkSettings = NetworkSettings()
    training: TrainingSettings = TrainingSettings()
    search_labels: SearchLabelSettings = SearchLabelSettings()
    ensemble_size: int = 3  # networks trained in the last iteration, whose scores are added
    limit: int = 10_000  # expand tasks whose state spaces have fewer states than this
    max_tasks: int | None = 25  # tasks to expand
    max_states: int | None = None  # labelled states of these tasks

    def __post_init__(self) -> None:
        _check_numbers(self)
        if self.ensemble_size > 1 and self.network.score_activation is not Activation.IDENTITY:
            raise ValueError("an ensemble needs scores without activation, which can be added")

    def changed(self, **values: Any) -> LearningSettings:
        """Return settings with other values of some fields, of the parts or of the whole.

        >>> LearningSettings().changed(epochs=30, width=8).training.epochs
        30

        Raises ValueError for values out of range, TypeError for names of no field.
        """
        for name in ("template", "network", "training", "search_labels"):
            part = getattr(self, name)
            own = {f.name: values.pop(f.name) for f in fields(part) if f.name in values}
            values[name] = replace(part, **own)
        return replace(self, **values)


_SMALL = LearningSettings(
    template=TemplateSettings(derived_messages=False),
    training=TrainingSettings(epochs=200, batch=None),
    search_labels=SearchLabelSettings(iterations=0),
    ensemble_size=1,
)
PRESETS = {
    "default": LearningSettings(),
    # From the states of small tasks alone, in seconds.
    "small": _SMALL,
    # As in the paper, which does not state the batch size.
    "paper": _SMALL.changed(
        loss=Loss.BINARY,
        epochs=100,
        batch=2048,
        learning_rate=1e-4,
        schedule=Schedule.CONSTANT,
        select_by=SelectBy.F1,
        only_informative=False,
    ),
}


def setting_names() -> list[str]:
    """Return the names that `preset` accepts after `+`."""
    return list(_kinds(LearningSettings))


def preset(text: str) -> LearningSettings:
    """Parse the name of a preset with changed values: `default+ensemble_size=1+epochs=30`.

    Raises ValueError with a message that says what is wrong with the text.
    """
    name, *changes = text.split("+")
    if name not in PRESETS:
        raise ValueError(f"expected one of {', '.join(PRESETS)}, got '{clipped(name)}'")
    kinds = _kinds(LearningSettings)
    values = {}
    for change in changes:
        key, _, value = change.partition("=")
        if key not in kinds:
            raise ValueError(f"there is no setting '{clipped(key)}'; there are {', '.join(kinds)}")
        values[key] = _value(key, kinds[key], value)
    return PRESETS[name].changed(**values)


def plain_values(settings: TrainingSettings | NetworkSettings) -> dict[str, Any]:
    """Return settings as values of JSON, by name."""
    values = asdict(settings).items()
    return {name: value.value if isinstance(value, Enum) else value for name, value in values}


def _kinds(settings: type) -> dict[str, Any]:
    """Return the type of each setting that has a plain value, by name."""
    found: dict[str, Any] = {}
    for name, kind in get_type_hints(settings).items():
        found |= _kinds(kind) if isinstance(kind, type) and is_dataclass(kind) else {name: kind}
    return found


def _value(key: str, kind: Any, text: str) -> Any:
    """Parse a value of a type; ValueError says what was expected."""
    optional = type(None) in get_args(kind)
    if optional:
        if text == "none":
            return None
        (kind,) = (each for each in get_args(kind) if each is not type(None))
    read: Callable[[str], Any] = kind
    if kind is bool:
        read, expected = {"yes": True, "no": False}.__getitem__, "yes or no"
    elif issubclass(kind, Enum):
        expected = f"one of {', '.join(member.value for member in kind)}"
    else:
        read, expected = RANGES[key].read, str(RANGES[key])
    try:
        return read(text)
    except (KeyError, ValueError):
        expected += " or none" if optional else ""
        raise ValueError(f"{key}: expected {expected}, got '{clipped(text)}'") from None
