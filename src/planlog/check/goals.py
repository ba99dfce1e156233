"""Which parts of the goal hold in a state."""

from __future__ import annotations

from planlog.check.report import GoalStatus
from planlog.policy import Policy
from planlog.rules import Literal, Program, Relation, Rule, Source, Variable
from planlog.task import State, Task


def goal_statuses(task: Task, state: State) -> tuple[GoalStatus, ...]:
    """Each part of the task's goal, once, in its order."""
    goals = list(dict.fromkeys(task.goals))
    literals = {goal: _literal(goal) for goal in goals}
    true = {tuple(text.strip("()").split()) for text in task.atoms(state, static=True)}
    true |= _derived_atoms(task, state, {atom[0] for _, atom in literals.values()})
    holds: dict[str, bool | None] = {}
    for goal, (negated, atom) in literals.items():
        if atom[0] in task.domain.predicate_ids:
            holds[goal] = (atom in true) != negated
    # The core counts the parts that do not hold, but does not say which ones: the others are
    # not literals, and have names that no state knows.
    others = [goal for goal in goals if goal not in holds]
    if others:
        left = Policy.applicable(task.domain).start(task, state).goals_left
        left -= sum(_times(task, goal) for goal in holds if not holds[goal])
        holds |= dict.fromkeys(others, {0: True, len(others): False}.get(left))
    return tuple(GoalStatus(goal, holds[goal]) for goal in goals)


def _literal(goal: str) -> tuple[bool, tuple[str, ...]]:
    """Whether a goal is negated, and its atom."""
    negated = goal.startswith("(not ")
    return negated, tuple(goal.removeprefix("(not ").strip("()").split())


def _times(task: Task, goal: str) -> int:
    """How often the core counts a goal: if actions change it, once, though it be given twice."""
    _, (name, *_) = _literal(goal)
    derived = any(p.derived for p in task.domain.predicates if p.name == name)
    return task.goals.count(goal) if derived else 1


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
    objects = task.object_names
    return {
        (rule.literals[0].relation.name, *(objects[value] for value in row))
        for rule in rules
        for row in found.relations[policy.relation(rule.head.relation)].of(0).tolist()
    }
