"""A walk through the states of a task, with the actions that a policy derives in each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from planlog import _core
from planlog.costs import LARGEST, Cost, cost_text
from planlog.errors import CostOverflowError, InapplicableError, MissingValueError
from planlog.pddl.task import Action, EncodedAction, State, Task, counted
from planlog.policy.derivations import Derivations

if TYPE_CHECKING:
    from planlog.policy.policy import Policy

# Derived actions of a state, from which on messages suggest to choose among them.
MANY_ACTIONS = 1000


class Walk:
    """A walk through the states of a task; `Policy.start` begins one.

    The derived actions, and their scores if the policy has a scorer, are updated with every action
    that is applied or undone.

    >>> walk = policy.start(task)
    >>> walk.actions()
    [Action(name='go', arguments=('a', 'b'))]
    >>> walk.apply("(go a b)")
    >>> walk.state
    State((at b) (seen b))
    >>> walk.undo()
    """

    def __init__(self, policy: Policy, task: Task, core: _core.Walk | None = None) -> None:
        self.policy = policy
        self.task = task
        self.core = core or _core.Walk(task.core, *policy.chooser)
        self._dead = policy.dead_relation(policy.chooser[0])

    def restart(self, state: State) -> None:
        """Begin again at a state, evaluated from scratch."""
        self.core.start(self.task.ids(state))

    def apply(self, action: Action | str) -> None:
        """Apply an action, which may be given as text such as `(up f1 f2)`.

        Raises UnknownNameError if there is no such action or object, InapplicableError if its
        precondition does not hold here, MissingValueError if the task does not give its cost, and
        CostOverflowError if the cost of all steps becomes too large. The walk then stays where it
        is.
        """
        (encoded,) = self.task.encode((action,))
        self.apply_encoded(encoded)

    def apply_encoded(self, action: EncodedAction) -> None:
        """Apply an action that is encoded, as `choose_encoded` returns it."""
        try:
            applied = self.core.apply(*action)
        except _core.MissingValue as error:
            raise MissingValueError(f"{self.task.decode(*action)} has no cost: {error}") from None
        except _core.CostOverflow:
            reached, largest = cost_text(self.cost), cost_text(self.task.decode_cost(LARGEST))
            raise CostOverflowError(
                f"{self.task.decode(*action)}, after actions of cost {reached}, makes the cost "
                f"larger than {largest}, the largest that Planlog can represent for this task"
            ) from None
        if not applied:
            raise InapplicableError(f"{self.task.decode(*action)} is not applicable here")

    def undo(self) -> None:
        """Undo the last action."""
        self.core.undo()

    def copy(self) -> Walk:
        """Return an independent walk at the same state, with the same actions to undo."""
        return Walk(self.policy, self.task, self.core.copy())

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, object]) -> Walk:
        return self.copy()

    def actions(self) -> list[Action]:
        """Return the derived actions, ordered by schema and objects."""
        return [self.task.decode(*encoded) for encoded in self.core.actions()]

    def query(self, body: str) -> list[dict[str, str | int]]:
        """Return the substitutions under which the body of a rule holds here, as `Policy.query`.

        >>> policy.start(task).query("at(X), edge(X, Y)")
        [{'X': 'a', 'Y': 'b'}]
        """
        return self.policy.query(self.task, self.state, body)

    def sample(self, rng: np.random.Generator) -> Action | None:
        """Return a derived action, sampled uniformly; None if there is none."""
        encoded = self.core.sample(rng.bit_generator.random_raw())
        return None if encoded is None else self.task.decode(*encoded)

    def choose(self, rng: np.random.Generator | None = None) -> Action | None:
        """Return the action that an execution applies here; None if there is none.

        It is the action with the highest score (of equal ones the first by name). If the scorer has
        a temperature, or if there is no scorer, the action is sampled, which needs `rng`.
        """
        encoded = self.choose_encoded(rng)
        return None if encoded is None else self.task.decode(*encoded)

    def choose_encoded(self, rng: np.random.Generator | None = None) -> EncodedAction | None:
        """Return what `choose` returns, without its names."""
        scorer = self.policy.scorer
        if scorer is not None and scorer.temperature is None:
            return self.core.best(None, 0)
        if rng is None:
            raise ValueError("this policy samples its actions: give a random generator")
        key = rng.bit_generator.random_raw()
        return self.core.sample(key) if scorer is None else self.core.best(scorer.temperature, key)

    def ranked(self, rng: np.random.Generator) -> list[Action]:
        """Return the derived actions, best first; in random order without a scorer."""
        if self.policy.scorer is None:
            actions = self.actions()
            return [actions[i] for i in rng.permutation(len(actions))]
        scores = self.scores()
        return sorted(scores, key=lambda action: (-scores[action], action))

    def scores(self) -> dict[Action, float]:
        """Return the derived actions with their scores; nothing without a scorer."""
        if self.policy.scorer is None:
            return {}
        return {self.task.decode(*encoded): score for encoded, score in self.core.scores()}

    @property
    def has_choice(self) -> bool:
        """Whether an execution could choose another action here another time."""
        scorer = self.policy.scorer
        samples = scorer is None or scorer.temperature is not None
        return samples and self.action_count > 1

    def explain(self) -> list[tuple[str, Action]]:
        """Return each derived action with each rule that derives it, as text."""
        names = self.policy.rule_texts()
        return [
            (names.get(rule, "applicable"), self.task.decode(schema, arguments))
            for schema, arguments in self.core.actions()
            for rule in self.core.rules_of(schema, arguments)
        ]

    def rule_counts(self) -> dict[str, int]:
        """Return the text of each rule for an action with the number of its derivations."""
        names = self.policy.rule_texts()
        rules = self.policy.program.rules if self.policy.program else ()
        actions = (rule.is_policy_rule for rule in rules)
        pairs = zip(names.items(), actions, strict=False)
        counts: dict[str, int] = {}
        for (number, text), is_policy_rule in pairs:
            if is_policy_rule:
                counts[text] = counts.get(text, 0) + self.core.derivation_count(number)
        return counts or {"applicable": self.action_count}

    def derivations(self) -> Derivations:
        """Return the canonical model of the state under the rules, with all derivations."""
        if self.policy.scorer is None:
            return Derivations.of_arrays(
                self.policy.core, self.core.snapshot(), self.core.numbers()
            )
        return self.policy.derivations(self.task, [self.state])

    @property
    def action_count(self) -> int:
        """Number of derived actions."""
        return self.core.action_count

    @property
    def steps(self) -> int:
        """Number of actions applied since the start, without those undone."""
        return self.core.steps

    @property
    def cost(self) -> Cost:
        """Cost of the steps; their number if the task does not minimise total-cost."""
        return self.task.decode_cost(self.core.cost)

    @property
    def goals_left(self) -> int:
        """Number of literals of the goal that do not hold."""
        return self.core.goals_left

    @property
    def goals_hold(self) -> tuple[bool, ...]:
        """Whether each of the task's `goals` holds."""
        return tuple(self.core.goals_hold)

    @property
    def is_goal(self) -> bool:
        """Whether the goal holds."""
        return self.core.goals_left == 0

    @property
    def is_dead(self) -> bool:
        """Whether the rules call the state a dead end, by the predicate `dead`."""
        return self._dead is not None and self.core.holds(self._dead)

    @property
    def state(self) -> State:
        """The current state."""
        return State(self.task, self.core.state())

    @property
    def fingerprint(self) -> int:
        """A 128-bit hash of the state."""
        return self.core.fingerprint

    def __repr__(self) -> str:
        place = f"{counted(self.steps, 'step')}, {counted(self.goals_left, 'goal')} left"
        return f"Walk({self.task.name!r}, {place}, {counted(self.action_count, 'action')} derived)"
