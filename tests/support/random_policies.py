"""Random tasks and policies for state spaces."""

from __future__ import annotations

import random

from hypothesis import note

from planlog.pddl.task import Domain, Task
from support.random_worlds import PREDICATES, random_world


def world_task(seed: int) -> Task:
    domain, problem = random_world(random.Random(seed))
    note(f"{domain}\n{problem}")
    return Domain.parse(domain).parse_task(problem)


def random_rules(rng: random.Random, domain: Domain) -> str:
    """Two levels of derived predicates, the first recursive, and rules for some actions."""
    derived = {"low": 2, "high": rng.randint(0, 2)}
    known = dict(PREDICATES)

    def rule(head: str, arity: int, own: dict[str, int]) -> str:
        def atom(names: dict[str, int], terms: list[str]) -> str:
            name = rng.choice(list(names))
            row = f"({', '.join(rng.choices(terms, k=names[name]))})" if names[name] else ""
            status = rng.choice(["@ag", "@ug", "@aa", "@goal", "@un"]) if rng.random() < 0.2 else ""
            return name + (status if name in PREDICATES else "") + row

        body = [atom({**known, **own}, ["X", "Y", "Z"]) for _ in range(rng.randint(0, 2))]
        body += ["object(X)"] * (not body)
        bound = sorted({term for term in "XYZ" if any(term in part for part in body)})
        if not bound:
            body.append("object(X)")
            bound = ["X"]
        body += [f"not {atom(known, [*bound, '_'])}" for _ in range(rng.randint(0, 1))]
        row = f"({', '.join(rng.choices(bound, k=arity))})" if arity else ""
        return f"{head}{row} :- {', '.join(body)}."

    lines = []
    for name, arity in derived.items():
        lines += [rule(name, arity, {name: arity}) for _ in range(rng.randint(1, 3))]
        known[name] = arity
    for action in domain.actions:
        lines += [rule(action.name, action.arity, {}) for _ in range(rng.randint(1, 3))]
    return "\n".join(lines)
