"""Scorers: trained networks that rank the actions that a policy derives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from planlog import _core
from planlog.network.settings import NetworkSettings
from planlog.network.structure import Structure
from planlog.network.template import Template

Weights = Mapping[str, npt.NDArray[np.float32]]


class NetworkScorer:
    """A network over a template: the value of an action's atom is the action's score.

    `rules.with_scorer(scorer)` is the learned policy.
    """

    def __init__(
        self,
        template: Template,
        settings: NetworkSettings,
        weights: Weights,
        *,
        temperature: float | None = None,
    ) -> None:
        """Use weights of `planlog.learning.network.Network`, by name.

        With a temperature, actions are sampled from the softmax of score / temperature. Raises
        ValueError if the weights do not fit the template, or if the temperature is not positive.
        """
        if temperature is not None and not temperature > 0:
            raise ValueError("the temperature must be positive")
        self.template = template
        self.temperature = temperature
        self.network = _network(template, settings, weights)
        self._settings = settings
        self._weights = weights

    @property
    def program(self) -> _core.Program:
        """The core's program of the template."""
        return self.template.policy.core

    @property
    def rule_numbers(self) -> tuple[int, ...]:
        """Numbers of the policy's rules: in the template they come last, one for one."""
        rules = self.template.rules.program
        numbers = self.template.policy.rule_numbers
        return numbers[len(numbers) - len(rules.rules) :] if rules else ()

    def __reduce__(self) -> tuple[object, ...]:
        make = partial(NetworkScorer, temperature=self.temperature)
        return make, (self.template, self._settings, self._weights)


def weight_shapes(
    structure: Structure, settings: NetworkSettings, scores: frozenset[int]
) -> dict[str, tuple[int, int]]:
    """Return the shapes of a network's weights, by name."""

    def dimension(relation: int) -> int:
        return _dimension(structure, settings, scores, relation)

    shapes = {}
    for i, rule in enumerate(structure.rules):
        message = settings.width
        if rule.head in scores and settings.score_width is not None:
            message = settings.score_width
        shapes[f"r{i}.H"] = (dimension(rule.head), message)
        for j, relation in enumerate(rule.body):
            shapes[f"r{i}.B{j}"] = (message, dimension(relation))
    return shapes


def _dimension(
    structure: Structure, settings: NetworkSettings, scores: frozenset[int], relation: int
) -> int:
    if relation not in structure.derived:
        return structure.features.get(relation, 1)
    return 1 if relation in scores else settings.width


def ensemble(
    template: Template, settings: NetworkSettings, networks: Sequence[Weights]
) -> tuple[NetworkSettings, Weights]:
    """Join networks of a template to one wider network, whose scores are the sums of theirs.

    The vectors of the wider network are the concatenated vectors of the networks; weights between
    the parts of different networks are 0.
    """
    if len(networks) == 1:
        return settings, networks[0]
    count = len(networks)
    score_width = None if settings.score_width is None else settings.score_width * count
    wider = replace(settings, width=settings.width * count, score_width=score_width)
    joined: dict[str, npt.NDArray[np.float32]] = {}
    for name, shape in weight_shapes(template.structure, wider, template.scores).items():
        joined[name] = np.zeros(shape, dtype=np.float32)
        for i, network in enumerate(networks):
            parts = network[name].shape
            # All networks share the dimensions of inputs and scores.
            rows, columns = (
                slice(i * part, (i + 1) * part) if part < whole else slice(None)
                for part, whole in zip(parts, shape, strict=True)
            )
            joined[name][rows, columns] = network[name]
    return wider, joined


def _network(template: Template, settings: NetworkSettings, weights: Weights) -> _core.Network:
    """Hand a network to the core; raise ValueError if the weights do not fit."""
    structure, scores = template.structure, template.scores
    shapes = weight_shapes(structure, settings, scores)
    if set(shapes) != set(weights):
        wrong = ", ".join(sorted(set(shapes) ^ set(weights))[:5])
        raise ValueError(f"weights that are missing or not needed: {wrong}, ...")
    for name, shape in shapes.items():
        if weights[name].shape != shape:
            raise ValueError(f"weight {name} has shape {weights[name].shape}, not {shape}")

    def matrix(name: str) -> npt.NDArray[np.float32]:
        return np.asfortranarray(weights[name], dtype=np.float32)

    relations = range(len(structure.relations))
    dimensions = [_dimension(structure, settings, scores, relation) for relation in relations]
    activations = [
        settings.score_activation if r in scores else settings.atom_activation for r in relations
    ]
    rules = [
        (rule.number, matrix(f"r{i}.H"), [matrix(f"r{i}.B{j}") for j in range(len(rule.body))])
        for i, rule in enumerate(structure.rules)
    ]
    return _core.Network(
        template.policy.core,
        dimensions,
        rules,
        _core.Activation[settings.message_activation.name],
        [_core.Activation[activation.name] for activation in activations],
        _core.Aggregation[settings.aggregation.name],
        list(structure.features),
    )
