"""The rule report: which rules fire, and what choices they leave."""

from __future__ import annotations

from planlog.checking.optimality import Optimality
from planlog.checking.reachability import Reached
from planlog.checking.report import RuleCount, RuleReport, Scope, Share
from planlog.policy.policy import Policy
from planlog.statespace.space import DEAD_END, RuleCounts


def rule_report(
    policy: Policy, reached: Reached, counts: RuleCounts, optimality: Optimality | None
) -> RuleReport:
    """Over all states of the space in which the policy was asked: the whole space or its own."""
    space = reached.space
    live = ~space.goal[: space.expanded]
    states = int(live.sum())
    if optimality is not None and optimality.space is space:
        scope = Scope.WHOLE
        live &= space.goal_distances[: space.expanded] != DEAD_END
    else:
        scope = Scope.REACHED if reached.complete else Scope.PART_OF_REACHED
    actions = reached.graph.segments.lengths[live]
    return RuleReport(
        scope=scope,
        states=states,
        rules=_rule_counts(policy, counts),
        live=len(actions),
        actions=int(actions.sum()),
        choices=int((actions > 1).sum()),
        mixed=None if optimality is None else Share.among(optimality.mixed, optimality.states),
    )


def _rule_counts(policy: Policy, counts: RuleCounts) -> tuple[RuleCount, ...]:
    rules = policy.program.rules if policy.program else ()
    return tuple(
        RuleCount(rule.text or str(rule), rule.line, rule.is_policy_rule, int(fired), int(number))
        for rule, fired, number in zip(rules, counts.states, counts.derivations, strict=True)
    )
