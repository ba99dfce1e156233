"""Random tasks over a few objects whose whole state space can be explored."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Sequence

PREDICATES = {"done": 0, "free": 1, "at": 1, "on": 2, "linked": 2}


CHANGING = ["done", "free", "at", "on"]


# Goals that become literals, since no action changes `linked`.
QUANTIFIED = [
    "(forall (?x) (not (on ?x ?x)))",
    "(forall (?x) (imply (linked ?x ?x) (and (at ?x) (not (free ?x)))))",
    "(forall (?x ?y) (or (= ?x ?y) (not (linked ?x ?y)) (not (on ?x ?y))))",
]


def random_world(rng: random.Random, *, simple: bool = False) -> tuple[str, str]:
    """Literals and conditional effects only, and quantified goals unless the world is simple.

    Spaces have up to some hundred states; in half of them a goal can be reached, often not from
    everywhere.
    """

    def literal(terms: list[str], names: list[str], positive: float) -> str:
        name = rng.choice(names)
        atom = f"({' '.join([name, *rng.choices(terms, k=PREDICATES[name])])})"
        return atom if rng.random() < positive else f"(not {atom})"

    actions = []
    for number in range(rng.randint(3, 5)):
        terms = [f"?x{i}" for i in range(rng.randint(1, 2))]
        conditions = [literal(terms, [*PREDICATES], 0.6) for _ in range(rng.randint(1, 2))]
        effects = [literal(terms, CHANGING, 0.5) for _ in range(rng.randint(1, 3))]
        for _ in range(rng.randint(0, 2)):
            when = literal(terms, [*PREDICATES], 0.6)
            effects.append(f"(when {when} {literal(terms, CHANGING, 0.5)})")
        actions.append(
            f"(:action a{number} :parameters ({' '.join(terms)})\n"
            f"    :precondition (and {' '.join(conditions)})\n"
            f"    :effect (and {' '.join(effects)}))"
        )
    signatures = [
        f"({' '.join([name, *(f'?x{i}' for i in range(arity))])})"
        for name, arity in PREDICATES.items()
    ]
    lines = ["(:requirements :adl)", f"(:predicates {' '.join(signatures)})", *actions]
    domain = "(define (domain world)\n  " + "\n  ".join(lines) + ")"
    objects = ["a", "b", "c"][: rng.randint(2, 3)]
    init = [
        f"({' '.join([name, *row])})"
        for name, arity in PREDICATES.items()
        for row in itertools.product(objects, repeat=arity)
        if rng.random() < 0.4
    ]
    goals = [literal(objects, CHANGING, 0.7) for _ in range(rng.randint(1, 3))]
    if not simple and rng.random() < 0.3:
        goals[0] = rng.choice(QUANTIFIED)
    problem = (
        f"(define (problem p) (:domain world) (:objects {' '.join(objects)})\n"
        f"  (:init {' '.join(init)})\n  (:goal (and {' '.join(goals)})))"
    )
    return domain, problem


PRICES = ("0", "0", "1", "2", "0.5", "1.25")


def priced(
    world: tuple[str, str], rng: random.Random, prices: Sequence[str] = PRICES, often: float = 0.4
) -> tuple[str, str]:
    """Give the actions of a world costs, and as often as asked further costs on a condition."""

    def price() -> str:
        return f"(increase (total-cost) {rng.choice(prices)})"

    def effect(_: re.Match[str]) -> str:
        costs = [price()]
        if rng.random() < often:
            condition = rng.choice(["(done)", "(free ?x0)", "(not (at ?x0))"])
            costs.append(f"(when {condition} {price()})")
        if rng.random() < often / 2:
            costs.append(f"(forall (?y) (when (free ?y) {price()}))")
        return f":effect (and {' '.join(costs)}"

    domain, problem = world
    domain = domain.replace(":adl", ":adl :action-costs")
    domain = domain.replace("(:action", "(:functions (total-cost))\n  (:action", 1)
    domain = re.sub(r":effect \(and", effect, domain)
    problem = problem.replace("(:init", "(:init (= (total-cost) 0)", 1)
    return domain, problem.rstrip()[:-1] + "\n  (:metric minimize (total-cost)))"
