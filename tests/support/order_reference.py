"""Choices, orders and prohibitions as their definitions say, one rule after the other.

A rule's answers come from a query for its body; what is kept of them is computed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from planlog.pddl.task import Action, State, Task
from planlog.policy.policy import Policy

_Answer = dict[str, str | int]


@dataclass(frozen=True)
class ChoosingRule:
    """A rule for an action; each choice is a kind, the variable of the key, and the group."""

    action: str
    terms: tuple[str, ...]
    body: tuple[str, ...]
    choices: tuple[tuple[str, str, tuple[str, ...]], ...] = ()

    @property
    def head(self) -> str:
        return f"{self.action}({', '.join(self.terms)})" if self.terms else self.action

    def __str__(self) -> str:
        parts = [*self.body]
        for kind, key, group in self.choices:
            parts.append(f"{kind} {key}" + (f" for {', '.join(group)}" if group else ""))
        return f"{self.head} :- {', '.join(parts)}." if parts else f"{self.head}."


@dataclass(frozen=True)
class Prohibition:
    action: str
    terms: tuple[str, ...]
    body: tuple[str, ...]

    @property
    def named(self) -> tuple[str, ...]:
        return tuple(f"Any{i}" if term == "_" else term for i, term in enumerate(self.terms))

    def __str__(self) -> str:
        atom = f"{self.action}({', '.join(self.terms)})"
        return f":- {', '.join([atom, *self.body])}."


@dataclass(frozen=True)
class Order:
    kind: str
    group: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.kind + (f" for {', '.join(self.group)}" if self.group else "")


@dataclass
class Statements:
    """Rules for predicates, and statements about actions in the order of the file."""

    base: str
    about_actions: list[ChoosingRule | Prohibition | Order] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join([self.base, *map(str, self.about_actions)])

    def actions(self, task: Task, state: State) -> set[Action]:
        """Return the derived actions."""
        policy = Policy.parse(f"{self.base}\nadd-flag :- flag.", task.domain)

        def answers(head: str, body: Iterable[str]) -> list[_Answer]:
            return policy.query(task, state, ", ".join([f"can {head}", *body]))

        forbidden = {
            _action(each.action, each.named, answer)
            for each in self.about_actions
            if isinstance(each, Prohibition)
            for answer in answers(f"{each.action}({', '.join(each.named)})", each.body)
        }
        derived: list[tuple[Action, dict[str, str]]] = []  # with the values of the head's variables
        orders: list[tuple[Order, int]] = []  # and how many actions stand before it
        for each in self.about_actions:
            if isinstance(each, Order):
                orders.append((each, len(derived)))
            elif isinstance(each, ChoosingRule):
                found = answers(each.head, each.body)
                allowed = [
                    answer
                    for answer in found
                    if _action(each.action, each.terms, answer) not in forbidden
                    and not any(
                        _is_behind(order, each, answer, derived[:before])
                        for order, before in orders
                    )
                ]
                for kept in chosen(allowed, each.choices, task):
                    values = {t: str(kept[t]) for t in each.terms if t in kept}
                    derived.append((_action(each.action, each.terms, kept), values))
        return {action for action, _ in derived}


def chosen(
    answers: list[_Answer], choices: Iterable[tuple[str, str, tuple[str, ...]]], task: Task
) -> list[_Answer]:
    """Return what lexicographic choices keep of the answers."""

    def rank(kind: str, value: str | int) -> int:
        number = value if isinstance(value, int) else task.object_id(value)
        return -number if kind == "maximise" else number

    for kind, key, group in choices:
        best: dict[tuple[str | int, ...], int] = {}
        for answer in answers:
            where = tuple(answer[name] for name in group)
            best[where] = min(rank(kind, answer[key]), best.get(where, 2**62))
        answers = [
            answer
            for answer in answers
            if rank(kind, answer[key]) == best[tuple(answer[name] for name in group)]
        ]
    return answers


def _action(name: str, terms: Iterable[str], answer: _Answer) -> Action:
    return Action(name, tuple(str(answer.get(term, term)) for term in terms))


def _is_behind(
    order: Order, rule: ChoosingRule, answer: _Answer, before: list[tuple[Action, dict[str, str]]]
) -> bool:
    """Whether an order keeps an instance of a rule from applying."""
    if not order.group:
        return bool(before)
    return any(
        values.get(variable) == answer[variable]
        for variable in order.group
        if variable in rule.terms
        for _, values in before
        if variable in values
    )


def expected_levels(statements: Statements) -> Iterator[int]:
    """Yield the number of `prefer` before each rule."""
    level = 0
    for each in statements.about_actions:
        level += isinstance(each, Order) and each.kind == "prefer"
        if isinstance(each, ChoosingRule):
            yield level
