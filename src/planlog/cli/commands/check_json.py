"""What `planlog check --json` prints; the keys are described in docs/check.md."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from planlog.checking import Counterexample, Finding, Fraction, Property, RuleReport, Summary
from planlog.cli.commands.check_text import Checked
from planlog.pddl.plan import Plan
from planlog.pddl.task import Action, State

# Keys whose values are attributes of the same name.
_TASK = "verdict unsolvable solvable reached reached_complete"
_FINDING = "verdict scope states failing failing_reached"
_COUNTEREXAMPLE = (
    "reason trace under_policy shortest state distance dead_end derived optimal cycle ending plan"
)
_RULES = "scope states mean_actions choice mixed"
_RULE = "line derives_action states derivations"
_FOND = "weak strong_cyclic strong"
_WALKS = "seed walks steps states solved stuck probes"
_FRACTION = "number of percent"


def describe(results: Sequence[Checked]) -> dict[str, Any]:
    """Describe tasks, summary and rules; the last two are null if there is no task."""
    summary = Summary(tuple(r.report for r in results)) if results else None
    return {
        "tasks": [_task(result) for result in results],
        "summary": summary and _summary(summary),
        "rules": summary and _rules(summary.rules),
    }


def _task(checked: Checked) -> dict[str, Any]:
    report = checked.report
    return {
        "file": str(checked.file),
        "task": report.task.name,
        **_pick(report, _TASK),
        "states": report.whole,
        "states_complete": report.whole_complete,
        "properties": {
            str(property.value): _finding(finding, checked.plans.get(property))
            for property, finding in report.findings.items()
        },
        "fond": _pick(report.fond, _FOND),
        "rules": _rules(report.rules),
        "walks": report.walks and _pick(report.walks, _WALKS),
    }


def _finding(finding: Finding, plan: object) -> dict[str, Any]:
    return {
        "title": finding.property.title,
        **_pick(finding, _FINDING),
        "counterexample": finding.counterexample and _counterexample(finding.counterexample),
        "plan_file": None if plan is None else str(plan),
    }


def _counterexample(example: Counterexample) -> dict[str, Any]:
    return {
        **_pick(example, _COUNTEREXAMPLE),
        "goals": [{"goal": goal.text, "holds": goal.holds} for goal in example.goals],
        "derived_by_rule": [
            {"rule": rule, "actions": _plain(actions)}
            for rule, actions in example.derived_by_rule.items()
        ],
    }


def _summary(summary: Summary) -> dict[str, Any]:
    asked = summary.reports[0].findings
    optimality = Property.OPTIMALITY_PRESERVING in asked and summary.fully_known > 0
    failing = summary.failing(Property.OPTIMALITY_PRESERVING) if optimality else None
    return {
        "properties": {str(p.value): summary.verdict(p).value for p in asked},
        "fond": _pick(summary.fond, _FOND),
        "states": summary.states,
        "tasks_with_all_states": summary.fully_known,
        "failing": _plain(failing),
        "failing_reached": _plain(summary.failing_reached) if optimality else None,
    }


def _rules(report: RuleReport) -> dict[str, Any]:
    return {
        **_pick(report, _RULES),
        "rules": [{"rule": rule.text, **_pick(rule, _RULE)} for rule in report.rules],
        "never_fired": [rule.line for rule in report.never_fired],
    }


def _pick(value: object, names: str) -> dict[str, Any]:
    return {name: _plain(getattr(value, name)) for name in names.split()}


def _plain(value: Any) -> Any:
    match value:
        case Enum():
            return value.value
        case Fraction():
            return _pick(value, _FRACTION)
        case State():
            return sorted(map(str, value.atoms))
        case Action() | Plan():
            return str(value)
        case tuple():
            return [_plain(item) for item in value]
    return value
