"""Random Blocksworld tasks: two arrangements of the same blocks in a few high towers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from planlog.domains import Size
from planlog.domains.problem_text import numbered

SIZES = (Size("blocks", "number of blocks", 2, 10, (5, 29), (5, 29), (35, 146), (160, 488)),)
SMALLEST = ((2,),) * 4 + ((3,),) * 4 + ((4,),) * 6

NEW_TOWER = 0.1  # probability that a block begins a tower instead of standing on the last one

Towers = frozenset[tuple[str, ...]]  # each from top to bottom


def generate(rng: np.random.Generator, name: str, *, blocks: int) -> str:
    """Return a problem in PDDL with the given number of blocks; every block has a goal position."""
    names = numbered("b", blocks)
    initial = goal = _towers(rng, names)
    while goal == initial:
        goal = _towers(rng, names)
    return (
        f"(define (problem {name})\n"
        "  (:domain blocksworld)\n"
        f"  (:objects {' '.join(names)})\n"
        "  (:init\n"
        f"    (arm-empty)\n{_atoms(initial)})\n"
        "  (:goal (and\n"
        f"{_atoms(goal)})))\n"
    )


def _towers(rng: np.random.Generator, names: list[str]) -> Towers:
    towers: list[list[str]] = []
    for i, first in zip(rng.permutation(len(names)), rng.random(len(names)), strict=True):
        if not towers or first < NEW_TOWER:
            towers.append([])
        towers[-1].append(names[i])
    return frozenset(tuple(tower) for tower in towers)


def _atoms(towers: Towers) -> str:
    lines = []
    for tower in sorted(towers):
        lines.append(f"    (clear {tower[0]})")
        lines += [f"    (on {a} {b})" for a, b in pairwise(tower)]
        lines.append(f"    (on-table {tower[-1]})")
    return "\n".join(lines)
