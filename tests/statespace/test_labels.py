"""Labels by their definition, and the choice of training tasks."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from planlog import domains
from planlog.pddl.task import Task
from planlog.policy.policy import Policy
from planlog.statespace.labels import PAPER_STATES, PAPER_TASKS, Labels, label, select_training
from planlog.statespace.space import StateSpace, expand
from support.pddl_by_the_book import Book
from support.profiles import examples
from support.random_policies import random_rules, world_task
from support.random_worlds import random_world
from support.shipped_domains import SHIPPED, generated, policy_of
from support.statespace_reference import Reference, atoms_of, explore

seeds = st.integers(0, 2**32)


def sizes_of(spaces: list[StateSpace]) -> list[int]:
    return [len(space) for space in spaces]


def assert_labels(labels: Labels, policy: Policy, reference: Reference) -> None:
    """Assert that each labelled state has all its actions, with the labels of the reference."""
    space = labels.space
    assert len(labels) == len(labels.states) == len(labels.segments)
    assert (
        labels.segments.lengths.sum()
        == len(labels.actions)
        == len(labels.optimal)
        == len(labels.derived)
    )
    states = atoms_of(space)
    for i, number in enumerate(labels.states.tolist()):
        state = states[number]
        entries = labels.segments[i]
        actions = [space.action(int(action)) for action in labels.actions[entries]]
        assert actions == list(reference.transitions[state])
        optimal, derived = labels.optimal[entries], labels.derived[entries]
        assert {a for a, yes in zip(actions, optimal, strict=True) if yes} == (
            reference.optimal(state)
        )
        assert [a for a, yes in zip(actions, derived, strict=True) if yes] == (
            policy.actions(space.task, space.state(number))
        )
        assert optimal.any()


@examples(150)
@given(seeds, st.integers(1, 250))
def test_labels_by_definition(seed: int, part: int) -> None:
    """Solvable non-goal states have labels; in a part of a space, those with known distances."""
    task = world_task(seed)
    policy = Policy.parse(random_rules(random.Random(seed), task.domain), task.domain)
    reference = explore(Book(*random_world(random.Random(seed))), limit=200)
    if not reference.complete:
        return
    labels = label(expand(task), policy)
    distances = reference.goal_distances
    assert labels.states.tolist() == [
        number
        for number, state in enumerate(reference.depths)
        if state in distances and not reference.goal[state]
    ]
    assert_labels(labels, policy, reference)
    some = label(expand(task, limit=part), policy)
    assert set(some.states.tolist()) <= set(labels.states.tolist())
    assert_labels(some, policy, reference)


def test_labels_of_shipped_policies() -> None:
    """No optimal action is lost."""
    policy = policy_of("blocksworld")
    space = expand(generated("blocksworld"))
    labels = label(space, policy)
    assert len(labels) == len(space) - int(space.goal.sum())
    both = labels.optimal & labels.derived
    assert np.logical_or.reduceat(both, labels.segments.offsets[:-1]).all()


def test_training_tasks_are_selected_in_order() -> None:
    """Blocksworld tasks of 2, 3, 4 and 5 blocks have 5, 22, 125 and 866 states, one a goal."""
    blocks = [2, 5, 3, 4, 4, 2]
    tasks = [generated("blocksworld", seed, blocks=n) for seed, n in enumerate(blocks)]
    assert sizes_of(select_training(tasks)) == [5, 866, 22, 125, 125, 5]
    assert [space.task for space in select_training(tasks)] == tasks
    assert sizes_of(select_training(tasks, limit=867)) == [5, 866, 22, 125, 125, 5]
    assert sizes_of(select_training(tasks, limit=866)) == [5, 22, 125, 125, 5]
    assert sizes_of(select_training(tasks, max_tasks=2)) == [5, 866]
    assert sizes_of(select_training(tasks, limit=100, max_tasks=2)) == [5, 22]
    assert sizes_of(select_training(tasks, max_states=4 + 21 + 124 + 4)) == [5, 22, 125, 5]
    assert sizes_of(select_training(tasks, max_states=4 + 21 + 124 + 3)) == [5, 22, 125]
    assert select_training([], workers=2) == []


def test_training_tasks_are_read_lazily() -> None:
    read = []

    def tasks() -> Iterator[Task]:
        for seed in itertools.count():
            read.append(seed)
            yield generated("blocksworld", seed, blocks=2)

    assert len(select_training(tasks(), max_tasks=3, workers=1)) == 3
    assert len(read) < 10


def test_training_tasks_of_the_paper() -> None:
    texts = itertools.islice(domains.generate("blocksworld", seed=1, split="training"), 24)
    tasks = [SHIPPED["blocksworld"].parse_task(text) for _, text in texts]
    chosen = select_training(tasks, max_states=PAPER_STATES["blocksworld"])
    assert len(chosen) <= PAPER_TASKS
    assert [space.task for space in chosen] == tasks[:21]
    assert all(space.complete and len(space) < 10_000 for space in chosen)
    assert sum(len(label(space, policy_of("blocksworld"))) for space in chosen) == 25_472
