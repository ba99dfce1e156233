"""Learning from end to end: tasks and rules → a policy that takes optimal actions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

from planlog.errors import NothingToLearnError
from planlog.learning.learn import Learned, Stage, learn
from planlog.network.model_file import Model
from planlog.network.scorer import ensemble
from planlog.network.settings import (
    Activation,
    Aggregation,
    LearningSettings,
    Loss,
    NetworkSettings,
    SearchLabelSettings,
    TemplateSettings,
    TrainingSettings,
)
from planlog.network.template import build_template
from planlog.pddl.task import Action, Task
from planlog.policy.execution import execute
from planlog.policy.policy import Policy
from planlog.statespace.labels import label
from planlog.statespace.space import expand
from support.model_files import same_weights
from support.random_networks import rules_of
from support.shipped_domains import SHIPPED, SMALL, generated

NARROW = NetworkSettings(width=6)
SHORT = TrainingSettings(epochs=15, batch=None, learning_rate=0.03)
# Enough to get all choices of the tasks below right.
LONG = TrainingSettings(epochs=200, batch=None, learning_rate=0.03)
EXACT = SearchLabelSettings(iterations=0)
DOMAINS = ["blocksworld", "ferry"]
SIZES = {"blocksworld": {"blocks": 4}, "ferry": {"cars": 2, "locations": 4}}


@cache
def tasks_of(name: str) -> tuple[Task, ...]:
    return tuple(generated(name, seed, **SIZES[name]) for seed in range(3))


def settings_of(
    layers: int = 1,
    derived_messages: bool = False,
    network: NetworkSettings = NARROW,
    training: TrainingSettings = SHORT,
    search_labels: SearchLabelSettings = EXACT,
    ensemble_size: int = 1,
    **options: int,
) -> LearningSettings:
    shape = TemplateSettings(layers, derived_messages)
    return LearningSettings(shape, network, training, search_labels, ensemble_size, **options)


def improves(learned: Learned) -> bool:
    losses = learned.model.training["loss"]
    return learned.model.training["best"]["loss"] < 0.9 * losses[0]


def judged(
    model: Model, rules: Policy, tasks: Sequence[Task]
) -> Iterator[tuple[dict[Action, float], Action, set[Action], set[Action]]]:
    """For each labelled state with derived actions, one by one in the core: their scores, the
    chosen one, those the rules derive, and the optimal ones."""
    policy = model.policy(rules.domain)
    rng = np.random.default_rng(0)
    for task in tasks:
        labels = label(expand(task), rules)
        for i, number in enumerate(labels.states.tolist()):
            entries = labels.segments[i]
            actions = labels.actions[entries]
            derived, optimal = (
                {labels.space.action(int(action)) for action in actions[mask[entries]]}
                for mask in (labels.derived, labels.optimal)
            )
            walk = policy.start(task, labels.space.state(number))
            chosen = walk.choose(rng)
            if chosen is None:
                assert not derived
            else:
                yield walk.scores(), chosen, derived, optimal


# --- What is learned ---------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["policy", "none"])
@pytest.mark.parametrize("name", DOMAINS)
def test_the_chosen_action_is_optimal_where_training_says_so(name: str, variant: str) -> None:
    """Labels, training (torch) and the learned policy (the core) agree on every state."""
    rules, tasks = rules_of(name, variant), tasks_of(name)
    network = NetworkSettings(width=12)
    model = learn(rules, tasks, settings_of(network=network, training=LONG)).model
    right = choices = 0
    share = 0.0
    for scores, chosen, derived, optimal in judged(model, rules, tasks):
        assert scores.keys() == derived
        assert chosen in derived
        if derived & optimal and derived - optimal:
            choices += 1
            right += chosen in optimal
            # The same by the scores alone, equal ones being taken equally often.
            top = [a for a, score in scores.items() if score > max(scores.values()) - 1e-5]
            share += sum(action in optimal for action in top) / len(top)
    assert choices == model.training["sharing"]["states"] > 0
    accuracy = model.training["best"]["accuracy"]
    assert share / choices == pytest.approx(accuracy, abs=1e-3)
    if variant == "policy":
        assert accuracy == 1
    if accuracy == 1:
        assert right == choices


@pytest.mark.slow
@pytest.mark.parametrize("name", DOMAINS)
def test_other_tasks_are_solved_within_the_rules(name: str) -> None:
    rules = rules_of(name)
    policy = learn(rules, tasks_of(name), settings_of(training=LONG)).model.policy(rules.domain)
    larger = {key: value + 2 for key, value in SIZES[name].items()}
    for seed in range(3):
        task = generated(name, 100 + seed, **larger)
        result = execute(policy, task, rng=np.random.default_rng(0), max_steps=1000)
        assert result.solved, result.actions
        walk = rules.start(task)
        for action in result.actions:
            assert action in walk.actions()
            walk.apply(action)
        assert walk.goals_left == 0


@pytest.mark.slow
def test_the_learned_policy_is_better_than_chance() -> None:
    """Training has to be good for something, on states that it has not seen."""
    rules = rules_of("blocksworld", "none")
    tasks = tasks_of("blocksworld")
    network = NetworkSettings(width=12)
    model = learn(rules, tasks, settings_of(network=network, training=LONG)).model
    unseen = [generated("blocksworld", 50 + seed, blocks=4) for seed in range(2)]
    right = drawn = states = 0.0
    for _, chosen, derived, optimal in judged(model, rules, unseen):
        states += 1
        right += chosen in optimal
        drawn += len(derived & optimal) / len(derived)
    assert right / states > drawn / states + 0.15


# --- Settings ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("derived_messages", [False, True])
@pytest.mark.parametrize("layers", [0, 1, 2])
def test_templates(layers: int, derived_messages: bool, name: str) -> None:
    learned = learn(rules_of(name), tasks_of(name), settings_of(layers, derived_messages))
    assert improves(learned)
    assert learned.model.template == TemplateSettings(layers, derived_messages)
    learned.model.policy(SHIPPED[name])


@pytest.mark.parametrize("aggregation", Aggregation)
@pytest.mark.parametrize("activation", Activation)
def test_networks(activation: Activation, aggregation: Aggregation) -> None:
    network = NetworkSettings(
        width=6,
        message_activation=activation,
        atom_activation=activation,
        aggregation=aggregation,
    )
    learned = learn(rules_of("ferry"), tasks_of("ferry"), settings_of(network=network))
    best = learned.model.training["best"]["loss"]
    assert best < learned.model.training["loss"][0]
    assert learned.model.network == network
    learned.model.policy(SHIPPED["ferry"])


@pytest.mark.parametrize("name", sorted(SMALL))
@pytest.mark.parametrize("loss", Loss)
def test_all_domains_without_rules(loss: Loss, name: str) -> None:
    training = TrainingSettings(loss=loss, epochs=10, learning_rate=0.03)
    learned = learn(rules_of(name, "none"), [generated(name)], settings_of(training=training))
    assert improves(learned)
    assert learned.model.rules is None


# --- The summary, limits, progress -------------------------------------------------------


def test_the_summary() -> None:
    tasks = tasks_of("ferry")
    training = learn(rules_of("ferry"), tasks, settings_of(), seed=3).model.training
    assert training.keys() == {
        "seed",
        "minimises",
        "tasks",
        "search_labelled_tasks",
        "labelled_states",
        "choice_sets",
        "sharing",
        "settings",
        "search_labels",
        "trainings",
        "ensemble",
        "epochs",
        "interrupted",
        "best",
        "loss",
        "accuracy",
        "f1",
        "seconds",
    }
    assert (training["seed"], training["minimises"]) == (3, "length")
    assert training["tasks"] == [task.name for task in tasks]
    assert training["search_labelled_tasks"] == []
    assert training["search_labels"]["iterations"] == 0
    (told,) = training["trainings"]
    assert (training["ensemble"], told["iteration"]) == ([0], 0)
    assert told["best"] == training["best"]
    spaces = [label(expand(task), rules_of("ferry")) for task in tasks]
    assert training["labelled_states"] == sum(map(len, spaces))
    assert 0 < training["choice_sets"] <= training["sharing"]["states"]
    assert training["sharing"]["nodes"] < training["sharing"]["atoms"]
    assert training["epochs"] == SHORT.epochs == len(training["loss"]) - 1
    assert training["interrupted"] is False
    assert training["loss"][training["best"]["epoch"]] == min(training["loss"])
    assert all(seconds >= 0 for seconds in training["seconds"].values())


def test_limits_of_the_data() -> None:
    tasks = tasks_of("ferry")
    sizes = [len(label(expand(task), rules_of("ferry"))) for task in tasks]
    one = learn(rules_of("ferry"), tasks, settings_of(max_tasks=1)).model.training
    assert one["tasks"] == [tasks[0].name]
    assert one["labelled_states"] == sizes[0]
    two = learn(rules_of("ferry"), tasks, settings_of(max_states=sum(sizes[:2]))).model.training
    assert two["labelled_states"] <= sum(sizes[:2])
    assert len(two["tasks"]) == 2


@pytest.mark.parametrize("limit", [2, 10_000])
def test_nothing_to_learn(limit: int) -> None:
    """Tasks that are too large, and rules that never leave a choice."""
    rules = rules_of("ferry")
    if limit > 2:
        rules = Policy.parse("debark(C, L) :- at@ug(C, L).", SHIPPED["ferry"])
    with pytest.raises(NothingToLearnError, match="nothing to learn: of 3 tasks"):
        learn(rules, tasks_of("ferry"), settings_of(limit=limit))
    with pytest.raises(NothingToLearnError, match="of 0 tasks"):
        learn(rules, [], settings_of())


def test_progress_is_told() -> None:
    stages: list[tuple[Stage, int]] = []
    epochs: list[int] = []
    checkpoints: list[int] = []
    learn(
        rules_of("ferry"),
        tasks_of("ferry"),
        settings_of(),
        on_stage=lambda stage, states: stages.append((stage, states)),
        on_epoch=lambda progress: epochs.append(progress.epoch),
        on_checkpoint=lambda arrays: checkpoints.append(len(arrays["0: history"])),
    )
    assert {stage for stage, _ in stages} == {Stage.SPACES, Stage.LIFTING}
    assert epochs == list(range(SHORT.epochs + 1))
    assert checkpoints == [epoch + 1 for epoch in epochs]


# --- Several networks --------------------------------------------------------------------


def ferry_ensemble(ensemble_size: int, **options: Any) -> Learned:
    return learn(
        rules_of("ferry"),
        tasks_of("ferry"),
        settings_of(ensemble_size=ensemble_size),
        seed=5,
        **options,
    )


def block(weight: np.ndarray, member: int, shape: tuple[int, ...]) -> np.ndarray:
    """The part of one of two networks: inputs and scores are the same number for both."""
    rows, columns = (
        slice(member * part, (member + 1) * part) if part < whole else slice(None)
        for part, whole in zip(shape, weight.shape, strict=True)
    )
    return weight[rows, columns]


def test_members_stand_side_by_side() -> None:
    """The first is the network of one member; the other has learned by itself."""
    one, two = ferry_ensemble(1).model, ferry_ensemble(2).model
    assert one.training["ensemble"] == [0]
    assert two.training["ensemble"] == [0, 1]
    assert len(two.training["trainings"]) == 2
    assert (one.network.width, two.network.width) == (NARROW.width, 2 * NARROW.width)
    assert one.training["loss"] == two.training["loss"]
    second = {}
    for name, weight in two.weights.items():
        shape = one.weights[name].shape
        assert np.array_equal(block(weight, 0, shape), one.weights[name])
        second[name] = np.ascontiguousarray(block(weight, 1, shape))
    # The second has other weights, and scores of its own.
    assert not any(np.array_equal(second[name], one.weights[name]) for name in second)
    joined = ensemble(
        build_template(rules_of("ferry"), one.template), one.network, [one.weights, second]
    )
    assert joined[0] == two.network
    assert all(np.array_equal(joined[1][name], two.weights[name]) for name in second)


@pytest.mark.parametrize("epoch", [0, 7])
def test_an_interrupt_in_the_second_member_gives_the_first(epoch: int) -> None:
    seen = 0

    def on_epoch(_: object) -> None:
        nonlocal seen
        seen += 1
        if seen == SHORT.epochs + 2 + epoch:
            raise KeyboardInterrupt

    one, part, whole = ferry_ensemble(1), ferry_ensemble(2, on_epoch=on_epoch), ferry_ensemble(2)
    assert part.interrupted
    assert part.model.training["ensemble"] == [0]
    assert same_weights(part.model, one.model)
    assert part.model.network == one.model.network
    rest = ferry_ensemble(2, resume=part.checkpoint)
    assert not rest.interrupted
    assert same_weights(rest.model, whole.model)
    assert rest.model.training["ensemble"] == [0, 1]


def test_how_many_members_there_can_be() -> None:
    with pytest.raises(ValueError, match="ensemble_size: expected a whole number from 1"):
        LearningSettings(ensemble_size=0)
    sigmoid = NetworkSettings(score_activation=Activation.SIGMOID)
    assert LearningSettings(network=sigmoid, ensemble_size=1).ensemble_size == 1
    with pytest.raises(ValueError, match="an ensemble needs scores without"):
        LearningSettings(network=sigmoid, ensemble_size=2)


# --- Interrupts --------------------------------------------------------------------------


def test_an_interrupt_gives_a_model_and_a_way_to_go_on() -> None:
    def stop_at_five(progress: object) -> None:
        if getattr(progress, "epoch", 0) == 5:
            raise KeyboardInterrupt

    whole = learn(rules_of("ferry"), tasks_of("ferry"), settings_of(), seed=4)
    part = learn(rules_of("ferry"), tasks_of("ferry"), settings_of(), seed=4, on_epoch=stop_at_five)
    assert part.interrupted
    assert part.model.training["epochs"] == 5
    rest = learn(
        rules_of("ferry"), tasks_of("ferry"), settings_of(), seed=4, resume=part.checkpoint
    )
    assert not rest.interrupted
    assert same_weights(rest.model, whole.model)
