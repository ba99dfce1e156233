"""Run a policy on a task, action by action; however it ends, the outcome is a value."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from planlog.pddl.plan import Plan
from planlog.pddl.task import Action, State, Task
from planlog.policy.policy import Policy
from planlog.policy.walk import Walk


class Outcome(Enum):
    """How an execution ended; only SOLVED comes with a plan."""

    SOLVED = "solved"
    NO_ACTION = "no action derived"
    CYCLE = "cycle"
    STEP_LIMIT = "step limit"
    TIME_LIMIT = "time limit"
    MEMORY_LIMIT = "memory limit"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class PlanResult:
    """What an execution came to: the actions from the initial state on, a plan if it was solved."""

    outcome: Outcome
    actions: tuple[Action, ...]
    cost: float  # of the actions; their number if the task does not minimise total-cost
    unit_cost: bool
    steps: int  # actions applied, with those that were taken back
    goals_left: int | None  # in the last state; unknown if not even the first was evaluated
    seconds: float

    @property
    def solved(self) -> bool:
        """Whether the actions are a plan."""
        return self.outcome is Outcome.SOLVED

    @property
    def plan(self) -> Plan | None:
        """The plan; None unless the task was solved."""
        return Plan(self.actions, self.cost, self.unit_cost) if self.solved else None


# Called with the walk before each action is applied to it; for progress and traces.
Observer = Callable[[Walk, Action], None]


def execute(
    policy: Policy,
    task: Task,
    *,
    rng: np.random.Generator,
    start: State | None = None,
    max_steps: int | None = None,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    avoid_revisits: bool = False,
    observer: Observer | None = None,
) -> PlanResult:
    """Apply actions that the policy derives until the goal holds: the best one if the policy is a
    learned one, else one drawn uniformly. The first state is the initial one, or `start`.

    Without `avoid_revisits` states may be seen again, as a nondeterministic policy may need;
    a loop on which the policy derives but one action in every state can never be left and
    ends the execution with CYCLE.

    With `avoid_revisits` only actions that lead to states not seen before are taken; where
    there is none, the last action is taken back. This is a depth-first search of the states
    that the policy can reach: it finds the goal if they contain it, and otherwise ends with
    CYCLE (NO_ACTION if no derived action led to a state seen before).

    `max_steps` counts applied actions, `time_limit` is in seconds, `memory_limit` is the
    resident memory of the process in bytes. Ctrl-C (any KeyboardInterrupt) ends the execution
    with INTERRUPTED.
    """
    begin = time.monotonic()
    limits = _Limits(
        max_steps=sys.maxsize if max_steps is None else max_steps,
        deadline=None if time_limit is None else begin + time_limit,
        memory=memory_limit,
    )
    trace = _Trace()
    try:
        walk = policy.start(task, start, deadline=limits.deadline)
        trace.goals_left = walk.goals_left
        run = _search if avoid_revisits else _sample
        outcome = run(walk, rng, limits, trace, observer)
    except TimeoutError:
        outcome = Outcome.TIME_LIMIT
    except MemoryError:
        outcome = Outcome.MEMORY_LIMIT
    except KeyboardInterrupt:
        outcome = Outcome.INTERRUPTED
    return PlanResult(
        outcome=outcome,
        actions=tuple(trace.actions),
        cost=trace.costs[-1],
        unit_cost=not task.minimises_cost,
        steps=trace.steps,
        goals_left=trace.goals_left,
        seconds=time.monotonic() - begin,
    )


@dataclass
class _Trace:
    """The way so far, kept apart from the walk, which an interrupted step leaves undefined."""

    actions: list[Action] = field(default_factory=list)
    costs: list[float] = field(default_factory=lambda: [0.0])  # before each action, and the last
    steps: int = 0
    goals_left: int | None = None

    def push(self, action: Action, walk: Walk) -> None:
        self.actions.append(action)
        self.costs.append(walk.cost)
        self.goals_left = walk.goals_left

    def pop(self, walk: Walk) -> None:
        self.actions.pop()
        self.costs.pop()
        self.goals_left = walk.goals_left


# The memory is looked up this often (in seconds), since that costs a system call.
_MEMORY_INTERVAL = 0.02


@dataclass
class _Limits:
    """What the execution may use."""

    max_steps: int
    deadline: float | None
    memory: int | None
    _next_look: float = 0.0

    def reached(self, steps: int) -> Outcome | None:
        """The limit that forbids another step, if there is one."""
        if steps >= self.max_steps:
            return Outcome.STEP_LIMIT
        if self.deadline is None and self.memory is None:
            return None
        now = time.monotonic()
        if self.deadline is not None and now >= self.deadline:
            return Outcome.TIME_LIMIT
        if self.memory is not None and now >= self._next_look:
            self._next_look = now + _MEMORY_INTERVAL
            if resident_memory() > self.memory:
                return Outcome.MEMORY_LIMIT
        return None


def _sample(
    walk: Walk, rng: np.random.Generator, limits: _Limits, trace: _Trace, observer: Observer | None
) -> Outcome:
    """Draw actions until the goal, a dead end, a certain loop or a limit."""
    last_seen: dict[int, int] = {}  # state's fingerprint -> step
    last_choice = -1  # last step at which there was more than one action
    while not walk.is_goal:
        # If there was no choice since this state was last seen, everything since then
        # will come again, for ever.
        if last_seen.get(walk.fingerprint, -1) > last_choice:
            return Outcome.CYCLE
        last_seen[walk.fingerprint] = trace.steps
        if limit := limits.reached(trace.steps):
            return limit
        if walk.has_choice:
            last_choice = trace.steps
        action = walk.choose(rng)
        if action is None:
            return Outcome.NO_ACTION
        if observer:
            observer(walk, action)
        walk.apply(action)
        trace.steps += 1
        trace.push(action, walk)
    return Outcome.SOLVED


def _search(
    walk: Walk, rng: np.random.Generator, limits: _Limits, trace: _Trace, observer: Observer | None
) -> Outcome:
    """Depth-first search: draw among the actions that lead to states not seen before."""
    seen = {walk.fingerprint}
    revisited = False  # did any action lead to a state seen before?
    untried: list[list[Action] | None] = [None]  # for each state on the way; None: not yet listed
    while not walk.is_goal:
        if limit := limits.reached(trace.steps):
            return limit
        # Most first draws lead to a new state. The rest is listed only if one does not.
        actions = untried[-1]
        if actions is None:
            action = walk.choose(rng)
        else:
            action = actions.pop() if actions else None
        if action is None:
            untried.pop()
            if not untried:
                return Outcome.CYCLE if revisited else Outcome.NO_ACTION
            walk.undo()
            tried = trace.actions[-1]
            trace.pop(walk)
        else:
            if observer:
                observer(walk, action)
            walk.apply(action)
            trace.steps += 1
            if walk.fingerprint not in seen:
                seen.add(walk.fingerprint)
                trace.push(action, walk)
                untried.append(None)
                continue
            revisited = True
            walk.undo()
            tried = action
        if untried[-1] is None:
            untried[-1] = [other for other in reversed(walk.ranked(rng)) if other != tried]
    return Outcome.SOLVED


def resident_memory() -> int:
    """Bytes of memory this process holds (where the system tells only the peak: the peak)."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 (called often)
            return int(file.read().split()[1]) * resource.getpagesize()
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
