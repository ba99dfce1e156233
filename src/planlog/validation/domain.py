"""Reader of domain files."""

from __future__ import annotations

from collections.abc import Iterator

from planlog.validation.conditions import And, Atom, Query, Rule, Types, Variable, disjuncts
from planlog.validation.formulas import Reader, Scope, is_number
from planlog.validation.model import Action, Cost, Domain, Effect
from planlog.validation.sexpr import Node, Source, read
from planlog.validation.world import Stratum

_UNSUPPORTED_EFFECTS = {"decrease", "assign", "scale-up", "scale-down"}


def read_domain(source: Source) -> Domain:
    """Read a domain. Raises PddlError."""
    domain = Domain()
    _DomainReader(source, domain).read(read(source))
    return domain


class _DomainReader(Reader):
    def __init__(self, source: Source, domain: Domain) -> None:
        super().__init__(source, domain, domain.constants)
        self.rules: list[tuple[Rule, Node]] = []

    def read(self, root: Node) -> None:
        domain = self.domain
        known = (":requirements", ":types", ":constants", ":predicates", ":functions")
        domain.name, sections = self.sections(root, "domain", known, (":derived", ":action"))
        once = {keyword: nodes[0] for keyword, nodes in sections.items()}
        self.read_types(once.get(":types", Node()))
        domain.constants.update(self.typed_objects(once.get(":constants", Node()), {}))
        self.read_signatures(once.get(":predicates", Node()), domain.predicates)
        self.read_signatures(once.get(":functions", Node()), domain.functions)
        domain.functions.setdefault("total-cost", ())
        # Rules first, since effects must not change what they derive.
        for node in sections.get(":derived", ()):
            self.read_rule(node)
        for node in sections.get(":action", ()):
            self.read_action(node)
        self.stratify()

    def read_types(self, node: Node) -> None:
        parents = self.domain.parents
        for name, types, _ in self.typed_list(node, 1):
            parents[name] = parents.get(name, ()) + types
        for above in [t for types in parents.values() for t in types]:
            parents.setdefault(above, ("object",))  # named only as a parent
        parents["object"] = ()

    def read_signatures(self, node: Node, into: dict[str, tuple[Types, ...]]) -> None:
        places = iter(range(1, len(node)))
        for i in places:
            if node[0] == ":functions" and node[i] == "-":
                if node[i + 1 : i + 2] != ["number"]:
                    self.unsupported(node, "a function whose values are not numbers")
                next(places)
                continue
            signature = self.part(node, i)
            name = self.word(signature, 0)
            if name in into:
                self.fail(signature, f"{name} is declared twice", 0)
            into[name] = tuple(
                self.known(types, signature, place)
                for _, types, place in self.typed_list(signature, 1)
            )

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
        name = self.word(node, 1)
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
        if head in _UNSUPPORTED_EFFECTS and head not in self.domain.predicates:
            self.unsupported(node, f"'{head}'")
        adds = head != "not"
        if not adds:
            self.check_arity(node, 1)
            node = self.part(node, 1)
        atom = self.atom(node, scope)
        if atom.predicate in self.domain.derived:
            self.fail(node, f"{atom.predicate} is derived and cannot be changed by an effect", 0)
        yield Effect(query, atom, adds)

    def amount(self, node: Node, scope: Scope) -> float | Atom:
        """Return the amount of `(increase (total-cost) amount)`."""
        self.check_arity(node, 2)
        if node[1] != ["total-cost"]:
            self.unsupported(node, "a numeric effect other than on (total-cost)")
        amount = node[2]
        if isinstance(amount, str):
            if not is_number(amount):
                self.fail(node, "expected a number or a function", 2)
            return float(amount)
        if self.word(amount, 0) in ("+", "-", "*", "/", "total-cost"):
            self.unsupported(amount, "a cost that is neither a number nor a static function")
        return self.atom(amount, scope, "function")

    def stratify(self) -> None:
        """Assign the derived predicates to strata (Apt, Blair and Walker 1988)."""
        level = dict.fromkeys(self.domain.derived, 0)
        changed = True
        while changed:
            changed = False
            for rule, node in self.rules:
                head = rule.head.predicate
                for predicate, positive in rule.body.predicates():
                    needed = level.get(predicate, -1) + (not positive)
                    if level[head] < needed:
                        if needed >= len(level):
                            self.fail(node, f"{head} depends on its own negation")
                        level[head] = needed
                        changed = True
        reads: dict[str, frozenset[str]] = {p: frozenset([p]) for p in self.domain.predicates}
        for number in range(max(level.values(), default=-1) + 1):
            here = frozenset(p for p, n in level.items() if n == number)
            own = tuple(rule for rule, _ in self.rules if rule.head.predicate in here)
            used = {p for rule in own for p, _ in rule.body.predicates()} - here
            below = frozenset().union(*(reads[p] for p in used))
            reads.update(dict.fromkeys(here, below))
            self.domain.strata.append(Stratum(here, own, below))
