"""What can be chosen about networks and their training; readable without torch."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


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
