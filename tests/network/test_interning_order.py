"""Circuits and weights do not depend on the order in which a task's atoms were first met."""

from __future__ import annotations

import hashlib
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
SIZES = [{"satellites": 1, "instruments": 2, "modes": 2, "directions": 3}] + 2 * [
    {"satellites": 2, "instruments": 3, "modes": 3, "directions": 5}
]


def trained(*, workers: int = 1, met_before: bool = False) -> str:
    """Return a hash of the weights of a training on tasks that are read anew.

    With `met_before`, executions of the rules meet the tasks' atoms first: these have other ids.
    """
    domain = Domain.read(domains.path("satellite") / "domain.pddl")
    rules = Policy.read(domains.policy_path("satellite"), domain)
    tasks = []
    for number, sizes in enumerate(SIZES):
        ((_, text),) = domains.generate("satellite", seed=number, sizes=sizes)
        tasks.append(domain.parse_task(text))
        if met_before:
            meet_states(rules, tasks[-1])
    model = learn(rules, tasks, SETTINGS, workers=workers).model
    assert model.training["search_labelled_tasks"]
    digest = hashlib.sha256()
    for name in sorted(model.weights):
        digest.update(model.weights[name].tobytes())
    return digest.hexdigest()


def meet_states(rules: Policy, task: Task) -> None:
    """Give ids to the atoms of the states along some execution."""
    walk = rules.start(task)
    for action in execute(rules, task, rng=np.random.default_rng(99)).actions:
        walk.apply(action)
        task.state(walk.state.atoms)


def test_weights_do_not_depend_on_the_interning_order() -> None:
    assert trained() == trained(met_before=True)


@pytest.mark.slow
def test_weights_do_not_depend_on_the_number_of_workers() -> None:
    """In fresh processes: threads meet the atoms of a task in an order of their own."""
    found = {
        subprocess.run(
            [sys.executable, __file__, workers], capture_output=True, text=True, check=True
        ).stdout
        for workers in ("1", "2")
    }
    assert len(found) == 1


if __name__ == "__main__":
    print(trained(workers=int(sys.argv[1])))
