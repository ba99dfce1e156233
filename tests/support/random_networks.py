"""Random network settings and weights for hypothesis."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from planlog import domains
from planlog.network.scorer import NetworkScorer, Weights, weight_shapes
from planlog.network.settings import Activation, Aggregation, NetworkSettings, TemplateSettings
from planlog.network.template import build_template
from planlog.pddl.task import Task
from planlog.policy.policy import Policy
from support.shipped_domains import POLICIES, SHIPPED, SMALL, policy_of

seeds = st.integers(0, 2**32 - 1)


templates = st.builds(TemplateSettings, st.integers(0, 2), st.booleans())


networks = st.builds(
    NetworkSettings,
    width=st.integers(1, 4),
    message_activation=st.sampled_from(Activation),
    atom_activation=st.sampled_from(Activation),
    aggregation=st.sampled_from(Aggregation),
    score_activation=st.sampled_from([Activation.IDENTITY, Activation.SIGMOID]),
    score_width=st.sampled_from([None, 1, 3]),
)


PLAIN = TemplateSettings()


NARROW = NetworkSettings(width=3)


ALL_POLICIES = [*POLICIES, *((name, "none") for name in domains.names())]


policies = st.sampled_from(ALL_POLICIES)


def random_weights(
    rules: Policy,
    of_template: TemplateSettings = PLAIN,
    of_network: NetworkSettings = NARROW,
    seed: int = 0,
    scale: float = 1.0,
) -> Weights:
    """Weights of the right shapes, as if learned."""
    template = build_template(rules, of_template)
    shapes = weight_shapes(template.structure, of_network, template.scores)
    rng = np.random.default_rng(seed)
    return {
        name: (scale * rng.normal(size=shape) / math.sqrt(shape[1])).astype(np.float32)
        for name, shape in shapes.items()
    }


def learned_policy(
    rules: Policy,
    of_template: TemplateSettings,
    of_network: NetworkSettings,
    weights: Weights,
    *,
    temperature: float | None = None,
) -> Policy:
    template = build_template(rules, of_template)
    scorer = NetworkScorer(template, of_network, weights, temperature=temperature)
    return rules.with_scorer(scorer)


def rules_of(name: str, variant: str = "policy") -> Policy:
    return Policy.applicable(SHIPPED[name]) if variant == "none" else policy_of(name, variant)


def problem_text(name: str, seed: int) -> str:
    ((_, text),) = domains.generate(name, seed=seed, sizes=SMALL[name])
    return text


def small_task(name: str, seed: int) -> Task:
    return SHIPPED[name].parse_task(problem_text(name, seed))


def rng_of(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)
