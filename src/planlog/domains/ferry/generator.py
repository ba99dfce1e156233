"""Random Ferry tasks: every car starts away from its goal, both places uniformly random."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from planlog.domains import Size
from planlog.domains.problem_text import numbered, problem_text

SIZES = (
    Size("cars", "number of cars", 1, 10, (1, 20), (2, 20), (10, 97), (200, 974)),
    Size("locations", "number of locations", 2, 10, (5, 15), (5, 15), (20, 49), (100, 487)),
)
SMALLEST = ((1, 2),) * 3 + ((2, 3),) * 8


def generate(rng: np.random.Generator, name: str, *, cars: int, locations: int) -> str:
    """Return a problem in PDDL with the given numbers of cars and locations."""
    car_names, places = numbered("car", cars), numbered("loc", locations)
    ferry = places[rng.integers(locations)]
    start = rng.integers(locations, size=cars)
    # A shift by 1 … locations - 1 reaches every other place with equal probability.
    end = (start + rng.integers(1, locations, size=cars)) % locations
    return problem_text(
        name,
        "ferry",
        {"car": car_names, "location": places},
        ["(empty-ferry)", f"(at-ferry {ferry})", *_at(car_names, places, start)],
        _at(car_names, places, end),
    )


def _at(cars: list[str], places: list[str], numbers: npt.NDArray[np.int64]) -> list[str]:
    return [f"(at {car} {places[i]})" for car, i in zip(cars, numbers, strict=True)]
