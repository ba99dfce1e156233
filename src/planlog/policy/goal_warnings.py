"""Warnings about rules that read goals as atoms, while a task states them as other formulas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from planlog.datalog.syntax import Literal, Source
from planlog.errors import MOST_DIAGNOSTICS, Diagnostic, Severity
from planlog.pddl.task import Task, counted
from planlog.policy.policy import Policy

_GOAL_STATUSES = (Source.GOAL, Source.ACHIEVED_GOAL, Source.UNACHIEVED_GOAL, Source.UNWANTED)
_HELP = (
    "rules see the goals that are literals, also under 'and' and 'forall'; "
    "a plan has to achieve this part as well"
)


def goal_warnings(policy: Policy, tasks: Iterable[Task]) -> tuple[Diagnostic, ...]:
    """Return a warning for each predicate whose goals the rules of a policy cannot all see.

    These are the predicates that rules read as goals (`p@goal`, `p@ag`, `p@ug`, `p@un`), and that
    occur in a part of a goal that is no conjunction of literals, such as a disjunction. A warning
    names the first such task and the first such part.

    >>> either = "(define (problem q) (:domain graph) (:objects a b) (:init) (:goal {}))"
    >>> rules = planlog.Policy.parse("go(X, Y) :- at@ug(Y).", domain)
    >>> tasks = [domain.parse_task(either.format("(or (at a) (at b))"))]
    >>> goal_warnings(rules, tasks)[0].message
    "at@ug has no atoms for a part of the goal of task 'q': (or (at a) (at b))"
    """
    if policy.program is None:
        return ()
    first: dict[str, tuple[Task, str]] = {}
    count = Counter[str]()
    for task in tasks:
        parts = {name: part.text for part in task.goal_formulas[::-1] for name in part.predicates}
        count.update(parts.keys())
        first = {name: (task, text) for name, text in parts.items()} | first
    warnings = []
    for name, literal in _goal_literals(policy).items():
        if name in first:
            task, text = first[name]
            others = f" and {counted(count[name] - 1, 'other task')}" if count[name] > 1 else ""
            message = (
                f"{literal.relation} has no atoms for a part of the goal of task "
                f"'{task.name}'{others}: {text}"
            )
            warnings.append(
                policy.program.diagnostic(literal.place, message, _HELP, Severity.WARNING)
            )
    return tuple(sorted(warnings, key=lambda w: (w.line, w.column))[:MOST_DIAGNOSTICS])


def _goal_literals(policy: Policy) -> dict[str, Literal]:
    """Return the first literal of each predicate that reads its goals."""
    found: dict[str, Literal] = {}
    for rule in policy.all_rules:
        for literal in rule.literals:
            if literal.relation.source in _GOAL_STATUSES:
                found.setdefault(literal.relation.name, literal)
    return found
