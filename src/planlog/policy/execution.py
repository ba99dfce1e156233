"""Executions: run a policy on a task, action by action, to an outcome."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from planlog._core import resident_memory
from planlog.costs import Cost, cost_text
from planlog.pddl.plan import Plan
from planlog.pddl.task import Action, EncodedAction, State, Task, counted
from planlog.policy.policy import Policy
from planlog.policy.walk import Walk


class Outcome(Enum):
    """End of an execution; only SOLVED has a plan.

    >>> execute(policy, task, max_steps=1).outcome
    <Outcome.STEP_LIMIT: 'step limit'>
    """

    SOLVED = "solved"
    NO_ACTION = "no action derived"
    NO_PLAN = "no plan inside the rules"
    CYCLE = "cycle"
    STEP_LIMIT = "step limit"
    TIME_LIMIT = "time limit"
    MEMORY_LIMIT = "memory limit"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class PlanResult:
    """The result of an execution: the actions from the initial state on, a plan if it is solved.

    >>> execute(policy, task, max_steps=1).actions
    (Action(name='go', arguments=('a', 'b')),)
    """

    outcome: Outcome
    actions: tuple[Action, ...]
    cost: Cost  # of the actions; their number if the task does not minimise total-cost
    unit_cost: bool
    steps: int  # applied actions, with those undone
    goals_left: int | None  # in the last state; None if no state was evaluated
    seconds: float
    searched_states: int | None = None  # of a search inside the rules, if there was one

    @property
    def solved(self) -> bool:
        """Whether the actions are a plan."""
        return self.outcome is Outcome.SOLVED

    @property
    def plan(self) -> Plan | None:
        """The plan; None unless the task is solved."""
        return Plan(self.actions, self.cost, self.unit_cost) if self.solved else None

    def __repr__(self) -> str:
        steps = counted(len(self.actions), "action")
        cost = cost_text(self.cost)
        return f"PlanResult({self.outcome.value}, {steps}, cost {cost}, {self.seconds:.2f} s)"


# Called with the walk before each action is applied to it; for progress and traces.
Observer = Callable[[Walk, Action], None]


def execute(
    policy: Policy,
    task: Task,
    *,
    rng: np.random.Generator | None = None,
    start: State | None = None,
    max_steps: int | None = None,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    avoid_revisits: bool = False,
    patience: int | None = None,
    observer: Observer | None = None,
) -> PlanResult:
    """Apply derived actions from the initial state, or from `start`, until the goal holds.

    A policy with a scorer applies its best action; otherwise the action is sampled uniformly with
    `rng` (by default, a generator with seed 0).

    Without `avoid_revisits`, states may recur, as a nondeterministic policy may need. The execution
    ends with CYCLE when a state recurs and no state since then offered a choice, or after
    `patience` steps that led to no new state. Where the rules define `dead`, an action that leads
    to a dead state is taken only if all derived actions do.

    With `avoid_revisits` the execution is a depth-first search in the states that the policy
    reaches: it takes only actions that lead to new states, and undoes the last action if there is
    none. It ends with CYCLE if no goal is reachable (NO_ACTION if no action led to a known state).

    `max_steps` counts applied actions, `time_limit` is in seconds, `memory_limit` is the resident
    memory of the process in bytes. Ctrl-C (KeyboardInterrupt) ends the execution with INTERRUPTED.
    Raises RuleError if the rules name an object that the task lacks, MissingValueError if the task
    does not give the cost of an action, CostOverflowError if the cost becomes too large.

    >>> execute(policy, task).plan.actions
    (Action(name='go', arguments=('a', 'b')), Action(name='go', arguments=('b', 'c')))
    """
    begin = time.monotonic()
    execution = _Execution(
        rng=rng or np.random.default_rng(0),
        observer=observer,
        max_steps=sys.maxsize if max_steps is None else max_steps,
        patience=sys.maxsize if patience is None else patience,
        deadline=None if time_limit is None else begin + time_limit,
        memory=memory_limit,
    )
    try:
        walk = policy.start(task, start, deadline=execution.deadline)
        execution.goals_left = walk.goals_left
        outcome = (execution.search if avoid_revisits else execution.follow)(walk)
    except TimeoutError:
        outcome = Outcome.TIME_LIMIT
    except MemoryError:
        outcome = Outcome.MEMORY_LIMIT
    except KeyboardInterrupt:
        # The interrupt may arrive after the last action: it must not lose the plan.
        outcome = Outcome.SOLVED if execution.goals_left == 0 else Outcome.INTERRUPTED

    def result() -> PlanResult:
        return PlanResult(
            outcome=outcome,
            actions=tuple([task.decode(*action) for action in execution.actions]),
            cost=task.decode_cost(execution.costs[-1]),
            unit_cost=not task.minimises_cost,
            steps=execution.steps,
            goals_left=execution.goals_left,
            seconds=time.monotonic() - begin,
        )

    try:
        return result()
    except KeyboardInterrupt:
        return result()


# Interval of memory checks in seconds, since a check is a system call.
_MEMORY_INTERVAL = 0.02


@dataclass
class _Execution:
    """A running execution: its limits, and its trace so far.

    The trace is apart from the walk, which an interrupted step leaves undefined.
    """

    rng: np.random.Generator
    observer: Observer | None
    max_steps: int
    patience: int
    deadline: float | None
    memory: int | None
    next_memory_check: float = 0.0
    actions: list[EncodedAction] = field(default_factory=list)
    # Before each action, and at the end; in units of the task.
    costs: list[int] = field(default_factory=lambda: [0])
    steps: int = 0
    goals_left: int | None = None

    def follow(self, walk: Walk) -> Outcome:
        """Follow the policy until the goal, a dead end, an inescapable cycle or a limit."""
        last_seen: dict[int, int] = {}  # fingerprint of a state -> step
        last_choice = -1  # last step with more than one action
        last_new = 0  # last step that led to a new state
        while not walk.is_goal:
            # Without a choice since this state was last seen, everything since then would recur.
            if last_seen.get(walk.fingerprint, -1) > last_choice:
                return Outcome.CYCLE
            if walk.fingerprint not in last_seen:
                last_new = self.steps
            elif self.steps - last_new > self.patience:
                return Outcome.CYCLE
            last_seen[walk.fingerprint] = self.steps
            if limit := self.limit():
                return limit
            if walk.has_choice:
                last_choice = self.steps
            action = walk.choose_encoded(self.rng)
            if action is None:
                return Outcome.NO_ACTION
            self.apply(action, walk)
            if walk.is_dead:
                action = self.avoid_dead(action, walk)
            self.push(action, walk)
        return Outcome.SOLVED

    def avoid_dead(self, action: EncodedAction, walk: Walk) -> EncodedAction:
        """Take another action than one that has led to a dead state, if there is a better one."""
        walk.undo()
        for other in walk.task.encode(walk.ranked(self.rng)):
            walk.apply_encoded(other)
            if not walk.is_dead:
                return other
            walk.undo()
        walk.apply_encoded(action)
        return action

    def search(self, walk: Walk) -> Outcome:
        """Search depth-first: choose among the actions that lead to new states."""
        seen = {walk.fingerprint}
        revisited = False  # did any action lead to a known state?
        untried: list[list[EncodedAction] | None] = [None]  # of each state of the trace
        while not walk.is_goal:
            if limit := self.limit():
                return limit
            # Most first choices lead to a new state. The others are listed only if one does not.
            actions = untried[-1]
            if actions is None:
                action = walk.choose_encoded(self.rng)
            else:
                action = actions.pop() if actions else None
            if action is None:
                untried.pop()
                if not untried:
                    return Outcome.CYCLE if revisited else Outcome.NO_ACTION
                walk.undo()
                tried = self.pop(walk)
            else:
                self.apply(action, walk)
                if walk.fingerprint not in seen:
                    seen.add(walk.fingerprint)
                    self.push(action, walk)
                    untried.append(None)
                    continue
                revisited = True
                walk.undo()
                tried = action
            if untried[-1] is None:
                ranked = walk.task.encode(reversed(walk.ranked(self.rng)))
                untried[-1] = [other for other in ranked if other != tried]
        return Outcome.SOLVED

    def limit(self) -> Outcome | None:
        """Return the limit that forbids another step, if there is one."""
        if self.steps >= self.max_steps:
            return Outcome.STEP_LIMIT
        if self.deadline is None and self.memory is None:
            return None
        now = time.monotonic()
        if self.deadline is not None and now >= self.deadline:
            return Outcome.TIME_LIMIT
        if self.memory is not None and now >= self.next_memory_check:
            self.next_memory_check = now + _MEMORY_INTERVAL
            if resident_memory() > self.memory:
                return Outcome.MEMORY_LIMIT
        return None

    def apply(self, action: EncodedAction, walk: Walk) -> None:
        if self.observer:
            self.observer(walk, walk.task.decode(*action))
        walk.apply_encoded(action)
        self.steps += 1

    def push(self, action: EncodedAction, walk: Walk) -> None:
        self.actions.append(action)
        self.costs.append(walk.core.cost)
        self.goals_left = walk.goals_left

    def pop(self, walk: Walk) -> EncodedAction:
        self.costs.pop()
        self.goals_left = walk.goals_left
        return self.actions.pop()
