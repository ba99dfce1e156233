"""Learned policies: they take the best of the actions that the rules allow, and no others."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, note
from hypothesis import strategies as st

from planlog import domains
from planlog.network.scorer import ensemble
from planlog.network.settings import Activation, Aggregation, NetworkSettings, TemplateSettings
from planlog.network.template import build_template
from planlog.pddl.task import Action, Domain, State, Task
from planlog.policy.execution import Outcome, execute
from planlog.policy.policy import Policy
from planlog.policy.walk import Walk
from planlog.validation import validate
from support.nested_lists import Nested, nested
from support.pddl_by_the_book import typed
from support.profiles import examples
from support.random_networks import (
    ALL_POLICIES,
    NARROW,
    PLAIN,
    learned_policy,
    networks,
    policies,
    problem_text,
    random_weights,
    rng_of,
    rules_of,
    seeds,
    small_task,
    templates,
)
from support.shipped_domains import SHIPPED, generated

# Walking about, with a goal that is never reached.
ROOMS = """
(define (domain rooms) (:predicates (at ?x) (door ?x ?y) (treasure ?x))
  (:action go :parameters (?x ?y) :precondition (and (at ?x) (door ?x ?y))
   :effect (and (not (at ?x)) (at ?y))))
"""


def learned(
    rules: Policy,
    of_template: TemplateSettings = PLAIN,
    of_network: NetworkSettings = NARROW,
    seed: int = 0,
    *,
    scale: float = 1.0,
    temperature: float | None = None,
) -> Policy:
    weights = random_weights(rules, of_template, of_network, seed, scale)
    return learned_policy(rules, of_template, of_network, weights, temperature=temperature)


def best_of(scores: Mapping[Action, float]) -> Action | None:
    """By the definition: the highest score, of equal ones the first by name."""
    return min(scores, key=lambda action: (-scores[action], action), default=None)


# --- The rules are kept ------------------------------------------------------------------


@examples(60)
@given(policies, seeds, templates, networks)
def test_every_action_is_derived_by_the_rules(
    which: tuple[str, str], seed: int, of_template: TemplateSettings, of_network: NetworkSettings
) -> None:
    rules, task = rules_of(*which), small_task(which[0], seed % 5)
    policy = learned(rules, of_template, of_network, seed)
    walk, by_rules, rng = policy.start(task), rules.start(task), rng_of(seed)
    for step in range(25):
        scores = walk.scores()
        assert list(scores) == walk.actions() == by_rules.actions()
        chosen = walk.choose(rng)
        assert chosen == best_of(scores)
        assert walk.ranked(rng)[:1] == ([] if chosen is None else [chosen])
        if chosen is None or walk.is_goal:
            break
        # Now and then elsewhere, to see more states.
        action = chosen if step % 2 else by_rules.sample(rng)
        assert action is not None
        walk.apply(action)
        by_rules.apply(action)


@pytest.mark.parametrize(("name", "variant"), ALL_POLICIES)
def test_plans_are_valid_and_within_the_rules(name: str, variant: str) -> None:
    rules = rules_of(name, variant)
    domain = (domains.path(name) / "domain.pddl").read_text()
    solved = 0
    for seed in range(4):
        problem = problem_text(name, seed)
        task = SHIPPED[name].parse_task(problem)
        policy = learned(rules, seed=seed, temperature=0.5 if seed == 3 else None)
        for avoid_revisits in (False, True):
            result = execute(
                policy, task, rng=rng_of(seed), max_steps=3000, avoid_revisits=avoid_revisits
            )
            walk = rules.start(task)
            for action in result.actions:
                assert action in walk.actions()
                walk.apply(action)
            if result.solved:
                solved += 1
                plan = str(result.plan)
                assert validate(domain, problem, plan).valid
    assert solved


@given(policies, seeds)
@examples(30)
def test_scores_depend_on_the_state_only(which: tuple[str, str], seed: int) -> None:
    """Not on the way to it, nor on what was undone."""
    policy, task = learned(rules_of(*which), seed=seed), small_task(which[0], seed % 5)
    walk, rng = policy.start(task), random.Random(seed)
    for _ in range(20):
        actions = walk.actions()
        if walk.steps and (not actions or rng.random() < 0.3):
            walk.undo()
        elif actions:
            walk.apply(rng.choice(actions))
        assert_close(walk.scores(), policy.start(task, walk.state).scores())


def assert_close(left: Mapping[Action, float], right: Mapping[Action, float]) -> None:
    assert left.keys() == right.keys()
    for action, score in left.items():
        assert score == pytest.approx(right[action], rel=1e-4, abs=1e-4), action


# --- Networks side by side ---------------------------------------------------------------


@examples(60)
@given(policies, seeds, templates, networks, st.integers(1, 3))
def test_scores_of_networks_side_by_side_add_up(
    which: tuple[str, str],
    seed: int,
    of_template: TemplateSettings,
    of_network: NetworkSettings,
    count: int,
) -> None:
    of_network = replace(of_network, score_activation=Activation.IDENTITY)
    rules, task = rules_of(*which), small_task(which[0], seed % 5)
    members = [random_weights(rules, of_template, of_network, seed + i) for i in range(count)]
    together = ensemble(build_template(rules, of_template), of_network, members)
    assert together[0].width == count * of_network.width
    walks = [
        learned_policy(rules, of_template, *network).start(task)
        for network in (together, *((of_network, member) for member in members))
    ]
    rng = rng_of(seed)
    for _ in range(10):
        scores, *parts = [walk.scores() for walk in walks]
        largest = max((abs(score) for part in parts for score in part.values()), default=0)
        for action, score in scores.items():
            expected = sum(part[action] for part in parts)
            assert score == pytest.approx(expected, rel=1e-4, abs=1e-4 * max(1, largest))
        assert all(part.keys() == scores.keys() for part in parts)
        drawn = walks[0].sample(rng)
        if drawn is None:
            break
        for walk in walks:
            walk.apply(drawn)


def test_one_network_stays_what_it_is() -> None:
    rules = rules_of("ferry", "policy")
    weights = random_weights(rules)
    assert ensemble(build_template(rules, PLAIN), NARROW, [weights]) == (NARROW, weights)


# --- Which action ------------------------------------------------------------------------


@pytest.mark.parametrize("name", domains.names())
def test_of_equal_scores_the_first_by_name(name: str) -> None:
    """Not by number: neither objects nor actions are declared in alphabetical order."""
    text = problem_text(name, 1)
    objects = list(SHIPPED[name].parse_task(text).objects)
    names = dict(
        zip(objects, [f"{chr(ord('z') - i)}{i}" for i in range(len(objects))], strict=True)
    )
    task = SHIPPED[name].parse_task(renamed(text, names, random.Random(0)))
    walk = learned(Policy.applicable(SHIPPED[name]), scale=0).start(task)
    seen = 0
    for _ in range(20):
        assert set(walk.scores().values()) <= {0.0}
        actions = walk.actions()
        assert walk.choose(rng_of()) == min(actions)
        assert walk.ranked(rng_of()) == sorted(actions)
        seen += actions != sorted(actions)
        walk.apply(actions[-1])
    assert seen


def test_greedy_choices_need_no_luck() -> None:
    policy, task = learned(rules_of("ferry", "none")), small_task("ferry", 1)
    walk = policy.start(task)
    assert walk.action_count > 1
    assert len({walk.choose(rng_of(seed)) for seed in range(20)}) == 1
    assert not walk.has_choice


def test_values_that_overflow_do_no_harm() -> None:
    shape = NetworkSettings(
        width=3,
        message_activation=Activation.IDENTITY,
        atom_activation=Activation.IDENTITY,
        aggregation=Aggregation.SUM,
    )
    for name in domains.names():
        task = small_task(name, 0)
        policy = learned(rules_of(name, "none"), of_network=shape, scale=1e37)
        walk = policy.start(task)
        assert not all(math.isfinite(score) for score in walk.scores().values())
        assert walk.choose(rng_of()) in walk.actions()
        assert sorted(walk.ranked(rng_of())) == sorted(walk.actions())


# --- Sampling ----------------------------------------------------------------------------


@given(policies, seeds, st.floats(0.01, 10))
@examples(25)
def test_the_same_seed_draws_the_same(
    which: tuple[str, str], seed: int, temperature: float
) -> None:
    rules, task = rules_of(*which), small_task(which[0], seed % 5)
    runs = [
        execute(
            learned(rules, seed=1, temperature=temperature), task, rng=rng_of(seed), max_steps=40
        )
        for _ in range(2)
    ]
    assert runs[0].actions == runs[1].actions


def test_other_seeds_draw_others() -> None:
    walk = learned(rules_of("ferry", "none"), temperature=1.0).start(small_task("ferry", 1))
    assert walk.has_choice
    assert len({walk.choose(rng_of(seed)) for seed in range(50)}) > 1


def test_there_is_no_choice_of_one() -> None:
    task = Domain.parse(ROOMS).parse_task(
        "(define (problem p) (:domain rooms) (:objects a b) (:init (at a) (door a b))"
        " (:goal (treasure a)))"
    )
    walk = learned(Policy.applicable(task.domain), temperature=1.0).start(task)
    assert not walk.has_choice
    walk.apply(Action("go", ("a", "b")))
    assert not walk.has_choice
    assert walk.choose(rng_of()) is None
    assert walk.ranked(rng_of()) == []


@pytest.mark.parametrize("temperature", [0.3, 1.0, 4.0])
def test_actions_are_drawn_by_the_softmax(temperature: float) -> None:
    policy = learned(rules_of("blocksworld", "none"), seed=4, temperature=temperature)
    walk = policy.start(generated("blocksworld", 1, blocks=8))
    while len(set(walk.scores().values())) < 4:
        walk.apply(walk.ranked(rng_of())[-1])
    draws = 4000
    rng = rng_of(7)
    drawn = Counter(walk.choose(rng) for _ in range(draws))
    scores = walk.scores()
    total = sum(math.exp(score / temperature) for score in scores.values())
    for action, score in scores.items():
        share = math.exp(score / temperature) / total
        deviation = math.sqrt(draws * share * (1 - share))
        assert abs(drawn[action] - draws * share) < 5 * deviation + 1, action


def test_temperatures_go_from_the_best_to_any() -> None:
    rules, task = rules_of("blocksworld", "none"), small_task("blocksworld", 1)
    walk = learned(rules, temperature=1e-300).start(task)
    assert {walk.choose(rng_of(seed)) for seed in range(20)} == {best_of(walk.scores())}
    walk = learned(rules, temperature=math.inf).start(task)
    assert {walk.choose(rng_of(seed)) for seed in range(200)} == set(walk.actions())


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.nan])
def test_a_temperature_is_positive(temperature: float) -> None:
    with pytest.raises(ValueError, match="temperature"):
        learned(rules_of("ferry", "none"), temperature=temperature)


# --- Executions --------------------------------------------------------------------------


@given(seeds, st.sampled_from(domains.names()))
@examples(30)
def test_without_a_goal_greedy_choices_end_in_a_cycle(seed: int, name: str) -> None:
    """With no limit at all: the policy is deterministic, and the states are finitely many."""
    task = small_task(name, seed % 5)
    policy = learned(rules_of(name, "none"), seed=seed)
    result = execute(policy, task, rng=rng_of(seed))
    assert result.outcome in (Outcome.SOLVED, Outcome.CYCLE)
    states = states_of(policy, task, result.actions)
    if result.outcome is Outcome.CYCLE:
        assert states[-1] in states[:-1]
        assert len(set(states)) == len(states) - 1
    else:
        assert len(set(states)) == len(states)


def test_draws_may_leave_a_loop() -> None:
    """Where the best actions go round in a circle for ever."""
    task = Domain.parse(ROOMS).parse_task(
        "(define (problem p) (:domain rooms) (:objects a b c)"
        " (:init (at a) (door a b) (door b a) (door b c)) (:goal (at c)))"
    )
    rules = Policy.applicable(task.domain)
    greedy = execute(learned(rules, scale=0), task, rng=rng_of())
    assert greedy.outcome is Outcome.CYCLE
    assert greedy.actions == (Action("go", ("a", "b")), Action("go", ("b", "a")))
    drawn = execute(learned(rules, scale=0, temperature=1.0), task, rng=rng_of())
    assert drawn.solved
    searched = execute(learned(rules, scale=0), task, rng=rng_of(), avoid_revisits=True)
    assert searched.actions == (Action("go", ("a", "b")), Action("go", ("b", "c")))


def states_of(policy: Policy, task: Task, actions: Iterable[Action]) -> list[State]:
    walk = policy.start(task)
    states = [walk.state]
    for action in actions:
        walk.apply(action)
        states.append(walk.state)
    return states


def first_plan(policy: Policy, task: Task) -> list[Action] | None:
    """By the definition: depth first, the best actions first, no state twice."""
    seen = {task.initial}
    way: list[tuple[Walk, list[Action]]] = []
    plan: list[Action] = []
    walk = policy.start(task)
    while True:
        if walk.is_goal:
            return plan
        scores = policy.start(task, walk.state).scores()
        way.append((walk, sorted(scores, key=lambda a: (-scores[a], a))))
        while True:
            if not way:
                return None
            walk, waiting = way[-1]
            if not waiting:
                way.pop()
                if plan:
                    plan.pop()
                continue
            after = walk.copy()
            action = waiting.pop(0)
            after.apply(action)
            if after.state not in seen:
                seen.add(after.state)
                plan.append(action)
                walk = after
                break


@given(policies, seeds)
@examples(25)
def test_searches_try_the_best_actions_first(which: tuple[str, str], seed: int) -> None:
    policy, task = learned(rules_of(*which), seed=seed), small_task(which[0], seed % 5)
    result = execute(policy, task, rng=rng_of(seed), avoid_revisits=True)
    plan = first_plan(policy, task)
    assert result.solved == (plan is not None)
    if plan is not None:
        assert list(result.actions) == plan


@given(policies, seeds)
@examples(25)
def test_copies_go_their_own_ways(which: tuple[str, str], seed: int) -> None:
    policy, task = learned(rules_of(*which), seed=seed), small_task(which[0], seed % 5)
    walk, rng = policy.start(task), random.Random(seed)
    for _ in range(rng.randrange(6)):
        if actions := walk.actions():
            walk.apply(rng.choice(actions))
    before, state, steps = walk.scores(), walk.state, walk.steps
    copy = walk.copy()
    assert copy.scores() == before
    for _ in range(5):
        if actions := copy.actions():
            copy.apply(rng.choice(actions))
    assert (walk.scores(), walk.state, walk.steps) == (before, state, steps)
    while copy.steps:
        copy.undo()
    assert_close(copy.scores(), policy.start(task).scores())
    assert_close(walk.scores(), before)


# --- Names mean nothing ------------------------------------------------------------------


def renamed(problem: str, names: Mapping[str, str], rng: random.Random) -> str:
    """The same task with other names, and all its lists in another order."""
    define, title, *sections = nested(problem)
    by_name = {section[0]: section for section in sections}
    objects = [f"{names[o]} - {types[0]}" for o, types in typed(by_name[":objects"][1:]).items()]

    def written(part: str | Nested) -> str:
        if isinstance(part, str):
            return names.get(part, part)
        return f"({' '.join(map(written, part))})"

    def shuffled(parts: Iterable[str]) -> str:
        return " ".join(rng.sample(list(parts), len(list(parts))))

    (goal,) = by_name[":goal"][1:]
    assert goal[0] == "and"
    facts = shuffled([written(fact) for fact in by_name[":init"][1:]])
    goals = shuffled([written(part) for part in goal[1:]])
    rest = [written(section) for section in sections if section[0] in (":domain", ":metric")]
    return (
        f"({define} {written(title)} {rest[0]} (:objects {shuffled(objects)})"
        f" (:init {facts}) (:goal (and {goals})) {' '.join(rest[1:])})"
    )


@given(policies, seeds, templates, networks)
@examples(60)
def test_renaming_objects_changes_no_score(
    which: tuple[str, str], seed: int, of_template: TemplateSettings, of_network: NetworkSettings
) -> None:
    text, rng = problem_text(which[0], seed % 5), random.Random(seed)
    task = SHIPPED[which[0]].parse_task(text)
    names = dict(
        zip(task.objects, rng.sample(list(task.objects), len(task.objects)), strict=True)
        if rng.random() < 0.3 and len(SHIPPED[which[0]].types) == 1
        else ((name, f"{rng.choice('abxyz')}-{i}") for i, name in enumerate(task.objects))
    )
    changed = renamed(text, names, rng)
    note(changed)
    policy = learned(rules_of(*which), of_template, of_network, seed)
    walk, other = policy.start(task), policy.start(SHIPPED[which[0]].parse_task(changed))
    for _ in range(10):
        scores = walk.scores()
        expected = {as_renamed(action, names): score for action, score in scores.items()}
        assert_close(other.scores(), expected)
        if not scores:
            break
        action = rng.choice(list(scores))
        walk.apply(action)
        other.apply(as_renamed(action, names))


def as_renamed(action: Action, names: Mapping[str, str]) -> Action:
    return Action(action.name, tuple(names[argument] for argument in action.arguments))


def test_scores_tell_actions_apart() -> None:
    """Otherwise equal scores would prove nothing."""
    for name in domains.names():
        walk = learned(rules_of(name, "none"), seed=2).start(small_task(name, 1))
        scores: set[float] = set()
        for _ in range(10):
            found = walk.scores()
            scores |= {round(score, 4) for score in found.values()}
            walk.apply(min(found))
        assert len(scores) > 3


# --- Weights that do not fit -------------------------------------------------------------


@given(st.data())
@examples(30)
def test_weights_must_fit(data: st.DataObject) -> None:
    rules = rules_of("blocksworld", "paper")
    weights = dict(random_weights(rules))
    name = data.draw(st.sampled_from(sorted(weights)))
    change = data.draw(st.sampled_from(["missing", "superfluous", "transposed", "larger", "flat"]))
    weight = weights.pop(name)
    if change == "superfluous":
        weights |= {name: weight, "r999.H": weight}
        name = "r999.H"
    elif change == "transposed":
        assume(weight.shape[0] != weight.shape[1])
        weights[name] = weight.T
    elif change == "larger":
        weights[name] = np.vstack([weight, weight])
    elif change == "flat":
        weights[name] = weight.ravel()
    with pytest.raises(ValueError, match=name):
        learned_policy(rules, PLAIN, NARROW, weights)
