"""Results of `planlog check --json`: the values of the reports; docs/check.md lists the keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from decimal import Decimal
from enum import Enum
from typing import Any

from planlog.checking import Property, Summary
from planlog.checking.report import Fraction, RuleReport
from planlog.cli.commands.check_text import Checked
from planlog.pddl.plan import Plan
from planlog.pddl.task import Action, State


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
    properties = {}
    for property, finding in report.findings.items():
        values = {"title": property.title, **_value(finding)}
        del values["property"]
        plan = checked.plans.get(property)
        properties[str(property.value)] = values | {"plan_file": plan and str(plan)}
    return {
        "file": str(checked.file),
        "task": report.task.name,
        "minimises": "cost" if report.minimises_cost else "length",
        "verdict": report.verdict.value,
        "unsolvable": report.unsolvable,
        "states": report.whole,
        "states_complete": report.whole_complete,
        "solvable": report.solvable,
        "reached": report.reached,
        "reached_complete": report.reached_complete,
        "properties": properties,
        "fond": _value(report.fond),
        "dead": _value(report.dead),
        "rules": _rules(report.rules),
        "walks": _value(report.walks),
    }


def _summary(summary: Summary) -> dict[str, Any]:
    asked = summary.reports[0].findings
    optimality = Property.OPTIMALITY_PRESERVING
    known = optimality in asked and summary.fully_known > 0
    return {
        "properties": {str(p.value): summary.verdict(p).value for p in asked},
        "fond": _value(summary.fond),
        "states": summary.states,
        "tasks_with_all_states": summary.fully_known,
        "failing": _value(summary.failing(optimality)) if known else None,
        "failing_reached": _value(summary.failing_reached) if known else None,
    }


def _rules(report: RuleReport) -> dict[str, Any]:
    return {
        "scope": _value(report.scope),
        "states": report.states,
        "rules": _value(report.rules),
        "never_fired": [rule.line for rule in report.never_fired],
        "mean_actions": report.mean_actions,
        "choice": _value(report.choice),
        "mixed": _value(report.mixed),
    }


def _value(value: Any) -> Any:
    """Return a value of a report for JSON; the fields of a dataclass are the keys of an object."""
    match value:
        case None | bool() | int() | float() | str() | Decimal():
            return value
        case Enum():
            return value.value
        case Action() | Plan():
            return str(value)
        case State():
            return sorted(map(str, value.atoms))
        case tuple():
            return [_value(each) for each in value]
        case dict():
            return [{"rule": rule, "actions": _value(actions)} for rule, actions in value.items()]
    values = {field.name: _value(getattr(value, field.name)) for field in fields(value)}
    return values | {"percent": value.percent} if isinstance(value, Fraction) else values
