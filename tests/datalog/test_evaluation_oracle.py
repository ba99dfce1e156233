"""Evaluation against clingo on random stratified programs, and maintenance against evaluation.

The domain has predicates of several arities and, for each, an action that makes an atom true and
one that makes it false, so that a walk can go through arbitrary sets of atoms.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from planlog.pddl.task import Action
from planlog.policy.policy import Policy
from support.clingo_reference import (
    atoms_of,
    model,
    substitutions,
)
from support.profiles import examples
from support.random_programs import (
    ARITIES,
    DOMAIN,
    World,
    assert_maintained,
    check_against_clingo,
    make_task,
    programs,
    worlds,
)


@examples(1000)
@given(programs(values=True), worlds)
def test_model_and_substitutions_equal_clingo(text: str, world: World) -> None:
    policy = Policy.parse(text, DOMAIN)
    task = make_task(*world.task(), (part.text for part in world.goal_parts()))
    initial, goal = map(set, world.task())
    found = policy.derivations(task, [task.initial])
    check_against_clingo(policy, task, found, initial, goal, world.goal_parts())


@examples(1000)
@given(programs(values=True), worlds)
def test_maintained_model_equals_model_from_scratch(text: str, world: World) -> None:
    policy = Policy.parse(text, DOMAIN)
    task = make_task(*world.task(), (part.text for part in world.goal_parts()))
    walk = policy.start(task)
    for move in world.moves(12):
        if move is not None:
            walk.apply(move)
        elif walk.steps:
            walk.undo()
        assert_maintained(walk)
    state, goal = atoms_of(task, walk.state), set(world.task()[1])
    check_against_clingo(policy, task, walk.derivations(), state, goal, world.goal_parts())
    twin = walk.copy()
    while walk.steps:
        walk.undo()
    assert walk.state == task.initial
    assert_maintained(walk)
    assert_maintained(twin)  # a copy does not follow


@examples(250)
@given(programs(values=True), worlds)
def test_many_states_in_one_call(text: str, world: World) -> None:
    policy = Policy.parse(text, DOMAIN)
    task = make_task(*world.task())
    walk = policy.start(task)
    states = [walk.state]
    for move in world.moves(5):
        if move is not None:
            walk.apply(move)
            states.append(walk.state)
    together = policy.derivations(task, states)
    for number, state in enumerate(states):
        alone = policy.derivations(task, [state])
        assert model(policy, task, together, number) == model(policy, task, alone)
        assert substitutions(together, number) == substitutions(alone)


def test_cyclic_support_is_not_support() -> None:
    """Atoms that only support each other vanish; those with another reason come back."""
    policy = Policy.parse(
        """reach(X) :- red(X).
        reach(Y) :- reach(X), edge(X, Y).
        add-blue(X) :- reach(X).""",
        DOMAIN,
    )
    ring = [("edge", "a", "b"), ("edge", "b", "c"), ("edge", "c", "a"), ("edge", "c", "d")]
    task = make_task([*ring, ("red", "a")], [])
    walk = policy.start(task)
    assert walk.action_count == 4
    walk.apply(Action("del-red", ("a",)))
    assert walk.actions() == []
    walk.undo()
    walk.apply(Action("add-red", ("b",)))
    walk.apply(Action("del-red", ("a",)))
    assert [a.arguments[0] for a in walk.actions()] == ["a", "b", "c", "d"]
    walk.apply(Action("del-edge", ("b", "c")))
    assert [a.arguments[0] for a in walk.actions()] == ["b"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_long_random_walk(seed: int) -> None:
    """Plans are chosen anew when relations grow; nothing may change by that."""
    names = [f"o{i}" for i in range(10)]
    policy = Policy.parse(
        """path(X, Y) :- edge(X, Y).
        path(X, Z) :- path(X, Y), path(Y, Z).
        odd(X) :- edge(X, Y), not even(Y).
        even(X) :- red(X), not path(X, X).
        add-blue(X) :- odd(X), not blue(X), likes(X, Y), not path(Y, _).
        del-blue(X) :- path(X, X), line(X, Y, _), even(Y).
        add-line(X, Y, Z) :- flag, edge(X, Y), likes(Y, Z), not edge(Z, X).
        del-line(X, Y, Z) :- not flag, line(X, Y, Z), not line(Z, Y, X), not add-line(_, _, _).""",
        DOMAIN,
    )
    task = DOMAIN.parse_task(
        f"(define (problem q) (:domain changes) (:objects {' '.join(names)} - thing) (:init)"
        " (:goal (blue o1)))"
    )
    rng = np.random.default_rng(seed)
    walk = policy.start(task)
    everything = sorted(ARITIES.items(), key=lambda item: item[1])
    for step in range(2500):
        if step in (300, 2000):
            walk.apply(Action("del-flag" if step == 300 else "add-flag", ()))
            assert_maintained(walk)
        # A gate that stays closed for long makes its rules forget.
        names_now = everything[3:5] if 300 < step < 2000 else everything
        name, arity = names_now[rng.integers(len(names_now))]
        verb = "add-" if rng.random() < (0.7 if step < 1200 else 0.3) else "del-"
        walk.apply(Action(verb + name, tuple(names[i] for i in rng.integers(10, size=arity))))
        if step % 100 == 0 or name == "flag":
            assert_maintained(walk)
    assert_maintained(walk)
