"""The search of the core: what it refuses, and how it is interrupted."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest

from planlog import _core, domains
from planlog.network.model_file import Model
from planlog.pddl.task import Domain, Task
from planlog.policy.execution import execute
from planlog.policy.policy import Policy
from support.shipped_domains import SHIPPED, generated, policy_of

Steps = list[tuple[int, tuple[int, ...]]]


def plan_of(policy: Policy, task: Task) -> Steps:
    return task.encode(execute(policy, task, rng=np.random.default_rng(0)).actions)


def model_of(name: str) -> Policy:
    file = domains.model_path(name)
    assert file is not None
    return Model.read(file).policy(SHIPPED[name])


@pytest.fixture
def ferry() -> tuple[Task, Policy, Steps]:
    task, rules = generated("ferry", 0, cars=3, locations=3), policy_of("ferry")
    return task, rules, plan_of(rules, task)


def search_of(task: Task, policy: Policy, plan: Steps, *, threads: int = 1) -> _core.ParallelSearch:
    ids = task.initial.ids
    return _core.ParallelSearch(task.core, *policy.chooser, ids, plan, 0, threads, True)


# --- What does not belong together ---------------------------------------------------------


def test_task_program_and_network_belong_together(ferry: tuple[Task, Policy, Steps]) -> None:
    task, rules, plan = ferry
    with pytest.raises(ValueError, match="different domains"):
        search_of(generated("rover"), rules, [])
    _, network = model_of("ferry").chooser
    with pytest.raises(ValueError, match="another program"):
        _core.ParallelSearch(task.core, rules.core, network, task.initial.ids, plan, 0, 1, True)
    with pytest.raises(ValueError, match="at least one thread"):
        search_of(task, rules, plan, threads=0)


def test_networks_give_scores_to_all_actions(ferry: tuple[Task, Policy, Steps]) -> None:
    task, rules, plan = ferry
    relations = len(rules.core.relations)
    activations = [_core.Activation.IDENTITY] * relations
    network = _core.Network(
        rules.core, [1] * relations, [], activations[0], activations, _core.Aggregation.MAX
    )
    with pytest.raises(ValueError, match="scores"):
        _core.ParallelSearch(task.core, rules.core, network, task.initial.ids, plan, 0, 1, True)


def test_programs_in_use_do_not_change(ferry: tuple[Task, Policy, Steps]) -> None:
    task, rules, plan = ferry
    search_of(task, rules, plan)
    for change in (
        lambda: rules.core.derived("another", 1),
        lambda: rules.core.add_rule(0, [], [], [], 0),
        lambda: rules.core.type([0]),
    ):
        with pytest.raises(ValueError, match="in use"):
            change()


# --- What is out of bounds -----------------------------------------------------------------


def test_the_search_starts_from_a_plan(ferry: tuple[Task, Policy, Steps]) -> None:
    task, rules, plan = ferry
    with pytest.raises(ValueError, match="not applicable"):
        search_of(task, rules, plan[1:])
    with pytest.raises(ValueError, match="does not lead to a goal"):
        search_of(task, rules, plan[:-1])
    assert search_of(task, rules, plan).plan() == plan


def test_steps_are_those_of_the_plan(ferry: tuple[Task, Policy, Steps]) -> None:
    task, rules, plan = ferry
    search = search_of(task, rules, plan)
    assert search.state(0).tolist() == task.initial.ids.tolist()
    assert len(search.action_costs(len(plan) - 1)) > 0
    length = len(search.plan())
    search.state(length)
    for step in (length + 1, 2**32, 2**64 - 1):
        with pytest.raises(IndexError, match="step"):
            search.state(step)
    for step in (length, 2**64 - 1):
        with pytest.raises(IndexError, match="step"):
            search.action_costs(step)


def test_states_and_actions_are_those_of_the_task(ferry: tuple[Task, Policy, Steps]) -> None:
    task, rules, plan = ferry
    ids = np.array([10**6], dtype=np.uint32)
    with pytest.raises(ValueError, match="atom"):
        _core.ParallelSearch(task.core, *rules.chooser, ids, plan, 0, 1, True)
    with pytest.raises(ValueError, match="atom"):
        _core.eliminate_actions(task.core, ids, plan)
    for wrong in ([(10**6, ())], [(0, ())], [(plan[0][0], (10**6,) * len(plan[0][1]))]):
        with pytest.raises(ValueError, match="no such"):
            search_of(task, rules, wrong)
        with pytest.raises(ValueError, match="no such"):
            _core.eliminate_actions(task.core, task.initial.ids, wrong)


# --- Costs of actions ----------------------------------------------------------------------


def test_costs_of_the_actions_of_a_step(ferry: tuple[Task, Policy, Steps]) -> None:
    task, rules, plan = ferry
    search = search_of(task, rules, plan)
    while search.improve(5_000, None):
        pass
    walk = rules.start(task)
    for step, action in enumerate(search.plan()):
        costs = dict(search.action_costs(step))
        assert list(costs) == walk.core.actions()
        assert costs[action] == min(costs.values()) == (search.cost - step, search.cost - step)
        assert walk.core.apply(*action)


# --- Interrupts ----------------------------------------------------------------------------

CLIQUES = """(define (domain cliques) (:predicates (edge ?x ?y) (done))
  (:action finish :parameters () :precondition () :effect (done)))"""
SIX = "finish :- " + ", ".join(
    f"edge({x}, {y})" for i, x in enumerate("ABCDEFG") for y in "ABCDEFG"[i + 1 :]
)


@pytest.mark.usefixtures("interruptible")
def test_a_long_evaluation_can_be_interrupted() -> None:
    """Cliques of seven in a graph without any, but with very many of six."""
    domain = Domain.parse(CLIQUES)
    objects = [f"o{i}" for i in range(6 * 40)]
    edges = " ".join(
        f"(edge {x} {y})"
        for i, x in enumerate(objects)
        for j, y in enumerate(objects)
        if i % 6 != j % 6
    )
    task = domain.parse_task(
        f"""(define (problem p) (:domain cliques) (:objects {" ".join(objects)})
        (:init {edges}) (:goal (done)))"""
    )
    policy = Policy.parse(f"{SIX}.", domain)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        search_of(task, policy, [(0, ())])
    timer.join()


@pytest.mark.usefixtures("interruptible")
def test_costs_of_actions_can_be_interrupted() -> None:
    task, model = generated("blocksworld", 0, blocks=150), model_of("blocksworld")
    search = search_of(task, model, plan_of(model.rules, task))
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        for step in range(len(search.plan())):
            search.action_costs(step)
    timer.join()
    assert search.cost == len(search.plan())
