"""Integers and recursion: evaluation ends, and least values are those of Knuth's algorithm.

Integers that rules compute in a recursion could grow without end, so only least values may be
computed there. A rule for a least value must not derive less than the least values it reads, and
must derive less from less: then the least value of all is known before it is read (Knuth 1977).
What depends on numbers of the task is checked during the evaluation.
"""

from __future__ import annotations

from collections.abc import Iterator

from planlog.datalog.diagnostics import Diagnostics
from planlog.datalog.stratify import Dependencies
from planlog.datalog.syntax import (
    Comparison,
    Expression,
    Literal,
    Number,
    Operation,
    Rule,
    Term,
    Variable,
    terms_of,
)


def check_values(rules: list[Rule], dependencies: Dependencies, diagnostics: Diagnostics) -> None:
    """Report rules that compute integers in a recursion in a way that is not possible."""
    stratum_of = {
        relation: i for i, stratum in enumerate(dependencies.strata) for relation in stratum
    }
    for rule in rules:
        own = [
            literal
            for literal in rule.literals
            if not literal.negated
            and stratum_of.get(literal.relation) == stratum_of[rule.head.relation]
        ]
        if own:
            _Recursion(rule, own, diagnostics).check()


class _Recursion:
    """A rule, and the literals of its body whose relations depend on its head."""

    def __init__(self, rule: Rule, own: list[Literal], diagnostics: Diagnostics) -> None:
        self.rule = rule
        self.own = own
        self.diagnostics = diagnostics
        self.equations = [part for part in rule.body if isinstance(part, Comparison) and part.equal]

    def check(self) -> None:
        head = self.rule.head
        for literal in self.own:
            if (literal.relation.least is None) != (head.relation.least is None):
                least, other = literal.relation, head.relation
                if least.least is None:
                    least, other = other, least
                self.diagnostics.error(
                    literal.place,
                    f"{other} and the least values of {least} depend on each other",
                    f"write 'min' in the rules of {other}, too, or break the cycle",
                )
                return
        if head.relation.least is None:
            self.check_growing()
        else:
            self.check_least(head.relation.least)

    def check_growing(self) -> None:
        """Report integers that a recursion computes from its own."""
        names = {t.name for literal in self.own for t in _numbers(literal)}
        for index in self.rule.head.relation.numbers:
            term = self.rule.head.terms[index]
            value = self.value_of(term)
            if isinstance(value, Operation) and names & self.sources(value):
                relation = self.rule.head.relation
                self.diagnostics.error(
                    term.place if term.place.line else self.rule.head.place,
                    f"'{value}' could grow without end, since {relation} depends on itself",
                    f"write 'min {value}' in the head if the least value is meant",
                )

    def check_least(self, column: int) -> None:
        """Report rules whose least value could fall, or that do not derive less from less."""
        value = self.value_of(self.rule.head.terms[column])
        least: dict[str, Literal] = {}
        for literal in self.own:
            assert literal.relation.least is not None
            term = literal.terms[literal.relation.least]
            if not isinstance(term, Variable) or term.name in least:
                message = (
                    f"the least value of {literal.relation} must be a variable of its own here"
                )
                self.diagnostics.error(literal.place, message, "compare it with '<' or '<='")
                return
            least[term.name] = literal
        for name, literal in least.items():
            if use := self.other_use(name, column):
                self.diagnostics.error(
                    literal.place,
                    f"the recursion may only add to the least value {name}, not use it in {use}",
                    f"{name} may stand in the value of the head, and on the left of '<' and '<='",
                )
                return
        falls = _falls(value, set(least))
        if falls:
            self.diagnostics.error(
                self.rule.head.place,
                f"the least value '{value}' could be smaller than {falls}, which it comes from",
                "a least value must be at least as large as those of the recursion",
            )

    def other_use(self, name: str, column: int) -> str | None:
        """Return the first place where a least value is used in a way that is not monotone."""
        for literal in self.rule.literals:
            if sum(term.name == name for term in literal.terms) > (literal in self.own):
                return f"'{literal}'"
        for i, term in enumerate(self.rule.head.terms):
            if i != column and name in self.sources(self.value_of(term)):
                return "another argument of the head"
        defining = self.rule.head.terms[column]
        for part in self.rule.body:
            if not isinstance(part, Comparison) or name not in {t.name for t in part.terms}:
                continue
            if part.equal and defining in (part.left, part.right):
                continue
            below = (part.left, part.right)
            if part.operator in (">", ">="):
                below = below[::-1]
            is_bound = part.operator not in ("=", "!=") and not _falls_at_all(below[0], {name})
            if not is_bound or name in {t.name for t in terms_of(below[1])}:
                return f"'{part}'"
        return None

    def value_of(self, term: Term) -> Expression:
        """Return the expression that an equation gives for a variable, or the term itself."""
        bound = {t.name for literal in self.rule.literals for t in literal.terms}
        for part in self.equations:
            for target, value in ((part.left, part.right), (part.right, part.left)):
                if target == term and isinstance(term, Variable) and term.name not in bound:
                    return value
        return term

    def sources(self, expression: Expression) -> set[str]:
        """Return the variables that an expression is computed from."""
        found: set[str] = set()
        waiting = [t.name for t in terms_of(expression) if isinstance(t, Variable)]
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            found.add(name)
            value = self.value_of(Variable(name))
            waiting += [t.name for t in terms_of(value) if isinstance(t, Variable)]
        return found


def _numbers(literal: Literal) -> Iterator[Variable]:
    for index in literal.relation.numbers:
        if isinstance(term := literal.terms[index], Variable):
            yield term


def _falls_at_all(expression: Expression, names: set[str]) -> bool:
    """Return whether an expression may grow when one of the variables falls."""
    match expression:
        case Operation("+", left, right):
            return _falls_at_all(left, names) or _falls_at_all(right, names)
        case Operation("-", left, right):
            return _falls_at_all(left, names) or bool(names & {t.name for t in terms_of(right)})
        case Operation(_, left, right):
            factors = (left, right)
            inside = [side for side in factors if names & {t.name for t in terms_of(side)}]
            others = [side for side in factors if side not in inside]
            is_scaled = len(inside) == 1 and all(
                isinstance(side, Variable) or (isinstance(side, Number) and side.value > 0)
                for side in others
            )
            return bool(inside) and not (is_scaled and not _falls_at_all(inside[0], names))
    return False


def _falls(value: Expression, names: set[str]) -> str | None:
    """Return a variable whose value the expression may be smaller than, whatever the task says."""
    used = {t.name for t in terms_of(value)} & names
    for name in sorted(used):
        if _falls_at_all(value, {name}) or _constant(value, name) < 0:
            return name
    return None


def _constant(value: Expression, name: str) -> int:
    """Return what is added to a variable if that is a number, and 0 otherwise."""
    match value:
        case Operation("+", Term() as term, Number() as number) if term.name == name:
            return number.value
        case Operation("+", Number() as number, Term() as term) if term.name == name:
            return number.value
        case Operation("-", Term() as term, Number() as number) if term.name == name:
            return -number.value
    return 0
