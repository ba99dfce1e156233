"""Reader of the parts that domain and problem files share: typed lists, atoms, conditions."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NoReturn

from planlog.validation import conditions, numbers
from planlog.validation.conditions import Atom, Condition, Types, Variable
from planlog.validation.features import refuse_unsupported
from planlog.validation.model import Domain
from planlog.validation.sexpr import Node, Source, show

_MAX_EITHER = 64  # words of an `(either TYPE ...)`
_REQUIREMENTS = frozenset(
    ":strips :typing :equality :negation :negative-preconditions :disjunctive-preconditions"
    " :existential-preconditions :universal-preconditions :quantified-preconditions"
    " :conditional-effects :adl :derived-predicates :action-costs :fluents :numeric-fluents".split()
)


@dataclass
class Scope:
    """The visible variables by their names in the text, and all names of the whole action."""

    visible: Mapping[str, Variable] = field(default_factory=dict)
    declared: list[str] = field(default_factory=list)

    def extended(self, variables: Iterable[Variable]) -> Scope:
        own = {conditions.as_written(v.name): v for v in variables}
        return Scope({**self.visible, **own}, self.declared)

    def new(self, name: str) -> str:
        """Return a name for a variable, numbered if another one has it."""
        self.declared.append(name)
        number = self.declared.count(name)
        return name if number == 1 else f"{name} {number}"


class Reader:
    """Base of the readers of domain and problem files."""

    def __init__(self, source: Source, domain: Domain) -> None:
        self.source = source
        self.domain = domain
        self.objects: Mapping[str, frozenset[str]] = {}  # object -> all its types

    def fail(self, node: Node, message: str, child: int | None = None) -> NoReturn:
        self.source.fail(node, message, child)

    def unsupported(self, node: Node, what: str) -> NoReturn:
        self.source.fail(node, f"{what} is not supported", unsupported=True)

    def sections(
        self, root: Node, kind: str, once: Container[str], repeated: Container[str] = ()
    ) -> tuple[str, dict[str, list[Node]]]:
        """Return the name in `(define (kind name) ...)` and the sections by keyword.

        Sections `once` may occur once, `repeated` ones any number of times.
        """
        refuse_unsupported(self.source, root, self.domain.predicates, self.domain.functions)
        if not root or root[0] != "define":
            self.fail(root, "expected 'define'", 0)
        header = root[1] if len(root) > 1 else root
        if not isinstance(header, Node) or len(header) != 2 or header[0] != kind:
            self.fail(root, f"expected '({kind} NAME)'", 1)
        name = self.name(header, 1)
        found: dict[str, list[Node]] = {}
        for i in range(2, len(root)):
            section = root[i]
            if not isinstance(section, Node) or not section:
                self.fail(root, "expected a section such as '(:init ...)'", i)
            keyword = self.word(section, 0)
            if keyword not in once and keyword not in repeated:
                self.fail(section, f"unknown section {keyword}", 0)
            if keyword in found and keyword not in repeated:
                self.fail(section, f"a second {keyword}", 0)
            found.setdefault(keyword, []).append(section)
            if keyword == ":requirements":
                for k in range(1, len(section)):
                    if self.word(section, k) not in _REQUIREMENTS:
                        self.fail(section, f"unknown requirement {section[k]}", k)
        return name, found

    def word(self, node: Node, child: int) -> str:
        if child >= len(node):
            self.fail(node, f"{show(node)[:40]} ends too early")
        item = node[child]
        if not isinstance(item, str):
            self.fail(node, "expected a name", child)
        return item

    def name(self, node: Node, child: int) -> str:
        word = self.word(node, child)
        if not is_name(word):
            self.fail(node, f"{word} is not a name", child)
        return word

    def typed_list(
        self, node: Node, first: int = 0, variables: bool = False
    ) -> Iterator[tuple[str, Types, int]]:
        """Yield the names, types and places in `a b - t c - (either t u) d`."""
        waiting: list[tuple[str, int]] = []
        i = first
        while i < len(node):
            if node[i] != "-":
                word = self.word(node, i)
                if variables and not word.startswith("?"):
                    self.fail(node, f"expected a variable, not {word}", i)
                if not is_name(word[1:] if variables else word):
                    self.fail(node, f"{word} is not a name", i)
                waiting.append((word, i))
                i += 1
                continue
            if i + 1 >= len(node):
                self.fail(node, "expected a type after '-'", i)
            after = node[i + 1]
            types: Types
            if isinstance(after, str):
                types = (self.name(node, i + 1),)
            elif 1 < len(after) <= _MAX_EITHER and after[0] == "either":
                types = tuple(dict.fromkeys(self.name(after, k) for k in range(1, len(after))))
            else:
                self.fail(node, "expected a type or '(either TYPE ...)'", i + 1)
            if node[0] != ":types":
                self.check_known(types, node, i + 1)
            for name, place in waiting:
                yield name, types, place
            waiting.clear()
            i += 2
        for name, place in waiting:
            yield name, ("object",), place

    def check_known(self, types: Types, node: Node, child: int) -> None:
        for name in types:
            if name not in self.domain.parents:
                self.fail(node, f"unknown type {name}", child)

    def typed_objects(self, node: Node, constants: Mapping[str, str]) -> dict[str, str]:
        """Return objects with their types. They may repeat the domain's constants."""
        declared: dict[str, str] = {}
        for name, (own, *_), place in self.typed_list(node, 1):
            if constants.get(name) == own:
                continue
            if name in declared or name in constants:
                self.fail(node, f"{name} is declared twice", place)
            declared[name] = own
        return declared

    def variables(self, node: Node, scope: Scope, first: int = 0) -> list[Variable]:
        """Read a list of typed variables, each with a name of its own."""
        found: dict[str, Variable] = {}
        for name, types, place in self.typed_list(node, first, variables=True):
            if name in found:
                self.fail(node, f"{name} is declared twice", place)
            found[name] = Variable(scope.new(name), types)
        return list(found.values())

    def quantified(self, node: Node, scope: Scope) -> tuple[list[Variable], Scope]:
        declared = node[1] if len(node) == 3 else None
        if not isinstance(declared, Node):
            self.fail(node, f"expected '({node[0]} (VARIABLES) ...)'")
        variables = self.variables(declared, scope)
        return variables, scope.extended(variables)

    def part(self, node: Node, child: int) -> Node:
        item = node[child]
        if not isinstance(item, Node):
            self.fail(node, f"expected '(', not {item}", child)
        return item

    def terms(self, node: Node, scope: Scope) -> list[str]:
        """Return the arguments of an atom: variables and objects."""
        terms = []
        for i in range(1, len(node)):
            name = self.word(node, i)
            if name.startswith("?"):
                if name not in scope.visible:
                    self.fail(node, f"{name} is not a parameter here", i)
                name = scope.visible[name].name
            elif name not in self.objects:
                self.fail(node, f"unknown object {name}", i)
            terms.append(name)
        return terms

    def atom(self, node: Node, scope: Scope, kind: str = "predicate") -> Atom:
        """Read a predicate (or a function, as `kind` says) with its arguments."""
        declared = self.domain.predicates if kind == "predicate" else self.domain.functions
        name = self.word(node, 0)
        if name not in declared:
            self.fail(node, f"unknown {kind} {name}", 0)
        self.check_arity(node, len(declared[name]))
        terms = self.terms(node, scope)
        for i, types in enumerate(declared[name], 1):
            word = self.word(node, i)
            if not self.fits(word, types, scope):
                self.fail(node, f"{word} is not of type {' or '.join(types)}", i)
        return Atom(name, terms)

    def fits(self, word: str, types: Types, scope: Scope) -> bool:
        """Return whether some object that a term stands for may be of one of the types."""
        if not word.startswith("?"):
            return not self.objects[word].isdisjoint(types)
        own = scope.visible[word].types
        return any(
            not self.domain.subtypes(t).isdisjoint(self.domain.subtypes(u))
            for t in own
            for u in types
        )

    def number(self, node: Node, child: int, others: numbers.Numbers) -> Fraction:
        """Read a number, which is not negative and has to fit the other numbers of the task."""
        try:
            value = others.read(self.word(node, child))
        except ValueError as error:
            self.fail(node, str(error), child)
        if value < 0:
            self.fail(node, "expected a number that is not negative", child)
        return value

    def check_arity(self, node: Node, arity: int) -> None:
        if len(node) - 1 != arity:
            self.fail(node, f"{node[0]} has {arity} arguments, not {len(node) - 1}")

    def condition(self, node: Node, scope: Scope) -> Condition:
        if not node:
            return conditions.And()
        head = self.word(node, 0)
        parts = range(1, len(node))
        if head in ("and", "or"):
            made = [self.condition(self.part(node, i), scope) for i in parts]
            return conditions.And(made) if head == "and" else conditions.Or(made)
        if head == "not":
            self.check_arity(node, 1)
            return conditions.Not(self.condition(self.part(node, 1), scope))
        if head == "imply":
            self.check_arity(node, 2)
            premise, conclusion = (self.condition(self.part(node, i), scope) for i in parts)
            return conditions.Imply(premise, conclusion)
        if head in ("exists", "forall"):
            quantifier = conditions.Exists if head == "exists" else conditions.ForAll
            variables, inner = self.quantified(node, scope)
            return quantifier(variables, self.condition(self.part(node, 2), inner))
        if head == "=":
            self.check_arity(node, 2)
            return conditions.Equal(self.terms(node, scope))
        return self.atom(node, scope)


def is_name(word: str) -> bool:
    return word[:1] not in ("", "-", ":", "?") and "|" not in word


def is_number(item: Node | str) -> bool:
    return isinstance(item, str) and numbers.is_number(item)
