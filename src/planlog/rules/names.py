"""Names for relations and variables of rules that no file contains."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from planlog.rules.syntax import Relation, Rule, Source, Variable

if TYPE_CHECKING:
    from planlog.task import Domain


class Names:
    """Gives out names of relations that neither a domain nor rules have already."""

    def __init__(self, domain: Domain, rules: Iterable[Rule]) -> None:
        self._taken = {*domain.predicate_ids, *domain.type_ids, *domain.action_ids}
        self._taken |= {rule.head.relation.name for rule in rules}

    def new(self, name: str, arity: int) -> Relation:
        """A derived relation of this name, with as many `_` behind it as it takes."""
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return Relation(name, arity, Source.DERIVED)


def numbered(count: int) -> tuple[Variable, ...]:
    """X1, X2, ..."""
    return tuple(Variable(f"X{i + 1}") for i in range(count))


def variables_of(rule: Rule) -> tuple[Variable, ...]:
    """The variables of a rule in the order in which they occur."""
    terms = (term for part in (rule.head, *rule.body) for term in part.terms)
    return tuple(dict.fromkeys(term for term in terms if isinstance(term, Variable)))
