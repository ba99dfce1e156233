"""Integers in networks: features of marked predicates, and gates everywhere else."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from planlog.errors import RuleError
from planlog.learning.learn import learn
from planlog.learning.network import Network
from planlog.network.circuit import Circuit, CircuitBuilder, Sharing
from planlog.network.model_file import Model
from planlog.network.settings import (
    Aggregation,
    LearningSettings,
    NetworkSettings,
    SearchLabelSettings,
    TemplateSettings,
    TrainingSettings,
)
from planlog.network.structure import derived_inputs
from planlog.network.template import Template, build_template
from planlog.pddl.task import Action, Domain, State, Task
from planlog.policy.execution import execute
from planlog.policy.policy import Policy
from planlog.policy.walk import Walk
from support.network_reference import GroundAtom, evaluate, unshared_circuit
from support.profiles import examples
from support.random_values import DOMAIN, World

RULES = Policy.parse(
    """
target(A) :- wanted(A).
near@network(A, 0) :- target(A).
near@network(A, min D + N) :- near(B, D), road(A, B), len(A, B, N).
load@network(A, W - 3) :- place(A), W = sum { V, I : has(A, I), weight(I, V) }.
between@network(A, B, X, Y) :- road(A, B), near(A, X), near(B, Y).
roads(A, N) :- place(A), N = count { B : road(A, B), not target(B) }.
crossing(A) :- roads(A, N), N > 1.
add-wanted(A) :- roads(A, N), N < 3.
add-slow(A, B) :- near(A, D), near(B, E), road(A, B), E <= D.
del-road(A, B) :- road(A, B), crossing(A).
""",
    DOMAIN,
)
TEMPLATES = tuple(
    build_template(RULES, TemplateSettings(1, derived_messages=messages))
    for messages in (True, False)
)

shapes = st.builds(
    NetworkSettings,
    width=st.integers(1, 3),
    aggregation=st.sampled_from(list(Aggregation)),
)
seeds = st.integers(0, 2**32 - 1)


def network_of(template: Template, shape: NetworkSettings, seed: int) -> Network:
    return Network(
        template.structure, shape, scores=template.scores, seed=seed, dtype=torch.float64
    )


def learned(template: Template, network: Network) -> Policy:
    weights = {name: values.astype(np.float32) for name, values in network.weights().items()}
    return Model.of(template, network.settings, weights).policy(DOMAIN)


Scores = dict[tuple[str, tuple[str | int, ...]], float]


def scores_by_equations(template: Template, task: Task, state: State, network: Network) -> Scores:
    weights = {name: values.astype(np.float32) for name, values in network.weights().items()}
    found = evaluate(
        template.policy,
        task,
        state,
        network.settings,
        weights,
        scores=template.scores,
        outputs=template.scores,
    )
    relations = template.structure.relations
    return {
        (relations[relation][0], arguments): float(value[0])
        for (relation, arguments), value in found.items()
        if relation in template.scores
    }


def scores_of(walk: Walk) -> Scores:
    actions = walk.task.domain.actions
    return {
        (actions[schema].name, tuple(walk.task.object_names[i] for i in arguments)): score
        for (schema, arguments), score in walk.core.scores()
    }


def names(template: Template, relations: dict[int, int] | frozenset[int]) -> set[str]:
    return {template.structure.relations[relation][0] for relation in relations}


def test_marked_predicates_have_features_and_others_are_gates() -> None:
    along, base = TEMPLATES
    # A base template reads those marked predicates that its rules mention.
    assert names(along, dict(along.structure.features)) == {"near", "load", "between"}
    assert names(base, dict(base.structure.features)) == {"near"}
    dimensions = {
        along.structure.relations[relation][0]: dimension
        for relation, dimension in along.structure.features.items()
    }
    assert dimensions == {"near": 2, "load": 2, "between": 3}
    gates = {"near", "load", "between", "roads", "count_1", "count_1_elements"}
    for template in TEMPLATES:
        assert not names(template, template.structure.derived) & gates
        assert {relation.name for relation in derived_inputs(template.rules.all_rules)} > {"roads"}
        # What a gate reads is derived once more, without embeddings.
        assert "near@network(A, min 0) :- plain_target(A)." in template.text
        assert template.text.count("road(A, B), len(A, B, N), _1 = D + N") == 1


def test_templates_derive_the_actions_of_the_rules() -> None:
    for seed in range(20):
        world = World(seed)
        task = world.task()
        walks = [policy.start(task) for policy in (RULES, *(t.policy for t in TEMPLATES))]
        again = [Policy.parse(template.text, DOMAIN).start(task) for template in TEMPLATES]
        for _ in range(10):
            move = world.move()
            for walk in (*walks, *again):
                walk.apply(move)
                assert walk.actions() == walks[0].actions()


@examples(60)
@given(seeds, shapes, st.sampled_from([0, 1]))
def test_scores_equal_the_equations_along_walks(
    seed: int, shape: NetworkSettings, number: int
) -> None:
    """Of states, of states visited again and in copies, while the integers change."""
    template = TEMPLATES[number]
    world = World(seed)
    task = world.task()
    network = network_of(template, shape, seed)
    walk = learned(template, network).start(task)
    expected = []
    for _ in range(12):
        expected.append(scores_by_equations(template, task, walk.state, network))
        assert scores_of(walk) == pytest.approx(expected[-1], rel=1e-4, abs=1e-4)
        walk.apply(world.move())
    twin = walk.copy()
    while walk.steps:
        walk.undo()
        assert scores_of(walk) == pytest.approx(expected.pop(), rel=1e-4, abs=1e-4)
    assert scores_of(twin) == pytest.approx(
        scores_by_equations(template, task, twin.state, network), rel=1e-4, abs=1e-4
    )


@examples(40)
@given(seeds, shapes, st.sampled_from([0, 1]))
def test_lifting_changes_no_value_and_no_gradient(
    seed: int, shape: NetworkSettings, number: int
) -> None:
    """States of several tasks, whose integers have different ids, share nodes."""
    template = TEMPLATES[number]
    network = network_of(template, shape, seed)
    places = []
    for part in range(2):
        world = World(seed + part)
        walk = RULES.start(world.task())
        for _ in range(3):
            places.append((walk.task, walk.state))
            walk.apply(world.move())
    builder = CircuitBuilder(
        template.policy,
        Sharing.SETS if shape.aggregation is Aggregation.MAX else Sharing.MULTISETS,
        template.scores,
    )
    for task, state in places:
        builder.add(task, sorted(template.scores), state=state)
    lifted = builder.finish()
    slow, slow_nodes = unshared_circuit(template.policy, places, outputs=template.scores)
    shared_nodes = [
        {
            (relation, tuple(task.object_names[i] for i in atom)): node
            for relation, (atoms, numbers) in state.atoms.items()
            for atom, node in zip(atoms.tolist(), numbers.tolist(), strict=True)
        }
        for (task, _), state in zip(places, lifted.states, strict=True)
    ]

    def scores_and_gradients(circuit: Circuit, nodes: Sequence[Mapping[GroundAtom, int]]) -> Any:
        values = network(circuit)
        scores = [
            {atom: values[atom[0]][node] for atom, node in of_state.items()} for of_state in nodes
        ]
        every = [score.sin() for of_state in scores for _, score in sorted(of_state.items())]
        network.zero_grad()
        if every:
            torch.cat(every).sum().backward()
        gradients = {name: network.weight(name).grad for name in network.names}
        found = [{atom: float(v.detach()) for atom, v in of_state.items()} for of_state in scores]
        return (
            found,
            {name: 0 if g is None else g.numpy().copy() for name, g in gradients.items()},
        )

    of_scores = [
        {atom: node for atom, node in of_state.items() if atom[0] in template.scores}
        for of_state in slow_nodes
    ]
    expected, expected_gradients = scores_and_gradients(slow, of_scores)
    found, gradients = scores_and_gradients(lifted.circuit, shared_nodes)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-9)
    for name, gradient in expected_gradients.items():
        np.testing.assert_allclose(gradients[name], gradient, atol=1e-7, err_msg=name)


def test_features_have_the_documented_scale() -> None:
    world = World(5)
    world.atoms = {("wanted", "p0"), ("has", "p1", "i0")}
    world.weight["i0"] = 2
    task = world.task()
    template = TEMPLATES[0]
    walk = learned(template, network_of(template, NetworkSettings(2), 0)).start(task)
    number = next(r for r in template.structure.features if names(template, {r: 2}) == {"load"})
    atoms, values = walk.core.values(number)
    found = {task.object_names[a]: v for (a, _), v in zip(atoms, values, strict=True)}
    assert found["p1"] == pytest.approx([1, -math.log(2)])  # 2 - 3
    assert found["p0"] == pytest.approx([1, -math.log(4)])  # 0 - 3


def test_the_caller_gives_no_features_to_integers() -> None:
    template = TEMPLATES[0]
    builder = CircuitBuilder(template.policy, Sharing.SETS, template.scores)
    task = World(1).task()
    for relation in template.structure.features:
        with pytest.raises(ValueError, match="are its integers"):
            builder.add(task, [], features={relation: {}})


def test_actions_on_which_their_integers_depend_have_no_scores() -> None:
    policy = Policy.parse(
        "cost(A, N) :- add-wanted(A), len(A, A, N).\n"
        "add-wanted(A) :- wanted(A).\nadd-wanted(A) :- cost(B, N), road(A, B), N < 3.",
        DOMAIN,
        "policy.dl",
    )
    with pytest.raises(RuleError, match=r"policy.dl:2:1: error: a network cannot score add-wanted"):
        build_template(policy, TemplateSettings())


# --- Learning ----------------------------------------------------------------------------

SHOP = Domain.parse(
    """(define (domain shop) (:requirements :typing :action-costs) (:types item kind)
    (:predicates (of ?i - item ?k - kind) (have ?k - kind))
    (:functions (price ?i - item) (total-cost))
    (:action buy :parameters (?i - item ?k - kind) :precondition (of ?i ?k)
      :effect (and (have ?k) (increase (total-cost) (price ?i)))))"""
)


def shop(prices: list[list[int]]) -> Task:
    items = [
        (f"i{k}-{n}", f"k{k}", price) for k, of in enumerate(prices) for n, price in enumerate(of)
    ]
    kinds = [f"k{k}" for k in range(len(prices))]
    return SHOP.parse_task(
        f"""(define (problem p) (:domain shop)
        (:objects {" ".join(i for i, _, _ in items)} - item {" ".join(kinds)} - kind)
        (:init (= (total-cost) 0) {" ".join(f"(of {i} {k})" for i, k, _ in items)}
               {" ".join(f"(= (price {i}) {p})" for i, _, p in items)})
        (:goal (and {" ".join(f"(have {k})" for k in kinds)})) (:metric minimize (total-cost)))"""
    )


@pytest.mark.parametrize("mark", ["@network", ""])
def test_networks_learn_what_only_integers_tell(mark: str, tmp_path: Path) -> None:
    """The cheapest item, whatever the prices: the rules choose at random."""
    policy = Policy.parse(
        f"costs{mark}(I, N) :- price(I, N).\nbuy(I, K) :- have@ug(K), costs(I, _).", SHOP
    )
    settings = LearningSettings(
        TemplateSettings(1, derived_messages=True),
        NetworkSettings(4),
        TrainingSettings(epochs=150, batch=None, learning_rate=0.03),
        SearchLabelSettings(iterations=0),
        1,
    )
    tasks = [shop([[1, 3, 9], [7, 2]]), shop([[4, 5], [6, 3, 12]]), shop([[20, 8, 11]])]
    model = learn(policy, tasks, settings, seed=0).model
    model.write(tmp_path / "shop.safetensors")
    again = Model.read(tmp_path / "shop.safetensors").policy(SHOP)
    task = shop([[15, 10, 13, 30], [2, 6], [5, 9, 4]])
    found = execute(again, task, max_steps=10)
    assert found.plan is not None
    cheapest = [
        Action("buy", ("i0-1", "k0")),
        Action("buy", ("i1-0", "k1")),
        Action("buy", ("i2-2", "k2")),
    ]
    assert (set(found.plan.actions) == set(cheapest)) == bool(mark)
