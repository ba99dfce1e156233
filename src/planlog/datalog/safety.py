"""Safety or range restriction (Ullman 1988): a positive literal binds every variable of a rule.

An equation binds a variable, too, if its other side is an integer whose variables are bound.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import permutations

from planlog.datalog.diagnostics import Diagnostics
from planlog.datalog.sorts import numeric_variables
from planlog.datalog.syntax import Choice, Comparison, Constant, Literal, Rule, Variable, terms_of

_Unbound = tuple[Variable, dict[str, str]]  # the places where it occurs, and remedies


def check_safety(rules: list[Rule], diagnostics: Diagnostics) -> None:
    """Report each unbound variable once, with the places where it occurs."""
    for rule in rules:
        bound = bound_variables(rule)
        unbound: dict[str, _Unbound] = {}
        for variable, place, remedy in _occurrences(rule):
            if variable.name not in bound:
                _, places = unbound.setdefault(variable.name, (variable, {}))
                places.setdefault(place, remedy)
        _leave_out_computed(rule, bound, unbound)
        for variable, places in unbound.values():
            remedy = "bind it in a positive literal of the body"
            if "-" in variable.name:
                spaced = variable.name.replace("-", " - ")
                remedy = f"is '{spaced}' meant? without spaces, '-' is a part of the name"
            elif _has_constant(rule, variable.name.lower()):
                remedy = f"is '{variable.name.lower()}' meant to be the variable {variable}?"
            elif len(places) == 1:
                remedy = next(iter(places.values()))
            where = " and ".join(places)
            diagnostics.error(variable.place, f"variable {variable} occurs only {where}", remedy)


def _leave_out_computed(rule: Rule, bound: set[str], unbound: dict[str, _Unbound]) -> None:
    """Leave out the variables that equations would bind if the others were bound."""
    targets = {
        side.name
        for part in rule.body
        if isinstance(part, Comparison) and part.equal
        for side in (part.left, part.right)
        if isinstance(side, Variable)
    }
    others = unbound.keys() - targets
    if others:
        for name in bound_variables(rule, bound | others) & unbound.keys() - others:
            del unbound[name]


def bound_variables(rule: Rule, given: Collection[str] = ()) -> set[str]:
    """Return the bound variables, if the given ones are bound.

    An action's precondition and types bind its parameters.
    """
    binding = [literal for literal in rule.literals if not literal.negated]
    if rule.is_policy_rule:
        binding.append(rule.head)
    bound = {t.name for part in binding for t in part.terms if isinstance(t, Variable)}
    bound.update(given)
    equations = [part for part in rule.body if isinstance(part, Comparison) and part.equal]
    numeric = numeric_variables(rule) if equations else set()
    changed = True
    while changed:
        changed = False
        for equation in equations:
            for target, value in permutations((equation.left, equation.right)):
                if not isinstance(target, Variable) or target.name in bound:
                    continue
                names = {t.name for t in terms_of(value) if isinstance(t, Variable)}
                if target.name in numeric and names <= bound:
                    bound.add(target.name)
                    changed = True
    return bound


def _has_constant(rule: Rule, name: str) -> bool:
    return any(term == Constant(name) for part in rule.body for term in part.terms)


def _occurrences(rule: Rule) -> Iterator[tuple[Variable, str, str]]:
    """Yield each variable, the kind of place where it occurs, and a remedy if it is unbound."""
    for part in (rule.head, *rule.body, *rule.choices):
        match part:
            case Choice():
                place = f"in '{part}'"
                remedy = "bind it in a positive literal of the body"
            case Comparison():
                place = "in a comparison"
                remedy = "a comparison does not bind it: use it in a positive literal, too"
            case Literal(negated=True):
                place = "under 'not'"
                remedy = "bind it in a positive literal, or write '_' to say that there is none"
            case _:
                place = "in the head" if part is rule.head else "in the body"
                remedy = "bind it in a positive literal of the body"
        for term in part.terms:
            if isinstance(term, Variable):
                yield term, place, remedy
