"""Random PDDL domains and problems with all supported features."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field

TYPES = {"thing": [], "place": [], "block": ["thing"], "cube": ["block"], "cup": ["thing"]}


CONSTANTS = {"c1": "cube", "u1": "cup", "l1": "place"}


OBJECTS = {**CONSTANTS, "b2": "block", "c2": "cube", "l2": "place"}


PREDICATES = {
    "flag": (),
    "red": ("thing",),
    "open": ("place",),
    "on": ("thing", "block"),
    "at": ("thing", "place"),
    "near": ("object", "object"),
    "fixed": ("block", "place"),  # no action changes it
}


def fits(own: str, wanted: str) -> bool:
    return wanted in ("object", own) or any(fits(parent, wanted) for parent in TYPES.get(own, []))


def declared(names: dict[str, tuple[str, ...]]) -> str:
    return " ".join(
        f"{name} - {own[0]}" if len(own) == 1 else f"{name} - (either {' '.join(own)})"
        for name, own in names.items()
    )


def all_atoms(predicates: dict[str, tuple[str, ...]]) -> list[str]:
    return [
        f"({' '.join([name, *row])})"
        for name, types in predicates.items()
        for row in itertools.product(*(objects_of((wanted,)) for wanted in types))
    ]


def objects_of(types: tuple[str, ...]) -> list[str]:
    return [name for name, own in OBJECTS.items() if any(fits(own, wanted) for wanted in types)]


def signatures(predicates: dict[str, tuple[str, ...]]) -> str:
    return " ".join(
        f"({' '.join([name, declared({f'?x{i}': (t,) for i, t in enumerate(types)})])})"
        for name, types in predicates.items()
    )


HIERARCHY = declared({name: tuple(parents) or ("object",) for name, parents in TYPES.items()})


Variables = dict[str, tuple[str, ...]]  # each with its types


@dataclass
class Draw:
    """Random pieces of PDDL that are well typed."""

    rng: random.Random
    predicates: dict[str, tuple[str, ...]]  # that conditions may read
    objects: dict[str, str] = field(default_factory=lambda: CONSTANTS)  # that they may name
    simple: bool = False  # only what mimir reads without fault
    counter: int = 0

    def types(self) -> tuple[str, ...]:
        names = ["object", *TYPES]
        if not self.simple and self.rng.random() < 0.2:
            return tuple(self.rng.sample(list(TYPES), 2))
        return (self.rng.choice(names),)

    def atom(self, variables: Variables, names: dict[str, tuple[str, ...]]) -> str:
        predicate = self.rng.choice(list(names))
        terms = []
        for wanted in names[predicate]:
            fitting = [v for v, own in variables.items() if all(fits(t, wanted) for t in own)]
            named = [o for o, own in self.objects.items() if fits(own, wanted)]
            use_variable = fitting and self.rng.random() < 0.85
            terms.append(self.rng.choice(fitting if use_variable else named))
        return f"({' '.join([predicate, *terms])})"

    def fresh(self) -> tuple[str, tuple[str, ...]]:
        self.counter += 1
        return f"?v{self.counter}", self.types()

    def condition(self, variables: Variables, depth: int) -> str:
        kinds = ["atom", "atom", "not", "equal"]
        if depth > 0:
            kinds += ["and", "exists"]
            kinds += [] if self.simple else ["not", "or", "imply", "forall"]
        kind = self.rng.choice(kinds)
        if kind in ("and", "or", "imply"):
            count = 2 if kind == "imply" else self.rng.randint(self.fewest_parts, 3)
            parts = [self.condition(variables, depth - 1) for _ in range(count)]
            return f"({' '.join([kind, *parts])})"
        if kind in ("exists", "forall"):
            name, own = self.fresh()
            body = self.condition(variables | {name: own}, depth - 1)
            return f"({kind} ({declared({name: own})}) {body})"
        if kind == "not":
            return f"(not {self.condition(variables, 0 if self.simple else depth - 1)})"
        pairs = self.comparable(variables)
        if kind == "equal" and pairs:
            return f"(= {' '.join(self.rng.choice(pairs))})"
        return self.atom(variables, self.predicates)

    @property
    def fewest_parts(self) -> int:
        return 1 if self.simple else 0

    def comparable(self, variables: Variables) -> list[tuple[str, str]]:
        if self.simple:
            return list(itertools.combinations(variables, 2))[:1]
        return list(itertools.combinations([*variables, *self.objects], 2))[:6]

    def effect(self, variables: Variables) -> str:
        kind = self.rng.choice(["literal", "literal", "when", "forall"])
        if kind == "when":
            return self.when(variables)
        if kind == "forall":
            name, own = self.fresh()
            inside = variables | {name: own}
            made = self.when(inside) if self.rng.random() < 0.7 else self.literal(inside)
            return f"(forall ({declared({name: own})}) {made})"
        return self.literal(variables)

    def when(self, variables: Variables) -> str:
        literals = [self.literal(variables) for _ in range(self.rng.randint(1, 2))]
        return f"(when {self.condition(variables, 1)} (and {' '.join(literals)}))"

    def literal(self, variables: Variables) -> str:
        changing = {name: types for name, types in PREDICATES.items() if name != "fixed"}
        atom = self.atom(variables, changing)
        return atom if self.rng.random() < 0.55 else f"(not {atom})"

    def cost(self, variables: Variables) -> str:
        places = ["l1", *(v for v, own in variables.items() if own == ("place",))]
        amount = self.rng.choice(["3", "0.1", f"(toll {self.rng.choice(places)})"])
        return f"(increase (total-cost) {amount})"


def random_task(rng: random.Random, *, simple: bool = False) -> tuple[str, str]:
    """The text of a random domain and of a problem."""
    known = dict(PREDICATES)
    axioms = []
    for level in range(rng.randint(0, 2)):
        name = f"d{level}"
        types = tuple(rng.choice(["thing", "block", "object"]) for _ in range(rng.randint(0, 2)))
        head = {f"?x{i}": (own,) for i, own in enumerate(types)}
        draw = Draw(rng, dict(known), simple=simple)
        bodies = [draw.condition(head, 2) for _ in range(rng.randint(1, 2))]
        if len(types) == 2 and fits(types[1], "thing"):  # transitive
            step = f"(and ({name} ?x0 ?z) (on ?z ?x1))" if types[1] != "thing" else "(flag)"
            bodies.append(f"(exists (?z - {types[1]}) {step})")
        axioms += [f"(:derived ({' '.join([name, declared(head)])}) {body})" for body in bodies]
        known[name] = types
    draw = Draw(rng, known, simple=simple)
    actions = []
    for number in range(rng.randint(1, 3)):
        parameters = {f"?p{i}": draw.types() for i in range(rng.randint(0, 3))}
        conditions = [draw.condition(parameters, 3) for _ in range(rng.randint(1, 2))]
        effects = [draw.effect(parameters) for _ in range(rng.randint(1, 4))]
        if not simple:
            effects += [draw.cost(parameters) for _ in range(rng.randint(0, 1))]
            if rng.random() < 0.3:
                effects.append(f"(when {draw.condition(parameters, 1)} {draw.cost(parameters)})")
        actions.append(
            f"(:action a{number} :parameters ({declared(parameters)})\n"
            f"    :precondition (and {' '.join(conditions)})\n"
            f"    :effect (and {' '.join(effects)}))"
        )
    # What is derived shows in what can be done.
    for name in [name for name in known if name not in PREDICATES]:
        head = {f"?x{i}": (own,) for i, own in enumerate(known[name])}
        atom = f"({' '.join([name, *head])})"
        actions.append(
            f"(:action see-{name} :parameters ({declared(head)})\n"
            f"    :precondition {atom}\n"
            "    :effect (and (when (flag) (not (flag))) (when (not (flag)) (flag))))"
        )
    lines = [
        "(:requirements :strips :typing :negative-preconditions :equality"
        " :disjunctive-preconditions :existential-preconditions :universal-preconditions"
        " :conditional-effects :derived-predicates :action-costs)",
        f"(:types {HIERARCHY})",
        f"(:constants {declared({o: (own,) for o, own in CONSTANTS.items()})})",
        f"(:predicates {signatures(known)})",
        "(:functions (total-cost) - number (toll ?l - place) - number)",
        *axioms,
        *actions,
    ]
    domain = "(define (domain random)\n  " + "\n  ".join(lines) + ")"
    init = [atom for atom in all_atoms(PREDICATES) if rng.random() < 0.35]
    init += ["(= (total-cost) 0)", "(= (toll l1) 5)", "(= (toll l2) 7.5)"]
    goal_draw = Draw(rng, known, OBJECTS)
    goals = [goal_draw.condition({}, 2) for _ in range(rng.randint(1, 3))]
    goal = "(flag)" if simple else f"(and {' '.join(goals)})"
    extra = {o: (own,) for o, own in OBJECTS.items() if o not in CONSTANTS}
    metric = "(:metric minimize (total-cost))" if rng.random() < 0.7 else ""
    problem = (
        f"(define (problem p) (:domain random) (:objects {declared(extra)})\n"
        f"  (:init {' '.join(init)})\n"
        f"  (:goal {goal})\n  {metric})"
    )
    return domain, problem
