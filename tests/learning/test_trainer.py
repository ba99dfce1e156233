"""Training data and losses against plain loops over states; training as its users rely on it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from planlog.errors import ModelError
from planlog.learning.dataset import ChoiceSets, Dataset, build_dataset, informative, restricted
from planlog.learning.network import Network
from planlog.learning.trainer import Progress, TrainingResult, train
from planlog.network.circuit import Circuit, CircuitBuilder, Sharing
from planlog.network.settings import (
    PRESETS,
    Aggregation,
    Loss,
    NetworkSettings,
    Schedule,
    SelectBy,
    TemplateSettings,
    TrainingSettings,
)
from planlog.network.structure import action_relations, structure_of
from planlog.network.template import Template, build_template
from planlog.policy.policy import Policy
from planlog.statespace.labels import label
from planlog.statespace.space import StateSpace, expand
from support.profiles import examples
from support.random_programs import DOMAIN, World, make_task, programs, worlds
from support.shipped_domains import generated, policy_of

SMALL = TrainingSettings(epochs=6)
SHAPE = NetworkSettings(width=4)
KINDS = [("blocksworld", {"blocks": 4}), ("ferry", {"cars": 3, "locations": 4})]


@dataclass(frozen=True)
class Setting:
    """A policy's template, and state spaces to learn from."""

    template: Template
    spaces: tuple[StateSpace, ...]

    @property
    def policy(self) -> Policy:
        return self.template.policy

    def data(
        self, settings: TrainingSettings = SMALL, aggregation: Aggregation = Aggregation.MAX
    ) -> Dataset:
        labels = [label(space, self.template.rules) for space in self.spaces]
        return build_dataset(self.template, labels, aggregation, settings)

    def network(self, shape: NetworkSettings = SHAPE, **options: Any) -> Network:
        template = self.template
        return Network(template.structure, shape, scores=template.scores, **options)


@cache
def setting(name: str = "blocksworld", layers: int = 1) -> Setting:
    sizes = dict(KINDS)[name]
    spaces = tuple(expand(generated(name, seed, **sizes)) for seed in range(2))
    return Setting(build_template(policy_of(name), TemplateSettings(layers)), spaces)


# --- Losses, state by state --------------------------------------------------------------


@dataclass(frozen=True)
class Judged:
    """A labelled state: the scores of its derived actions, and which of them are optimal."""

    scores: list[float]
    optimal: list[bool]

    def listwise(self) -> float:
        shares = [math.exp(score) for score in self.scores]
        good = sum(share for share, is_good in zip(shares, self.optimal, strict=True) if is_good)
        return -math.log(good / sum(shares))

    def binary(self) -> list[float]:
        return [
            -math.log(1 / (1 + math.exp(-score if is_good else score)))
            for score, is_good in zip(self.scores, self.optimal, strict=True)
        ]

    def accuracy(self) -> float:
        top = [
            is_good
            for score, is_good in zip(self.scores, self.optimal, strict=True)
            if score > max(self.scores) - 1e-6
        ]
        return sum(top) / len(top)


@cache
def judged_states(name: str, aggregation: Aggregation) -> list[Judged]:
    """Judge the states of a setting by a network with seed 3; four tests share the result."""
    where = setting(name)
    return judged(where, where.network(replace(SHAPE, aggregation=aggregation), seed=3))


def judged(where: Setting, network: Network) -> list[Judged]:
    """Every labelled state with derived actions, one by one, without any sharing."""
    found = []
    relations = action_relations(where.policy)
    names = {relation: structure_of(where.policy).relations[relation][0] for relation in relations}
    for space in where.spaces:
        labels = label(space, where.policy)
        builder = CircuitBuilder(where.policy, Sharing.NONE, relations)
        for state in labels.states.tolist():
            builder.add(space.task, relations, state=space.state(state))
        lifted = builder.finish()
        with torch.no_grad():
            values = network(lifted.circuit)
        for i, state_nodes in enumerate(lifted.states):
            scores = {
                (names[relation], tuple(space.task.object_names[o] for o in atom)): values[
                    relation
                ][node].item()
                for relation, (atoms, nodes) in state_nodes.atoms.items()
                for atom, node in zip(atoms.tolist(), nodes.tolist(), strict=True)
            }
            entries = range(len(labels.derived))[labels.segments[i]]
            derived = [e for e in entries if labels.derived[e]]
            actions = [space.action(int(labels.actions[e])) for e in derived]
            assert {tuple(action) for action in actions} == scores.keys()
            if actions:
                found.append(
                    Judged(
                        [scores[tuple(action)] for action in actions],
                        [bool(labels.optimal[e]) for e in derived],
                    )
                )
    return found


@pytest.mark.parametrize("aggregation", Aggregation)
@pytest.mark.parametrize("loss", Loss)
@pytest.mark.parametrize("only_informative", [True, False])
@pytest.mark.parametrize("name", [name for name, _ in KINDS])
def test_loss_and_quality_are_those_of_all_states(
    name: str, only_informative: bool, loss: Loss, aggregation: Aggregation
) -> None:
    where = setting(name)
    network = where.network(replace(SHAPE, aggregation=aggregation), seed=3)
    chosen = TrainingSettings(loss=loss, epochs=1, only_informative=only_informative)
    states = judged_states(name, aggregation)
    first = train(where.data(chosen, aggregation), network, chosen).history[0]
    if only_informative:
        states = [state for state in states if any(state.optimal) and not all(state.optimal)]
        assert len(states) > 10
    if loss is Loss.LISTWISE:
        losses = [state.listwise() for state in states if any(state.optimal)]
    else:
        losses = [each for state in states for each in state.binary()]
    assert first.loss == pytest.approx(np.mean(losses), rel=1e-4)
    assert first.accuracy == pytest.approx(np.mean([s.accuracy() for s in states]), rel=1e-4)
    told = [
        (score > 0, is_good)
        for state in states
        for score, is_good in zip(state.scores, state.optimal, strict=True)
    ]
    right = told.count((True, True))
    wrong = told.count((True, False)) + told.count((False, True))
    assert first.f1 == pytest.approx(right / (right + wrong / 2), rel=1e-4)


def test_equal_choice_sets_are_one() -> None:
    where = setting()
    data = where.data()
    choice_sets = data.choice_sets
    states = [int(informative(label(space, where.policy)).sum()) for space in where.spaces]
    assert choice_sets.states.sum() == sum(states)
    assert data.labelled == sum(len(label(space, where.policy)) for space in where.spaces)
    described = [described_choice_set(choice_sets, i) for i in range(len(choice_sets))]
    assert len(set(described)) == len(described) < sum(states)


def described_choice_set(choice_sets: ChoiceSets, number: int) -> tuple[tuple[int, ...], ...]:
    entries = choice_sets.segments[number]
    columns = (choice_sets.relations, choice_sets.nodes, choice_sets.optimal, choice_sets.actions)
    return tuple(zip(*(column[entries].tolist() for column in columns), strict=True))


# --- Batches -------------------------------------------------------------------------------


@examples(60)
@given(programs(), worlds, st.sampled_from(Aggregation), st.integers(0, 2**32 - 1))
def test_parts_of_circuits_compute_the_same(
    text: str, world: World, aggregation: Aggregation, seed: int
) -> None:
    policy = Policy.parse(text, DOMAIN)
    task = make_task(*world.task())
    structure = structure_of(policy)
    sharing = Sharing.SETS if aggregation is Aggregation.MAX else Sharing.MULTISETS
    builder = CircuitBuilder(policy, sharing)
    builder.add(task, [])
    circuit = builder.finish().circuit
    network = Network(
        structure, NetworkSettings(3, aggregation=aggregation), dtype=torch.float64, seed=seed
    )
    whole = network(circuit)
    rng = np.random.default_rng(seed)
    wanted = {
        relation: rng.permutation(len(whole[relation]))[:2].astype(np.uint32)
        for relation in structure.derived
        if len(whole[relation]) and rng.random() < 0.5
    }
    part, numbers = restricted(circuit, wanted)
    values = network(part)
    for relation, nodes in wanted.items():
        ours = values[relation][numbers[relation][nodes]]
        torch.testing.assert_close(ours, whole[relation][nodes.astype(np.int64)])
    for layer in part.layers:
        for p in layer.rules:
            assert set(p.messages.tolist()) == set(range(len(p.children)))
    if not wanted:
        assert not part.layers


def test_batches_add_up_to_the_whole() -> None:
    """And each computes only what it needs."""
    data = setting().data()
    rng = np.random.default_rng(1)
    parts = np.array_split(rng.permutation(len(data.choice_sets)), 3)
    batches = [data.batch(np.sort(part)) for part in parts]
    assert sum(len(batch.choice_sets) for batch in batches) == len(data.choice_sets)
    once = TrainingSettings(epochs=1)

    def loss(some: Dataset) -> float:
        return train(some, setting().network(), once).history[0].loss

    weights = [batch.choice_sets.states.sum() for batch in batches]
    assert loss(data) == pytest.approx(
        np.average([loss(batch) for batch in batches], weights=weights), rel=1e-5
    )

    def size(circuit: Circuit) -> int:
        return sum(layer.last - layer.first for layer in circuit.layers)

    for batch in batches:
        assert size(batch.circuit) < size(data.circuit)


# --- Training ------------------------------------------------------------------------------


def run(
    chosen: TrainingSettings = SMALL, *, seed: int = 0, **options: Any
) -> tuple[TrainingResult, Network]:
    where = setting()
    network = where.network(seed=seed)
    return train(where.data(chosen), network, chosen, seed=seed, **options), network


VARIANTS = {
    "default": SMALL,
    "batches": TrainingSettings(epochs=4, batch=5, select_by=SelectBy.F1),
    "binary": TrainingSettings(Loss.BINARY, epochs=5, schedule=Schedule.CONSTANT),
}
variants = pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS.keys())


@pytest.mark.parametrize("name", [name for name, _ in KINDS])
def test_training_learns_which_actions_are_optimal(name: str) -> None:
    where = setting(name)
    network = where.network(NetworkSettings(width=8))
    result = train(where.data(), network, TrainingSettings(epochs=80))
    assert result.history[0].accuracy < 0.9
    assert result.best.accuracy > 0.99
    assert result.best.loss < result.history[0].loss / 5


@variants
def test_the_same_seed_gives_the_same_weights(variant: TrainingSettings) -> None:
    first, _ = run(variant, seed=4)
    torch.manual_seed(99)
    second, _ = run(variant, seed=4)
    other, _ = run(variant, seed=5)
    assert first.history == second.history
    for name, weight in first.weights.items():
        assert np.array_equal(weight, second.weights[name])
    assert any(not np.array_equal(w, other.weights[name]) for name, w in first.weights.items())


@variants
def test_the_best_weights_are_kept(variant: TrainingSettings) -> None:
    result, network = run(variant)
    assert len(result.history) == variant.epochs + 1
    assert not result.interrupted
    if variant.select_by is SelectBy.F1:
        assert result.best.f1 == max(progress.f1 for progress in result.history)
    else:
        assert result.best.loss == min(progress.loss for progress in result.history)
    for name, weight in network.weights().items():
        assert np.array_equal(weight, result.weights[name])
    again = train(setting().data(variant), network, variant).history[0]
    assert (again.loss, again.f1) == (result.best.loss, result.best.f1)


@variants
def test_going_on_from_a_checkpoint_changes_nothing(variant: TrainingSettings) -> None:
    checkpoints: list[dict[str, Any]] = []
    whole, _ = run(variant, on_checkpoint=lambda arrays: checkpoints.append(dict(arrays)))
    assert len(checkpoints) == variant.epochs + 1
    for checkpoint in (checkpoints[0], checkpoints[2], checkpoints[-1]):
        again, _ = run(variant, resume=checkpoint)
        assert again.history == whole.history
        for name, weight in whole.weights.items():
            assert np.array_equal(weight, again.weights[name])


def interrupt_after(epochs: int) -> Callable[[Progress], None]:
    def on_progress(progress: Progress) -> None:
        if progress.epoch == epochs:
            raise KeyboardInterrupt

    return on_progress


@variants
def test_an_interrupt_gives_the_best_so_far(variant: TrainingSettings) -> None:
    whole, _ = run(variant)
    part, network = run(variant, on_progress=interrupt_after(2))
    assert part.interrupted
    assert part.history == whole.history[:3]
    for name, weight in network.weights().items():
        assert np.array_equal(weight, part.weights[name])
    rest, _ = run(variant, resume=part.checkpoint)
    assert not rest.interrupted
    assert rest.history == whole.history


@pytest.mark.slow  # torch's optimisers take seconds to import
def test_updates_are_those_of_adam() -> None:
    rates = [0.01 * (1 + math.cos(math.pi * i / 5)) / 2 for i in range(5)]
    result, ours = run(TrainingSettings(epochs=5))
    theirs = setting().network()
    data = setting().data()
    optimiser = torch.optim.Adam(theirs.parameters())
    losses = []
    for rate in rates:
        for group in optimiser.param_groups:
            group["lr"] = rate
        optimiser.zero_grad()
        loss = listwise(data, theirs)
        losses.append(loss.item())
        loss.backward()
        optimiser.step()
    assert [p.loss for p in result.history[:5]] == pytest.approx(losses, rel=1e-3)
    assert result.best.epoch == 5
    for name in ours.names:
        np.testing.assert_allclose(
            ours.weights()[name], theirs.weights()[name], rtol=1e-2, atol=1e-4
        )


def listwise(data: Dataset, network: Network) -> torch.Tensor:
    values = network(data.circuit)
    choice_sets = data.choice_sets
    total = torch.zeros(())
    for i in range(len(choice_sets)):
        entries = range(len(choice_sets.optimal))[choice_sets.segments[i]]
        scores = [
            values[int(choice_sets.relations[e])][int(choice_sets.nodes[e]), 0]
            for e in entries
            for _ in range(int(choice_sets.actions[e]))
        ]
        optimal = [
            bool(choice_sets.optimal[e]) for e in entries for _ in range(choice_sets.actions[e])
        ]
        shares = torch.softmax(torch.stack(scores), 0)
        total = total - int(choice_sets.states[i]) * torch.log(shares[torch.tensor(optimal)].sum())
    return total / int(choice_sets.states.sum())


def test_frozen_weights_stay() -> None:
    where = setting()
    network = where.network()
    network.weight("r0.H").requires_grad_(False)
    before = network.weights()
    train(where.data(), network, SMALL)
    after = network.weights()
    assert np.array_equal(before["r0.H"], after["r0.H"])
    assert sum(not np.array_equal(before[name], after[name]) for name in before) > 10


def test_one_thread_is_used_and_given_back() -> None:
    before = torch.get_num_threads()
    seen = []
    run(on_progress=lambda progress: seen.append(torch.get_num_threads()))
    assert set(seen) == {1}
    assert torch.get_num_threads() == before


def test_nothing_to_learn() -> None:
    where = setting()
    data = replace(where.data(), choice_sets=where.data().choice_sets.select(np.zeros(0, np.int64)))
    with pytest.raises(ValueError, match="nothing to learn"):
        train(data, where.network(), SMALL)


def test_mistakes_in_settings_and_checkpoints() -> None:
    with pytest.raises(ValueError, match="epochs: expected a whole number from 1 to"):
        TrainingSettings(epochs=0)
    with pytest.raises(ValueError, match="learning_rate"):
        TrainingSettings(learning_rate=-1)
    result, _ = run()
    with pytest.raises(ModelError, match="another network"):
        train(
            setting().data(), setting().network(NetworkSettings(5)), SMALL, resume=result.checkpoint
        )
    with pytest.raises(ModelError, match="not finite"):
        best = np.full_like(result.checkpoint["best"], np.nan)
        run(resume={**result.checkpoint, "best": best})


def test_the_paper_s_settings() -> None:
    preset = PRESETS["paper"]
    assert preset.search_labels.iterations == 0
    assert not preset.template.derived_messages
    paper = preset.training
    assert (paper.epochs, paper.learning_rate) == (100, 1e-4)
    assert (paper.loss, paper.select_by, paper.schedule) == (
        Loss.BINARY,
        SelectBy.F1,
        Schedule.CONSTANT,
    )
    assert not paper.only_informative
