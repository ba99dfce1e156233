"""Blocksworld, exact: which blocks have to move, which of them twice, and in what order.

A block moves when it is taken from where it stands and put elsewhere, by two actions. It has to
move if its goal is elsewhere, if what is below it has to move, or if it is in the way. In any
plan, the first and last moves of these blocks follow two kinds of rules:

- the first move of a block comes after the first move of the block that stood on it, and so does
  the last move of a block that will stand there instead;
- the last move of a block comes after the last move of the one that it will stand on.

The first moves lead down the towers of the initial state, then the last moves up the towers of
the goal. If a block moves only once, its last move is its first, and the rules may form a cycle:
a deadlock, in which one of these blocks has to move twice. Conversely, if some blocks are put on
the table first and no cycle is left then any order that follows the rules is a plan. So the
fewest moves are those of all blocks that have to move, plus the fewest blocks that are on all
deadlocks. (Slaney and Thiébaux, Blocks World revisited, 2001; here with any goal, and the arm.)
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
from planlog.experiment.baselines.exact.task_shape import (
    InitialFacts,
    check_task,
    goal_atoms,
    ground,
)
from planlog.experiment.baselines.solution import Solution
from planlog.pddl.task import Action, Task

# Where a block may be besides on another one; no object has such a name.
_TABLE = "(table)"
_HAND = "(hand)"


def solve(task: Task, *, time_limit: float | None = None) -> Solution:
    """Return a plan, which is optimal if the time was enough to prove that."""
    clock = Clock(time_limit)
    check_task(task, "blocksworld")
    initial = _initial(task)
    goal = _goal(task)
    if goal is None:
        return clock.unsolvable("the goal contradicts itself")
    problem = _Problem(initial, goal)
    twice = minimum_feedback_set(problem.deadlocks(), time_limit=clock.left)
    plan = clock.plan(problem.plan({problem.moving[i] for i in twice.nodes}))
    # Every block that moves twice costs two actions more than one that moves once.
    return clock.solved(plan, len(plan.actions) - 2 * (len(twice.nodes) - twice.lower_bound))


@dataclass(frozen=True)
class _Goal:
    """What has to be true in the end: where some blocks are, and what stands on some.

    `upon` has the block that is wanted on each block (or in the hand), None if it has to be free.
    """

    places: Mapping[str, str]
    upon: Mapping[str, str | None]


class _Problem:
    """The blocks that have to move, and the rules for their first and last moves."""

    def __init__(self, initial: Mapping[str, str], goal: _Goal) -> None:
        self._initial = initial
        self._goal = goal
        self._upon = {place: block for block, place in initial.items() if place != _TABLE}
        self._held = self._upon.get(_HAND)
        self._to_hold = goal.upon.get(_HAND)
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
        # The arm can do nothing else before it has put down what it holds; and that is not clear.
        if self._held is not None and (moving or self._held in self._goal.upon):
            moving.add(self._held)
        return moving

    def deadlocks(self) -> Arcs:
        """Whether the first move of one moving block comes before the last one of another.

        (moving, moving). Left out are arcs which say no more than others do: those on which the
        one block also goes last, or the other first, on the way.
        """
        above: dict[str, set[int]] = {}  # the moving blocks above a place in the goal
        places = {block: place for block, place in self._goal.places.items() if place != _HAND}
        for block in reversed(list(_bottom_up(places))):
            over = above.get(block, set())
            if block in self._number:
                over = over | {self._number[block]}
            above[places[block]] = over
        if self._to_hold in self._number:
            # What is held in the end is as if it were above all others.
            last = {self._number[self._to_hold]}
            for place in [*above, *self.moving]:
                if place != self._to_hold and (place in self._number or above[place]):
                    above[place] = above.get(place, set()) | last
        after: dict[str, set[int]] = {}
        for block in _bottom_up(self._initial):
            if block in self._number and block != self._held:
                below = self._initial[block]
                after[block] = after.get(below, set())
                if below != _TABLE:
                    after[block] = after[block] | above.get(below, set())
        if self._held in self._number:
            after[self._held] = set().union(
                *after.values(), *(above.get(block, ()) for block in after)
            )
        arcs = np.zeros((len(self.moving), len(self.moving)), dtype=np.bool_)
        for block, successors in after.items():
            arcs[self._number[block], list(successors)] = True
        return arcs

    def plan(self, twice: set[str]) -> tuple[Action, ...]:
        """A plan in which these blocks are put on the table before they go to their goal."""
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
                actions.append(ground("pickup", block))
            elif place != _HAND:
                actions.append(ground("unstack", block, place))
            places[block] = self._goal.places.get(block, _TABLE) if final else _TABLE
            if block == kept and final:
                continue
            if places[block] == _TABLE:
                actions.append(ground("putdown", block))
            elif places[block] != _HAND:
                actions.append(ground("stack", block, places[block]))
        return tuple(actions)

    def _rules(self, twice: set[str]) -> Iterator[tuple[tuple[str, bool], set[tuple[str, bool]]]]:
        """Every move (block, whether its last one) with those that have to come before."""

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
        """A block that can stay in the arm at the end: nothing waits for where it goes."""
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
    """The blocks, each after the one it stands on; raises CycleError if that cannot be."""
    standing = {block: (place,) for block, place in places.items() if place in places}
    return TopologicalSorter({block: standing.get(block, ()) for block in places}).static_order()


def _initial(task: Task) -> dict[str, str]:
    """Return the place of each block in the initial state."""
    facts = InitialFacts(task)
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
        raise facts.unsuitable("'arm-empty' has to say whether the arm holds a block")
    taken = set(upon) | {block for block, place in places.items() if place == _HAND}
    for block in task.objects:
        if (block in clear) == (block in taken):
            raise facts.unsuitable(f"'clear' has to say whether something can be put on {block}")
    try:
        list(_bottom_up(places))
    except CycleError:
        raise facts.unsuitable("blocks stand on each other in a circle") from None
    return {block: places[block] for block in task.objects}


def _goal(task: Task) -> _Goal | None:
    """The goal, or None if no state of blocks is one."""
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
            return None
        if place != _TABLE and upon.setdefault(place, block) != block:
            return None
    if any(places.get(place) == _HAND for place in upon):
        return None  # nothing is on a block that is held, nor is it clear
    try:
        list(_bottom_up(places))
    except CycleError:
        return None
    return _Goal(places, upon)
