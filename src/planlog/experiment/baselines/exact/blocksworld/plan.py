"""Blocksworld: the blocks that have to move, those that move twice, and their order.

A move takes a block from its place and puts it elsewhere, with two actions. A block has to move if
its goal is elsewhere, if the block below it has to move, or if it is in the way. In every plan,
the first and last moves of these blocks satisfy two constraints:

- The first move of a block comes after the first move of the block on top of it; so does the last
  move of the block that will stand there instead.
- The last move of a block comes after the last move of the block that it will stand on.

The last move of a block that moves only once is its first move, so the constraints may form a
cycle: a deadlock. One of its blocks has to move twice. Conversely, if some blocks are first put on
the table and no cycle remains, every order that satisfies the constraints is a plan. The fewest
moves are therefore one for each block that has to move, plus one for each block in a smallest set
that hits all deadlocks.

J. Slaney, S. Thiébaux: Blocks World revisited. Artificial Intelligence 125, 2001. This method also
handles arbitrary goals, and the arm in the initial state and in the goal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

import numpy as np

from planlog.experiment.baselines.exact.blocksworld.feedback_vertex_set import (
    Arcs,
    minimum_feedback_set,
)
from planlog.experiment.baselines.exact.clock import Clock
from planlog.experiment.baselines.exact.task_shape import Facts, Unsolvable, goal_atoms
from planlog.experiment.baselines.solution import Solution
from planlog.pddl.task import Action, Task

# Places other than blocks; no object has such a name.
_TABLE = "(table)"
_HAND = "(hand)"


def solve(task: Task, clock: Clock) -> Solution:
    """Return a plan, which is optimal unless the time limit is reached."""
    problem = _Problem(_initial(task), _goal(task))
    twice = minimum_feedback_set(problem.deadlocks(), time_limit=clock.left)
    plan = clock.plan(problem.plan({problem.moving[i] for i in twice.nodes}))
    # A second move costs two actions.
    return clock.solved(plan, len(plan.actions) - 2 * (len(twice.nodes) - twice.lower_bound))


@dataclass(frozen=True)
class _Goal:
    """The places of some blocks, and the contents of some places."""

    places: Mapping[str, str]
    upon: Mapping[str, str | None]  # block or hand -> block on it; None: clear or empty


class _Problem:
    """The blocks that have to move, and the constraints on their first and last moves."""

    def __init__(self, initial: Mapping[str, str], goal: _Goal) -> None:
        self._initial = initial
        self._goal = goal
        self._upon = {place: block for block, place in initial.items() if place != _TABLE}
        self._held = self._upon.get(_HAND)
        moving = self._moving()
        self.moving = [block for block in initial if block in moving]
        self._number = {block: i for i, block in enumerate(self.moving)}

    def _moving(self) -> set[str]:
        moving: set[str] = set()
        for block in _bottom_up(self._initial):
            place = self._initial[block]
            if (
                place in moving
                or self._goal.places.get(block, place) != place
                or self._goal.upon.get(place, block) != block
            ):
                moving.add(block)
        # The arm has to put down its block before any other action; a held block is not clear.
        if self._held is not None and (moving or self._held in self._goal.upon):
            moving.add(self._held)
        return moving

    def deadlocks(self) -> Arcs:
        """Return whether the first move of one block comes before the last move of another.

        (moving, moving). Arcs that others imply are omitted: those on whose path the first block
        also makes its last move, or the second one its first.
        """
        rules = dict(self._rules(set(self.moving)))
        arcs = np.zeros((len(self.moving), len(self.moving)), dtype=np.bool_)
        # Blocks whose last move comes after a move, or is that move.
        last = {move: np.zeros(len(self.moving), dtype=np.bool_) for move in rules}
        for move in reversed(list(TopologicalSorter(rules).static_order())):
            block, final = move
            number, following = self._number[block], last[move]
            if final:
                following[number] = True
            else:
                arcs[number] = following
                following |= last[block, True]
                following[number] = arcs[number, number]
            for earlier in rules[move]:
                if earlier != (block, False):
                    last[earlier] |= following
        return arcs

    def plan(self, twice: set[str]) -> tuple[Action, ...]:
        """Return a plan in which the blocks in `twice` move to the table first."""
        order = list(TopologicalSorter(dict(self._rules(twice))).static_order())
        kept = self._kept()
        if kept is not None:
            order.remove((kept, True))
            order.append((kept, True))
        actions: list[Action] = []
        places = dict(self._initial)
        for block, final in order:
            place = places[block]
            if place == _TABLE:
                actions.append(Action("pickup", (block,)))
            elif place != _HAND:
                actions.append(Action("unstack", (block, place)))
            places[block] = self._goal.places.get(block, _TABLE) if final else _TABLE
            if block == kept and final:
                continue
            if places[block] == _TABLE:
                actions.append(Action("putdown", (block,)))
            elif places[block] != _HAND:
                actions.append(Action("stack", (block, places[block])))
        return tuple(actions)

    def _rules(self, twice: set[str]) -> Iterator[tuple[tuple[str, bool], set[tuple[str, bool]]]]:
        """Yield every move (block, whether it is the last) with its predecessors."""

        def first(block: str) -> tuple[str, bool]:
            return block, block not in twice

        for block in self.moving:
            before = {first(self._upon[block])} if block in self._upon else set()
            if self._held not in (None, block):
                before.add(first(self._held))
            if block in twice:
                yield first(block), before
                before = {first(block)}
            goal = self._goal.places.get(block, _TABLE)
            if goal == _HAND:
                before |= {(other, True) for other in self.moving if other != block}
            elif goal in self._number:
                before.add((goal, True))
            elif goal in self._upon:
                before.add(first(self._upon[goal]))
            yield (block, True), before

    def _kept(self) -> str | None:
        """Return a block that can stay in the arm at the end, if any."""
        if _HAND in self._goal.upon:
            return None
        for block in self.moving:
            below = self._initial[block]
            if (
                block not in self._goal.places
                and block not in self._goal.upon
                and below not in self._number
                and self._goal.upon.get(below, block) is None
            ):
                return block
        return None


def _bottom_up(places: Mapping[str, str]) -> Iterable[str]:
    """Return the blocks, each after the one below it; raise CycleError for a cycle."""
    standing = {block: (place,) for block, place in places.items() if place in places}
    return TopologicalSorter({block: standing.get(block, ()) for block in places}).static_order()


def _initial(task: Task) -> dict[str, str]:
    """Return the place of each block in the initial state."""
    facts = Facts(task)
    places = facts.function(
        [
            *facts["on"],
            *((block, _TABLE) for block in facts.objects("on-table")),
            *((block, _HAND) for block in facts.objects("holding")),
        ],
        "is at two places",
    )
    clear = facts.objects("clear")
    for block in task.objects:
        if block not in places:
            raise facts.unsuitable(f"{block} is nowhere")
    upon = [place for place in places.values() if place != _TABLE]
    if len(upon) != len(set(upon)):
        raise facts.unsuitable("two blocks are at the same place")
    if bool(facts["arm-empty"]) == (_HAND in upon):
        raise facts.unsuitable("either the arm holds a block, or 'arm-empty' holds")
    taken = set(upon) | {block for block, place in places.items() if place == _HAND}
    for block in task.objects:
        if (block in clear) == (block in taken):
            raise facts.unsuitable(f"'clear' contradicts the blocks on {block}")
    try:
        list(_bottom_up(places))
    except CycleError:
        raise facts.unsuitable("blocks stand on each other in a circle") from None
    return {block: places[block] for block in task.objects}


def _goal(task: Task) -> _Goal:
    """Return the goal; raise Unsolvable if no state satisfies it."""
    places: dict[str, str] = {}
    upon: dict[str, str | None] = {}
    for atom in goal_atoms(task, ("on", "on-table", "clear", "arm-empty", "holding")):
        match atom:
            case ("arm-empty",):
                block, place = None, _HAND
            case ("clear", below):
                block, place = None, below
            case ("on", above, below):
                block, place = above, below
            case ("on-table", above):
                block, place = above, _TABLE
            case (_, above):
                block, place = above, _HAND
        if block is not None and places.setdefault(block, place) != place:
            raise Unsolvable
        if place != _TABLE and upon.setdefault(place, block) != block:
            raise Unsolvable
    if any(places.get(place) == _HAND for place in upon):
        raise Unsolvable  # a held block is not clear, and carries none
    try:
        list(_bottom_up(places))
    except CycleError:
        raise Unsolvable from None
    return _Goal(places, upon)
