"""Reader of the parts that domain and problem files share: typed lists, atoms, conditions."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from planlog.validation import conditions
from planlog.validation.conditions import Atom, Condition, Types, Variable
from planlog.validation.model import Domain
from planlog.validation.sexpr import Node, Source, show

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?")
_UNSUPPORTED_SECTIONS = {":durative-action", ":process", ":event", ":constraints"}
_UNSUPPORTED_CONDITIONS = {"<", ">", "<=", ">=", "preference", "always", "sometime", "within"}


@dataclass
class Scope:
    """The visible variables by their names in the text, and all names of the whole action."""

    visible: Mapping[str, str] = field(default_factory=dict)
    declared: list[str] = field(default_factory=list)

    def extended(self, variables: Iterable[Variable]) -> Scope:
        own = {conditions.as_written(v.name): v.name for v in variables}
        return Scope({**self.visible, **own}, self.declared)

    def new(self, name: str) -> str:
        """Return a name for a variable, numbered if another one has it."""
        self.declared.append(name)
        number = self.declared.count(name)
        return name if number == 1 else f"{name} {number}"


class Reader:
    """Base of the readers of domain and problem files."""

    def __init__(self, source: Source, domain: Domain, objects: Mapping[str, object]) -> None:
        self.source = source
        self.domain = domain
        self.objects = objects

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
        if not root or root[0] != "define":
            self.fail(root, "expected 'define'", 0)
        header = root[1] if len(root) > 1 else root
        if not isinstance(header, Node) or len(header) != 2 or header[0] != kind:
            self.fail(root, f"expected '({kind} NAME)'", 1)
        name = self.word(header, 1)
        found: dict[str, list[Node]] = {}
        for i in range(2, len(root)):
            section = root[i]
            if not isinstance(section, Node) or not section:
                self.fail(root, "expected a section such as '(:init ...)'", i)
            keyword = self.word(section, 0)
            if keyword in _UNSUPPORTED_SECTIONS:
                self.unsupported(section, keyword)
            if keyword not in once and keyword not in repeated:
                self.fail(section, f"unknown section {keyword}", 0)
            if keyword in found and keyword not in repeated:
                self.fail(section, f"a second {keyword}", 0)
            found.setdefault(keyword, []).append(section)
        return name, found

    def word(self, node: Node, child: int) -> str:
        if child >= len(node):
            self.fail(node, f"{show(node)[:40]} ends too early")
        item = node[child]
        if not isinstance(item, str):
            self.fail(node, "expected a name", child)
        return item

    def typed_list(self, node: Node, first: int = 0) -> Iterator[tuple[str, Types, int]]:
        """Yield the names, types and places in `a b - t c - (either t u) d`."""
        waiting: list[tuple[str, int]] = []
        i = first
        while i < len(node):
            if node[i] != "-":
                waiting.append((self.word(node, i), i))
                i += 1
                continue
            if not waiting:
                self.fail(node, "expected a name before '-'", i)
            if i + 1 >= len(node):
                self.fail(node, "expected a type after '-'", i)
            after = node[i + 1]
            types: Types
            if isinstance(after, str):
                types = (after,)
            elif len(after) > 1 and after[0] == "either":
                types = tuple(self.word(after, k) for k in range(1, len(after)))
            else:
                self.fail(node, "expected a type or '(either TYPE ...)'", i + 1)
            for name, place in waiting:
                yield name, types, place
            waiting.clear()
            i += 2
        for name, place in waiting:
            yield name, ("object",), place

    def known(self, types: Types, node: Node, child: int) -> Types:
        for name in types:
            if name not in self.domain.parents:
                self.fail(node, f"unknown type {name}", child)
        return types

    def typed_objects(self, node: Node, constants: Mapping[str, str]) -> dict[str, str]:
        """Return objects with their types. They may repeat the domain's constants."""
        declared: dict[str, str] = {}
        for name, types, place in self.typed_list(node, 1):
            own, *others = self.known(types, node, place)
            if others:
                self.fail(node, "an object has one type; 'either' is for parameters", place)
            if name in declared or constants.get(name, own) != own:
                self.fail(node, f"{name} is declared twice", place)
            declared[name] = own
        return declared

    def variables(self, node: Node, scope: Scope, first: int = 0) -> list[Variable]:
        """Read a list of typed variables, each with a name of its own."""
        found: dict[str, Variable] = {}
        for name, types, place in self.typed_list(node, first):
            if not name.startswith("?"):
                self.fail(node, f"expected a variable, not {name}", place)
            if name in found:
                self.fail(node, f"{name} is declared twice", place)
            found[name] = Variable(scope.new(name), self.known(types, node, place))
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
                name = scope.visible[name]
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
        return Atom(name, self.terms(node, scope))

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
            if any(isinstance(node[i], Node) or is_number(node[i]) for i in parts):
                self.unsupported(node, "a numeric condition")
            return conditions.Equal(self.terms(node, scope))
        if head in _UNSUPPORTED_CONDITIONS and head not in self.domain.predicates:
            self.unsupported(node, f"'{head}'")
        return self.atom(node, scope)


def is_number(item: Node | str) -> bool:
    return isinstance(item, str) and _NUMBER.fullmatch(item) is not None
