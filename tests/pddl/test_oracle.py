"""PDDL reading against two other opinions: pypddl in strict mode, and the definition of PDDL.

Random domains and problems are nested tuples here. Their text goes to Planlog and to pypddl, which
must agree on what it declares; the tuples themselves are evaluated by the book, which must agree
on the actions that are applicable, their outcome, and whether the goal holds. Damaged files must
be accepted or refused by both, but for the listed differences.
"""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pypddl.formalism as pypddl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.errors import PddlError, Severity
from planlog.pddl.task import Action, Domain, Task
from planlog.policy.policy import Policy
from support.profiles import examples
from support.token_changes import change_tokens

SAMPLES = sorted((Path(__file__).parents[1] / "support" / "pddl_samples").iterdir())

Expression = Any  # a name, or a tuple of expressions
Typed = dict[str, str]  # names to types
Atom = tuple[str, ...]
Result = TypeVar("Result")


def written(expression: Expression) -> str:
    if isinstance(expression, str):
        return expression
    return f"({' '.join(written(part) for part in expression)})"


def typed(names: Typed) -> tuple[str, ...]:
    return tuple(part for name, type_ in names.items() for part in (name, "-", type_))


def pypddl_parser(text: str) -> pypddl.Parser:
    options = pypddl.ParserOptions()
    options.strict = True
    options.add_action_costs = False
    return pypddl.Parser(text, options)


# --- Random domains and problems ------------------------------------------------------------


@dataclass
class Model:
    """A domain and a problem, by the book."""

    parents: Typed = field(default_factory=dict)
    constants: Typed = field(default_factory=dict)
    objects: Typed = field(default_factory=dict)  # without the constants
    predicates: dict[str, list[str]] = field(default_factory=dict)  # to the types of the arguments
    derived: dict[str, tuple[Typed, Expression]] = field(default_factory=dict)  # in layers
    actions: dict[str, tuple[Typed, Expression, Expression]] = field(default_factory=dict)
    prices: dict[str, int] = field(default_factory=dict)  # of objects
    init: set[Atom] = field(default_factory=set)
    goal: Expression = ("and",)

    def supers(self, type_: str) -> list[str]:
        return [type_] if type_ == "object" else [type_, *self.supers(self.parents[type_])]

    def domain_text(self, requirements: Sequence[str] = ()) -> str:
        arguments = {
            name: typed({f"?x{i}": t for i, t in enumerate(types)})
            for name, types in self.predicates.items()
        }
        body: list[Expression] = [
            (":types", *typed(self.parents)),
            (":constants", *typed(self.constants)),
            (":predicates", *((name, *list_) for name, list_ in arguments.items())),
            (":functions", ("total-cost",), "-", "number", ("price", "?x"), "-", "number"),
        ]
        for name, (parameters, condition) in self.derived.items():
            body.append((":derived", (name, *typed(parameters)), condition))
        for name, (parameters, condition, effect) in self.actions.items():
            rest = (":precondition", condition, ":effect", effect)
            body.append((":action", name, ":parameters", typed(parameters), *rest))
        header: Expression = ("domain", "random-domain")
        needed: tuple[Expression, ...] = ((":requirements", *requirements),) if requirements else ()
        return written(("define", header, *needed, *body))

    def problem_text(self, requirements: Sequence[str] = ()) -> str:
        prices = tuple(("=", ("price", name), str(n)) for name, n in self.prices.items())
        start = ("=", ("total-cost",), "0")
        return written(
            ("define", ("problem", "random-problem"), (":domain", "random-domain"))
            + (((":requirements", *requirements),) if requirements else ())
            + ((":objects", *typed(self.objects)), (":init", start, *prices, *sorted(self.init)))
            + ((":goal", self.goal), (":metric", "minimize", ("total-cost",)))
        )


class Generator:
    """Draws the parts of a model; names fit their types exactly, as pypddl demands."""

    def __init__(self, draw: st.DrawFn, shadowing: bool) -> None:
        self.random = draw(st.randoms(use_true_random=False))
        self.shadowing = shadowing
        self.model = Model()

    def model_of(self) -> Model:
        model, random = self.model, self.random
        for i in range(random.randint(1, 4)):
            model.parents[f"t{i}"] = random.choice(["object", *model.parents])
        if random.random() < 0.5:  # a type may be declared before its parent
            model.parents = dict(reversed(model.parents.items()))
        types = ["object", *model.parents]
        model.constants = {f"c{i}": random.choice(types) for i in range(random.randint(1, 2))}
        model.objects = {f"o{i}": random.choice(types) for i in range(random.randint(0, 3))}
        for i in range(random.randint(1, 4)):
            arity = random.randint(0, 2)
            model.predicates[f"p{i}"] = [random.choice(types) for _ in range(arity)]
        usable = list(model.predicates)
        for i in range(random.randint(0, 2)):
            name = f"d{i}"
            parameters = {f"?y{j}": random.choice(types) for j in range(random.randint(0, 2))}
            model.predicates[name] = list(parameters.values())
            condition = self.condition(parameters, usable, 2)
            if random.random() < 0.5:  # a recursive part, in which the predicate is not negated
                inner = {"?z": random.choice(types)}
                recursion = self.atom(parameters | inner, [name])
                step = self.condition(parameters | inner, usable, 1)
                if recursion:
                    rule = ("exists", typed(inner), ("and", step, recursion))
                    condition = ("or", condition, rule)
            model.derived[name] = (parameters, condition)
            usable.append(name)
        for i in range(random.randint(1, 3)):
            parameters = {f"?v{j}": random.choice(types) for j in range(random.randint(0, 2))}
            precondition = self.condition(parameters, usable, 3)
            model.actions[f"a{i}"] = (parameters, precondition, self.effect(parameters, usable, 2))
        everything = model.constants | model.objects
        model.prices = {name: random.randint(0, 9) for name in everything}
        for name, kinds in model.predicates.items():
            for row in itertools.product(*(objects_of(model, kind) for kind in kinds)):
                if name not in model.derived and random.random() < 0.4:
                    model.init.add((name, *row))
        model.goal = self.condition({}, usable, 3)
        return model

    def terms(self, scope: Typed, type_: str) -> list[str]:
        names = scope | self.model.constants
        return [name for name, t in names.items() if type_ in self.model.supers(t)]

    def atom(self, scope: Typed, predicates: list[str]) -> Expression | None:
        name = self.random.choice(predicates)
        choices = [self.terms(scope, type_) for type_ in self.model.predicates[name]]
        if not all(choices):
            return None
        return (name, *(self.random.choice(choice) for choice in choices))

    def condition(self, scope: Typed, predicates: list[str], depth: int) -> Expression:
        random = self.random
        kind = random.choice(["atom", "atom", "=", "not", "and", "or", "imply", "exists", "forall"])
        if depth == 0 or kind in ("atom", "="):
            if kind == "=":
                terms = self.terms(scope, "object")
                return ("=", random.choice(terms), random.choice(terms))
            return self.atom(scope, predicates) or ("and",)
        if kind in ("exists", "forall"):
            name = random.choice([f"?q{depth}", *(scope if self.shadowing else ())])
            inner = {name: random.choice(["object", *self.model.parents])}
            part = self.condition(scope | inner, predicates, depth - 1)
            return (kind, typed(inner), part)
        count = {"not": 1, "imply": 2}.get(kind, random.randint(0, 3))
        parts = (self.condition(scope, predicates, depth - 1) for _ in range(count))
        return (kind, *parts)

    def effect(self, scope: Typed, predicates: list[str], depth: int) -> Expression:
        random = self.random
        parts: list[Expression] = []
        for _ in range(random.randint(1, 3)):
            kind = random.choice(["add", "delete", "cost", "when", "forall"])
            basic = [name for name in predicates if name not in self.model.derived]
            atom = self.atom(scope, basic)
            if kind == "cost" and depth == 2:
                term = random.choice(self.terms(scope, "object"))
                amount = random.choice(["3", ("price", term)])
                parts.append(("increase", ("total-cost",), amount))
            elif kind == "when" and depth > 0:
                condition = self.condition(scope, predicates, 2)
                parts.append(("when", condition, self.effect(scope, predicates, 0)))
            elif kind == "forall" and depth > 0:
                inner = {f"?e{depth}": random.choice(["object", *self.model.parents])}
                part = self.effect(scope | inner, predicates, depth - 1)
                parts.append(("forall", typed(inner), part))
            elif atom:
                parts.append(("not", atom) if kind == "delete" else atom)
        return ("and", *parts)


@st.composite
def models(draw: st.DrawFn, *, shadowing: bool) -> Model:
    """With shadowing, a quantifier may take the name of a variable that is visible already."""
    return Generator(draw, shadowing).model_of()


# --- PDDL by the book -----------------------------------------------------------------------

Binding = dict[str, str]


def objects_of(model: Model, type_: str) -> list[str]:
    everything = model.constants | model.objects
    return [name for name, t in everything.items() if type_ in model.supers(t)]


def bindings(model: Model, variables: Typed) -> Iterator[Binding]:
    choices = [objects_of(model, type_) for type_ in variables.values()]
    for row in itertools.product(*choices):
        yield dict(zip(variables, row, strict=True))


def quantified(variables: tuple[str, ...]) -> Typed:
    return dict(zip(variables[::3], variables[2::3], strict=True))


def holds(model: Model, condition: Expression, true: set[Atom], binding: Binding) -> bool:
    head, *parts = condition
    if head == "and":
        return all(holds(model, part, true, binding) for part in parts)
    if head == "or":
        return any(holds(model, part, true, binding) for part in parts)
    if head == "not":
        return not holds(model, parts[0], true, binding)
    if head == "imply":
        left, right = (holds(model, part, true, binding) for part in parts)
        return right or not left
    if head in ("exists", "forall"):
        values = (
            holds(model, parts[1], true, binding | inner)
            for inner in bindings(model, quantified(parts[0]))
        )
        return any(values) if head == "exists" else all(values)
    row = tuple(binding.get(term, term) for term in parts)
    return row[0] == row[1] if head == "=" else (head, *row) in true


def with_derived(model: Model, state: set[Atom]) -> set[Atom]:
    """The state and all that is derived, each predicate after those that it uses."""
    true = set(state)
    for name, (parameters, condition) in model.derived.items():
        size = -1
        while size != len(true):
            size = len(true)
            for binding in bindings(model, parameters):
                if holds(model, condition, true, binding):
                    true.add((name, *binding.values()))
    return true


def changes(
    model: Model, effect: Expression, true: set[Atom], binding: Binding
) -> Iterator[tuple[str, Any]]:
    """("add", atom), ("delete", atom) or ("cost", amount) for each effect that takes place."""
    head, *parts = effect
    if head == "and":
        for part in parts:
            yield from changes(model, part, true, binding)
    elif head == "forall":
        for inner in bindings(model, quantified(parts[0])):
            yield from changes(model, parts[1], true, binding | inner)
    elif head == "when":
        if holds(model, parts[0], true, binding):
            yield from changes(model, parts[1], true, binding)
    elif head == "increase":
        amount = parts[1]
        known = isinstance(amount, str)
        yield "cost", int(amount) if known else model.prices[binding.get(amount[1], amount[1])]
    elif head == "not":
        yield "delete", tuple(binding.get(term, term) for term in parts[0])
    else:
        yield "add", tuple(binding.get(term, term) for term in effect)


def outcome(model: Model, action: Action, state: set[Atom]) -> tuple[set[Atom], int]:
    """State and cost after an action; what it both adds and deletes is true."""
    parameters, _, effect = model.actions[action.name]
    binding = dict(zip(parameters, action.arguments, strict=True))
    found = list(changes(model, effect, with_derived(model, state), binding))
    added = {atom for kind, atom in found if kind == "add"}
    deleted = {atom for kind, atom in found if kind == "delete"}
    return (state - deleted) | added, sum(amount for kind, amount in found if kind == "cost")


# --- Agreement ------------------------------------------------------------------------------


def read(model: Model) -> Task:
    return Domain.parse(model.domain_text()).parse_task(model.problem_text())


def with_requirements(parse: Callable[[list[str]], Result]) -> Result:
    """The result for exactly the requirements that pypddl finds in use, as it demands."""
    needed: set[str] = set()
    for _ in range(30):
        try:
            return parse(sorted(needed))
        except (pypddl.MissingRequirementError, pypddl.UnusedRequirementError) as error:
            needed ^= {str(error).split("requirement: ")[1].split()[0]}
    raise AssertionError(needed)


def names(things: list[Any]) -> list[str]:
    return sorted(thing.get_name() for thing in things)


@examples(200)
@given(models(shadowing=False))  # pypddl gives the outer variable the type of the inner one
def test_declarations_agree_with_pypddl(model: Model) -> None:
    task = read(model)
    domain = task.domain
    assert not domain.warnings and not task.warnings
    parser = with_requirements(lambda needed: pypddl_parser(model.domain_text(needed)))
    other = parser.domain()
    other_task = with_requirements(lambda needed: parser.parse_task(model.problem_text(needed)))

    assert {t.name for t in domain.types} == set(names(other.get_types())) - {"number"}
    assert sorted(domain.constants) == names(other.get_constants())
    assert sorted(p.name for p in domain.predicates) == names(other.get_predicates())
    assert sorted(task.objects) == sorted(
        names(other.get_constants()) + names(other_task.get_objects())
    )
    actions = {action.name: action for action in domain.actions}
    assert sorted(actions) == names(other.get_actions())
    for action in other.get_actions():
        ours = actions[action.get_name()].parameters
        theirs = action.get_parameters()
        assert ["?" + p.name for p in ours] == [p.get_variable().get_name() for p in theirs]
        assert [list(p.types) for p in ours] == [names(p.get_types()) for p in theirs]
    initial = sorted(map(str, (*task.initial.atoms, *task.static_atoms)))
    assert initial == sorted(str(literal) for literal in other_task.get_initial_literals())


@examples(200)
@given(models(shadowing=True))
def test_conditions_and_effects_by_the_book(model: Model) -> None:
    """Compiled conditions, derived predicates, effects and costs mean what PDDL says."""
    task = read(model)
    walk = Policy.applicable(task.domain).start(task)
    state = set(model.init)
    true = with_derived(model, state)
    expected = {
        Action(name, tuple(binding.values()))
        for name, (parameters, condition, _) in model.actions.items()
        for binding in bindings(model, parameters)
        if holds(model, condition, true, binding)
    }
    assert set(walk.actions()) == expected
    assert walk.is_goal == holds(model, model.goal, true, {})
    for action in sorted(expected)[:5]:
        after, cost = outcome(model, action, state)
        before = walk.cost
        walk.apply(action)
        atoms = (*walk.state.atoms, *task.static_atoms)
        assert {(name, *arguments) for name, arguments in atoms} == after
        assert walk.cost - before == cost
        assert walk.is_goal == holds(model, model.goal, with_derived(model, after), {})
        walk.undo()


# --- Damaged files --------------------------------------------------------------------------

TOKEN = re.compile(r"[()]|[^\s();]+")

# What pypddl refuses and Planlog takes: by its error, and the reason.
TAKEN = {
    "MissingRequirementError": "features may be used without their requirement",
    "UnusedRequirementError": "requirements may be declared without need",
    "TypeMismatchError": "an argument may be of a wider type, if it can fit",
    "DuplicateVariableError": "old domains repeat variables in declarations",
    "UndefinedTypeError": "undeclared super-types are common; there is a warning",
    "DuplicateObjectError": "a constant may be declared again; there is a warning",
    "DuplicateTypeError": "a type may be declared again, with another super-type",
    "DuplicatePredicateError": "a predicate may be declared again in the same way",
    "SemanticError: Missing total-cost": "(total-cost) is known without a declaration",
    "ParseError": "sections and parts of actions may come in any order; () is an effect",
}

# What Planlog refuses and pypddl takes: by Planlog's first message, and the reason.
REFUSED = {
    r"expected a name, found|NAME|expected '\((PREDICATE|FUNCTION)": "any token is a name there",
    r"action '.*' is declared twice": "the plan could not tell them apart",
    r"derived predicate": "the rules for derived predicates are not checked there",
    r"has no '\(:goal": "a problem without goal",
    r"not negative": "negative costs",
    r"not supported": "features that Planlog does not have",
}


def damaged(text: str, rng: random.Random) -> str:
    """The text with one token deleted, doubled, swapped with another, or replaced by one."""
    tokens = TOKEN.findall(re.sub(";.*", "", text))

    def kind(token: str) -> str:
        return token[0] if token[0] in "()?:" else "name"

    i = rng.randrange(len(tokens))
    # Mostly tokens of the same kind, so that the result has a chance to be correct.
    alike = [j for j, token in enumerate(tokens) if kind(token) == kind(tokens[i])]
    j = rng.choice(alike) if rng.random() < 0.7 else rng.randrange(len(tokens))
    change = rng.choice(["delete", "double", "swap", "replace", "replace"])
    change_tokens(tokens, change, i, j)
    if change == "replace":
        tokens[i] = tokens[j]
    return " ".join(tokens)


def texts_of(sample: Path) -> tuple[str, str]:
    return (sample / "domain.pddl").read_text(), (sample / "problem.pddl").read_text()


def refusal(domain: str, problem: str) -> str | None:
    """Why Planlog does not take the files, or nothing."""
    try:
        Domain.parse(domain).parse_task(problem)
    except PddlError as error:
        return next(d.message for d in error.diagnostics if d.severity is not Severity.WARNING)
    return None


def pypddl_refusal(domain: str, problem: str) -> str | None:
    try:
        pypddl_parser(domain).parse_task(problem)
    except pypddl.SemanticError as error:
        return f"{type(error).__name__}: {str(error).splitlines()[1]}"
    return None


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_samples_are_correct(sample: Path) -> None:
    domain, problem = texts_of(sample)
    assert refusal(domain, problem) is None
    assert pypddl_refusal(domain, problem) is None


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_damaged_files_are_judged_alike(sample: Path) -> None:
    rng = random.Random(sample.name)
    verdicts = Counter[str]()
    for _ in range(600):
        domain, problem = texts_of(sample)
        if rng.random() < 0.6:
            domain = damaged(domain, rng)
        else:
            problem = damaged(problem, rng)
        ours, theirs = refusal(domain, problem), pypddl_refusal(domain, problem)
        if (ours is None) == (theirs is None):
            verdicts["both refuse" if ours else "both accept"] += 1
        elif ours is None:
            assert theirs is not None
            assert any(theirs.startswith(error) for error in TAKEN), (theirs, domain, problem)
        else:
            assert any(re.search(message, ours) for message in REFUSED), (ours, domain, problem)
    assert verdicts["both accept"] > 20
    assert verdicts["both refuse"] > 200
