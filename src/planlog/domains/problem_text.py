"""Shared parts of the task generators: random subsets, and problems as PDDL text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np


def problem_text(
    name: str,
    domain: str,
    objects: Mapping[str, Sequence[str]],
    initial: Iterable[str],
    goal: Iterable[str],
) -> str:
    """Return a problem in PDDL; `objects` maps types to names, and the atoms are texts."""
    *rows, last = (f"    {' '.join(names)} - {kind}" for kind, names in objects.items())
    lines = [
        f"(define (problem {name})",
        f"  (:domain {domain})",
        "  (:objects",
        *rows,
        f"{last})",
        "  (:init",
        *(f"    {atom}" for atom in initial),
        "  )",
        "  (:goal (and",
        *(f"    {atom}" for atom in goal),
        "  )))",
    ]
    return "\n".join(lines) + "\n"


def numbered(prefix: str, count: int) -> list[str]:
    """Return `count` names: prefix1, prefix2, and so on."""
    return [f"{prefix}{i}" for i in range(1, count + 1)]


def random_subset(rng: np.random.Generator, count: int, least: int) -> list[int]:
    """Draw at least `least` of the numbers below `count`; all sizes are equally likely."""
    return sorted(int(i) for i in rng.permutation(count)[: rng.integers(least, count + 1)])


def covering_subsets(rng: np.random.Generator, number: int, count: int) -> list[list[int]]:
    """Draw `number` nonempty subsets of the numbers below `count` that cover all of them."""
    subsets = [set(random_subset(rng, count, 1)) for _ in range(number)]
    for missing in set(range(count)).difference(*subsets):
        subsets[rng.integers(number)].add(missing)
    return [sorted(subset) for subset in subsets]
