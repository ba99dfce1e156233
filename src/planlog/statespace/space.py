"""State spaces: breadth-first expansion of a task, with exact goal distances.

A goal distance is a cost if the task minimises `total-cost`, and a number of actions otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from planlog import _core
from planlog.costs import LARGEST, cost_text
from planlog.errors import CostOverflowError, MissingValueError
from planlog.parallel import CheckCancelled, map_in_order
from planlog.pddl.task import Action, State, Task
from planlog.policy.policy import Policy
from planlog.ragged import Ids, Mask, Segments
from planlog.statespace.graph import NOT_REACHED, Graph

DEFAULT_LIMIT = 10_000

# Special values of goal distances.
DEAD_END = -1
UNKNOWN = -2

# States of the first attempt to find the least cost of a start.
_FIRST_ATTEMPT = 64

# Number of states expanded between two progress reports and checks for signals.
_CHUNK = 500

# Called regularly with the number of states found (or evaluated) so far.
OnProgress = Callable[[int], None]


@dataclass(frozen=True)
class RuleCounts:
    """Firing counts of rules over non-goal states, in the order of the rule file."""

    states: npt.NDArray[np.int64]  # (rules,): states in which the rule fires
    derivations: npt.NDArray[np.int64]  # (rules,): its substitutions in all these states


@dataclass(frozen=True)
class StateSpace:
    """The states that a policy's actions reach, numbered breadth-first from the start, 0.

    The first `expanded` states have their transitions: those of state s are segment s, ordered by
    schema and arguments. The first `visited` states, at least the expanded ones, are known to be
    goals or not. The others were only seen.
    """

    task: Task
    core: _core.StateSpace
    depths: Ids  # (states,): least number of actions from the start
    visited: int
    goal: Mask  # (states,): whether it is a goal; False for states that were only seen
    segments: Segments
    successors: Ids  # (transitions,)
    actions: Ids  # (transitions,): see `action`
    costs: npt.NDArray[np.int64] | None  # (transitions,): in cost units; None if each costs 1
    rules: RuleCounts  # of the policy, over the expanded non-goal states

    def __len__(self) -> int:
        return len(self.depths)

    def __repr__(self) -> str:
        seen = "" if self.complete else f", {self.expanded} expanded"
        return f"StateSpace({self.task.name!r}, {len(self)} states{seen})"

    @property
    def expanded(self) -> int:
        return len(self.segments)

    @property
    def complete(self) -> bool:
        """Whether all reachable states are expanded."""
        return self.expanded == len(self)

    def state(self, number: int) -> State:
        """Return a state by its number."""
        bits = np.unpackbits(self.core.bits[number].view(np.uint8), bitorder="little")
        return State(self.task, np.sort(self._atoms[np.flatnonzero(bits)]))

    @cached_property
    def _atoms(self) -> Ids:
        # The core interns all atoms of the space for each call.
        return self.core.atoms

    def action(self, number: int) -> Action:
        """Return a ground action by its number in `actions`."""
        return self.task.decode(*self.core.action(number))

    def action_of(self, transition: SupportsIndex) -> Action:
        """Return the action of a transition."""
        return self.action(int(self.actions[transition]))

    def transitions(self, state: int) -> range:
        """Return the numbers of a state's transitions; none if the state is not expanded."""
        entries = self.segments[state] if state < self.expanded else slice(0, 0)
        return range(entries.start, entries.stop)

    @cached_property
    def graph(self) -> Graph:
        """The graph of states and transitions."""
        return Graph.of(len(self), self.segments, self.successors)

    @cached_property
    def goal_distances(self) -> npt.NDArray[np.signedinteger[Any]]:
        """The least cost of a plan from each state (h*), in cost units: (states,).

        If the task does not minimise cost, this is the least number of actions to a goal.
        DEAD_END marks states from which no goal is reachable. In an incomplete space, UNKNOWN
        marks states whose distance or optimal actions the explored part does not determine; all
        other values are exact. Raises CostOverflowError if a distance is too large.
        """
        return self._least_numbers() if self.costs is None else self._least_costs(self.costs)

    def _least_numbers(self) -> npt.NDArray[np.int32]:
        """Return the goal distances if every action costs 1."""
        backwards = self.graph.reverse
        distances = backwards.distances(np.flatnonzero(self.goal))
        if self.complete:
            distances[distances == NOT_REACHED] = DEAD_END
            return distances
        # Up to this depth all goals and all transitions to its states are known. So a path to a
        # goal within it is known together with all others of the same length. All paths are known
        # from a state that never leads to an unexpanded one.
        horizon = int(self.depths[self.expanded])
        if self.visited < len(self):
            horizon = min(horizon, int(self.depths[self.visited]) - 1)
        is_near = (distances >= 0) & (self.depths.astype(np.int64) + distances <= horizon)
        outside = np.arange(self.expanded, len(self), dtype=np.uint32)
        leads_outside = backwards.distances(outside) != NOT_REACHED
        distances[distances == NOT_REACHED] = DEAD_END
        distances[leads_outside & ~is_near & ~self.goal] = UNKNOWN
        return distances

    def _least_costs(self, costs: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the goal distances if actions have these costs."""
        backwards = self.graph.reverse

        def least(sources: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
            try:
                return backwards.least_costs(costs, sources)
            except OverflowError:
                largest = cost_text(self.task.decode_cost(LARGEST))
                raise CostOverflowError(
                    f"task '{self.task.name}': a plan from some state costs more than {largest}, "
                    "the largest cost that Planlog can represent for this task"
                ) from None

        distances = least(np.flatnonzero(self.goal))
        if self.complete:
            distances[distances == NOT_REACHED] = DEAD_END
            return distances
        # The unexpanded states that are not known to be goals. At a goal a plan ends.
        to_border = least(self.expanded + np.flatnonzero(~self.goal[self.expanded :]))
        # The argument about depths does not hold here: a plan may have more actions and cost less.
        # But a plan that meets the border costs at least as much as the way there, since no cost is
        # negative. So if `distances` is less than `to_border`, all plans of least cost stay inside
        # the explored part. This then holds for each state on them, too: a step lowers `distances`
        # by its cost, and `to_border` by no more. If the two are equal, some plan beyond the border
        # may cost as much, and its first action may be another one.
        is_open = (to_border != NOT_REACHED) & ~self.goal
        is_exact = (distances != NOT_REACHED) & (distances < to_border)
        distances[distances == NOT_REACHED] = DEAD_END
        distances[is_open & ~is_exact] = UNKNOWN
        return distances

    @property
    def solvable(self) -> Mask:
        """Whether each state is a non-goal state with a known goal distance: (states,)."""
        solvable: Mask = (self.goal_distances >= 0) & ~self.goal
        return solvable

    @cached_property
    def cheapest(self) -> Mask:
        """Whether each transition begins a plan of least cost: (transitions,).

        Known for transitions from states whose goal distance is known.
        """
        before = self.goal_distances[self.graph.sources]
        after = self.goal_distances[self.successors]
        cheapest: Mask = (after >= 0) & (
            before - after == (1 if self.costs is None else self.costs)
        )
        return cheapest

    @cached_property
    def optimal(self) -> Mask:
        """Whether each transition begins a shortest plan of least cost: (transitions,).

        Known for transitions from states whose goal distance is known.
        """
        if self.costs is None:
            return self.cheapest
        # A plan has the least cost if and only if all its transitions are `cheapest`. Those that
        # cost nothing may form cycles, but no shortest way to a goal goes round one.
        ways = self.graph.keep(self.cheapest)
        actions = ways.reverse.distances(np.flatnonzero(self.goal))
        optimal: Mask = self.cheapest & (
            actions[self.successors] == actions[self.graph.sources] - 1
        )
        return optimal


def expand(
    task: Task,
    policy: Policy | None = None,
    *,
    start: State | None = None,
    limit: int = DEFAULT_LIMIT,
    stop_at_goal: bool = False,
    on_progress: OnProgress | None = None,
) -> StateSpace:
    """Expand the state space of a task breadth-first, up to `limit` states.

    The space starts at the initial state or at `start`. Without a policy it contains all reachable
    states. With one it contains the states that the policy's actions reach; goal states are not
    expanded, since an execution ends there. `stop_at_goal` stops when the goal distance and the
    optimal actions of the start are known: at the depth of the nearest goal or, if the task
    minimises cost, at a size that is doubled until it is enough.

    Raises MissingValueError if the task does not give the cost of an action.
    """
    if stop_at_goal and task.minimises_cost:
        size = min(_FIRST_ATTEMPT, limit)
        while True:
            space = expand(task, policy, start=start, limit=size, on_progress=on_progress)
            if size == limit or space.goal_distances[0] != UNKNOWN:
                return space
            size = min(2 * size, limit)
    through_goals = policy is None
    policy = policy or Policy.applicable(task.domain)
    policy.check_task(task)
    atoms = task.ids(task.initial if start is None else start)
    core = _core.StateSpace(task.core, policy.core, atoms, limit, through_goals, stop_at_goal)
    try:
        while core.advance(_CHUNK):
            if on_progress:
                on_progress(len(core))
    except _core.MissingValue as error:
        raise MissingValueError(f"task '{task.name}': an action has no cost: {error}") from None
    except _core.CostOverflow:
        raise CostOverflowError(f"task '{task.name}': the cost of an action is too large") from None
    return StateSpace(
        task=task,
        core=core,
        depths=core.depths,
        visited=core.visited,
        goal=core.goals.view(np.bool_),
        segments=Segments(core.offsets),
        successors=core.successors,
        actions=core.actions,
        costs=core.costs if task.minimises_cost else None,
        rules=_rule_counts(policy, core.rules),
    )


def expand_all(
    tasks: Iterable[Task],
    policy: Policy | None = None,
    *,
    limit: int = DEFAULT_LIMIT,
    workers: int | None = None,
    on_progress: OnProgress | None = None,
) -> Generator[StateSpace, None, None]:
    """Yield the state spaces of many tasks in their order, expanded by `workers` threads.

    By default there is one thread for each processor. Tasks are read only as far ahead as the
    threads need.
    """
    total = 0

    def run(task: Task, check_cancelled: CheckCancelled) -> StateSpace:
        return expand(task, policy, limit=limit, on_progress=lambda _: check_cancelled())

    for space in map_in_order(run, tasks, workers):
        total += len(space)
        if on_progress:
            on_progress(total)
        yield space


@dataclass(frozen=True)
class Derived:
    """Actions that a policy derives in the states of a space; it is not evaluated in goals."""

    mask: Mask  # (transitions,): whether the policy derives the action; False in goal states
    rules: RuleCounts
    dead: Mask  # (states,): whether the rules call the state dead; False in goal states


def derive(space: StateSpace, policy: Policy, *, on_progress: OnProgress | None = None) -> Derived:
    """Evaluate a policy in all expanded non-goal states of a space.

    An action that leads to a dead state counts only where all derived actions do, as in executions.
    """
    policy.check_task(space.task)
    core = _core.Derivation(space.core, policy.core, policy.dead_relation(policy.core))
    done = 0
    while core.advance(_CHUNK):
        done += _CHUNK
        if on_progress:
            on_progress(done)
    dead = core.is_dead.view(np.bool_)
    mask = _without_dead(space.graph, core.derived.view(np.bool_), dead)
    return Derived(mask, _rule_counts(policy, core.rules), dead)


def _without_dead(graph: Graph, derived: Mask, dead: Mask) -> Mask:
    if not dead.any():
        return derived
    alive: Mask = derived & ~dead[graph.targets]
    has_alive = np.zeros(len(dead), dtype=bool)
    has_alive[graph.sources[alive]] = True
    kept: Mask = derived & (alive | ~has_alive[graph.sources])
    return kept


def _rule_counts(policy: Policy, counts: tuple[list[int], list[int]]) -> RuleCounts:
    """Select the counts of the rule file's rules from those of all rules of the core."""
    numbers = list(policy.rule_numbers)
    found = np.array(counts, dtype=np.int64)  # (2, rules); no rules if no state was evaluated
    return RuleCounts(*(found[:, numbers] if found.size else np.zeros((2, len(numbers)), int)))
