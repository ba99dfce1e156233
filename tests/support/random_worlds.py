"""Random tasks over a few objects whose whole state space can be explored."""

from __future__ import annotations

import itertools
import random

PREDICATES = {"done": 0, "free": 1, "at": 1, "on": 2, "linked": 2}


CHANGING = ["done", "free", "at", "on"]


def random_world(rng: random.Random) -> tuple[str, str]:
    """Literals and conditional effects only: spaces of up to some hundred states, in half of
    which a goal can be reached, often not from everywhere."""

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
    problem = (
        f"(define (problem p) (:domain world) (:objects {' '.join(objects)})\n"
        f"  (:init {' '.join(init)})\n  (:goal (and {' '.join(goals)})))"
    )
    return domain, problem
