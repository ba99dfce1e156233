"""What a check comes to, as plain values: verdicts, counterexamples, counts of rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from planlog.pddl.plan import Plan
from planlog.pddl.task import Action, State, Task


class Property(Enum):
    """What a good policy has; an execution ends in the first goal state that it reaches."""

    GOAL_ACHIEVING = 1  # from every state that the policy reaches, it can reach a goal
    CYCLE_FREE = 2  # no execution sees a state twice
    OPTIMALITY_PRESERVING = 3  # in every solvable state, some derived action is optimal

    @property
    def title(self) -> str:
        return self.name.lower().replace("_", " ")


class Verdict(Enum):
    """Proved and refuted hold for the task for certain; undecided says nothing about it."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"

    @classmethod
    def all_of(cls, verdicts: Iterable[Verdict]) -> Verdict:
        """Whether all of several statements hold."""
        found = set(verdicts)
        for verdict in (cls.REFUTED, cls.UNDECIDED):
            if verdict in found:
                return verdict
        return cls.PROVED


class Scope(Enum):
    """The states that a verdict or a count is about."""

    WHOLE = "the whole state space"
    REACHED = "all states the policy reaches"
    PART_OF_WHOLE = "part of the state space"
    PART_OF_REACHED = "part of the states the policy reaches"
    WALKS = "random walks"


class Reason(Enum):
    """What is wrong in the state that a counterexample leads to."""

    NO_ACTION = "no action is derived here"
    TRAP = "no goal can be reached from here under the policy"
    CYCLE = "the policy leads back to this state"
    LOST_OPTIMUM = "no derived action is optimal here"


@dataclass(frozen=True)
class Share:
    """A number of states among others."""

    number: int
    of: int

    @classmethod
    def among(cls, some: npt.NDArray[np.bool_], others: npt.NDArray[np.bool_]) -> Share:
        """Those of the others (states,) that are also among some (states,)."""
        return cls(int((some & others).sum()), int(others.sum()))

    @property
    def percent(self) -> float:
        """0 if there are no states at all."""
        return 100 * self.number / self.of if self.of else 0.0

    def __add__(self, other: Share) -> Share:
        return Share(self.number + other.number, self.of + other.of)


@dataclass(frozen=True)
class GoalStatus:
    """A part of the goal and whether it holds."""

    text: str
    holds: bool


@dataclass(frozen=True)
class Counterexample:
    """A way to a state in which a property fails, and what there is to see there."""

    reason: Reason
    trace: tuple[Action, ...]  # from the initial state to the offending one
    under_policy: bool  # whether the policy derives all actions of the trace
    shortest: bool  # no shorter trace (under the policy, if this one is) leads to the state
    state: State
    atoms: tuple[str, ...]  # true in the state, without those that no action changes
    goals: tuple[GoalStatus, ...]
    derived: tuple[Action, ...]
    optimal: tuple[Action, ...] | None  # none in a dead end; None if not known
    distance: int | None  # least number of actions to a goal; None in a dead end or if not known
    dead_end: bool | None  # no actions at all lead to a goal; None if not known
    cycle: tuple[Action, ...]  # from the state back to it; empty unless that is the reason
    # From the state on to one without derived actions, by derived ones; None if the policy
    # leads to none or none is known.
    ending: tuple[Action, ...] | None
    cost: float  # of all these actions; their number if the task does not minimise cost
    unit_cost: bool

    @property
    def actions(self) -> tuple[Action, ...]:
        """The trace, and what follows: the cycle, or the way on to where the policy ends."""
        return self.trace + self.cycle + (self.ending or ())

    @property
    def plan_text(self) -> str:
        """A plan file of these actions, which `planlog validate --prefix` replays."""
        return str(Plan(self.actions, self.cost, self.unit_cost))


@dataclass(frozen=True)
class Finding:
    """The verdict on one property, what it is based on, and a counterexample if refuted."""

    property: Property
    verdict: Verdict
    scope: Scope  # what was looked at: for PROVED, all states that matter
    states: int  # how many states were looked at
    # States that fail among those in which it can be told (for optimality: solvable ones that
    # are no goals). Known to be all of them only for complete scopes; None for walks.
    failing: Share | None
    # The same over the states that the policy reaches; optimality only, and only if known.
    failing_reached: Share | None
    counterexample: Counterexample | None


@dataclass(frozen=True)
class Fond:
    """The policy as a solution of a fully observable nondeterministic planning task."""

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
    """A rule, and how often it was satisfied."""

    text: str
    line: int
    derives_action: bool
    states: int  # that are no goals and in which it fires
    derivations: int  # satisfied substitutions in all of them; of a static rule counted once

    def __add__(self, other: RuleCount) -> RuleCount:
        return RuleCount(
            self.text,
            self.line,
            self.derives_action,
            self.states + other.states,
            self.derivations + other.derivations,
        )


@dataclass(frozen=True)
class RuleReport:
    """What rules and choices there were in the states looked at."""

    scope: Scope | None  # None: not the same for all tasks
    states: int  # that are no goals: the rules were evaluated in these
    rules: tuple[RuleCount, ...]  # in the order of the file; none for the applicable actions
    live: int  # those of the states that are not known to be dead ends
    actions: int  # derived in live states
    choices: int  # live states with more than one derived action
    mixed: Share | None  # with optimal and other derived actions, where optimality is known

    @property
    def never_fired(self) -> tuple[RuleCount, ...]:
        return tuple(rule for rule in self.rules if rule.states == 0)

    @property
    def mean_actions(self) -> float:
        """Derived actions a live state."""
        return self.actions / self.live if self.live else 0.0

    @property
    def choice(self) -> Share:
        """Live states with more than one derived action."""
        return Share(self.choices, self.live)

    def __add__(self, other: RuleReport) -> RuleReport:
        """Both together; they are about the same rules."""
        mixed = [share for share in (self.mixed, other.mixed) if share is not None]
        return RuleReport(
            scope=self.scope if self.scope is other.scope else None,
            states=self.states + other.states,
            rules=tuple(a + b for a, b in zip(self.rules, other.rules, strict=True)),
            live=self.live + other.live,
            actions=self.actions + other.actions,
            choices=self.choices + other.choices,
            mixed=sum(mixed, Share(0, 0)) if mixed else None,
        )


@dataclass(frozen=True)
class WalkReport:
    """Random walks that looked for counterexamples, and how they ended."""

    seed: int
    walks: int
    steps: int
    states: int  # different ones
    solved: int  # walks that reached a goal
    stuck: int  # walks that came to a state without derived actions
    probes: int  # states whose optimal actions or whose ways to a goal were looked for


@dataclass(frozen=True)
class TaskReport:
    """Everything found out about a policy on one task."""

    task: Task
    findings: Mapping[Property, Finding]  # of the properties asked for
    fond: Fond
    unsolvable: bool | None  # the task has no plan at all; None if not known
    whole: int | None  # states of the whole state space that were seen; None if not expanded
    whole_complete: bool  # whether these are all
    solvable: int | None  # states of the whole space from which a goal can be reached, if known
    reached: int  # states that the policy reaches, as far as seen
    reached_complete: bool  # whether these are all
    rules: RuleReport
    walks: WalkReport | None  # None if there was no need for them

    @property
    def verdict(self) -> Verdict:
        """Whether all properties asked for hold."""
        return Verdict.all_of(finding.verdict for finding in self.findings.values())


@dataclass(frozen=True)
class Summary:
    """Reports about one policy on several tasks (at least one), together."""

    reports: tuple[TaskReport, ...]

    def verdict(self, property: Property) -> Verdict:
        """Whether the property holds on all tasks."""
        return Verdict.all_of(report.findings[property].verdict for report in self.reports)

    @property
    def overall(self) -> Verdict:
        """Whether all properties asked for hold on all tasks."""
        return Verdict.all_of(report.verdict for report in self.reports)

    def failing(self, property: Property) -> Share:
        """States that fail, of all tasks together in which all states that matter are known."""
        findings = [report.findings[property] for report in self.reports]
        return self._sum(f.failing for f in findings if f.scope in (Scope.WHOLE, Scope.REACHED))

    @property
    def failing_reached(self) -> Share:
        """States that lose optimality among those the policy reaches, where that is known."""
        found = (report.findings.get(Property.OPTIMALITY_PRESERVING) for report in self.reports)
        return self._sum(finding.failing_reached for finding in found if finding)

    @property
    def fully_known(self) -> int:
        """Tasks of which the whole state space is known."""
        return sum(report.whole_complete for report in self.reports)

    @property
    def states(self) -> int:
        """States seen, of all tasks together."""
        return sum(max(report.whole or 0, report.reached) for report in self.reports)

    @property
    def fond(self) -> Fond:
        """What holds on all tasks."""
        first, *others = (report.fond for report in self.reports)
        return sum(others, first)

    @property
    def rules(self) -> RuleReport:
        """Counts of all tasks; a rule never fired if it did on none."""
        first, *others = (report.rules for report in self.reports)
        return sum(others, first)

    @staticmethod
    def _sum(shares: Iterable[Share | None]) -> Share:
        return sum((share for share in shares if share is not None), Share(0, 0))
