"""Name resolution: look up the relation of each literal and check its arity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from planlog.datalog import syntax
from planlog.datalog.diagnostics import Diagnostics, enumeration, nearest
from planlog.datalog.lexer import Token
from planlog.datalog.parser import ParsedAtom, ParsedConjunction, ParsedFile, ParsedRule
from planlog.datalog.sorts import with_sorts
from planlog.datalog.syntax import (
    NETWORK_MARK,
    STATUSES,
    Aggregate,
    Literal,
    Relation,
    Rule,
    Source,
    Term,
    quoted,
    written,
)

if TYPE_CHECKING:
    from planlog.datalog.desugar import AggregateNames
    from planlog.pddl.task import Domain

_STATUS_HELP = (
    "write @goal (in the goal), @ag (achieved goal), @ug (unachieved goal), @aa (true, no goal) or "
    "@un (true, but unwanted)"
)


def resolve(parsed: ParsedFile, domain: Domain, diagnostics: Diagnostics) -> list[Rule]:
    """Return the rules without wrong names or arities; errors go to the diagnostics.

    A name of the domain takes precedence over one of the rules. A head is an action or a new name;
    in a body a predicate hides a type of the same name, and both hide an action. `t@type` is the
    type t in any case.
    """
    # These stages are loaded when they are needed, since loading them takes milliseconds.
    if parsed.has_shorthand:
        from planlog.datalog.shorthand import expand_shorthand

        parsed = expand_shorthand(parsed, domain, diagnostics)
    rules: tuple[ParsedRule, ...] = parsed.rules
    aggregates: dict[str, AggregateNames] = {}
    if parsed.computes:
        from planlog.datalog.desugar import desugar

        rules, aggregates = desugar(parsed, domain, diagnostics)
    resolver = _Resolver(rules, aggregates, parsed.skipped_names, domain, diagnostics)
    resolved = [resolver.rule(rule) for rule in rules]
    return with_sorts([rule for rule in resolved if rule is not None])


def _is_marked(atom: ParsedAtom) -> bool:
    return atom.status is not None and f"@{atom.status.text}" == NETWORK_MARK


class _Resolver:
    def __init__(
        self,
        rules: Sequence[ParsedRule],
        aggregates: Mapping[str, AggregateNames],
        skipped_names: frozenset[str],
        domain: Domain,
        diagnostics: Diagnostics,
    ) -> None:
        self.domain = domain
        self.diagnostics = diagnostics
        self.skipped = skipped_names
        self.aggregates = aggregates
        self.predicates = {predicate.name: predicate for predicate in domain.predicates}
        self.types = domain.type_ids
        self.actions = {action.name: action for action in domain.actions}
        # The relations that rules can define, by name and arity.
        self.defined: dict[str, dict[int, Relation]] = {
            a.name: {a.arity: Relation(a.name, a.arity, Source.ACTION)} for a in domain.actions
        }
        self.heads: dict[tuple[str, int], list[ParsedAtom]] = {}
        for rule in rules:
            name = rule.head.name.text
            if not (name in self.predicates or name in self.types or name in self.actions):
                self.heads.setdefault((name, len(rule.head.terms)), []).append(rule.head)
        for (name, arity), heads in self.heads.items():
            relation = Relation(name, arity, Source.DERIVED, least=self.least_column(heads))
            self.defined.setdefault(name, {})[arity] = relation

    def rule(self, parsed: ParsedRule) -> Rule | None:
        parts = [part for part in parsed.body if not isinstance(part, ParsedConjunction)]
        taken = {term.name for part in (parsed.head, *parts) for term in _terms(part)}
        taken |= {term.name for choice in parsed.choices for term in choice.terms}
        fresh = (name for i in count(1) if (name := f"_{i}") not in taken)
        head = self.head(parsed, fresh)
        body = [self.part(part, fresh) for part in parts]
        known = tuple(part for part in body if part is not None)
        if head is None or len(known) < len(body):
            return None
        rule = Rule(
            head,
            known,
            parsed.text,
            _is_marked(parsed.head),
            parsed.choices,
            parsed.forbids,
            parsed.block,
            parsed.is_generated,
        )
        return rule if parsed.text else replace(rule, text=str(rule))

    def least_column(self, heads: list[ParsedAtom]) -> int | None:
        """Return the column of the least values of a predicate with these heads."""
        marked = [head for head in heads if head.least is not None]
        for head in marked:
            if head.least != marked[0].least:
                message = f"'min' stands at another argument of {head.name.text}"
                line = marked[0].place.line
                self.diagnostics.error(head.place, message, f"compare the rule in line {line}")
        return marked[0].least if marked else None

    def head(self, rule: ParsedRule, fresh: Iterator[str]) -> Literal | None:
        """Resolve a head; in that of an action, each `_` becomes a fresh variable."""
        atom = rule.head
        name = atom.name.text
        if rule.forbids and name not in self.actions:
            names = enumeration(map(written, self.actions))
            hint = f"a rule without a head forbids an action: {names}"
            self.diagnostics.error(atom.place, f"{quoted(name)} is no action", hint)
            return None
        terms = _terms(atom)
        are_named = True
        if name in self.actions:
            terms = _with_variables(terms, fresh)
        else:
            hint = "write a variable and bind it in the body"
            are_named = self.check_named(terms, "a head", hint)
        if name in self.actions and atom.least is not None:
            message = f"{written(name)} is an action, whose arguments are objects"
            self.diagnostics.error(atom.place, message, "'min' is for rules of new predicates")
            return None
        if name not in self.defined:
            kind = "predicate" if name in self.predicates else "type"
            self.diagnostics.error(
                atom.name.place,
                f"{written(name)} is a {kind} of the domain, so rules cannot define it",
                "choose another name: a head is an action of the domain or a new predicate",
            )
            return None
        if atom.status and (name in self.actions or not _is_marked(atom)):
            self.no_mark(atom, atom.status)
            return None
        literal = self.checked(atom, self.of_arity(atom), terms)
        return literal if are_named else None

    def part(
        self, part: ParsedAtom | syntax.Comparison, fresh: Iterator[str]
    ) -> Literal | syntax.Comparison | None:
        """Resolve a part of a body; each `_` of a positive literal becomes a fresh variable."""
        if isinstance(part, syntax.Comparison):
            hint = "compare two variables or constants"
            return part if self.check_named(part.terms, "a comparison", hint) else None
        relation = self.relation(part)
        if relation is None:
            return None
        if part.least is not None:
            hint = "a body reads the least value: write the argument without 'min'"
            self.diagnostics.error(part.place, "'min' can stand in heads only", hint)
            return None
        terms = _terms(part)
        if not part.negated:
            terms = _with_variables(terms, fresh)
        return self.checked(part, relation, terms)

    def check_named(self, terms: tuple[Term, ...], where: str, hint: str) -> bool:
        """Report each `_` and return whether there is none."""
        wildcards = [term for term in terms if isinstance(term, syntax.Wildcard)]
        for term in wildcards:
            self.diagnostics.error(term.place, f"'_' cannot stand in {where}", hint)
        return not wildcards

    def relation(self, atom: ParsedAtom) -> Relation | None:
        """Return the relation of a literal in a body."""
        name = atom.name.text
        if atom.can:
            return self.applicable(atom)
        if name in self.aggregates:
            return self.aggregate(name, self.aggregates[name])
        is_type = name in self.types
        if is_type and atom.status and atom.status.text == Source.TYPE.value:
            return Relation.of_type(name, self.domain)
        if name in self.predicates:
            source = self.status(atom.status) if atom.status else Source.STATE
            return Relation(name, self.predicates[name].arity, source) if source else None
        if name in self.domain.function_ids and name not in self.defined:
            if atom.status:
                self.no_status(atom, atom.status)
                return None
            return self.domain_function(name)
        if not is_type and name not in self.defined:
            if name not in self.skipped:
                self.unknown(atom)
            return None
        relation = Relation.of_type(name, self.domain) if is_type else self.of_arity(atom)
        if atom.status:
            self.no_status(atom, atom.status)
            return None
        return relation

    def applicable(self, atom: ParsedAtom) -> Relation | None:
        """Return the relation of the applicable instances of an action."""
        name = atom.name.text
        if action := self.actions.get(name):
            if atom.status is None:
                return Relation(name, action.arity, Source.APPLICABLE)
            self.no_status(atom, atom.status)
            return None
        near = nearest(name, self.actions)
        hint = "'can a(X)' says that the action a is applicable"
        hint = f"did you mean {quoted(near)}?" if near else hint
        self.diagnostics.error(atom.name.place, f"{quoted(name)} is no action", hint)
        return None

    def aggregate(self, name: str, names: AggregateNames) -> Relation:
        """Return the relation of an aggregate."""
        (elements,) = self.defined[names.elements].values()
        groups = next(iter(self.defined[names.groups].values())) if names.groups else None
        size = names.group_size
        aggregate = Aggregate(names.kind, elements, groups, size)
        return Relation(name, size + 1, Source.AGGREGATE, aggregate=aggregate)

    def of_arity(self, atom: ParsedAtom) -> Relation:
        """Return the relation of this name with as many arguments as the atom, if there is one."""
        relations = self.defined[atom.name.text]
        return relations.get(len(atom.terms)) or next(iter(relations.values()))

    def domain_function(self, name: str) -> Relation:
        """Return the relation of a static function: its arguments and its value."""
        arity = self.domain.function_arities[name]
        return Relation(name, arity + 1, Source.FUNCTION, numbers=frozenset([arity]))

    def status(self, status: Token) -> Source | None:
        source = STATUSES.get(status.text)
        if source is None:
            message = f"unknown goal status '@{status.text}'"
            self.diagnostics.error(status.place, message, _STATUS_HELP)
        return source

    def no_mark(self, atom: ParsedAtom, status: Token) -> None:
        name = atom.name.text
        if name in self.actions:
            message = f"{written(name)} is an action, so its rules cannot have '@{status.text}'"
            hint = f"write {quoted(name)} without '@{status.text}'"
        else:
            message = f"'@{status.text}' cannot stand in a head"
            marked = f"{written(name)}{NETWORK_MARK}"
            hint = f"write {quoted(name)}, or '{marked}' if it is for networks"
        self.diagnostics.error(status.place, message, hint)

    def no_status(self, atom: ParsedAtom, status: Token) -> None:
        name = atom.name.text
        kind = "an action" if name in self.actions else "defined by rules"
        if name in self.types:
            kind = "a type"
        message = f"{written(name)} is {kind}; only predicates of the domain have '@{status.text}'"
        if _is_marked(atom):
            message = f"'{NETWORK_MARK}' can stand in heads only"
        hint = f"write {quoted(name)} without '@{status.text}'"
        self.diagnostics.error(status.place, message, hint)

    def unknown(self, atom: ParsedAtom) -> None:
        name = atom.name.text

        def hint() -> str:
            candidates = set(self.predicates) | set(self.domain.function_ids)
            if not atom.status:
                candidates |= set(self.types) | set(self.defined)
            base, _, status = name.replace("-", "_").rpartition("_")
            if status in STATUSES and (near_base := nearest(base, self.predicates)):
                return f"did you mean '{written(near_base)}@{status}'?"
            if near := nearest(name, candidates):
                return f"did you mean {quoted(near)}?"
            if name == "total-cost":
                return "rules cannot read the cost so far; a static function is a predicate"
            listed = (
                f"the predicates of the domain are: {enumeration(map(written, self.predicates))}"
            )
            if functions := sorted(self.domain.function_ids):
                listed += f"; its functions are: {enumeration(map(written, functions))}"
            if atom.status:
                return listed
            defines = "neither the domain nor a rule defines it"
            return f"{defines}; {listed}" if self.predicates else defines

        self.diagnostics.error(atom.name.place, f"unknown predicate {quoted(name)}", hint)

    def checked(
        self, atom: ParsedAtom, relation: Relation, terms: tuple[Term, ...]
    ) -> Literal | None:
        if len(terms) == relation.arity:
            return Literal(relation, terms, atom.negated, atom.place)
        arities = sorted(self.defined[relation.name]) if relation.has_rules else [relation.arity]
        taken = " or ".join([*map(str, arities[:-1]), _arguments(arities[-1])])
        message = f"{relation} takes {taken}, not {len(terms)}"
        self.diagnostics.error(atom.place, message, self.declaration(relation))
        return None

    def declaration(self, relation: Relation) -> str:
        match relation.source:
            case Source.TYPE:
                return f"a type is a predicate with one argument: {written(relation.name)}(X)"
            case Source.ACTION | Source.APPLICABLE:
                return f"the action is declared as {self.actions[relation.name]}"
            case Source.FUNCTION:
                return f"{relation} is a function: its value is the last argument"
            case Source.DERIVED:
                head = self.heads[relation.name, relation.arity][0]
                return f"its first rule is in line {head.place.line}"
            case _:
                hidden = [
                    kind
                    for kind, names in (("type", self.types), ("action", self.actions))
                    if relation.name in names
                ]
                also = f" and hides the {' and the '.join(hidden)} of that name" if hidden else ""
                if "type" in hidden:
                    also += f", which is {written(relation.name)}@type(X)"
                return f"the predicate is declared as {self.predicates[relation.name]}{also}"


def _terms(part: ParsedAtom | syntax.Comparison) -> tuple[Term, ...]:
    """Return the terms of a part of a rule without expressions as arguments."""
    if isinstance(part, syntax.Comparison):
        return part.terms
    return tuple(term for term in part.terms if isinstance(term, Term))


def _with_variables(terms: tuple[Term, ...], fresh: Iterator[str]) -> tuple[Term, ...]:
    """Return the terms with a fresh variable in place of each `_`."""
    return tuple(
        syntax.Variable(next(fresh), term.place) if isinstance(term, syntax.Wildcard) else term
        for term in terms
    )


def _arguments(count: int) -> str:
    return "no arguments" if count == 0 else f"{count} argument{'s' if count > 1 else ''}"
