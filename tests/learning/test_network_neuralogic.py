"""Networks against NeuraLogic: the same templates, facts and weights give the same values.

Only where its definitions are the same: its maximum picks whole vectors, so that is compared for
numbers only.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from planlog.datalog.syntax import Literal, Variable
from planlog.learning.network import Network
from planlog.network.settings import Activation, Aggregation, NetworkSettings
from planlog.network.structure import structure_of
from planlog.pddl.task import Domain
from planlog.policy.policy import Policy
from support.network_reference import GroundAtom, unshared_circuit

pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="NeuraLogic needs Java, not found"),
    pytest.mark.skipif(
        importlib.util.find_spec("neuralogic") is None, reason="NeuraLogic is not installed"
    ),
]

DOMAIN = Domain.parse("""(define (domain graphs)
    (:predicates (edge ?x ?y) (likes ?x ?y) (red ?x) (line ?x ?y ?z) (flag)))""")
FACTS = [
    *(("edge", *pair) for pair in ("ab", "bc", "ac", "cd", "da", "dd")),
    *(("likes", *pair) for pair in ("ab", "ba", "bd", "ca")),
    *(("red", name) for name in "abd"),
    *(("line", *three) for three in ("abc", "bcd", "add")),
    ("flag",),
]
TASK = DOMAIN.parse_task(
    "(define (problem p) (:domain graphs) (:objects a b c d)"
    f"(:init {' '.join('(' + ' '.join(fact) + ')' for fact in FACTS)}) (:goal (flag)))"
)
TEMPLATES = {
    "one rule": "near(X) :- edge(X, Y), red(Y).",
    "message passing": """
        h0(X) :- red(X).
        h0(X) :- edge(X, Y).
        h1(Y) :- h0(X), edge(X, Y).
        h1(Y) :- h0(Y).
        h2(Y) :- h1(X), edge(X, Y).
        h2(Y) :- h1(Y).
        score(X, Y) :- likes(X, Y), h2(X), h2(Y).""",
    "repeated relations": """
        pair(X, Y) :- edge(X, Y), edge(Y, Z), likes(Z, W).
        loop(X) :- pair(X, Y), pair(Y, X), line(X, Z, Y).
        loop(X) :- pair(X, X), flag.
        loop(X) :- pair(X, Y).
        all :- loop(X), pair(X, Y).""",
}


@dataclass(frozen=True)
class Case:
    template: str
    shape: NetworkSettings
    featured: bool  # whether the atoms of `red` have vectors

    def __str__(self) -> str:
        shape = self.shape
        return "-".join(
            (
                self.template.replace(" ", "_"),
                shape.aggregation.value,
                f"{shape.message_activation.value}_{shape.atom_activation.value}",
                f"{shape.width}{'_features' if self.featured else ''}",
            )
        )


ACTIVATIONS = [
    (Activation.TANH, Activation.TANH),
    (Activation.SIGMOID, Activation.IDENTITY),
    (Activation.RELU, Activation.SIGMOID),
    (Activation.IDENTITY, Activation.RELU),
]
CASES = [
    Case(template, NetworkSettings(width, inner, outer, aggregation), width == 3)
    for template, (inner, outer), (width, aggregation) in product(
        TEMPLATES,
        ACTIVATIONS,
        [(1, Aggregation.MAX), (3, Aggregation.MEAN), (4, Aggregation.SUM)],
    )
]


def vector(name: str) -> list[float]:
    place = "abcd".index(name)
    return [0.5 * place - 0.7, 0.3 + 0.1 * place]


@cache
def ours(case: Case) -> tuple[Policy, Network, dict[GroundAtom, list[float]]]:
    policy = Policy.parse(TEMPLATES[case.template], DOMAIN)
    structure = structure_of(policy)
    red = [i for i, (name, _) in enumerate(structure.relations) if name == "red" and case.featured]
    network = Network(structure, case.shape, dimensions=dict.fromkeys(red, 2), dtype=torch.float64)
    numbers: dict[int, Callable[[GroundAtom], int]] = {
        relation: lambda atom: "abcd".index(atom[1][0]) for relation in red
    }
    circuit, (nodes,) = unshared_circuit(policy, [(TASK, TASK.initial)], numbers)
    vectors = torch.tensor([vector(name) for name in "abcd"], dtype=torch.float64)
    values = network(circuit, dict.fromkeys(red, vectors))
    return policy, network, {a: values[a[0]][node].tolist() for a, node in nodes.items()}


def described(case: Case) -> dict[str, Any]:
    policy, network, values = ours(case)
    assert policy.program is not None

    def atom(literal: Literal) -> tuple[str, list[str]]:
        assert all(isinstance(term, Variable) for term in literal.terms)
        return literal.relation.name, [str(term) for term in literal.terms]

    weights = {name: weight.tolist() for name, weight in network.weights().items()}
    names = network.structure.relations
    return {
        "rules": [
            (
                atom(rule.head),
                weights[f"r{i}.H"],
                [(atom(part), weights[f"r{i}.B{j}"]) for j, part in enumerate(rule.literals)],
            )
            for i, rule in enumerate(policy.program.rules)
        ],
        "facts": [
            (
                (name, objects),
                vector(objects[0]) if name == "red" and case.featured else None,
            )
            for name, *objects in FACTS
        ],
        "queries": [(names[relation][0], objects) for relation, objects in values],
        "aggregation": case.shape.aggregation.value,
        "message_activation": case.shape.message_activation.value,
        "atom_activation": case.shape.atom_activation.value,
    }


@pytest.fixture(scope="module")
def theirs() -> dict[Case, list[list[float]]]:
    result = subprocess.run(
        [sys.executable, Path(__file__).parents[1] / "support" / "neuralogic_reference.py"],
        input=json.dumps([described(case) for case in CASES]),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    return dict(zip(CASES, json.loads(result.stdout), strict=True))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_equal_those_of_neuralogic(
    case: Case, theirs: dict[Case, list[list[float]]]
) -> None:
    values = ours(case)[2]
    assert len(values) > 2
    for (atom, value), other in zip(values.items(), theirs[case], strict=True):
        np.testing.assert_allclose(value, other, rtol=1e-5, atol=1e-5, err_msg=str(atom))
