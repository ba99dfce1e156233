"""Rule coverage: how often each rule fires, and how many choices the rules leave."""

from __future__ import annotations

from collections.abc import Iterator

from planlog.checking.optimality import Optimality
from planlog.checking.reachability import Reachability
from planlog.checking.report import Fraction, RuleCount, RuleReport, Scope
from planlog.pddl.task import Task
from planlog.policy.policy import Policy
from planlog.statespace.space import DEAD_END, RuleCounts


def rule_report(
    policy: Policy, reached: Reachability, counts: RuleCounts, optimality: Optimality | None
) -> RuleReport:
    """Count rules and choices in all states in which the policy was evaluated.

    These are the whole state space if it is complete, or else the states that the policy reaches.
    """
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
        rules=tuple(_rule_counts(policy, space.task, counts)),
        actions=int(actions.sum()),
        choice=Fraction(int((actions > 1).sum()), len(actions)),
        mixed=Fraction.of_mask(optimality.mixed, optimality.states) if optimality else None,
    )


def _rule_counts(policy: Policy, task: Task, counts: RuleCounts) -> Iterator[RuleCount]:
    """Count the firings of each rule.

    A static rule has the same derivations in all states, so they are counted once.
    """
    if policy.program is None:
        return
    derivations = policy.derivations(task, [task.initial]).rules
    totals = zip(counts.states.tolist(), counts.derivations.tolist(), strict=True)
    rules = zip(policy.program.rules, policy.rule_numbers, totals, strict=True)
    for rule, number, (states, total) in rules:
        if rule.head.relation in policy.program.unnamed:
            continue
        if derivations[number].static and states:
            total //= states
        file, line = policy.program.origin(rule.line)
        included = "" if file == policy.program.file else f"  % {file}"
        text = (rule.text or str(rule)) + included
        yield RuleCount(text, line, rule.is_policy_rule, states, total)
