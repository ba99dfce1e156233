"""Random Ferry tasks: every car starts away from its goal, both places uniformly random."""

from __future__ import annotations

import numpy as np

from planlog.domains.sizes import Size

SIZES = (
    Size(
        "cars",
        "number of cars",
        minimum=1,
        default=10,
        splits={"training": (1, 20), "easy": (2, 20), "medium": (10, 97), "hard": (200, 974)},
    ),
    Size(
        "locations",
        "number of locations",
        minimum=2,
        default=10,
        splits={"training": (5, 15), "easy": (5, 15), "medium": (20, 49), "hard": (100, 487)},
    ),
)
SMALLEST = ((1, 2),) * 3 + ((2, 3),) * 8


def generate(rng: np.random.Generator, name: str, *, cars: int, locations: int) -> str:
    """A problem in PDDL with the given numbers of cars and locations."""
    car_names = [f"car{i}" for i in range(1, cars + 1)]
    places = [f"loc{i}" for i in range(1, locations + 1)]
    ferry = places[rng.integers(locations)]
    start = rng.integers(locations, size=cars)
    # A shift by 1 … locations - 1 reaches every other place with equal probability.
    end = (start + rng.integers(1, locations, size=cars)) % locations
    initial = [f"    (at {c} {places[i]})" for c, i in zip(car_names, start, strict=True)]
    goal = [f"    (at {c} {places[i]})" for c, i in zip(car_names, end, strict=True)]
    lines = [
        f"(define (problem {name})",
        "  (:domain ferry)",
        "  (:objects",
        f"    {' '.join(car_names)} - car",
        f"    {' '.join(places)} - location)",
        "  (:init",
        "    (empty-ferry)",
        f"    (at-ferry {ferry})",
        *initial,
        "  )",
        "  (:goal (and",
        *goal,
        "  )))",
    ]
    return "\n".join(lines) + "\n"
