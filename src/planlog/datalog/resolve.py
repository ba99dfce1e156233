"""Name resolution: look up the relation of each literal and check its arity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planlog.datalog.diagnostics import Diagnostics, enumeration, nearest
from planlog.datalog.lexer import Kind, Token
from planlog.datalog.parser import ParsedAtom, ParsedComparison, ParsedFile, ParsedRule
from planlog.datalog.syntax import (
    NETWORK_MARK,
    STATUSES,
    Comparison,
    Constant,
    Literal,
    Relation,
    Rule,
    Source,
    Term,
    Variable,
    Wildcard,
)

if TYPE_CHECKING:
    from planlog.pddl.schema import ActionSchema, Predicate
    from planlog.pddl.task import Domain

_STATUS_HELP = (
    "write @goal (in the goal), @ag (achieved goal), @ug (unachieved goal) or @aa (true, no goal)"
)


def resolve(parsed: ParsedFile, domain: Domain, diagnostics: Diagnostics) -> list[Rule]:
    """Return the rules without wrong names or arities; errors go to the diagnostics.

    A name of the domain takes precedence over one of the rules. A head is an action or a new name;
    in a body a predicate hides a type of the same name, and both hide an action.
    """
    resolver = _Resolver(parsed, domain, diagnostics)
    resolved = [resolver.rule(rule) for rule in parsed.rules]
    return [rule for rule in resolved if rule is not None]


def _is_marked(atom: ParsedAtom) -> bool:
    return atom.status is not None and f"@{atom.status.text}" == NETWORK_MARK


class _Resolver:
    def __init__(self, parsed: ParsedFile, domain: Domain, diagnostics: Diagnostics) -> None:
        self.diagnostics = diagnostics
        self.domain = domain
        self.skipped = parsed.skipped_names
        self.predicates = {predicate.name: predicate for predicate in domain.predicates}
        self.types = {"object", *(declared.name for declared in domain.types)}
        self.actions = {action.name: action for action in domain.actions}
        # The first head of each derived predicate, which fixes its arity.
        self.derived: dict[str, ParsedAtom] = {}
        for rule in parsed.rules:
            name = rule.head.name.text
            if not (name in self.predicates or name in self.types or name in self.actions):
                self.derived.setdefault(name, rule.head)

    def rule(self, parsed: ParsedRule) -> Rule | None:
        terms = _Terms(parsed, self.diagnostics)
        head = self.head(parsed.head, terms)
        body = [
            self.literal(part, terms) if isinstance(part, ParsedAtom) else terms.comparison(part)
            for part in parsed.body
        ]
        known = tuple(part for part in body if part is not None)
        if head is None or len(known) < len(body) or terms.failed:
            return None
        place = parsed.head.line, parsed.head.column
        return Rule(head, known, *place, parsed.text, _is_marked(parsed.head))

    # Atoms

    def head(self, atom: ParsedAtom, terms: _Terms) -> Literal | None:
        name = atom.name.text
        literal_terms = terms.of_head(atom, name in self.actions)
        if name in self.actions:
            relation = Relation(name, self.actions[name].arity, Source.ACTION)
        elif name in self.predicates or name in self.types:
            kind = "predicate" if name in self.predicates else "type"
            self.diagnostics.error(
                atom.name,
                f"{name} is a {kind} of the domain, so rules cannot define it",
                "choose another name: a head is an action of the domain or a new predicate",
            )
            return None
        else:
            relation = Relation(name, len(self.derived[name].terms), Source.DERIVED)
        if atom.status and (name in self.actions or not _is_marked(atom)):
            self.no_mark(atom, atom.status)
            return None
        return self.checked(atom, relation, literal_terms)

    def literal(self, atom: ParsedAtom, terms: _Terms) -> Literal | None:
        relation = self.relation(atom)
        if relation is None:
            return None
        return self.checked(atom, relation, terms.of_body(atom))

    def relation(self, atom: ParsedAtom) -> Relation | None:
        name = atom.name.text
        if name in self.predicates:
            source = self.status(atom.status) if atom.status else Source.STATE
            return Relation(name, self.predicates[name].arity, source) if source else None
        if name in self.types:
            relation = Relation(name, 1, Source.TYPE)
        elif name in self.actions:
            relation = Relation(name, self.actions[name].arity, Source.ACTION)
        elif name in self.derived:
            relation = Relation(name, len(self.derived[name].terms), Source.DERIVED)
        else:
            if name not in self.skipped:
                self.unknown(atom)
            return None
        if atom.status:
            self.no_status(atom, atom.status)
            return None
        return relation

    def status(self, status: Token) -> Source | None:
        source = STATUSES.get(status.text)
        if source is None:
            self.diagnostics.error(status, f"unknown goal status '@{status.text}'", _STATUS_HELP)
        return source

    def no_mark(self, atom: ParsedAtom, status: Token) -> None:
        name = atom.name.text
        if name in self.actions:
            message = f"{name} is an action, so its rules cannot have '@{status.text}'"
            hint = f"write '{name}' without '@{status.text}'"
        else:
            message = f"'@{status.text}' cannot stand in a head"
            hint = f"write '{name}', or '{name}{NETWORK_MARK}' if it is for networks"
        self.diagnostics.error(status, message, hint)

    def no_status(self, atom: ParsedAtom, status: Token) -> None:
        name = atom.name.text
        kind = "an action" if name in self.actions else "defined by rules"
        if name in self.types:
            kind = "a type"
        message = f"{name} is {kind}; only predicates of the domain have '@{status.text}'"
        if _is_marked(atom):
            message = f"'{NETWORK_MARK}' can stand in heads only"
        self.diagnostics.error(status, message, f"write '{name}' without '@{status.text}'")

    def unknown(self, atom: ParsedAtom) -> None:
        name = atom.name.text
        candidates = set(self.predicates)
        if not atom.status:
            candidates |= self.types | set(self.actions) | set(self.derived)
        base, _, status = name.replace("-", "_").rpartition("_")
        near = nearest(name, candidates)
        if status in STATUSES and (near_base := nearest(base, self.predicates)):
            hint = f"did you mean '{near_base}@{status}'?"
        elif near:
            hint = f"did you mean '{near}'?"
        elif atom.status:
            hint = f"the predicates of the domain are: {enumeration(self.predicates)}"
        else:
            hint = "neither the domain nor a rule defines it"
            if self.predicates:
                hint += f"; the predicates of the domain are: {enumeration(self.predicates)}"
        self.diagnostics.error(atom.name, f"unknown predicate '{name}'", hint)

    def checked(
        self, atom: ParsedAtom, relation: Relation, terms: tuple[Term, ...]
    ) -> Literal | None:
        if len(terms) == relation.arity:
            place = (atom.line, atom.column, atom.length)
            return Literal(relation, terms, atom.negated, *place)
        message = f"{relation} takes {_arguments(relation.arity)}, not {len(terms)}"
        self.diagnostics.error(atom, message, self.declaration(relation))
        return None

    def declaration(self, relation: Relation) -> str:
        match relation.source:
            case Source.TYPE:
                return f"a type is a predicate with one argument: {relation.name}(X)"
            case Source.ACTION:
                return f"the action is declared as {declared_form(self.actions[relation.name])}"
            case Source.DERIVED:
                return f"its first rule is in line {self.derived[relation.name].line}"
            case _:
                form = declared_form(self.predicates[relation.name])
                hidden = [
                    kind
                    for kind, names in (("type", self.types), ("action", self.actions))
                    if relation.name in names
                ]
                also = f" and hides the {' and the '.join(hidden)} of that name" if hidden else ""
                return f"the predicate is declared as {form}{also}"


class _Terms:
    """Conversion of one rule's terms; each `_` of a positive literal becomes a new variable."""

    def __init__(self, rule: ParsedRule, diagnostics: Diagnostics) -> None:
        self.diagnostics = diagnostics
        self.failed = False
        self.fresh = 0
        self.taken = {
            token.text
            for part in (rule.head, *rule.body)
            for token in (part.terms if isinstance(part, ParsedAtom) else (part.left, part.right))
        }

    def of_head(self, atom: ParsedAtom, is_action: bool) -> tuple[Term, ...]:
        hint = "write a variable and bind it in the body"
        if is_action:
            hint = "write a variable; the action's precondition binds it"
        return tuple(self.named(token, "a head", hint) for token in atom.terms)

    def of_body(self, atom: ParsedAtom) -> tuple[Term, ...]:
        terms = (_term(token) for token in atom.terms)
        if atom.negated:
            return tuple(terms)
        return tuple(self.unique(t) if isinstance(t, Wildcard) else t for t in terms)

    def comparison(self, parsed: ParsedComparison) -> Comparison:
        hint = "compare two variables or constants"
        left = self.named(parsed.left, "a comparison", hint)
        right = self.named(parsed.right, "a comparison", hint)
        return Comparison(left, right, parsed.equal, parsed.line, parsed.column, parsed.length)

    def named(self, token: Token, place: str, hint: str) -> Term:
        if token.kind is Kind.WILDCARD:
            self.diagnostics.error(token, f"'_' cannot stand in {place}", hint)
            self.failed = True
        return _term(token)

    def unique(self, wildcard: Wildcard) -> Variable:
        self.fresh += 1
        while f"_{self.fresh}" in self.taken:
            self.fresh += 1
        return Variable(f"_{self.fresh}", wildcard.line, wildcard.column)


def _term(token: Token) -> Term:
    match token.kind:
        case Kind.VARIABLE:
            return Variable(token.text, token.line, token.column)
        case Kind.WILDCARD:
            return Wildcard(token.line, token.column)
        case _:
            return Constant(token.text, token.line, token.column)


def declared_form(declared: Predicate | ActionSchema) -> str:
    """Return a declaration in PDDL: `(on ?x - block ?y - block)`."""
    parts = [declared.name]
    for parameter in declared.parameters:
        types = parameter.types
        text = f"?{parameter.name}"
        if types and types != ("object",):
            text += f" - {types[0]}" if len(types) == 1 else f" - (either {' '.join(types)})"
        parts.append(text)
    return f"({' '.join(parts)})"


def _arguments(count: int) -> str:
    return "no arguments" if count == 0 else f"{count} argument{'s' if count > 1 else ''}"
