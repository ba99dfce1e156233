"""Queries: the body of a rule, asked in a state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planlog.datalog import parse_program
from planlog.datalog.diagnostics import Diagnostics
from planlog.datalog.fresh_names import Names
from planlog.datalog.lexer import Kind, tokenize
from planlog.pddl.task import State, Task

if TYPE_CHECKING:
    from planlog.policy.policy import Policy


def answers(policy: Policy, task: Task, state: State, body: str) -> list[dict[str, str]]:
    """Return the substitutions under which the body holds, as variable names to object names.

    They are ordered by objects, as the task lists them. The query becomes a rule whose head has all
    variables of the body, before the policy's rules.
    """
    rules = policy.program.rules if policy.program else ()
    tokens = tokenize(body, Diagnostics("<query>", body))
    named = (t.text for t in tokens if t.kind is Kind.VARIABLE and not t.text.startswith("_"))
    variables = list(dict.fromkeys(named))
    head = Names(policy.domain, (*rules, *policy.network_rules)).new("query", len(variables))
    arguments = f"({', '.join(variables)})" if variables else ""
    query = f"{head.name}{arguments} :- {body.strip().removesuffix('.')}."
    program = parse_program(f"{query}\n{policy.text}", policy.domain, "<query>")
    asked = type(policy)(policy.domain, program)
    rows = asked.derivations(task, [state]).relations[asked.relation(head)].of(0)
    names = task.object_names
    return [
        dict(zip(variables, (names[i] for i in row), strict=True)) for row in sorted(rows.tolist())
    ]
