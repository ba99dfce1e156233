"""A walk through the states of a task, with the actions that a policy derives in each."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from planlog import _core
from planlog.errors import InapplicableError, MissingValueError
from planlog.pddl.task import Action, State, Task
from planlog.policy.derivations import Derivations

if TYPE_CHECKING:
    from planlog.policy.policy import Policy


class Walk:
    """A walk through the states of a task: the policy's answer is updated with every action."""

    def __init__(self, policy: Policy, task: Task, core: _core.Walk | None = None) -> None:
        self.policy = policy
        self.task = task
        self.core = core or _core.Walk(task.core, policy.core)

    def restart(self, state: State) -> None:
        """Begin again at a state, evaluated from scratch."""
        self.core.start(self.task.ids(state))

    def set_deadline(self, deadline: float | None) -> None:
        """When (by `time.monotonic`) evaluation is to stop with TimeoutError."""
        self.core.set_deadline(None if deadline is None else deadline - time.monotonic())

    def apply(self, action: Action | str) -> None:
        """Apply an action, which may be given as text such as `(up f1 f2)`.

        Raises UnknownNameError if there is no such action or object, InapplicableError if its
        precondition does not hold here, and MissingValueError if the task does not give its cost.
        The walk then stays where it is.
        """
        ((schema, arguments),) = self.task.encode((action,))
        try:
            applied = self.core.apply(schema, arguments)
        except _core.MissingValue as error:
            raise MissingValueError(f"{action} has no cost: {error}") from None
        if not applied:
            raise InapplicableError(f"{action} is not applicable here")

    def undo(self) -> None:
        """Take the last action back."""
        self.core.undo()

    def copy(self) -> Walk:
        """An independent walk at the same place, with the same way to undo."""
        return Walk(self.policy, self.task, self.core.copy())

    def actions(self) -> list[Action]:
        """The derived actions, by schema and then by object."""
        return [self.task.decode(*described) for described in self.core.actions()]

    def sample(self, rng: np.random.Generator) -> Action | None:
        """One of the derived actions, each as likely as any other; None if there are none."""
        described = self.core.sample(rng.bit_generator.random_raw())
        return None if described is None else self.task.decode(*described)

    def choose(self, rng: np.random.Generator) -> Action | None:
        """The action that an execution takes here; None if there is none."""
        return self.sample(rng)

    def ranked(self, rng: np.random.Generator) -> list[Action]:
        """All derived actions, in the order in which a search should try them."""
        actions = self.actions()
        return [actions[i] for i in rng.permutation(len(actions))]

    def scores(self) -> dict[Action, float]:
        """Of derived actions, if the policy has any."""
        return {}

    @property
    def has_choice(self) -> bool:
        """Whether another action could be chosen here another time."""
        return self.action_count > 1

    def explain(self) -> list[tuple[str, Action]]:
        """Each derived action with each rule that derives it, as text."""
        names = self.policy.rule_texts()
        return [
            (names.get(rule, "applicable"), self.task.decode(schema, arguments))
            for schema, arguments in self.core.actions()
            for rule in self.core.rules_of(schema, list(arguments))
        ]

    def derivations(self) -> Derivations:
        """The model of the present state as arrays."""
        return self.policy.as_derivations(self.core.snapshot())

    @property
    def action_count(self) -> int:
        return self.core.action_count

    @property
    def steps(self) -> int:
        return self.core.steps

    @property
    def cost(self) -> float:
        """Of the steps; their number if the task does not minimise total-cost."""
        return self.core.cost

    @property
    def goals_left(self) -> int:
        """How many literals of the goal do not hold."""
        return self.core.goals_left

    @property
    def goals_hold(self) -> tuple[bool, ...]:
        """Whether each of the task's `goals` holds."""
        return tuple(self.core.goals_hold)

    @property
    def is_goal(self) -> bool:
        return self.core.goals_left == 0

    @property
    def state(self) -> State:
        return State(self.task, self.core.state())

    @property
    def fingerprint(self) -> int:
        """128 bits that equal states share and different ones, for all practical purposes, not."""
        return self.core.fingerprint
