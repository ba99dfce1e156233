"""Results of a check as plain values: verdicts, counterexamples, rule coverage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
import numpy.typing as npt

from planlog.costs import Cost
from planlog.pddl.plan import Plan
from planlog.pddl.task import Action, State, Task
from planlog.policy.walk import MANY_ACTIONS


class Property(Enum):
    """A property of a policy on a task; executions end in the first goal state they reach."""

    GOAL_ACHIEVING = 1  # from every state that the policy reaches, it can reach a goal
    CYCLE_FREE = 2  # no execution visits a state twice
    OPTIMALITY_PRESERVING = 3  # every solvable state has a plan of least cost by derived actions

    @property
    def title(self) -> str:
        return self.name.lower().replace("_", " ")


class Verdict(Enum):
    """Verdict on a statement: certain for the task if proved or refuted, open if undecided."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"

    @classmethod
    def all_of(cls, verdicts: Iterable[Verdict]) -> Verdict:
        """Return the verdict on the conjunction of statements.

        >>> Verdict.all_of([Verdict.PROVED, Verdict.UNDECIDED]).value
        'undecided'
        """
        found = set(verdicts)
        for verdict in (cls.REFUTED, cls.UNDECIDED):
            if verdict in found:
                return verdict
        return cls.PROVED


class Scope(Enum):
    """Set of states that a verdict or a count refers to."""

    WHOLE = "the whole state space"
    REACHED = "all states the policy reaches"
    PART_OF_WHOLE = "part of the state space"
    PART_OF_REACHED = "part of the states the policy reaches"
    WALKS = "random walks"


class Reason(Enum):
    """Reason why a property fails in the state of a counterexample."""

    NO_ACTION = "no action is derived here"
    TRAP = "no goal can be reached from here under the policy"
    CYCLE = "the policy leads back to this state"
    LOST_OPTIMUM = "no derived action is optimal here"
    # All derived actions that begin a plan of least cost stay in a cycle that costs nothing.
    FREE_CYCLE = "at the least cost, the policy only goes round a cycle"


@dataclass(frozen=True)
class Fraction:
    """A number of states out of a total.

    >>> (Fraction(1, 3) + Fraction(2, 9)).percent
    25.0
    """

    number: int
    of: int

    @classmethod
    def of_mask(cls, mask: npt.NDArray[np.bool_], total: npt.NDArray[np.bool_]) -> Fraction:
        """Return the fraction of the states in `total` (states,) that are in `mask` (states,)."""
        return cls(int((mask & total).sum()), int(total.sum()))

    @classmethod
    def sum(cls, fractions: Iterable[Fraction]) -> Fraction:
        return sum(fractions, cls(0, 0))

    @property
    def percent(self) -> float:
        """Percentage; 0 if the total is 0."""
        return 100 * self.number / self.of if self.of else 0.0

    def __add__(self, other: Fraction) -> Fraction:
        return Fraction(self.number + other.number, self.of + other.of)


@dataclass(frozen=True)
class GoalStatus:
    """A conjunct of the goal, and whether it holds."""

    goal: str
    holds: bool


@dataclass(frozen=True)
class Counterexample:
    """A state in which a property fails, with the trace that leads to it.

    `plan` has the trace and then the cycle or the ending: `planlog validate --prefix` replays it.
    """

    reason: Reason
    trace: tuple[Action, ...]  # from the initial state to the state of the counterexample
    under_policy: bool  # whether the policy derives all actions of the trace
    shortest: bool  # no shorter trace (under the policy, if this one is) leads to the state
    state: State
    goals: tuple[GoalStatus, ...]
    distance: Cost | None  # goal distance; None in a dead end or if unknown
    dead_end: bool | None  # None if unknown
    derived: tuple[Action, ...]
    derived_by_rule: Mapping[str, tuple[Action, ...]]  # text of the rule -> actions it derives
    optimal: tuple[Action, ...] | None  # empty in a dead end; None if unknown
    cycle: tuple[Action, ...]  # from the state back to it; empty unless a cycle is the reason
    # Derived actions from the state to one without derived actions; None if the policy reaches
    # no such state or none is known.
    ending: tuple[Action, ...] | None
    plan: Plan


@dataclass(frozen=True)
class Finding:
    """Verdict on one property, its scope, and a counterexample if the property is refuted."""

    property: Property
    verdict: Verdict
    scope: Scope  # for PROVED, all states that matter
    states: int  # number of states in the scope
    # Failing states out of those in which the property can be decided; for optimality, solvable
    # non-goal states, which fail if the optimum is lost in them. A lower bound if the scope is a
    # part; None for random walks.
    failing: Fraction | None
    # The same for the states that the policy reaches; for optimality only, None if unknown.
    failing_reached: Fraction | None
    counterexample: Counterexample | None


@dataclass(frozen=True)
class Fond:
    """The policy as a solution of a FOND planning task (Cimatti et al. 2003)."""

    weak: Verdict  # some execution reaches a goal
    strong_cyclic: Verdict  # goal achieving
    strong: Verdict  # goal achieving and cycle-free

    def __add__(self, other: Fond) -> Fond:
        return Fond(
            Verdict.all_of((self.weak, other.weak)),
            Verdict.all_of((self.strong_cyclic, other.strong_cyclic)),
            Verdict.all_of((self.strong, other.strong)),
        )


@dataclass(frozen=True)
class RuleCount:
    """Firing counts of a rule over non-goal states."""

    rule: str
    line: int
    derives_action: bool
    states: int  # in which the rule fires
    derivations: int  # over all these states; those of a static rule count once

    def __add__(self, other: RuleCount) -> RuleCount:
        states, derivations = self.states + other.states, self.derivations + other.derivations
        return replace(self, states=states, derivations=derivations)


@dataclass(frozen=True)
class RuleReport:
    """Firing counts of all rules, and the choices between derived actions that they leave."""

    scope: Scope | None  # None if tasks differ in it
    states: int  # non-goal states, in which the rules were evaluated
    rules: tuple[RuleCount, ...]  # in the order of the file; empty for all applicable actions
    actions: int  # derived in live states: the `states` that are not known to be dead ends
    choice: Fraction  # live states with more than one derived action
    mixed: Fraction | None  # states with optimal and other derived actions, if optima are known

    @property
    def crowded(self) -> tuple[RuleCount, ...]:
        """The rules that derive very many actions in a state."""
        return tuple(
            rule
            for rule in self.rules
            if rule.derives_action and rule.derivations > MANY_ACTIONS * rule.states
        )

    @property
    def never_fired(self) -> tuple[RuleCount, ...]:
        return tuple(rule for rule in self.rules if rule.states == 0)

    @property
    def mean_actions(self) -> float:
        """Mean number of derived actions in a live state."""
        return self.actions / self.choice.of if self.choice.of else 0.0

    def __add__(self, other: RuleReport) -> RuleReport:
        """Add the counts of two reports on the same rules."""
        mixed = [fraction for fraction in (self.mixed, other.mixed) if fraction is not None]
        return RuleReport(
            scope=self.scope if self.scope is other.scope else None,
            states=self.states + other.states,
            rules=tuple(a + b for a, b in zip(self.rules, other.rules, strict=True)),
            actions=self.actions + other.actions,
            choice=self.choice + other.choice,
            mixed=Fraction.sum(mixed) if mixed else None,
        )


@dataclass
class WalkReport:
    """Counts of the random walks that looked for counterexamples."""

    seed: int
    walks: int = 0
    steps: int = 0
    states: int = 0  # number of distinct states
    solved: int = 0  # walks that reached a goal
    stuck: int = 0  # walks that ended in a state without derived actions
    probes: int = 0  # states whose surroundings were expanded


@dataclass(frozen=True)
class TaskReport:
    """Result of the check of a policy on one task."""

    task: Task
    findings: Mapping[Property, Finding]  # of the requested properties
    fond: Fond
    unsolvable: bool | None  # the task has no plan; None if unknown
    whole: int | None  # number of states seen of the whole state space; None if not expanded
    whole_complete: bool  # whether these are all
    solvable: int | None  # states of the whole space from which a goal is reachable, if known
    reached: int  # number of states seen that the policy reaches
    reached_complete: bool  # whether these are all
    dead: Fraction | None  # states that the rules call dead although they have a plan
    rules: RuleReport
    walks: WalkReport | None  # None if no walks were needed

    @property
    def minimises_cost(self) -> bool:
        """Whether optimal means least cost in this task, and not the fewest actions."""
        return self.task.minimises_cost

    @property
    def verdict(self) -> Verdict:
        """Verdict on all requested properties together."""
        return Verdict.all_of(finding.verdict for finding in self.findings.values())


@dataclass(frozen=True)
class Summary:
    """Reports on one policy and several tasks (at least one), taken together.

    >>> from planlog.checking import check
    >>> from planlog.policy.policy import Policy
    >>> summary = Summary((check(Policy.parse("go(X, Y).", domain), task),))
    >>> summary.overall.value, summary.states
    ('proved', 3)
    """

    reports: tuple[TaskReport, ...]

    def verdict(self, property: Property) -> Verdict:
        """Return the verdict on a property for all tasks together."""
        return Verdict.all_of(report.findings[property].verdict for report in self.reports)

    @property
    def overall(self) -> Verdict:
        """Verdict on all requested properties and all tasks together."""
        return Verdict.all_of(report.verdict for report in self.reports)

    def failing(self, property: Property) -> Fraction:
        """Return the fraction of failing states over the tasks with a complete scope."""
        findings = [report.findings[property] for report in self.reports]
        complete = (f for f in findings if f.scope in (Scope.WHOLE, Scope.REACHED))
        return Fraction.sum(f.failing for f in complete if f.failing)

    @property
    def failing_reached(self) -> Fraction:
        """Reached states without an optimal derived action, over the tasks in which it is known."""
        found = (finding for report in self.reports for finding in report.findings.values())
        return Fraction.sum(f.failing_reached for f in found if f.failing_reached)

    @property
    def fully_known(self) -> int:
        """Number of tasks whose whole state space is known."""
        return sum(report.whole_complete for report in self.reports)

    @property
    def minimise_cost(self) -> int:
        """Number of tasks in which optimal means least cost."""
        return sum(report.minimises_cost for report in self.reports)

    @property
    def states(self) -> int:
        """Number of states seen over all tasks."""
        return sum(max(report.whole or 0, report.reached) for report in self.reports)

    @property
    def fond(self) -> Fond:
        """Verdicts on the FOND solution for all tasks together."""
        first, *others = (report.fond for report in self.reports)
        return sum(others, first)

    @property
    def rules(self) -> RuleReport:
        """Sum of the counts over all tasks; a rule never fired if it fired on none."""
        first, *others = (report.rules for report in self.reports)
        return sum(others, first)
