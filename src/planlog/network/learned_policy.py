"""A policy that takes the best of the actions that its rules allow, by a trained network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from planlog import _core
from planlog.network.settings import Activation, Aggregation, NetworkSettings, TemplateSettings
from planlog.network.structure import Structure, action_relations, structure_of
from planlog.network.template import template
from planlog.pddl.task import Action, Task
from planlog.policy.policy import Policy
from planlog.policy.walk import Walk

Weights = Mapping[str, npt.NDArray[np.float32]]

# In the core's order.
_ACTIVATIONS = (
    Activation.IDENTITY,
    Activation.TANH,
    Activation.SIGMOID,
    Activation.RELU,
    Activation.LEAKY_RELU,
)
_AGGREGATIONS = (Aggregation.MAX, Aggregation.MEAN, Aggregation.SUM)


class LearnedPolicy(Policy):
    """The template of a policy with weights: it derives the same actions, and scores them."""

    def __init__(
        self,
        rules: Policy,
        template_settings: TemplateSettings,
        network_settings: NetworkSettings,
        weights: Weights,
        *,
        temperature: float | None = None,
    ) -> None:
        """The weights are those of `planlog.learning.network.Network`, by name.

        With a temperature, actions are drawn by the softmax of score / temperature.
        """
        super().__init__(rules.domain, template(rules, template_settings).program)
        if temperature is not None and not temperature > 0:
            raise ValueError("the temperature must be positive")
        self.rules = rules
        self.temperature = temperature
        self.network = _network(self, network_settings, weights)

    def _new_walk(self, task: Task) -> LearnedWalk:
        return LearnedWalk(self, task)

    def rule_texts(self) -> dict[int, str]:
        """The user's rules; in the template they come last, one for one."""
        texts = [rule.text for rule in self.rules.program.rules] if self.rules.program else []
        return dict(
            zip(self.rule_numbers[len(self.rule_numbers) - len(texts) :], texts, strict=True)
        )


class LearnedWalk(Walk):
    """A walk that knows the scores of the derived actions; they are updated with every action."""

    policy: LearnedPolicy

    def __init__(self, policy: LearnedPolicy, task: Task, core: _core.Walk | None = None) -> None:
        super().__init__(policy, task, core)
        if core is None:
            self.core.attach(policy.network)

    def copy(self) -> LearnedWalk:
        """An independent walk at the same place, with the same way to undo."""
        return LearnedWalk(self.policy, self.task, self.core.copy())

    def scores(self) -> dict[Action, float]:
        """The derived actions with their scores, by schema and then by object."""
        return {self.task.decode(*described): score for described, score in self.core.scores()}

    def choose(self, rng: np.random.Generator) -> Action | None:
        """The action with the highest score (of equal ones the first by name), or one drawn by
        the policy's temperature; None if there are none."""
        temperature = self.policy.temperature
        key = 0 if temperature is None else rng.bit_generator.random_raw()
        described = self.core.best(temperature, key)
        return None if described is None else self.task.decode(*described)

    def ranked(self, rng: np.random.Generator) -> list[Action]:
        """All derived actions, the best first."""
        scores = self.scores()
        return sorted(scores, key=lambda action: (-scores[action], action))

    @property
    def has_choice(self) -> bool:
        """Whether another action could be chosen here another time."""
        return self.policy.temperature is not None and self.action_count > 1


def weight_shapes(
    structure: Structure, settings: NetworkSettings, scores: frozenset[int]
) -> dict[str, tuple[int, int]]:
    """The names of a network's weights and their shapes."""

    def dimension(relation: int) -> int:
        return 1 if relation in scores or relation not in structure.derived else settings.width

    shapes = {}
    for i, rule in enumerate(structure.rules):
        message = settings.width
        if rule.head in scores and settings.score_width is not None:
            message = settings.score_width
        shapes[f"r{i}.H"] = (dimension(rule.head), message)
        for j, relation in enumerate(rule.body):
            shapes[f"r{i}.B{j}"] = (message, dimension(relation))
    return shapes


def ensemble(
    policy: Policy, settings: NetworkSettings, networks: Sequence[Weights]
) -> tuple[NetworkSettings, Weights]:
    """Networks of a template as one wider network, whose scores are the sums of theirs.

    Its vectors consist of theirs, one after another; what would lead from the part of one network
    to that of another has the weight 0.
    """
    if len(networks) == 1:
        return settings, networks[0]
    count = len(networks)
    score_width = None if settings.score_width is None else settings.score_width * count
    wider = replace(settings, width=settings.width * count, score_width=score_width)
    scores = frozenset(action_relations(policy))
    joined: dict[str, npt.NDArray[np.float32]] = {}
    for name, shape in weight_shapes(structure_of(policy, scores), wider, scores).items():
        joined[name] = np.zeros(shape, dtype=np.float32)
        for i, network in enumerate(networks):
            parts = network[name].shape
            # An input or a score is the same number for all of them.
            rows, columns = (
                slice(i * part, (i + 1) * part) if part < whole else slice(None)
                for part, whole in zip(parts, shape, strict=True)
            )
            joined[name][rows, columns] = network[name]
    return wider, joined


def _network(policy: Policy, settings: NetworkSettings, weights: Weights) -> _core.Network:
    """The core's network for the actions of a policy; ValueError if the weights do not fit."""
    scores = frozenset(action_relations(policy))
    structure = structure_of(policy, scores)
    shapes = weight_shapes(structure, settings, scores)
    if set(shapes) != set(weights):
        wrong = ", ".join(sorted(set(shapes) ^ set(weights))[:5])
        raise ValueError(f"weights that are missing or not needed: {wrong}, ...")
    for name, shape in shapes.items():
        if weights[name].shape != shape:
            raise ValueError(f"weight {name} has shape {weights[name].shape}, not {shape}")

    def matrix(name: str) -> npt.NDArray[np.float32]:
        return np.ascontiguousarray(weights[name], dtype=np.float32)

    relations = range(len(structure.relations))
    dimensions = [settings.width if r in structure.derived - scores else 1 for r in relations]
    activations = [
        _ACTIVATIONS.index(settings.score_activation if r in scores else settings.atom_activation)
        for r in relations
    ]
    rules = [
        (rule.number, matrix(f"r{i}.H"), [matrix(f"r{i}.B{j}") for j in range(len(rule.body))])
        for i, rule in enumerate(structure.rules)
    ]
    return _core.Network(
        policy.core,
        dimensions,
        rules,
        _ACTIVATIONS.index(settings.message_activation),
        activations,
        _AGGREGATIONS.index(settings.aggregation),
    )
