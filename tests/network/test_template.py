"""The program of a policy's network: it derives what the policy derives, whatever the policy."""

from __future__ import annotations

import random
import re
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from planlog import domains
from planlog.datalog.syntax import Relation, Rule, Source, written
from planlog.errors import RuleError
from planlog.network.settings import TemplateSettings
from planlog.network.template import Section, build_template
from planlog.pddl.task import Domain, Task
from planlog.policy.policy import Policy
from planlog.statespace.space import StateSpace, derive, expand
from support.profiles import examples
from support.random_names import names
from support.random_policies import random_rules, world_task
from support.random_programs import DOMAIN, World, check_against_clingo, make_task, programs, worlds
from support.random_tasks import random_task
from support.shipped_domains import POLICIES, SHIPPED, generated, policy_of

seeds = st.integers(0, 2**32)
ALL_SETTINGS = [TemplateSettings(layers, over) for layers, over in product(range(4), (False, True))]
settings_drawn = st.sampled_from(ALL_SETTINGS)

PLAIN, ATOMS, EDGES, FIRST, LAYERS, APPLICABLE, OWN = (
    "the policy once more, without embeddings",
    "atoms by their number of arguments",
    "objects of the same atom are neighbours",
    "embeddings of objects",
    "messages between neighbours",
    "applicable actions",
    "the policy, with embeddings",
)


def read_by_networks(policy: Policy) -> set[Relation]:
    """By the definition: the marked predicates or, if there are none, all derived ones."""
    given_rules = (*(policy.program.rules if policy.program else ()), *policy.network_rules)
    marked = {rule.head.relation for rule in given_rules if rule.for_network}
    return marked or {r.head.relation for r in given_rules if not r.is_policy_rule}


def rules_of(policy: Policy, settings: TemplateSettings) -> dict[str, tuple[Rule, ...]]:
    return {section.title: section.rules for section in build_template(policy, settings).sections}


def texts(policy: Policy, settings: TemplateSettings, title: str) -> list[str]:
    return [str(rule) for rule in rules_of(policy, settings).get(title, ())]


def plain_names(atoms: list[str]) -> list[str]:
    """The derived predicates among the atoms that embeddings are made of."""
    return [match[1] for text in atoms if (match := re.search(r":- plain_(\w+)", text))]


def without_comments(text: str) -> str:
    return "".join(f"{line}\n" for line in text.splitlines() if line and line[0] != "%")


def assert_same_actions(space: StateSpace, policy: Policy, settings: TemplateSettings) -> None:
    extended = build_template(policy, settings).policy
    expected, found = derive(space, policy), derive(space, extended)
    assert np.array_equal(found.mask, expected.mask)
    # Every rule of the policy fires as often: embeddings and app_ atoms are there exactly once.
    own = len(rules_of(policy, settings)[OWN])
    if policy.program is not None:
        assert found.rules.states[-own:].tolist() == expected.rules.states.tolist()
        assert found.rules.derivations[-own:].tolist() == expected.rules.derivations.tolist()


def assert_embedded(space: StateSpace, policy: Policy, settings: TemplateSettings) -> None:
    """In every state each object has an embedding in the last layer."""
    extended = build_template(policy, settings).policy
    # Names have no `_` behind them here: no rule file in question takes them.
    last = extended.relation(Relation(f"h{settings.layers}", 1, Source.DERIVED))
    states = [space.state(number) for number in range(min(len(space), 50))]
    found = extended.derivations(space.task, states).relations[last]
    objects = list(range(len(space.task.objects)))
    for number in range(len(states)):
        assert sorted(found.of(number)[:, 0].tolist()) == objects


# --- The same actions --------------------------------------------------------------------


@pytest.mark.parametrize(("name", "variant"), [*POLICIES, *((n, "none") for n in domains.names())])
def test_shipped_policies(name: str, variant: str) -> None:
    policy = Policy.applicable(SHIPPED[name]) if variant == "none" else policy_of(name, variant)
    space = expand(generated(name, 1), limit=400)
    for settings in ALL_SETTINGS:
        assert_same_actions(space, policy, settings)
        assert_embedded(space, policy, settings)


@examples(100)
@given(seeds, settings_drawn)
def test_random_programs(seed: int, settings: TemplateSettings) -> None:
    """Recursion, negation, statuses, predicates without arguments, objects in no atom."""
    task = world_task(seed)
    text = random_rules(random.Random(seed), task.domain)
    note(text)
    policy = Policy.parse(text, task.domain)
    space = expand(task, limit=100)
    assert_same_actions(space, policy, settings)
    assert_embedded(space, policy, settings)
    assert_text(space, policy, settings)


@examples(150)
@given(programs(values=True), worlds, settings_drawn)
def test_all_relations_equal_clingo(text: str, world: World, settings: TemplateSettings) -> None:
    """Not only actions: every atom and the number of substitutions of every rule."""
    policy = Policy.parse(text, DOMAIN)
    initial, goal = world.task()
    task = make_task(initial, goal)
    extended = build_template(policy, settings).policy
    found = extended.derivations(task, [task.initial])
    check_against_clingo(extended, task, found, set(initial), set(goal))
    assert extended.actions(task, task.initial) == policy.actions(task, task.initial)


def rules_with_constants(rng: random.Random, domain: Domain) -> str:
    """Rules for the domains of `random_task`, which have types, constants and all conditions."""
    lines = [
        "linked(X, Y) :- near(X, Y).",
        "linked(X, Z) :- linked(X, Y), near(Y, Z), X != Z.",
        "marked(X) :- red(X).",
        "marked(X) :- on@ug(X, _), not linked(X, c1).",
        "marked(c1) :- flag.",
        "lit :- flag@aa.",
        "lit :- not open(_).",
    ]
    for action in domain.actions:
        parameters = [f"P{i}" for i in range(action.arity)]
        head = f"{action.name}({', '.join(parameters)})" if parameters else action.name
        bodies = [[], ["lit"], ["not lit"], ["linked(X, c1)"], ["not linked(_, _)"]]
        if parameters:
            bodies += [[f"not marked({rng.choice(parameters)})"], [f"linked({parameters[0]}, _)"]]
            bodies += [[f"{parameters[-1]} != c1"]]
        for body in rng.sample(bodies, rng.randint(1, 2)):
            lines.append(f"{head} :- {', '.join(body)}." if body else f"{head}.")
    other = rng.choice(domain.actions)
    row = f"({', '.join('_' * other.arity)})" if other.arity else ""
    lines.append(f"busy :- {other.name}{row}, not marked(_).")
    return "\n".join(lines)


@examples(120)
@given(seeds, settings_drawn, st.booleans())
def test_random_domains(seed: int, settings: TemplateSettings, with_rules: bool) -> None:
    """Disjunctions and quantifiers in preconditions, `either`, axioms, constants."""
    rng = random.Random(seed)
    domain_text, problem = random_task(rng)
    note(f"{domain_text}\n{problem}")
    domain = Domain.parse(domain_text)
    policy = Policy.applicable(domain)
    if with_rules:
        policy = Policy.parse(rules_with_constants(rng, domain), domain)
    space = expand(domain.parse_task(problem), limit=40)
    assert_same_actions(space, policy, settings)
    assert_embedded(space, policy, settings)
    note(build_template(policy, settings).text)
    try:
        assert_text(space, policy, settings)
    except RuleError as error:
        # The rule language refuses what PDDL lets pass: literals that can never hold.
        assert all("can never" in diagnostic.message for diagnostic in error.diagnostics)


# --- The rules ---------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "variant"), [*POLICIES, ("rover", "none")])
@pytest.mark.parametrize("settings", ALL_SETTINGS, ids=str)
def test_number_of_rules(name: str, variant: str, settings: TemplateSettings) -> None:
    domain = SHIPPED[name]
    policy = Policy.applicable(domain) if variant == "none" else policy_of(name, variant)
    given_rules = policy.program.rules if policy.program else ()
    derived = read_by_networks(policy) if settings.derived_messages else set()
    arities = {1, *(p.arity for p in domain.predicates), *(d.arity for d in derived)}
    has_edges = max(arities) > 1
    actions = {r.head.relation.name for r in given_rules if r.is_policy_rule}
    found = Counter({title: len(rules) for title, rules in rules_of(policy, settings).items()})
    expected = {
        ATOMS: 3 * len(domain.predicates) + len(domain.types) + len(derived),
        EDGES: sum(n * (n - 1) for n in arities) if settings.layers else 0,
        FIRST: sum(arities) + (0 in arities),
        LAYERS: settings.layers * (1 + has_edges),
        APPLICABLE: len(actions) if policy.program else len(domain.actions),
        OWN: len(given_rules) if policy.program else len(domain.actions),
    }
    assert {title: found[title] for title in expected} == expected
    total = sum(found.values())
    extended = build_template(policy, settings).policy
    assert extended.program is not None
    assert len(extended.program.rules) == total
    if not settings.derived_messages:
        assert total == sum(expected.values())


BLOCKS = """
  high(X) :- on(X, Y), on(Y, _).
  top(X, Y) :- on(X, Y), high(X), not stuck(X).
  stuck(X) :- unstack(X, _), not clear@ug(X).
  unstack(X, Y) :- not high(Y).
  stack(X, Y) :- top(Y, _), X != Y.
  putdown(a) :- not stack(a, _).
"""


def test_rules_are_those_of_the_paper() -> None:
    policy = Policy.parse(BLOCKS, SHIPPED["blocksworld"])
    settings = TemplateSettings(layers=1)
    found = [section.title for section in build_template(policy, settings).sections]
    assert found == [ATOMS, EDGES, FIRST, LAYERS, APPLICABLE, OWN]
    assert texts(policy, settings, EDGES) == [
        "edge(X1, X2) :- arity_2(X1, X2).",
        "edge(X2, X1) :- arity_2(X1, X2).",
    ]
    assert texts(policy, settings, FIRST) == [
        "h0(X1) :- arity_0, object(X1).",
        "h0(X1) :- arity_1(X1).",
        "h0(X1) :- arity_2(X1, _X2).",
        "h0(X2) :- arity_2(_X1, X2).",
    ]
    assert texts(policy, settings, LAYERS) == ["h1(Y) :- h0(X), edge(X, Y).", "h1(Y) :- h0(Y)."]
    assert texts(policy, settings, OWN) == [
        "high(X) :- on(X, Y), on(Y, _1), h1(X), h1(Y), h1(_1).",
        "top(X, Y) :- on(X, Y), high(X), not stuck(X), h1(X), h1(Y).",
        "stuck(X) :- unstack(X, _1), not clear@ug(X), h1(X), h1(_1).",
        "unstack(X, Y) :- app_unstack(X, Y), not high(Y), h1(X), h1(Y).",
        "stack(X, Y) :- app_stack(X, Y), top(Y, _1), X != Y, h1(X), h1(Y), h1(_1).",
        "putdown(a) :- app_putdown(a), not stack(a, _).",
    ]
    applicable = rules_of(policy, settings)[APPLICABLE]
    assert [str(rule) for rule in applicable] == [
        "app_putdown(X1) :- h1(X1), holding(X1).",
        "app_stack(X1, X2) :- h1(X1), h1(X2), clear(X2), holding(X1).",
        "app_unstack(X1, X2) :- h1(X1), h1(X2), arm-empty, clear(X1), on(X1, X2).",
    ]


def test_messages_along_derived_predicates_come_from_a_copy_of_the_policy() -> None:
    """Of all that the derived predicates need, actions included, and of nothing else."""
    policy = Policy.parse(BLOCKS, SHIPPED["blocksworld"])
    settings = TemplateSettings(layers=1, derived_messages=True)
    assert texts(policy, settings, PLAIN) == [
        "plain_high(X) :- on(X, Y), on(Y, _1).",
        "plain_top(X, Y) :- on(X, Y), plain_high(X), not plain_stuck(X).",
        "plain_stuck(X) :- plain_unstack(X, _1), not clear@ug(X).",
        "plain_unstack(X, Y) :- not plain_high(Y), arm-empty, clear(X), on(X, Y).",
    ]
    assert texts(policy, settings, ATOMS)[-3:] == [
        "arity_1(X1) :- plain_high(X1).",
        "arity_2(X1, X2) :- plain_top(X1, X2).",
        "arity_1(X1) :- plain_stuck(X1).",
    ]
    task = SHIPPED["blocksworld"].parse_task(
        """(define (problem p) (:domain blocksworld) (:objects a b c d)
        (:init (arm-empty) (on a b) (on b c) (on-table c) (on-table d) (clear a) (clear d))
        (:goal (and (on d a) (clear d))))"""
    )
    for settings in ALL_SETTINGS:
        assert_same_actions(expand(task), policy, settings)


MARKED = """
  high(X) :- on(X, Y), on(Y, _).
  above@network(X, Y) :- on(X, Y).
  above(X, Y) :- on(X, Z), above(Z, Y).
  burdened@network(X) :- above(_, X), not free(X).
  free(X) :- pickup(X).
  free(X) :- low(X), clear(X).
  low(X) :- on-table(X).
  unstack(X, Y) :- above(X, Y), not high(Y).
  pickup(X) :- low(X).
"""


def test_messages_pass_along_marked_predicates_only() -> None:
    """The policy does without `burdened` and `free`; the network has no use for `high`."""
    policy = Policy.parse(MARKED, SHIPPED["blocksworld"])
    assert [rule.head.relation.name for rule in policy.network_rules] == ["burdened"] + 2 * ["free"]
    settings = TemplateSettings(layers=1, derived_messages=True)
    assert texts(policy, settings, PLAIN) == [
        "plain_above(X, Y) :- on(X, Y).",
        "plain_above(X, Y) :- on(X, Z), plain_above(Z, Y).",
        "plain_low(X) :- on-table(X).",
        "plain_pickup(X) :- plain_low(X), arm-empty, clear(X), on-table(X).",
        "plain_burdened(X) :- plain_above(_1, X), not plain_free(X).",
        "plain_free(X) :- plain_pickup(X).",
        "plain_free(X) :- plain_low(X), clear(X).",
    ]
    atoms = texts(policy, settings, ATOMS)
    assert [text for text in atoms if "plain" in text] == [
        "arity_2(X1, X2) :- plain_above(X1, X2).",
        "arity_1(X1) :- plain_burdened(X1).",
    ]
    own = [rule.head.relation.name for rule in rules_of(policy, settings)[OWN]]
    assert own == ["high", "above", "above", "low", "unstack", "pickup"]
    space = expand(generated("blocksworld", 1))
    for settings in ALL_SETTINGS:
        assert_same_actions(space, policy, settings)
        assert_embedded(space, policy, settings)
        assert_text(space, policy, settings)


def test_networks_that_are_not_over_derived_predicates_do_without_marks() -> None:
    no_marks = MARKED.replace("@network", "")
    only_policy = re.sub(r"  (burdened|free).*\n", "", no_marks)
    for layers in range(3):
        found, expected = (
            build_template(
                Policy.parse(text, SHIPPED["blocksworld"]), TemplateSettings(layers)
            ).text
            for text in (MARKED, only_policy)
        )
        assert found == expected
    without = Policy.parse(no_marks, SHIPPED["blocksworld"])
    assert without.network_rules == ()
    atoms = texts(without, TemplateSettings(derived_messages=True), ATOMS)
    names = plain_names(atoms)
    assert names == ["high", "above", "burdened", "free", "low"]


def test_what_is_of_no_use_has_what_it_needs() -> None:
    """`idle` serves neither actions nor the network; it is warned of, and evaluated."""
    text = "low@network(X) :- on-table(X).  idle(X) :- low(X).  pickup(X) :- clear(X)."
    policy = Policy.parse(text, SHIPPED["blocksworld"])
    assert policy.network_rules == ()
    assert [d.message.split()[0] for d in policy.warnings] == ["idle"]
    assert_text(expand(generated("blocksworld")), policy, TemplateSettings(derived_messages=True))


def test_what_networks_read_of_the_shipped_blocksworld_policy() -> None:
    settings = TemplateSettings(derived_messages=True)
    atoms = texts(policy_of("blocksworld"), settings, ATOMS)
    names = plain_names(atoms)
    assert names == ["well_placed", "waits_for"]
    plain = {
        rule.head.relation.name for rule in rules_of(policy_of("blocksworld"), settings)[PLAIN]
    }
    helpers = {"placed_by_goal", "reserved", "top", "next"}
    assert plain == {f"plain_{name}" for name in (*names, *helpers)}


def marked(text: str, rng: random.Random) -> str:
    """The rules with marks on some heads that are no actions."""
    lines = []
    for line in text.splitlines():
        name = re.match(r"\s*([\w-]+)", line)
        if name and name[1] in ("low", "high", "linked", "marked", "lit", "busy"):
            end = name.end()
            line = line[:end] + rng.choice(["", "@network"]) + line[end:]
        lines.append(line)
    return "\n".join(lines)


@examples(100)
@given(seeds, settings_drawn)
def test_random_programs_with_marks(seed: int, settings: TemplateSettings) -> None:
    """Marks change no action; networks read what is marked, and what that needs."""
    rng = random.Random(seed)
    task = world_task(seed)
    plain_text = random_rules(rng, task.domain)
    extra = (
        "only@network(X) :- some(X).  some(X) :- object(X), not other(X).  other(X) :- low(X, X)."
    )
    text = f"{marked(plain_text, rng)}\n{extra}"
    note(text)
    policy, unmarked = (Policy.parse(each, task.domain) for each in (text, plain_text))
    space = expand(task, limit=60)
    assert np.array_equal(derive(space, policy).mask, derive(space, unmarked).mask)
    assert_same_actions(space, policy, settings)
    assert_embedded(space, policy, settings)
    assert_text(space, policy, settings)
    found = texts(policy, settings, ATOMS)
    expected = {relation.name for relation in read_by_networks(policy)}
    assert set(plain_names(found)) == (expected if settings.derived_messages else set())


def test_names_that_rules_have_already() -> None:
    text = """
      edge(X, Y) :- on(X, Y), h0(X).
      h0(X) :- clear(X).
      h0_(X) :- h0(X), arity_1.
      arity_1 :- arm-empty.
      plain_edge(X) :- edge(X, _).
      app_stack(X, Y) :- edge(Y, X), plain_edge(X).
      stack(X, Y) :- not app_stack(X, Y).
      unstack(X, Y) :- edge(X, Y), h0_(X).
    """
    policy = Policy.parse(text, SHIPPED["blocksworld"])
    space = expand(generated("blocksworld"))
    for settings in ALL_SETTINGS:
        assert_same_actions(space, policy, settings)
        assert_text(space, policy, settings)
    own = texts(policy, TemplateSettings(0), OWN)
    assert own[0] == "edge(X, Y) :- on(X, Y), h0(X), h0__(X), h0__(Y)."
    assert own[-2] == "stack(X, Y) :- app_stack_(X, Y), not app_stack(X, Y), h0__(X), h0__(Y)."


def test_names_that_a_domain_has_already() -> None:
    domain = Domain.parse(
        """(define (domain d) (:types edge) (:predicates (h0 ?x) (arity_2) (link ?x ?y - edge))
        (:action app_go :parameters (?x) :precondition (h0 ?x) :effect (not (h0 ?x)))
        (:action go :parameters (?x - edge) :precondition (arity_2) :effect (h0 ?x)))"""
    )
    task = domain.parse_task(
        """(define (problem p) (:domain d) (:objects x y - edge z)
        (:init (arity_2) (link x y)) (:goal (and (h0 x) (not (h0 x)))))"""
    )
    for settings in ALL_SETTINGS:
        space = expand(task)
        assert_same_actions(space, Policy.applicable(domain), settings)
        assert_text(space, Policy.applicable(domain), settings)
    found = texts(Policy.applicable(domain), TemplateSettings(0), OWN)
    assert found == [
        "app_go(X1) :- app_app_go(X1), h0_(X1).",
        "go(X1) :- app_go_(X1), h0_(X1).",
    ]


def lonely(predicates: str, precondition: str) -> Task:
    """Objects that occur in no atom at all."""
    domain = Domain.parse(
        f"""(define (domain d) (:predicates {predicates})
        (:action go :parameters (?x) :precondition {precondition} :effect (not (on))))"""
    )
    return domain.parse_task(
        "(define (problem p) (:domain d) (:objects x y) (:init (on)) (:goal (not (on))))"
    )


@pytest.mark.parametrize("settings", ALL_SETTINGS, ids=str)
def test_relations_without_rules_are_left_out(settings: TemplateSettings) -> None:
    task = lonely("(on)", "(on)")
    policy = Policy.applicable(task.domain)
    assert_same_actions(expand(task), policy, settings)
    assert_embedded(expand(task), policy, settings)
    found = rules_of(policy, settings)
    assert EDGES not in found
    heads = {rule.head.relation.name for rules in found.values() for rule in rules}
    layers = {f"h{i}" for i in range(settings.layers + 1)}
    assert heads == {"arity_0", "arity_1", *layers, "app_go", "go"}
    assert_text(expand(task), policy, settings)


def test_settings_that_make_no_sense() -> None:
    with pytest.raises(ValueError, match="layers: expected a whole number from 0 to 100, got -1"):
        TemplateSettings(layers=-1)


def test_objects_that_a_task_lacks_are_told_where_the_file_names_them() -> None:
    policy = Policy.parse("\n  pickup(moon).", SHIPPED["blocksworld"], "my.dl")
    for each in (policy, build_template(policy, TemplateSettings()).policy):
        with pytest.raises(RuleError) as caught:
            each.check_task(generated("blocksworld"))
        assert {(d.file, d.line, d.source) for d in caught.value.diagnostics} == {
            ("my.dl", 2, "  pickup(moon).")
        }


# --- The text ----------------------------------------------------------------------------


def assert_text(space: StateSpace, policy: Policy, settings: TemplateSettings) -> None:
    """It is a rule file that prints as itself and that derives the same actions."""
    text = build_template(policy, settings).text
    parsed = Policy.parse(text, policy.domain)
    assert str(parsed.program) == without_comments(text)
    assert np.array_equal(derive(space, parsed).mask, derive(space, policy).mask)


@pytest.mark.parametrize(("name", "variant"), [*POLICIES, *((n, "none") for n in domains.names())])
def test_text_of_shipped_policies(name: str, variant: str) -> None:
    policy = Policy.applicable(SHIPPED[name]) if variant == "none" else policy_of(name, variant)
    space = expand(generated(name, 2), limit=200)
    for settings in ALL_SETTINGS:
        assert_text(space, policy, settings)
        # The text is the program.
        parsed = Policy.parse(build_template(policy, settings).text, policy.domain).program
        extended = build_template(policy, settings).policy.program
        assert parsed is not None and extended is not None
        assert len(parsed.rules) == len(extended.rules)
        for ours, theirs in zip(extended.rules, parsed.rules, strict=True):
            assert ours.head == theirs.head
            assert ours.body == theirs.body
        assert parsed.warnings == ()


def test_text_shows_bodies_as_the_core_has_them() -> None:
    """So that weights can be told by the positions of literals."""
    for name, variant in POLICIES:
        settings = TemplateSettings(2, derived_messages=True)
        policy = policy_of(name, variant)
        extended = build_template(policy, settings).policy
        program = Policy.parse(build_template(policy, settings).text, policy.domain).program
        assert program is not None
        for rule, number in zip(program.rules, extended.rule_numbers, strict=True):
            core = [
                extended.core.relations[relation][1] for relation in extended.core.rule(number)[1]
            ]
            assert [lit.relation.name for lit in rule.literals if not lit.negated] == core


CONDITIONS = """(define (domain conditions) (:requirements :adl)
  (:types a b - object) (:constants k - a)
  (:predicates (p ?x - a) (q ?x ?y) (r) (b ?x))
  (:action act :parameters (?x - (either a b) ?y - a)
    :precondition (and (or (p ?y) (r)) (not (= ?y k)) (not (exists (?z - b) (q ?x ?z))))
    :effect (r)))"""


def test_conditions_that_are_no_literals() -> None:
    domain = Domain.parse(CONDITIONS)
    text = build_template(Policy.applicable(domain), TemplateSettings(0)).text
    tail = text[text.index("% --- applicable actions") :]
    assert tail == (
        "% --- applicable actions ---\n"
        "app_act(X1, X2) :- h0(X1), h0(X2), not act_forall5(X1), act_or4(X2), a_or_b(X1),"
        " X2 != k.\n"
        "\n"
        "% --- the policy, with embeddings ---\n"
        "act(X1, X2) :- app_act(X1, X2), h0(X1), h0(X2).\n"
        "\n"
        "% --- conditions of the domain that are no literals ---\n"
        "a_or_b(X1) :- a(X1).\n"
        "a_or_b(X1) :- b@type(X1).\n"
        "act_forall5(X1) :- q(X1, X2), a_or_b(X1), b@type(X2).\n"
        "act_or4(X1) :- p(X1).\n"
        "act_or4(X1) :- r, a(X1).\n"
    )


@st.composite
def strange_domains(draw: st.DrawFn) -> tuple[str, str, str]:
    """A domain with random names, a task of it, and rules."""
    strange = st.lists(names().filter(lambda name: name != "not"), min_size=9, max_size=9)
    a, t, u, k, o, p, q, r, d = draw(strange.filter(lambda drawn: len({*drawn}) == len(drawn)))
    domain = f"""(define (domain d) (:requirements :adl)
  (:types {t} {u}) (:constants {k} - {t}) (:predicates ({p} ?x - {t} ?y) ({q} ?x) ({r}))
  (:action {a} :parameters (?x - (either {t} {u}) ?y - {t})
    :precondition (and (or ({p} ?y ?x) ({r})) (not (= ?y {k})) (not ({q} ?x))) :effect ({q} ?x)))"""
    task = f"""(define (problem x) (:domain d) (:objects {o} - {t} o1 - {u})
  (:init ({r}) ({p} {o} o1)) (:goal (and ({q} {o}) ({q} o1))))"""
    a, t, o, p, q, r, d = map(written, (a, t, o, p, q, r, d))
    rules = f"""{a}(X, Y) :- {q}@ug(X), {d}(Y), Y = {o}. % it's a policy
{d}@network(Y) :- not {p}@ag(Y, _), {t}(Y), {r}."""
    return domain, task, rules


@given(strange_domains(), settings_drawn, st.booleans())
@examples(60)
def test_text_of_domains_with_strange_names(
    texts: tuple[str, str, str], settings: TemplateSettings, with_rules: bool
) -> None:
    note("\n".join(texts))
    domain = Domain.parse(texts[0])
    task = domain.parse_task(texts[1])
    policy = Policy.parse(texts[2], domain) if with_rules else Policy.applicable(domain)
    assert policy.actions(task, task.initial)
    assert_text(expand(task, limit=200), policy, settings)
    if policy.program is not None:
        assert Policy.parse(str(policy.program), domain).program == policy.program
        answers = policy.query(task, task.initial, f"{written(domain.actions[0].name)}(X, Y)")
        found = [tuple(answer.values()) for answer in answers]
        assert found == [action.arguments for action in policy.actions(task, task.initial)]


def test_sections_are_values() -> None:
    policy = policy_of("ferry")
    assert (
        build_template(policy, TemplateSettings(2)).sections
        == build_template(policy, TemplateSettings(2)).sections
    )
    assert all(
        isinstance(part, Section) for part in build_template(policy, TemplateSettings()).sections
    )
