"""Random Satellite tasks: any number of images, and directions for about half the satellites."""

from __future__ import annotations

import numpy as np

from planlog.domains import Size
from planlog.domains.problem_text import covering_subsets, numbered, problem_text, random_subset

SIZES = (
    Size("satellites", "number of satellites", 1, 5, (3, 10), (3, 10), (15, 40), (50, 99)),
    Size("instruments", "number of instruments", 1, 8, (3, 20), (3, 20), (15, 78), (50, 195)),
    Size("modes", "number of image modes", 1, 2, (1, 3), (1, 3), (3, 5), (5, 10)),
    Size("directions", "number of directions", 1, 6, (4, 10), (4, 10), (15, 30), (40, 98)),
)
SMALLEST = (
    *((1, 1, 1, 2),) * 2,
    *((1, 1, 2, 2),) * 2,
    *((1, 2, 1, 2),) * 2,
    *((2, 2, 2, 3),) * 2,
    (2, 2, 1, 2),
    (2, 2, 1, 3),
)


def generate(
    rng: np.random.Generator,
    name: str,
    *,
    satellites: int,
    instruments: int,
    modes: int,
    directions: int,
) -> str:
    """Return a problem in PDDL with the given numbers of objects.

    The task is solvable: every instrument has a calibration target, and every mode an instrument.
    """
    satellite = numbered("sat", satellites)
    instrument = numbered("ins", instruments)
    mode = numbered("mod", modes)
    direction = numbered("dir", directions)

    # If there are enough instruments, every satellite has one.
    carrier = np.concatenate(
        [rng.permutation(satellites), rng.integers(satellites, size=instruments)]
    )[:instruments]
    supported = covering_subsets(rng, instruments, modes)

    initial = [f"(pointing {s} {direction[rng.integers(directions)]})" for s in satellite]
    initial += [f"(power_avail {s})" for s in satellite]
    for i, s, ms in zip(instrument, carrier, supported, strict=True):
        initial.append(f"(on_board {i} {satellite[s]})")
        initial.append(f"(calibration_target {i} {direction[rng.integers(directions)]})")
        initial += [f"(supports {i} {mode[m]})" for m in ms]

    images = [(d, m) for d in direction for m in mode]
    wanted = random_subset(rng, len(images), 1)
    goal = [
        f"(pointing {s} {direction[rng.integers(directions)]})"
        for s in satellite
        if rng.random() < 0.5
    ]
    goal += [f"(have_image {images[i][0]} {images[i][1]})" for i in wanted]

    objects = {"satellite": satellite, "instrument": instrument, "mode": mode}
    objects["direction"] = direction
    return problem_text(name, "satellite", objects, initial, goal)
