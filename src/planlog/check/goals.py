"""Which parts of the goal hold in a state."""

from __future__ import annotations

from planlog.check.report import GoalStatus
from planlog.policy import Policy
from planlog.rules import Literal, Program, Relation, Rule, Source, Variable
from planlog.task import State, Task


def goal_statuses(task: Task, state: State) -> tuple[GoalStatus, ...]:
    """Each part of the task's goal, in its order."""
    parts = [_split(text) for text in task.goals]
    true = {tuple(text.strip("()").split()) for text in task.atoms(state, static=True)}
    true |= _derived_atoms(task, state, {atom[0] for _, atom in parts})
    statuses: list[GoalStatus] = []
    unnamed = []  # parts that are no literals; the core only counts which of them hold
    for text, (negated, atom) in zip(task.goals, parts, strict=True):
        holds: bool | None
        if atom[0] == "=":
            holds = (atom[1] == atom[2]) != negated
        elif atom[0] in task.domain.predicate_ids:
            holds = (atom in true) != negated
        else:
            unnamed.append(len(statuses))
            holds = None
        statuses.append(GoalStatus(text, holds))
    if unnamed:
        # The same literal twice counts once.
        named = {status.text for status in statuses if status.holds is False}
        left = Policy.applicable(task.domain).start(task, state).goals_left - len(named)
        if left in (0, len(unnamed)):
            for i in unnamed:
                statuses[i] = GoalStatus(statuses[i].text, left == 0)
    return tuple(statuses)


def _split(goal: str) -> tuple[bool, tuple[str, ...]]:
    """Whether a goal is negated, and its atom."""
    negated = goal.startswith("(not ")
    return negated, tuple(goal.removeprefix("(not ").strip("()").split())


def _derived_atoms(task: Task, state: State, names: set[str]) -> set[tuple[str, ...]]:
    """The true atoms of those of the predicates that axioms define."""
    predicates = [p for p in task.domain.predicates if p.derived and p.name in names]
    if not predicates:
        return set()
    rules = []
    for predicate in predicates:
        terms = tuple(Variable(f"X{i}") for i in range(predicate.arity))
        head = Relation(f"{predicate.name}:holds", predicate.arity, Source.DERIVED)
        body = Relation(predicate.name, predicate.arity, Source.STATE)
        rules.append(Rule(Literal(head, terms), (Literal(body, terms),)))
    policy = Policy(task.domain, Program(tuple(rules), ()))
    found = policy.derivations(task, [state])
    names_of = task.object_names
    return {
        (rule.literals[0].relation.name, *(names_of[value] for value in row))
        for rule in rules
        for row in found.relations[policy.relation(rule.head.relation)].of(0).tolist()
    }
