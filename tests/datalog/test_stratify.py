"""Stratification is done once for each program."""

from __future__ import annotations

from importlib import import_module

import pytest

from planlog.pddl.task import Domain
from planlog.policy.policy import Policy

DOMAIN = """(define (domain lamps) (:predicates (on ?x))
  (:action press :parameters (?x) :precondition (not (on ?x)) :effect (on ?x)))"""
PROBLEM = (
    """(define (problem p) (:domain lamps) (:objects a b) (:init) (:goal (and (on a) (on b))))"""
)


def test_a_policy_is_stratified_once_however_often_it_is_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stratify = import_module("planlog.datalog.stratify")  # the package has a function of this name
    calls: list[int] = []
    components = stratify._components
    monkeypatch.setattr(
        stratify, "_components", lambda graph: (calls.append(len(graph)), components(graph))[1]
    )
    domain = Domain.parse(DOMAIN)
    policy = Policy.parse("dark(X) :- not on(X), object(X).\npress(X) :- dark(X).", domain)
    task = domain.parse_task(PROBLEM)
    for _ in range(3):
        walk = policy.start(task)
        for action in walk.actions():
            walk.apply(action)
        policy.actions(task, walk.state)
    assert calls == [2]
