"""Circuits do not depend on the order in which a task's atoms were first met."""

from __future__ import annotations

from planlog.network.circuit import CircuitBuilder, Sharing
from planlog.pddl.task import Domain
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
