"""Model files made and forged by tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from planlog import domains
from planlog.network import model_file as model
from planlog.network.model_file import Model
from planlog.network.settings import NetworkSettings, TemplateSettings
from planlog.network.template import build_template
from planlog.pddl.task import Domain
from planlog.policy.policy import Policy
from support.random_networks import (
    NARROW,
    PLAIN,
    random_weights,
    rules_of,
)

Change = Callable[[dict[str, Any]], Any]


def make(
    which: tuple[str, str] = ("blocksworld", "paper"),
    of_template: TemplateSettings = PLAIN,
    of_network: NetworkSettings = NARROW,
    seed: int = 0,
    training: dict[str, Any] | None = None,
) -> Model:
    rules = rules_of(*which)
    weights = random_weights(rules, of_template, of_network, seed)
    return Model.of(build_template(rules, of_template), of_network, weights, training=training)


@cache
def small() -> Model:
    """So small that every one of its bytes can be tried."""
    rules = Policy.parse("unstack(A, B) :- on@aa(A, B).", domain_of("blocksworld"))
    settings = TemplateSettings(0), NetworkSettings(width=1)
    weights = random_weights(rules, *settings)
    return Model.of(build_template(rules, settings[0]), settings[1], weights, training={"seed": 1})


def same_weights(left: Model, right: Model) -> bool:
    """Return whether two models have the same weights, bit by bit."""
    one, other = left.weights, right.weights
    return one.keys() == other.keys() and all(
        np.array_equal(one[name], other[name]) for name in one
    )


def domain_of(name: str, *changes: tuple[str, str]) -> Domain:
    """A shipped domain, with changes of its text."""
    text = (domains.path(name) / "domain.pddl").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return Domain.parse(text)


def forge(file: Path, change: Change, weights: dict[str, np.ndarray] | None = None) -> Path:
    """A file whose description is changed; a change that returns a text gives all of it."""
    description = json.loads(json.dumps(small().describe()))
    tensors = dict(small().weights if weights is None else weights)
    text = change(description)
    if not isinstance(text, str):
        description["checksum"] = model._checksum(description, tensors)
        text = json.dumps(description)
    file.write_bytes(safetensors.numpy.save(tensors, metadata={"planlog": text}))
    return file


def put(*path_and_value: Any) -> Change:
    *path, last, value = path_and_value

    def change(description: dict[str, Any]) -> None:
        for key in path:
            description = description[key]
        description[last] = value

    return change
