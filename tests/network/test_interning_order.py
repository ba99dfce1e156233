"""Circuits and weights do not depend on the order in which a task's atoms were first met."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys

import numpy as np
import pytest

from planlog import domains
from planlog.learning.learn import learn
from planlog.network.circuit import CircuitBuilder, Sharing
from planlog.network.settings import preset
from planlog.pddl.task import Domain, Task
from planlog.policy.execution import execute
from planlog.policy.policy import Policy

DOMAIN = """
(define (domain graph)
  (:predicates (edge ?x ?y) (red ?x))
  (:action paint :parameters (?x) :effect (red ?x))
  (:action cut :parameters (?x ?y) :precondition (edge ?x ?y) :effect (not (edge ?x ?y))))
"""
PROBLEM = """
(define (problem square) (:domain graph) (:objects a b c d)
  (:init (edge a b) (edge b c) (edge c d)) (:goal (red a)))
"""
RULES = "marked(X) :- red(X). marked(X) :- marked(Y), edge(Y, X). paint(X) :- marked(X)."


def test_nodes_do_not_depend_on_the_interning_order() -> None:
    domain = Domain.parse(DOMAIN)
    policy = Policy.parse(RULES, domain)
    atoms = ["(red d)", "(red a)", "(edge d a)", "(edge a c)", "(edge b c)"]
    found = []
    for ordered in (atoms, atoms[::-1]):
        task = domain.parse_task(PROBLEM)
        for atom in ordered:  # gives each atom its id; with threads it may be any order
            task.state([atom])
        builder = CircuitBuilder(policy, Sharing.NONE)
        relations = sorted(builder.structure.derived)
        builder.add(task, relations, state=task.state(atoms))
        (state,) = builder.finish().states
        found.append(
            {r: (rows.tolist(), nodes.tolist()) for r, (rows, nodes) in state.atoms.items()}
        )
    assert found[0] == found[1]


# --- Whole trainings -----------------------------------------------------------------------

SETTINGS = preset(
    "default+epochs=3+batch=20+ensemble_size=1+width=4+aggregation=mean"
    "+limit=500+states_per_iteration=60+labelled_steps=10+expansions_per_step=5"
)
# Satellites have atoms of two objects, blocks have a nullary atom.
SIZES: dict[str, list[dict[str, int]]] = {
    "satellite": [
        {"satellites": 1, "instruments": 2, "modes": 2, "directions": 3},
        *2 * [{"satellites": 2, "instruments": 3, "modes": 3, "directions": 5}],
    ],
    "blocksworld": [{"blocks": 3}, {"blocks": 6}, {"blocks": 7}],
}

# A derived predicate, a nullary fluent, conditional effects and costs with decimals.
LIGHTS = """
(define (domain lights)
  (:predicates (edge ?x ?y) (lit ?x) (at ?x) (power) (near ?x))
  (:functions (total-cost) (length ?x ?y))
  (:derived (near ?x) (or (at ?x) (exists (?y) (and (at ?y) (edge ?y ?x)))))
  (:action go :parameters (?x ?y) :precondition (and (at ?x) (edge ?x ?y))
    :effect (and (not (at ?x)) (at ?y) (increase (total-cost) (length ?x ?y))))
  (:action start :parameters () :precondition (not (power))
    :effect (and (power) (increase (total-cost) 0.25)))
  (:action switch :parameters (?x) :precondition (and (near ?x) (power) (not (lit ?x)))
    :effect (and (lit ?x) (when (at ?x) (not (power))) (increase (total-cost) 0.5))))
"""
LIGHTS_RULES = """
start :- lit@ug(_).
switch(X) :- lit@ug(X), near(X).
go(X, Y) :- at(X), edge(X, Y), lit@ug(_).
"""


def lights_task(number: int) -> str:
    """Return a task with a ring of rooms and a chord."""
    rooms = [f"r{i}" for i in range(4 + 3 * number)]
    pairs = [*zip(rooms, [*rooms[1:], rooms[0]], strict=True), (rooms[0], rooms[2])]
    edges = " ".join(
        f"(edge {a} {b}) (edge {b} {a}) (= (length {a} {b}) 1.{i}) (= (length {b} {a}) 2)"
        for i, (a, b) in enumerate(pairs)
    )
    goal = " ".join(f"(lit {room})" for room in rooms[1::2])
    return f"""(define (problem lights-{number}) (:domain lights) (:objects {" ".join(rooms)})
      (:init (at r0) {edges}) (:goal (and {goal})) (:metric minimize (total-cost)))"""


def read_anew(name: str) -> tuple[Policy, list[Task]]:
    """Return the rules of a domain and training tasks, read from their texts."""
    if name == "lights":
        domain = Domain.parse(LIGHTS)
        texts = [lights_task(number) for number in range(3)]
        return Policy.parse(LIGHTS_RULES, domain), [domain.parse_task(text) for text in texts]
    domain = Domain.read(domains.path(name) / "domain.pddl")
    tasks = []
    for number, sizes in enumerate(SIZES[name]):
        ((_, text),) = domains.generate(name, seed=number, sizes=sizes)
        tasks.append(domain.parse_task(text))
    return Policy.read(domains.policy_path(name), domain), tasks


def trained(name: str, *, workers: int = 1, met_before: bool = False) -> str:
    """Return a hash of the model of a training, with its labels' costs, but without its times.

    With `met_before`, executions of the rules meet the tasks' atoms first: these have other ids.
    """
    rules, tasks = read_anew(name)
    if met_before:
        for task in tasks:
            meet_states(rules, task)
    model = learn(rules, tasks, SETTINGS, workers=workers).model
    assert model.training["search_labelled_tasks"]
    digest = hashlib.sha256(json.dumps(without_times(model.training)).encode())
    for weight in sorted(model.weights):
        digest.update(model.weights[weight].tobytes())
    return digest.hexdigest()


def without_times(value: object) -> object:
    """Return a JSON value without the times in it."""
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if "seconds" not in key}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def meet_states(rules: Policy, task: Task) -> None:
    """Give ids to the atoms of the states along some execution."""
    walk = rules.start(task)
    for action in execute(rules, task, rng=np.random.default_rng(99), max_steps=50).actions:
        walk.apply(action)
        task.state(walk.state.atoms)


TRAINED = ["satellite", "blocksworld", "lights"]


@pytest.mark.parametrize("name", TRAINED)
def test_weights_do_not_depend_on_the_interning_order(name: str) -> None:
    assert trained(name) == trained(name, met_before=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAINED)
def test_training_does_not_depend_on_the_number_of_workers(name: str) -> None:
    """In fresh processes: threads meet the atoms of a task in an order of their own."""
    found = {
        subprocess.run(
            [sys.executable, __file__, name, workers], capture_output=True, text=True, check=True
        ).stdout
        for workers in ("1", "2", "2", "4")
    }
    assert len(found) == 1


if __name__ == "__main__":
    print(trained(sys.argv[1], workers=int(sys.argv[2])))
