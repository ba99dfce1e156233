"""Why a rover cannot take some images on a tour: what the integer program has to learn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from planlog.experiment.baselines.exact.rover.order_search import Kind, find_order, kind_of
from planlog.experiment.baselines.exact.rover.problem import Image, Problem, Rover


@dataclass(frozen=True)
class Conflict:
    """Images that a rover cannot take all, unless it visits some waypoint more often.

    It may visit the waypoints in `visits` that often, all `harmless` ones as often as it likes.
    """

    rover: int
    images: frozenset[Image]
    visits: Counter[str]
    harmless: frozenset[str]


def order_or_conflict(
    problem: Problem,
    r: int,
    visits: Sequence[str],
    images: frozenset[Image],
    waypoints: Sequence[str],
) -> list[str] | Conflict:
    """Visits after the start in an order in which a rover takes all images, or why there is none.

    `waypoints` are all to which it might drive. Raises TooLarge if it is hard to say.
    """
    if not images:
        return list(visits)
    rover = problem.rovers[r]
    order = _order(problem, rover, visits, images)
    if order is not None:
        return order
    for image in sorted(images):
        if _order(problem, rover, visits, images - {image}) is None:
            images -= {image}
    start = kind_of(problem, rover, rover.start, images)
    kinds = {w: kind_of(problem, rover, w, images) for w in waypoints}
    allowed: dict[Kind, int | None] = dict(Counter(kinds[w] for w in visits))
    harmless: set[Kind] = set()
    # Kinds of many waypoints first: the fewer are left, the more is learned.
    for kind, _ in Counter(kinds.values()).most_common():
        if find_order(rover, start, images, allowed | {kind: None}) is None:
            allowed[kind] = None
            harmless.add(kind)
    return Conflict(
        r, images, Counter(visits), frozenset(w for w, kind in kinds.items() if kind in harmless)
    )


def _order(
    problem: Problem, rover: Rover, visits: Sequence[str], images: frozenset[Image]
) -> list[str] | None:
    kinds = {w: kind_of(problem, rover, w, images) for w in [rover.start, *visits]}
    found = find_order(rover, kinds[rover.start], images, Counter(kinds[w] for w in visits))
    if found is None:
        return None
    left = list(visits)
    order = []
    for kind in found:
        waypoint = next(w for w in left if kinds[w] == kind)
        left.remove(waypoint)
        order.append(waypoint)
    return left + order
