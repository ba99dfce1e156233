"""Walks: costs, copies, errors that change nothing, and evaluation that can be stopped."""

from __future__ import annotations

import copy
import signal
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from planlog.errors import InapplicableError, MissingValueError, RuleError, UnknownNameError
from planlog.pddl.task import Action, Atom, Domain
from planlog.policy.policy import Policy
from planlog.policy.walk import Walk

pytestmark = pytest.mark.core

ROADS = Domain.parse(
    """(define (domain roads) (:requirements :strips :action-costs)
    (:predicates (at ?x) (road ?x ?y) (seen ?x))
    (:functions (total-cost) (length ?x ?y))
    (:action drive :parameters (?x ?y)
      :precondition (and (at ?x) (road ?x ?y))
      :effect (and (not (at ?x)) (at ?y) (seen ?y) (increase (total-cost) (length ?x ?y)))))"""
)
TRIP = ROADS.parse_task(
    """(define (problem trip) (:domain roads) (:objects a b c)
    (:init (at a) (road a b) (road b c) (road a c) (= (length a b) 2) (= (length b c) 3.5))
    (:goal (seen c)) (:metric minimize (total-cost)))"""
)


def test_costs_add_up_and_are_taken_back() -> None:
    walk = Policy.applicable(ROADS).start(TRIP)
    walk.apply(Action("drive", ("a", "b")))
    assert walk.cost == 2
    walk.apply(Action("drive", ("b", "c")))
    assert (walk.cost, walk.steps, walk.is_goal) == (5.5, 2, True)
    walk.undo()
    assert (walk.cost, walk.steps, walk.goals_left) == (2, 1, 1)


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        (Action("drive", ("b", "c")), InapplicableError, r"\(drive b c\) is not applicable here"),
        (Action("drive", ("a", "nowhere")), UnknownNameError, "no object 'nowhere'"),
        (Action("drive", ("a",)), UnknownNameError, r"2 parameters, but \(drive a\) has 1"),
        (Action("fly", ("a", "b")), UnknownNameError, "has no action 'fly'"),
        (Action("drive", ("a", "c")), MissingValueError, r"no value for \(length a c\)"),
    ],
)
def test_an_action_that_cannot_be_applied_changes_nothing(
    action: Action, error: type[Exception], message: str
) -> None:
    walk = Policy.applicable(ROADS).start(TRIP)
    before = (walk.state, walk.actions(), walk.cost, walk.fingerprint)
    with pytest.raises(error, match=message):
        walk.apply(action)
    assert (walk.state, walk.actions(), walk.cost, walk.fingerprint) == before
    walk.apply(Action("drive", ("a", "b")))
    assert walk.steps == 1


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, Walk.copy])
def test_a_copy_goes_its_own_way(copied: Callable[[Walk], Walk]) -> None:
    walk = Policy.applicable(ROADS).start(TRIP)
    walk.apply("(drive a b)")
    twin = copied(walk)
    twin.apply("(drive b c)")
    assert (walk.steps, twin.steps) == (1, 2)
    assert "(at b)" in walk.state
    twin.undo()
    assert twin.state == walk.state


def test_nothing_to_undo() -> None:
    walk = Policy.applicable(ROADS).start(TRIP)
    with pytest.raises(IndexError):
        walk.undo()


def test_rules_may_name_objects_of_the_task() -> None:
    policy = Policy.parse("drive(a, X) :- not seen(b), X != c.", ROADS)
    assert [str(action) for action in policy.start(TRIP).actions()] == ["(drive a b)"]
    elsewhere = ROADS.parse_task(
        "(define (problem p) (:domain roads) (:objects a b) (:init (at a)) (:goal (seen b)))"
    )
    with pytest.raises(RuleError, match=r"1:34: error: task 'p' has no object 'c'"):
        policy.start(elsewhere)


def test_samples_are_uniform_and_do_not_depend_on_the_way() -> None:
    task = ROADS.parse_task(
        """(define (problem star) (:domain roads) (:objects a b c d e)
        (:init (at a) (road a b) (road a c) (road a d) (road a e) (road b a)) (:goal (seen e)))"""
    )
    policy = Policy.applicable(ROADS)
    walk = policy.start(task)
    around = policy.start(task)
    around.apply(Action("drive", ("a", "b")))
    around.undo()
    counts = dict.fromkeys(walk.actions(), 0)
    for seed in range(4000):
        action = walk.sample(np.random.default_rng(seed))
        assert action == around.sample(np.random.default_rng(seed))
        assert action is not None
        counts[action] += 1
    # Four standard deviations of a binomial with p = 1/4.
    assert all(abs(count - 1000) < 4 * 27.4 for count in counts.values()), counts


def endless() -> tuple[Policy, str]:
    """A rule whose evaluation takes hours."""
    policy = Policy.parse(
        "drive(A, B) :- at(C), at(D), at(E), at(F), at(G), at(H), at(I), I != I.", ROADS
    )
    names = " ".join(f"o{i}" for i in range(60))
    places = " ".join(f"(at o{i})" for i in range(60))
    text = f"""(define (problem huge) (:domain roads) (:objects {names})
        (:init {places} (road o0 o1)) (:goal (seen o1)))"""
    return policy, text


def test_a_deadline_ends_an_evaluation() -> None:
    policy, text = endless()
    with pytest.raises(TimeoutError):
        policy.start(ROADS.parse_task(text), deadline=time.monotonic() + 0.2)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_an_evaluation() -> None:
    policy, text = endless()
    task = ROADS.parse_task(text)
    main = threading.main_thread().ident
    assert main is not None
    timer = threading.Timer(0.2, signal.pthread_kill, (main, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        policy.start(task)


def test_other_threads_run_during_an_evaluation() -> None:
    policy, text = endless()
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.wait(0.01):
            ticks += 1

    thread = threading.Thread(target=tick)
    thread.start()
    with pytest.raises(TimeoutError):
        policy.start(ROADS.parse_task(text), deadline=time.monotonic() + 0.5)
    done.set()
    thread.join()
    assert ticks > 5


def test_walks_of_one_task_in_several_threads() -> None:
    """Walks share the task's table of atoms; each finds what it would find alone."""
    names = [f"o{i}" for i in range(40)]
    roads = " ".join(f"(road {x} {y})" for x in names for y in names if x != y)
    task = ROADS.parse_task(
        f"""(define (problem dense) (:domain roads) (:objects {" ".join(names)})
        (:init (at o0) {roads}) (:goal (seen o39)))"""
    )
    policy = Policy.applicable(ROADS)

    def drive(seed: int) -> list[Atom]:
        rng = np.random.default_rng(seed)
        walk = policy.start(task)
        found = []
        for _ in range(150):
            action = walk.sample(rng)
            assert action is not None
            walk.apply(action)
            found += walk.state.atoms
            assert policy.actions(task, walk.state) == walk.actions()
        return found

    together: dict[int, list[Atom]] = {}
    threads = [
        threading.Thread(target=lambda seed=seed: together.update({seed: drive(seed)}))
        for seed in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together.keys() == set(range(4))
    assert all(sorted(together[seed]) == sorted(drive(seed)) for seed in range(4))
