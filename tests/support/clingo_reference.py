"""Rules evaluated by clingo, with what they need of PDDL read here: a reference for the core.

The reader of PDDL knows conjunctions of literals only, and refuses all else with an assertion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import clingo

from planlog.datalog import Program, syntax
from planlog.datalog.syntax import Literal, Relation, Rule, Source, Term
from planlog.pddl.task import State, Task
from planlog.policy.derivations import Derivations
from planlog.policy.policy import Policy
from support.nested_lists import Nested, nested

Atom = tuple[str, ...]  # the predicate's name and the arguments
Row = tuple[str | int, ...]
Expression = str | Nested


# --- PDDL --------------------------------------------------------------------------


@dataclass(frozen=True)
class Schema:
    """An action: each parameter with its type, and each literal of the precondition."""

    parameters: dict[str, str]
    precondition: tuple[tuple[bool, Atom], ...]  # whether it is negated, and its atom


@dataclass(frozen=True)
class DomainText:
    """What the rules of a policy take from a domain."""

    parents: dict[str, str]  # of the types other than `object`
    constants: dict[str, str]
    schemas: dict[str, Schema]

    @classmethod
    def read(cls, text: str) -> DomainText:
        sections = list(_sections(text))
        found = {str(name): content for name, *content in sections}
        schemas = {}
        for keyword, *content in sections:
            if keyword == ":action":
                name, *parts = content
                fields = dict(zip(map(str, parts[::2]), parts[1::2], strict=True))
                schemas[str(name)] = Schema(
                    _typed(_words(fields[":parameters"])),
                    tuple(_literals(fields.get(":precondition", []))),
                )
        return cls(
            _typed(_words(found.get(":types", []))),
            _typed(_words(found.get(":constants", []))),
            schemas,
        )

    def types_of(self, name: str) -> Iterator[str]:
        """A type and all its super-types."""
        while name != "object":
            yield name
            name = self.parents[name]
        yield name


@dataclass(frozen=True)
class ProblemText:
    """Objects with types (without the domain's constants), initial state and positive goal."""

    objects: dict[str, str]
    initial: frozenset[Atom]
    goal: frozenset[Atom]

    @classmethod
    def read(cls, text: str) -> ProblemText:
        found = {str(name): content for name, *content in _sections(text)}
        (goal,) = found[":goal"]
        return cls(
            _typed(_words(found.get(":objects", []))),
            frozenset(tuple(_words(atom)) for atom in found[":init"]),
            frozenset(_positive(goal)),
        )


def _sections(text: str) -> Iterator[list[Expression]]:
    define = nested(text)
    assert define[0] == "define"
    for section in define[1:]:
        assert isinstance(section, list)
        yield section


def _words(expression: Expression) -> list[str]:
    """An expression without parts in parentheses."""
    assert isinstance(expression, list)
    words = [part for part in expression if isinstance(part, str)]
    assert len(words) == len(expression)
    return words


def _typed(words: list[str]) -> dict[str, str]:
    """`a b - t c` as the type of each name."""
    types: dict[str, str] = {}
    waiting: list[str] = []
    remaining = iter(words)
    for word in remaining:
        if word == "-":
            types.update(dict.fromkeys(waiting, next(remaining)))
            waiting = []
        else:
            waiting.append(word)
    return types | dict.fromkeys(waiting, "object")


def _literals(condition: Expression) -> Iterator[tuple[bool, Atom]]:
    if not condition:
        return
    if condition[0] == "and":
        for part in condition[1:]:
            yield from _literals(part)
        return
    negated = condition[0] == "not"
    if negated:
        (condition,) = condition[1:]
    atom = tuple(_words(condition))
    assert atom[0] not in ("not", "and", "or", "imply", "exists", "forall", "=")
    yield negated, atom


def _positive(condition: Expression) -> Iterator[Atom]:
    for negated, atom in _literals(condition):
        assert not negated
        yield atom


# --- Rules and facts as clingo reads them --------------------------------------------


def rules_text(program: Program, domain: DomainText) -> str:
    """The rules, and for each a second one whose atoms are its satisfied substitutions.

    An action's precondition and the types of its parameters are in the body where they belong.
    """
    lines = []
    for number, rule in enumerate(program.rules):
        body = ", ".join([*map(_body_part, rule.body), *_conditions(rule, domain)])
        variables = dict.fromkeys(
            _term(term)
            for part in (rule.head, *rule.body)
            if not (isinstance(part, Literal) and part.negated)
            for term in part.terms
            if isinstance(term, syntax.Variable)
        )
        lines.append(f"{_body_part(rule.head)} :- {body}.")
        substitution = f"{_tuple(map(_term, rule.head.terms))}, {_tuple(variables)}"
        lines.append(f"substitution({number}, {substitution}) :- {body}.")
    return "\n".join(lines)


def facts_text(
    domain: DomainText,
    objects: dict[str, str],
    state: Iterable[Atom],
    goal: Iterable[Atom],
    unwanted: Iterable[Atom] = (),
) -> str:
    """Types, state (with what no action changes) and goal, and atoms by their part in both.

    The goal is that the atoms of `goal` are true, and those of `unwanted` false.
    """
    true, wanted = frozenset(state), frozenset(goal)
    lines = [
        f"{_symbol(Source.TYPE, name)}({_quoted(item)})."
        for item, type_name in (domain.constants | objects).items()
        for name in domain.types_of(type_name)
    ]
    for source, atoms in (
        (Source.STATE, true),
        (Source.GOAL, wanted),
        (Source.ACHIEVED_GOAL, true & wanted),
        (Source.UNACHIEVED_GOAL, wanted - true),
        (Source.ACHIEVED_NONGOAL, true - wanted),
        (Source.UNWANTED, true & frozenset(unwanted)),
    ):
        lines += [
            f"{_applied(_symbol(source, name), map(_quoted, arguments))}."
            for name, *arguments in atoms
        ]
    return "\n".join(lines)


def _conditions(rule: Rule, domain: DomainText) -> Iterator[str]:
    if not rule.is_policy_rule:
        return
    schema = domain.schemas[rule.head.relation.name]
    terms = {
        parameter: _term(term)
        for parameter, term in zip(schema.parameters, rule.head.terms, strict=True)
    }
    for parameter, type_name in schema.parameters.items():
        yield f"{_symbol(Source.TYPE, type_name)}({terms[parameter]})"
    for negated, (name, *arguments) in schema.precondition:
        values = (terms[a] if a.startswith("?") else _quoted(a) for a in arguments)
        yield ("not " if negated else "") + _applied(_symbol(Source.STATE, name), values)


def _body_part(part: Literal | syntax.Comparison) -> str:
    if isinstance(part, syntax.Comparison):
        return f"{_expression(part.left)} {part.operator} {_expression(part.right)}"
    if aggregate := part.relation.aggregate:
        return _aggregate(part, aggregate)
    name = _symbol(part.relation.source, part.relation.name)
    return ("not " if part.negated else "") + _applied(name, map(_term, part.terms))


def _aggregate(literal: Literal, aggregate: syntax.Aggregate) -> str:
    """An aggregate in clingo's own words; there, least and greatest of nothing exist."""
    *group, number = map(_term, literal.terms)
    own = [f"E{i}" for i in range(aggregate.elements.arity - len(group))]
    name = _symbol(Source.DERIVED, aggregate.elements.name)
    elements = _applied(name, [*group, *own])
    # In these worlds, the first object is the one with the least name.
    kind = "min" if aggregate.kind == "first" else aggregate.kind
    text = f"{number} = #{kind} {{ {', '.join(own) or '1'} : {elements} }}"
    if kind in ("min", "max"):
        text += ", " + _applied(name, [*group, *("_" for _ in own)])
    return text


def _expression(expression: syntax.Expression) -> str:
    if isinstance(expression, syntax.Operation):
        left, right = _expression(expression.left), _expression(expression.right)
        return f"({left} {expression.operator} {right})"
    return _term(expression)


def _term(term: Term) -> str:
    """A wildcard of a positive literal is a variable of the rule, and is named as one: clingo's
    own `_` would not count as a part of the substitution."""
    match term:
        case syntax.Variable(name):
            return f"V{name}".replace("-", "__")
        case syntax.Constant(name):
            return _quoted(name)
        case syntax.Number():
            return str(term.value)
        case syntax.Wildcard():
            return "_"


def _symbol(source: Source, name: str) -> str:
    return f"{source.name.lower()}_{name.replace('-', '__')}"


def _applied(name: str, arguments: Iterable[str]) -> str:
    joined = ", ".join(arguments)
    return f"{name}({joined})" if joined else name


def _tuple(items: Iterable[str]) -> str:
    listed = list(items)
    return f"({', '.join(listed)}{',' if len(listed) == 1 else ''})"


def _quoted(name: str) -> str:
    return f'"{name}"'


# --- Both sides as plain sets --------------------------------------------------------


@dataclass(frozen=True)
class Reference:
    """Clingo's model: the rows of each relation with rules, and for each rule how many of its
    satisfied substitutions derive each row of its head."""

    relations: dict[Relation, set[Row]]
    heads: list[Counter[Row]]


def evaluate(program: Program, rules: str, facts: str) -> Reference:
    """The model of a program from the texts of its rules and of the facts."""
    control = clingo.Control(["--warn=none", "0"])
    control.add("base", [], f"{rules}\n{facts}")
    control.ground([("base", [])])
    models: list[list[clingo.Symbol]] = []
    control.solve(on_model=lambda model: models.append(list(model.symbols(atoms=True))))
    (shown,) = models  # a stratified program has exactly one
    derived = {rule.head.relation for rule in program.rules}
    relations = {_symbol(r.source, r.name): (r, set[Row]()) for r in derived}
    heads = [Counter[Row]() for _ in program.rules]
    for atom in shown:
        if atom.name == "substitution":
            rule, head, _ = atom.arguments
            heads[rule.number][_row(head)] += 1
        elif atom.name in relations:
            relations[atom.name][1].add(_row(atom))
    return Reference(dict(relations.values()), heads)


def _row(symbol: clingo.Symbol) -> Row:
    is_number = clingo.SymbolType.Number
    return tuple(a.number if a.type == is_number else a.string for a in symbol.arguments)


def model(policy: Policy, task: Task, found: Derivations, state: int = 0) -> dict[str, set[Row]]:
    """The core's relations that rules define or that the state gives."""
    assert policy.program is not None
    relations = {
        literal.relation for rule in policy.program.rules for literal in (rule.head, *rule.literals)
    }
    return {
        str(relation): rows(task, found, policy.relation(relation), state)
        for relation in relations
        if relation.has_rules or relation.source is Source.STATE
    }


def rows(task: Task, found: Derivations, relation: int, state: int = 0) -> set[Row]:
    """The rows of one of the core's relations."""
    of_state = decoded(found, relation)[_segment(found, relation, state)]
    result = [_named(task, row) for row in of_state]
    assert len(set(result)) == len(result)
    return set(result)


# Object ids, and integers as texts: their ids differ from model to model.
DecodedRow = tuple[int | str, ...]
Derivation = tuple[DecodedRow, ...]


def decoded(found: Derivations, relation: int) -> list[DecodedRow]:
    """All rows of one of the core's relations."""
    of = found.relations[relation]
    return [
        tuple(
            f"{found.numbers[value]}" if column in of.numbers else value
            for column, value in enumerate(row)
        )
        for row in of.values.tolist()
    ]


def _segment(found: Derivations, relation: int, state: int) -> slice:
    of = found.relations[relation]
    return of.segments[0 if of.static else state]


def substitutions(found: Derivations, state: int = 0) -> list[Counter[Derivation]]:
    """Per rule of the core, each derivation as the values of its head and of its body's atoms."""
    result = []
    atoms_of = [decoded(found, relation) for relation in range(len(found.relations))]
    for rule in found.rules:
        part = rule.of(state)
        columns = [
            [atoms_of[relation][number] for number in numbers[part].tolist()]
            for relation, numbers in zip(
                (rule.head, *rule.body), (rule.heads, *rule.bodies.T), strict=True
            )
        ]
        result.append(Counter(zip(*columns, strict=True)))
    return result


def assert_equal(
    policy: Policy, task: Task, found: Derivations, expected: Reference, state: int = 0
) -> None:
    """The same relations, and for each rule the same number of substitutions for each head."""
    assert policy.program is not None
    for relation, expected_rows in expected.relations.items():
        ours = rows(task, found, policy.relation(relation), state)
        assert ours == expected_rows, f"{relation}: {ours} instead of {expected_rows}"
    ours_by_rule = substitutions(found, state)
    for rule, core, heads in zip(
        policy.program.rules, policy.rule_numbers, expected.heads, strict=True
    ):
        assert all(count == 1 for count in ours_by_rule[core].values()), str(rule)
        found_heads = Counter(_named(task, head) for head, *_ in ours_by_rule[core])
        assert found_heads == heads, f"{rule}: {found_heads} instead of {heads}"


def _named(task: Task, row: DecodedRow) -> Row:
    return tuple(int(v) if isinstance(v, str) else task.object_names[v] for v in row)


def atoms_of(task: Task, state: State) -> set[Atom]:
    """All true atoms, also those that no action changes."""
    return {(name, *arguments) for name, arguments in (*state.atoms, *task.static_atoms)}
