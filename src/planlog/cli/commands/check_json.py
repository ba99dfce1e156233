"""What `planlog check --json` prints; the keys are described in docs/check.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from planlog.checking import (
    Counterexample,
    Finding,
    Fond,
    Fraction,
    Property,
    RuleReport,
    Summary,
    TaskReport,
)
from planlog.cli.commands.check_text import Checked
from planlog.pddl.task import Action


def as_json(results: Sequence[Checked]) -> dict[str, Any]:
    """Tasks, summary and rules; the last two are null if there is no task."""
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
        "verdict": report.verdict.value,
        "unsolvable": report.unsolvable,
        "states": report.whole,
        "states_complete": report.whole_complete,
        "solvable": report.solvable,
        "reached": report.reached,
        "reached_complete": report.reached_complete,
        "properties": {
            str(property.value): _finding(finding, checked.plans.get(property))
            for property, finding in report.findings.items()
        },
        "fond": _fond(report.fond),
        "rules": _rules(report.rules),
        "walks": _walks(report),
    }


def _finding(finding: Finding, plan: object) -> dict[str, Any]:
    return {
        "title": finding.property.title,
        "verdict": finding.verdict.value,
        "scope": finding.scope.value,
        "states": finding.states,
        "failing": _share(finding.failing),
        "failing_reached": _share(finding.failing_reached),
        "counterexample": finding.counterexample and _counterexample(finding.counterexample),
        "plan_file": None if plan is None else str(plan),
    }


def _counterexample(example: Counterexample) -> dict[str, Any]:
    return {
        "reason": example.reason.value,
        "trace": _texts(example.trace),
        "under_policy": example.under_policy,
        "shortest": example.shortest,
        "state": sorted(map(str, example.state.atoms)),
        "goals": [{"goal": goal.text, "holds": goal.holds} for goal in example.goals],
        "distance": example.distance,
        "dead_end": example.dead_end,
        "derived": _texts(example.derived),
        "derived_by_rule": [
            {"rule": rule, "actions": _texts(actions)}
            for rule, actions in example.derived_by_rule.items()
        ],
        "optimal": None if example.optimal is None else _texts(example.optimal),
        "cycle": _texts(example.cycle),
        "ending": None if example.ending is None else _texts(example.ending),
        "plan": str(example.plan),
    }


def _summary(summary: Summary) -> dict[str, Any]:
    asked = summary.reports[0].findings
    optimality = Property.OPTIMALITY_PRESERVING in asked and summary.fully_known > 0
    return {
        "properties": {str(p.value): summary.verdict(p).value for p in asked},
        "fond": _fond(summary.fond),
        "states": summary.states,
        "tasks_with_all_states": summary.fully_known,
        "failing": _share(summary.failing(Property.OPTIMALITY_PRESERVING)) if optimality else None,
        "failing_reached": _share(summary.failing_reached) if optimality else None,
    }


def _fond(fond: Fond) -> dict[str, str]:
    return {
        "weak": fond.weak.value,
        "strong_cyclic": fond.strong_cyclic.value,
        "strong": fond.strong.value,
    }


def _rules(report: RuleReport) -> dict[str, Any]:
    return {
        "scope": report.scope and report.scope.value,
        "states": report.states,
        "rules": [
            {
                "rule": rule.text,
                "line": rule.line,
                "derives_action": rule.derives_action,
                "states": rule.states,
                "derivations": rule.derivations,
            }
            for rule in report.rules
        ],
        "never_fired": [rule.line for rule in report.never_fired],
        "mean_actions": report.mean_actions,
        "choice": _share(report.choice),
        "mixed": _share(report.mixed),
    }


def _walks(report: TaskReport) -> dict[str, int] | None:
    walks = report.walks
    if walks is None:
        return None
    return {
        "seed": walks.seed,
        "walks": walks.walks,
        "steps": walks.steps,
        "states": walks.states,
        "solved": walks.solved,
        "stuck": walks.stuck,
        "probes": walks.probes,
    }


def _share(share: Fraction | None) -> dict[str, int | float] | None:
    if share is None:
        return None
    return {"number": share.number, "of": share.of, "percent": share.percent}


def _texts(actions: Sequence[Action]) -> list[str]:
    return [str(action) for action in actions]
