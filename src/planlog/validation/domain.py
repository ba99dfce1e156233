"""Reader of domain files."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from planlog.validation.conditions import And, Atom, Query, Rule, Types, Variable, disjuncts
from planlog.validation.formulas import Reader, Scope, is_number
from planlog.validation.model import Action, Cost, Domain, Effect
from planlog.validation.sexpr import Node, Source, read
from planlog.validation.world import Stratum

_BUILT_IN = frozenset("= and or not imply exists forall when increase".split())
_MAX_SUPER_TYPES = 64


def read_domain(source: Source) -> Domain:
    """Read a domain. Raises PddlError."""
    domain = Domain()
    _DomainReader(source, domain).read(read(source))
    return domain


class _DomainReader(Reader):
    def __init__(self, source: Source, domain: Domain) -> None:
        super().__init__(source, domain)
        self.rules: list[tuple[Rule, Node]] = []

    def read(self, root: Node) -> None:
        domain = self.domain
        known = (":requirements", ":types", ":constants", ":predicates", ":functions")
        domain.name, sections = self.sections(root, "domain", known, (":derived", ":action"))
        once = {keyword: nodes[0] for keyword, nodes in sections.items()}
        self.read_types(once.get(":types", Node()))
        domain.constants.update(self.typed_objects(once.get(":constants", Node()), {}))
        self.objects = {name: domain.supertypes(own) for name, own in domain.constants.items()}
        self.read_predicates(once.get(":predicates", Node()))
        self.read_functions(once.get(":functions", Node()))
        # Rules first, since effects must not change what they derive.
        for node in sections.get(":derived", ()):
            self.read_rule(node)
        for node in sections.get(":action", ()):
            self.read_action(node)
        self.stratify()

    def read_types(self, node: Node) -> None:
        parents = self.domain.parents
        # A type that is declared again has another super-type.
        for name, types, place in self.typed_list(node, 1):
            if name == "number":
                self.fail(node, "number is not a type of objects", place)
            if name == "object" and types != ("object",):
                self.fail(node, "object cannot have a super-type", place)
            parents[name] = parents.get(name, ()) + types
        for above in [t for types in parents.values() for t in types]:
            parents.setdefault(above, ("object",))  # named only as a parent
        parents["object"] = ()
        for name, types in parents.items():
            if any(name in self.domain.supertypes(above) for above in types):
                self.fail(node, f"type {name} is its own super-type")
            if len(self.domain.supertypes(name) - {name, "object"}) >= _MAX_SUPER_TYPES:
                self.fail(node, f"type {name} has more than {_MAX_SUPER_TYPES} super-types")

    def read_predicates(self, node: Node) -> None:
        for i in range(1, len(node)):
            signature = self.part(node, i)
            name, types = self.read_signature(signature)
            if name == "=" and len(types) == 2:
                continue
            if name in _BUILT_IN:
                self.fail(signature, f"{name} is built in", 0)
            self.declare(signature, types, self.domain.predicates)

    def read_functions(self, node: Node) -> None:
        functions = self.domain.functions
        functions["total-cost"] = ()
        places = iter(range(1, len(node)))
        for i in places:
            if node[i] == "-" and i + 1 < len(node):
                next(places)  # `number`
            else:
                signature = self.part(node, i)
                self.declare(signature, self.read_signature(signature)[1], functions)

    def read_signature(self, node: Node) -> tuple[str, tuple[Types, ...]]:
        name = self.name(node, 0)
        return name, tuple(types for _, types, _ in self.typed_list(node, 1, variables=True))

    def declare(
        self, node: Node, types: tuple[Types, ...], into: dict[str, tuple[Types, ...]]
    ) -> None:
        """Declare a name, perhaps again with the same types."""
        name = self.word(node, 0)
        if into.setdefault(name, types) != types:
            self.fail(node, f"{name} is declared twice, with other parameters", 0)

    def read_rule(self, node: Node) -> None:
        """Read a `(:derived (head ?x - type ...) condition)`."""
        if len(node) != 3:
            self.fail(node, "expected '(:derived (PREDICATE VARIABLES) CONDITION)'")
        scope = Scope()
        signature = self.part(node, 1)
        name = self.word(signature, 0)
        variables = self.variables(signature, scope, 1)
        if name not in self.domain.predicates:
            self.fail(signature, f"unknown predicate {name}", 0)
        if len(variables) != (arity := len(self.domain.predicates[name])):
            self.fail(signature, f"{name} has {arity} arguments, not {len(variables)}")
        head = Atom(name, [v.name for v in variables])
        body = self.condition(self.part(node, 2), scope.extended(variables))
        for disjunct in disjuncts(body):
            self.rules.append((Rule(head, variables, disjunct), node))
        self.domain.derived.add(name)

    def read_action(self, node: Node) -> None:
        name = self.name(node, 1)
        if name in self.domain.actions:
            self.fail(node, f"{name} is declared twice", 1)
        fields: dict[str, Node] = {}
        for i in range(2, len(node), 2):
            keyword = self.word(node, i)
            if keyword not in (":parameters", ":precondition", ":effect") or keyword in fields:
                self.fail(node, f"unexpected {keyword} in action {name}", i)
            if i + 1 == len(node):
                self.fail(node, f"expected '(' after {keyword}", i)
            fields[keyword] = self.part(node, i + 1)
        scope = Scope()
        parameters = self.variables(fields.get(":parameters", Node()), scope)
        scope = scope.extended(parameters)
        precondition = self.condition(fields.get(":precondition", Node()), scope)
        effects = tuple(self.effects(fields.get(":effect", Node()), scope, [], And()))
        self.domain.actions[name] = Action(name, tuple(parameters), precondition, effects)

    def effects(
        self, node: Node, scope: Scope, variables: list[Variable], condition: And
    ) -> Iterator[Effect | Cost]:
        """Yield the simple effects below a node, each with the conditions around it."""
        if not node:
            return
        head = self.word(node, 0)
        if head == "and":
            for i in range(1, len(node)):
                yield from self.effects(self.part(node, i), scope, variables, condition)
            return
        if head == "forall":
            more, inner = self.quantified(node, scope)
            yield from self.effects(self.part(node, 2), inner, variables + more, condition)
            return
        if head == "when":
            self.check_arity(node, 2)
            both = And([*condition.parts, self.condition(self.part(node, 1), scope)])
            yield from self.effects(self.part(node, 2), scope, variables, both)
            return
        query = Query(variables, condition)
        if head == "increase":
            yield Cost(query, self.amount(node, scope))
            return
        adds = head != "not"
        if not adds:
            self.check_arity(node, 1)
            node = self.part(node, 1)
        atom = self.atom(node, scope)
        if atom.predicate in self.domain.derived:
            self.fail(node, f"{atom.predicate} is derived and cannot be changed by an effect", 0)
        yield Effect(query, atom, adds)

    def amount(self, node: Node, scope: Scope) -> Fraction | Atom:
        """Return the amount of `(increase (total-cost) amount)`."""
        self.check_arity(node, 2)
        if node[1] != ["total-cost"]:
            self.fail(node, "expected '(total-cost)'", 1)
        amount = node[2]
        if isinstance(amount, str):
            if not is_number(amount):
                self.fail(node, "expected a number that is not negative, or a function", 2)
            return self.number(node, 2, self.domain.numbers)
        return self.atom(amount, scope, "function")

    def stratify(self) -> None:
        """Assign the derived predicates to strata (Apt, Blair and Walker 1988)."""
        level = dict.fromkeys(self.domain.derived, 0)
        # The planner compiles `forall` to two negations, so recursion through it is refused too.
        for strict in (False, True):
            changed = True
            while changed:
                changed = False
                for rule, node in self.rules:
                    head = rule.head.predicate
                    for use in rule.body.uses():
                        negated = not use.positive or (strict and use.universal)
                        needed = level.get(use.predicate, -1) + negated
                        if level[head] >= needed:
                            continue
                        if needed >= len(level) and not strict:
                            self.fail(node, f"{head} depends on its own negation")
                        if needed >= len(level):
                            self.unsupported(node, f"recursion of {head} through 'forall'")
                        level[head] = needed
                        changed = True
        reads: dict[str, frozenset[str]] = {p: frozenset([p]) for p in self.domain.predicates}
        for number in range(max(level.values(), default=-1) + 1):
            here = frozenset(p for p, n in level.items() if n == number)
            own = tuple(rule for rule, _ in self.rules if rule.head.predicate in here)
            used = {use.predicate for rule in own for use in rule.body.uses()} - here
            below = frozenset().union(*(reads[p] for p in used))
            reads.update(dict.fromkeys(here, below))
            self.domain.strata.append(Stratum(here, own, below))
