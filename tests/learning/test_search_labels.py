"""Search labels: correctness, repeatability, and expert iteration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog import domains
from planlog.errors import MissingValueError, NothingToLearnError
from planlog.learning.learn import Learned, Stage, learn
from planlog.learning.search_labels import SearchLabels, label_by_search
from planlog.network.model_file import Model
from planlog.network.scorer import NetworkScorer, weight_shapes
from planlog.network.settings import (
    LearningSettings,
    NetworkSettings,
    SearchLabelSettings,
    TemplateSettings,
    TrainingSettings,
)
from planlog.network.template import build_template
from planlog.pddl.task import Action, Domain, State, Task
from planlog.policy.execution import execute
from planlog.policy.policy import Policy
from planlog.statespace.space import StateSpace, expand
from support.costly_tasks import roads
from support.model_files import same_weights
from support.profiles import examples
from support.shipped_domains import SHIPPED, generated, policy_of

NARROW = NetworkSettings(width=2)
# The rules leave choices here, and all states can be known.
SIZES = {
    "blocksworld": {"blocks": 6},
    "ferry": {"cars": 4, "locations": 4},
    "rover": {"rovers": 1, "waypoints": 3, "cameras": 1, "objectives": 1},
    "satellite": {"satellites": 2, "instruments": 2, "modes": 2, "directions": 3},
}
names = st.sampled_from(domains.names())
seeds = st.integers(0, 2**32 - 1)


def untrained(rules: Policy, seed: int = 0) -> Policy:
    """Return a learned policy with random weights."""
    template = build_template(rules, TemplateSettings(layers=1))
    rng = np.random.default_rng(seed)
    weights = {
        name: rng.normal(size=size).astype(np.float32)
        for name, size in weight_shapes(template.structure, NARROW, template.scores).items()
    }
    return rules.with_scorer(NetworkScorer(template, NARROW, weights))


@cache
def some_policy(name: str, seed: int) -> Policy:
    return untrained(policy_of(name), seed)


@cache
def shipped_policy(name: str) -> Policy:
    file = domains.model_path(name)
    assert file is not None
    return Model.read(file).policy(SHIPPED[name])


@cache
def some_tasks(name: str, count: int = 3) -> tuple[Task, ...]:
    return tuple(generated(name, seed, **SIZES[name]) for seed in range(count))


@cache
def space_of(task: Task) -> StateSpace:
    space = expand(task, limit=200_000)
    assert space.complete
    return space


@cache
def numbers_of(task: Task) -> dict[frozenset[int], int]:
    space = space_of(task)
    return {frozenset(space.state(i).ids.tolist()): i for i in range(len(space))}


def distance(task: Task, state: State) -> int:
    return int(space_of(task).goal_distances[numbers_of(task)[frozenset(state.ids.tolist())]])


def in_order(task: Task, actions: list[Action]) -> list[Action]:
    """By schema and arguments."""
    ids = task.domain.action_ids
    return sorted(
        actions, key=lambda a: (ids[a.name], [task.object_id(name) for name in a.arguments])
    )


Judged = tuple[int, dict[Action, tuple[int, bool]]]


def judged(policy: Policy, labels: SearchLabels) -> list[Judged]:
    """Return for each labelled state its goal distance, and for each derived action the goal
    distance of its successor and whether the action is labelled optimal."""
    task = labels.task
    found = []
    for state, optimal in zip(labels.states, labels.optimal, strict=True):
        after = {}
        actions = in_order(task, policy.rules.actions(task, state))
        for action, is_optimal in zip(actions, optimal.tolist(), strict=True):
            walk = policy.rules.start(task, state)
            walk.apply(action)
            after[action] = distance(task, walk.state), is_optimal
        found.append((distance(task, state), after))
    return found


def same(left: list[SearchLabels], right: list[SearchLabels]) -> bool:
    def told(search_labels: list[SearchLabels]) -> list[Any]:
        return [
            (
                labels.task.name,
                [state.ids.tolist() for state in labels.states],
                [optimal.tolist() for optimal in labels.optimal],
                labels.expansions,
                labels.first_cost,
                labels.last_cost,
            )
            for labels in search_labels
        ]

    return told(left) == told(right)


# --- What is labelled --------------------------------------------------------------------


@examples(25)
@given(names, seeds, st.integers(0, 3), st.integers(0, 30))
def test_labels_are_exact_where_plans_are_optimal(
    name: str, seed: int, weights: int, effort: int
) -> None:
    """With one labelled state per plan, the labels refer to the final plan."""
    policy = some_policy(name, weights)
    settings = SearchLabelSettings(labelled_steps=1, passes=1, expansions_per_step=effort)
    search_labels = label_by_search(policy, some_tasks(name), settings, seed=(seed,), workers=1)
    assert len(search_labels) == len(some_tasks(name))
    for labels in search_labels:
        start = distance(labels.task, labels.task.initial)
        assert start <= labels.last_cost <= labels.first_cost
        for here, actions in judged(policy, labels):
            optimal = [is_optimal for _, is_optimal in actions.values()]
            assert any(optimal)
            assert not all(optimal)
            for there, is_optimal in actions.values():
                if is_optimal:
                    assert there >= 0  # the goal can still be reached
                    if labels.last_cost == start:
                        assert there == here - 1


@pytest.mark.parametrize("name", domains.names())
def test_labels_of_a_good_policy_are_mostly_right(name: str) -> None:
    policy = shipped_policy(name)
    settings = SearchLabelSettings(states_per_iteration=60, passes=4)
    right = total = 0
    for labels in label_by_search(policy, some_tasks(name), settings):
        for here, actions in judged(policy, labels):
            for there, is_optimal in actions.values():
                right += is_optimal == (there == here - 1)
                total += 1
    assert right / total > 0.9


def test_later_passes_start_on_ways_of_the_rules() -> None:
    policy = some_policy("ferry", 0)
    task = some_tasks("ferry")[0]
    search_labels = label_by_search(
        policy, [task], SearchLabelSettings(passes=8, expansions_per_step=0), workers=1
    )
    assert len(search_labels) == 8
    way = execute(policy, task, rng=np.random.default_rng(0))
    assert search_labels[0].first_cost == way.cost
    assert len({labels.first_cost for labels in search_labels}) > 2
    for labels in search_labels:
        for state in labels.states:
            assert 0 < distance(task, state) <= labels.last_cost


# --- The same again, and no more than that -----------------------------------------------


@pytest.mark.parametrize("name", ["blocksworld", "satellite"])
def test_workers_change_nothing(name: str) -> None:
    policy, tasks = some_policy(name, 1), some_tasks(name)
    settings = SearchLabelSettings(states_per_iteration=40, expansions_per_step=5)
    one, two = (label_by_search(policy, tasks, settings, seed=(4, 2), workers=n) for n in (1, 2))
    other = label_by_search(policy, tasks, settings, seed=(4, 3), workers=2)
    assert same(one, two)
    assert not same(one, other)


def test_limits() -> None:
    policy, tasks = untrained(FERRY), small_and_larger()[2:]

    def labelled(**limits: int) -> list[SearchLabels]:
        return label_by_search(policy, tasks, SearchLabelSettings(**limits), workers=1)

    everything = labelled(passes=2)
    assert len(everything) == 2 * len(tasks)
    # As soon as there are enough of them, there are no more.
    some = labelled(passes=2, states_per_iteration=1 + len(everything[0]))
    assert 1 < len(some) < len(everything)
    assert same(some, everything[: len(some)])
    assert sum(map(len, some[:-1])) < 1 + len(everything[0]) <= sum(map(len, some))
    assert len(labelled(passes=2, max_expansions=1)) == 1
    assert all(len(labels) <= 2 for labels in labelled(passes=2, labelled_steps=2))
    at_once = labelled(passes=1, labelled_steps=1, expansions_per_step=0)
    assert sum(s.expansions for s in at_once) < sum(s.expansions for s in everything[: len(tasks)])


def test_progress_is_told_after_each_task() -> None:
    told: list[int] = []
    policy, tasks = some_policy("ferry", 0), some_tasks("ferry")
    search_labels = label_by_search(
        policy, tasks, SearchLabelSettings(passes=1), on_progress=told.append
    )
    assert told == np.cumsum([len(labels) for labels in search_labels]).tolist()


@pytest.mark.parametrize("setting", [field.name for field in fields(SearchLabelSettings)])
def test_settings_have_a_least_value(setting: str) -> None:
    least = 0 if setting in ("iterations", "expansions_per_step") else 1
    assert SearchLabelSettings(**{setting: least})
    with pytest.raises(ValueError, match=f"{setting}: expected a whole number from {least} to"):
        SearchLabelSettings(**{setting: least - 1})


# --- Ways that end badly -----------------------------------------------------------------

TRAPS = Domain.parse("""
(define (domain traps) (:predicates (at ?x) (edge ?x ?y))
  (:action go :parameters (?x ?y) :precondition (and (at ?x) (edge ?x ?y))
    :effect (and (not (at ?x)) (at ?y))))
""")


def maze(edges: str, goal: str = "d") -> Task:
    facts = " ".join(f"(edge {edge[0]} {edge[1]})" for edge in edges.split())
    return TRAPS.parse_task(f"""(define (problem {goal}-{len(facts)}) (:domain traps)
      (:objects a b c d e) (:init (at a) {facts}) (:goal (at {goal})))""")


def test_dead_ends_are_never_taken_for_optimal() -> None:
    """From a and b a step leads to e, from where there is no way on."""
    task = maze("ab bc cd ae be")
    rules = Policy.applicable(TRAPS)
    labelled = 0
    for seed in range(6):
        settings = SearchLabelSettings(passes=4)
        for labels in label_by_search(
            untrained(rules, seed), [task], settings, seed=(seed,), workers=1
        ):
            assert labels.last_cost <= 3
            for optimal in labels.optimal:
                assert optimal.tolist() == [True, False]  # by the second object's number
                labelled += 1
    assert labelled > 0


def test_tasks_without_a_plan_are_left_out() -> None:
    policy = untrained(Policy.applicable(TRAPS))
    hopeless, done = maze("ab bc"), maze("ab", goal="a")
    assert label_by_search(policy, [hopeless], SearchLabelSettings(passes=3)) == []
    (labels,) = label_by_search(policy, [hopeless, done], SearchLabelSettings(passes=3))
    assert (labels.task, len(labels), labels.first_cost) == (done, 0, 0)
    assert label_by_search(policy, [], SearchLabelSettings()) == []


def test_where_the_policy_goes_round_the_rules_find_a_plan() -> None:
    """One of the first two actions has the higher score, and one of them leads back."""
    task = maze("ab ba ac ca bd")
    rules = Policy.applicable(TRAPS)
    rounds = 0
    for seed in range(10):
        policy = untrained(rules, seed)
        rounds += not execute(policy, task, rng=np.random.default_rng(0)).solved
        (labels,) = label_by_search(policy, [task], SearchLabelSettings(passes=1), workers=1)
        assert labels.last_cost == 2
    assert rounds > 0


def test_detours_at_no_cost_are_never_taken_for_optimal() -> None:
    """From a to c by b, or by a place from where b is reached at no cost; c to d costs 5."""
    task = roads({"ab": 0, "ae": 0, "eb": 0, "bc": 0, "be": 0, "cd": 5}, "d")
    rules = Policy.applicable(task.domain)
    labelled = 0
    for seed in range(6):
        (labels,) = label_by_search(
            untrained(rules, seed), [task], SearchLabelSettings(passes=1), seed=(seed,), workers=1
        )
        assert labels.last_cost == 5
        for state, optimal in zip(labels.states, labels.optimal, strict=True):
            if "(at a)" in state or "(at b)" in state:
                assert optimal.tolist() == [True, False]  # to b, and to c
                labelled += 1
    assert labelled > 0


def test_costs_decide_what_is_optimal() -> None:
    """Three actions of cost 1 are better than one of cost 10."""
    task = roads({"ab": 1, "ad": 10, "bc": 1, "bd": 8, "cd": 1}, "d")
    rules = Policy.applicable(task.domain)
    for seed in range(6):
        (labels,) = label_by_search(
            untrained(rules, seed), [task], SearchLabelSettings(passes=1), seed=(seed,), workers=1
        )
        assert labels.last_cost == 3
        assert [optimal.tolist() for optimal in labels.optimal] == [[True, False]] * 2


def test_an_action_without_a_cost_is_an_error() -> None:
    """Wherever the search meets it."""
    task = roads({"ab": 1, "ac": None, "bd": 1, "cd": 1}, "d")
    for seed in range(6):
        with pytest.raises(MissingValueError, match="has no cost"):
            label_by_search(
                untrained(Policy.applicable(task.domain), seed),
                [task],
                SearchLabelSettings(passes=1),
                workers=1,
            )


def test_a_task_without_choices_ends() -> None:
    (labels,) = label_by_search(
        untrained(Policy.applicable(TRAPS)), [maze("ab bc cd")], SearchLabelSettings(passes=1)
    )
    assert (len(labels), labels.first_cost, labels.last_cost) == (0, 3, 3)


# --- Expert iteration --------------------------------------------------------------------

BRIEF = TrainingSettings(epochs=4, batch=50, learning_rate=0.03)
TWO = SearchLabelSettings(
    iterations=2, states_per_iteration=20, labelled_steps=5, expansions_per_step=2, exact_states=30
)
# The ferry may go anywhere.
FERRY = Policy.parse(
    "board(C, L) :- at@aa(C, L).  debark(C, L) :- at@ug(C, L).  sail(A, B).", SHIPPED["ferry"]
)


@cache
def small_and_larger() -> tuple[Task, ...]:
    small = tuple(generated("ferry", seed, cars=2, locations=3) for seed in range(2))
    return (*small, *(generated("ferry", seed, cars=3, locations=4) for seed in range(3)))


def learned(
    search_labels: SearchLabelSettings = TWO,
    *,
    ensemble_size: int = 2,
    limit: int = 100,
    seed: int = 0,
    **options: Any,
) -> Learned:
    settings = LearningSettings(
        TemplateSettings(1), NARROW, BRIEF, search_labels, ensemble_size, limit
    )
    return learn(FERRY, small_and_larger(), settings, seed=seed, **options)


@cache
def whole() -> Learned:
    return learned()


def test_the_summary_of_iterations() -> None:
    training = whole().model.training
    assert not whole().interrupted
    larger = {task.name for task in small_and_larger()[2:]}
    assert len(training["tasks"]) == 2
    assert training["search_labelled_tasks"]
    assert set(training["search_labelled_tasks"]) <= larger
    told = training["trainings"]
    assert [part["iteration"] for part in told] == [0, 1, 2, 2]
    assert told[0]["search_labelled_states"] == told[0]["expansions"] == 0
    for part in told[1:3]:
        assert part["search_labelled_states"] >= TWO.states_per_iteration
        assert part["improved_cost"] <= part["policy_cost"]
    assert told[3]["search_labelled_states"] == 0
    assert training["ensemble"] == [2, 3]
    assert training["best"] == told[2]["best"]
    # States of small tasks are a sample.
    labelled = sum(part["search_labelled_states"] for part in told)
    assert training["sharing"]["states"] == TWO.exact_states + labelled
    # Everything is a checkpoint of its own.
    assert {key.split(": ")[0] for key in whole().checkpoint} == {"0", "1", "2", "3"}


def test_the_same_seed_gives_the_same_model() -> None:
    assert same_weights(whole().model, learned(workers=1).model)
    assert not same_weights(whole().model, learned(seed=1).model)


def test_iterations_need_larger_tasks() -> None:
    told = learned(limit=100_000).model.training
    assert [part["iteration"] for part in told["trainings"]] == [0, 0]
    assert told["ensemble"] == [0, 1]
    assert told["search_labelled_tasks"] == []


def after_epochs(count: int) -> Callable[[object], None]:
    """Interrupts after so many epochs of all trainings together."""
    left = count

    def on_epoch(_: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise KeyboardInterrupt

    return on_epoch


@pytest.mark.parametrize("epochs", [3, 7, 13, 18])
def test_going_on_in_each_training(epochs: int) -> None:
    """Each training judges 5 times: before the first epoch, and after each of 4."""
    part = learned(on_epoch=after_epochs(epochs))
    assert part.interrupted
    assert part.model.training["interrupted"] is True
    # The last complete training is better than one that has just begun.
    done = (epochs - 1) // 5
    assert part.model.training["ensemble"] == [max(0, done - 1)]
    rest = learned(resume=part.checkpoint)
    assert not rest.interrupted
    assert same_weights(whole().model, rest.model)
    assert rest.model.training["loss"] == whole().model.training["loss"]


def at_stage(stage: Stage, times: int) -> Callable[[Stage, int], None]:
    """Interrupts when it is told of this stage for so many times."""
    left = times

    def on_stage(present: Stage, _: int) -> None:
        nonlocal left
        left -= present is stage
        if left == 0:
            raise KeyboardInterrupt

    return on_stage


def test_an_interrupt_during_the_search() -> None:
    """It gives the model of the iteration before, and nothing is lost, also if it happens twice."""
    first = learned(on_stage=at_stage(Stage.SEARCH_LABELS, 1))
    assert first.interrupted
    assert len(first.model.training["trainings"]) == 1
    assert {key.split(": ")[0] for key in first.checkpoint} == {"0"}
    later = learned(on_epoch=after_epochs(8), resume=first.checkpoint)
    assert later.interrupted
    again = learned(on_stage=at_stage(Stage.SEARCH_LABELS, 1), resume=later.checkpoint)
    assert again.interrupted
    assert again.checkpoint.keys() == later.checkpoint.keys()
    assert same_weights(whole().model, learned(resume=again.checkpoint).model)


def test_an_interrupt_before_anything_is_learned() -> None:
    with pytest.raises(KeyboardInterrupt):
        learned(on_stage=at_stage(Stage.SPACES, 1))
    with pytest.raises(KeyboardInterrupt):
        learned(limit=2, on_stage=at_stage(Stage.SEARCH_LABELS, 1))


def test_checkpoints_are_of_the_whole() -> None:
    told: list[set[str]] = []
    checkpoint: dict[str, Any] = {}

    def on_checkpoint(arrays: Any) -> None:
        told.append({key.split(": ")[0] for key in arrays})
        if len(told) == 12:
            checkpoint.update(arrays)

    learned(on_checkpoint=on_checkpoint)
    assert [len(numbers) for numbers in told] == [1] * 5 + [2] * 5 + [3] * 5 + [4] * 5
    assert same_weights(whole().model, learned(resume=checkpoint).model)


def test_search_labels_are_enough_without_small_tasks() -> None:
    """The search begins with a network that has learned nothing."""
    one = SearchLabelSettings(
        iterations=1, states_per_iteration=20, labelled_steps=5, expansions_per_step=2
    )
    training = learned(one, ensemble_size=1, limit=2).model.training
    assert training["tasks"] == []
    (told,) = training["trainings"]
    assert told["iteration"] == 1
    assert told["search_labelled_states"] == training["labelled_states"] >= 20
    assert training["best"]["loss"] < training["loss"][0]
    part = learned(one, ensemble_size=1, limit=2, on_epoch=after_epochs(2))
    rest = learned(one, ensemble_size=1, limit=2, resume=part.checkpoint)
    assert same_weights(rest.model, learned(one, ensemble_size=1, limit=2).model)


def test_nothing_to_learn() -> None:
    rules = Policy.applicable(TRAPS)
    settings = LearningSettings(TemplateSettings(0), NARROW, BRIEF, TWO, limit=2)
    with pytest.raises(NothingToLearnError, match="of 2 tasks 0 have fewer than 2 states"):
        learn(rules, [maze("ab bc cd"), maze("ab bc")], settings)
