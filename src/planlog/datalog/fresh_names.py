"""Fresh names for relations and variables of generated rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from planlog.datalog.syntax import Relation, Rule, Source, Variable

if TYPE_CHECKING:
    from planlog.pddl.task import Domain


class Names:
    """A supply of relation names that neither the domain nor the rules use."""

    def __init__(self, domain: Domain, rules: Iterable[Rule]) -> None:
        self._taken = {*domain.predicate_ids, *domain.type_ids, *domain.action_ids}
        self._taken |= {rule.head.relation.name for rule in rules}

    def new(self, name: str, arity: int) -> Relation:
        """Return a derived relation of this name, with `_` appended until the name is unused."""
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return Relation(name, arity, Source.DERIVED)


def fresh_variables(count: int) -> tuple[Variable, ...]:
    """Return the variables X1, X2, ..."""
    return tuple(Variable(f"X{i + 1}") for i in range(count))


def variables_of(rule: Rule) -> tuple[Variable, ...]:
    """Return the variables of a rule in the order of their first occurrence."""
    return tuple(dict.fromkeys(term for term in rule.terms if isinstance(term, Variable)))
