"""Predicates that only networks read: a policy derives the same actions, and does without them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from planlog.datalog import Program, parse_program
from planlog.datalog.syntax import Relation, Source
from planlog.errors import RuleError
from planlog.network.model_file import Model
from planlog.network.settings import NetworkSettings, TemplateSettings
from planlog.network.template import build_template
from planlog.pddl.task import Domain, Task
from planlog.policy.policy import Policy
from support.profiles import examples
from support.random_networks import random_weights
from support.random_programs import DOMAIN, World, make_task, programs, worlds
from support.shipped_domains import POLICIES, SHIPPED, generated, policy_of

BLOCKS = SHIPPED["blocksworld"]
DERIVED_MESSAGES = TemplateSettings(layers=1, derived_messages=True)
NARROW = NetworkSettings(width=2)


def heads(policy: Policy) -> set[str]:
    return {rule.head.relation.name for rule in policy.network_rules}


def assert_same_walk(policies: list[Policy], task: Task, seed: int, steps: int = 40) -> None:
    rng = np.random.default_rng(seed)
    applicable = Policy.applicable(task.domain)
    walks = [policy.start(task) for policy in policies]
    for _ in range(steps):
        actions = walks[0].actions()
        assert all(walk.actions() == actions for walk in walks[1:])
        # Now and then elsewhere, to see more states.
        action = walks[0].sample(rng) or applicable.start(task, walks[0].state).sample(rng)
        if action is None:
            break
        for walk in walks:
            walk.apply(action)


# --- Policies do without them ------------------------------------------------------------


def test_the_shipped_blocksworld_policy() -> None:
    policy = policy_of("blocksworld")
    assert heads(policy) == {"top", "next", "waits_for"}
    before, _ = policy.text.split("% --- for the network")
    alone, unmarked = (
        Policy.parse(text, BLOCKS) for text in (before, policy.text.replace("@network", ""))
    )
    assert alone.network_rules == unmarked.network_rules == ()
    assert alone.program == policy.program
    for seed in range(5):
        assert_same_walk([policy, alone, unmarked], generated("blocksworld", seed, blocks=8), seed)


def test_they_are_not_evaluated() -> None:
    policy = policy_of("blocksworld")
    texts = policy.rule_texts().values()
    assert any("well_placed@network" in text for text in texts)  # marked, but actions need it
    assert not any(re.match("top|next|waits_for", text) for text in texts)
    assert policy.relation(Relation("well_placed", 1, Source.DERIVED)) >= 0
    for name in heads(policy):
        with pytest.raises(KeyError):
            policy.relation(Relation(name, 2, Source.DERIVED))
    without = Policy.parse(policy.text.split("% --- for the network")[0], BLOCKS)
    assert policy.core.rule_count == without.core.rule_count
    assert len(policy.core.relations) == len(without.core.relations)


@pytest.mark.parametrize(("name", "variant"), POLICIES)
def test_shipped_policies_have_no_warnings(name: str, variant: str) -> None:
    assert policy_of(name, variant).warnings == ()


def test_what_only_they_need_is_set_aside_with_them() -> None:
    text = """
      far@network(X) :- step(X, Y), step(Y, _), not shared(X).
      step(X, Y) :- on(X, Y), base(Y).
      base(X) :- clear(X).
      shared(X) :- on-table(X), not stack(X, _).
      unstack(X, Y) :- not shared(Y).
      stack(X, Y) :- base_(Y).
      base_(X) :- clear(X).
    """
    policy = Policy.parse(text, BLOCKS)
    assert heads(policy) == {"far", "step", "base"}
    assert policy.program is not None
    kept = {rule.head.relation.name for rule in policy.program.rules}
    assert kept == {"shared", "unstack", "stack", "base_"}


def test_marks_without_policy_rules() -> None:
    policy = Policy.parse("low@network(X) :- on-table(X).", BLOCKS)
    assert heads(policy) == {"low"}
    task = generated("blocksworld")
    assert policy.actions(task, task.initial) == []


@examples(150)
@given(programs(), worlds, st.integers(0, 2**32 - 1))
def test_marks_change_no_action(text: str, world: World, seed: int) -> None:
    rng = np.random.default_rng(seed)
    marked = re.sub(
        r"^(d\d+)", lambda m: m[1] + str(rng.choice(["", "@network"])), text, flags=re.MULTILINE
    )
    note(marked)
    policies = [Policy.parse(each, DOMAIN) for each in (text, marked)]
    assert_same_walk(policies, make_task(*world.task()), seed, steps=10)
    # Nothing that is evaluated depends on what is not.
    policy = policies[1]
    assert policy.program is not None
    aside = {rule.head.relation for rule in policy.network_rules}
    for rule in policy.program.rules:
        assert not aside & {literal.relation for literal in (rule.head, *rule.literals)}
    assert_complete(policy, parse_program(marked, DOMAIN))
    assert_round_trip(policy)


def test_objects_that_a_task_lacks_are_told() -> None:
    policy = Policy.parse("\n  far@network(X) :- on(X, moon).  pickup(X).", BLOCKS, "my.dl")
    with pytest.raises(RuleError) as caught:
        policy.check_task(generated("blocksworld"))
    (told,) = caught.value.diagnostics
    assert (told.file, told.line, told.column) == ("my.dl", 2, 27)


# --- Texts and model files ---------------------------------------------------------------


def assert_complete(policy: Policy, program: Program) -> None:
    """Every rule is on one of the two sides, in the order of the file."""
    assert policy.program is not None
    for part in (policy.program.rules, policy.network_rules):
        assert list(part) == [rule for rule in program.rules if rule in part]
    assert len(policy.program.rules) + len(policy.network_rules) == len(program.rules)


def assert_round_trip(policy: Policy) -> None:
    """Also for a program without a text."""
    again = Policy.parse(policy.text, policy.domain)
    assert (again.program, again.network_rules) == (policy.program, policy.network_rules)
    assert again.text == policy.text
    program = replace(parse_program(policy.text, policy.domain), text="")
    without_text = Policy(policy.domain, program)
    printed = Policy.parse(without_text.text, policy.domain)
    assert (printed.program, printed.network_rules) == (policy.program, policy.network_rules)


@pytest.mark.parametrize(("name", "variant"), POLICIES)
def test_texts_of_shipped_policies(name: str, variant: str) -> None:
    assert_round_trip(policy_of(name, variant))


def blocksworld(with_text: bool) -> Policy:
    policy = policy_of("blocksworld")
    if with_text:
        return policy
    return Policy(BLOCKS, replace(parse_program(policy.text, BLOCKS), text=""))


@pytest.mark.parametrize("with_text", [True, False])
def test_a_model_file_keeps_them(with_text: bool, tmp_path: Path) -> None:
    rules = blocksworld(with_text)
    weights = random_weights(rules, DERIVED_MESSAGES, NARROW)
    written = Model.of(build_template(rules, DERIVED_MESSAGES), NARROW, weights)
    written.write(tmp_path / "model")
    read = Model.read(tmp_path / "model")
    kept = read.rules_for(BLOCKS)
    assert (kept.program, kept.network_rules) == (rules.program, rules.network_rules)
    assert (read.rules == rules.text) and ("waits_for@network(A, T)" in rules.text)
    task = generated("blocksworld", 1, blocks=6)
    walks = [model.policy(BLOCKS).start(task) for model in (written, read)]
    assert walks[0].scores() == walks[1].scores()


def test_networks_score_by_them() -> None:
    """The rules for networks are part of a model's signature."""
    rules = policy_of("blocksworld")
    weights = random_weights(rules, DERIVED_MESSAGES, NARROW)
    model = Model.of(build_template(rules, DERIVED_MESSAGES), NARROW, weights)
    assert "plain_waits_for" in model.signature
    plain = TemplateSettings(layers=1)
    model = Model.of(build_template(rules, plain), NARROW, random_weights(rules, plain, NARROW))
    assert "waits_for" not in model.signature


def test_a_domain_with_a_predicate_called_network() -> None:
    domain = Domain.parse(
        """(define (domain d) (:predicates (network ?x) (p ?x))
        (:action go :parameters (?x) :precondition (network ?x) :effect (p ?x)))"""
    )
    policy = Policy.parse("far@network(X) :- network(X), not p@goal(X).  go(X).", domain)
    assert heads(policy) == {"far"}
    assert_round_trip(policy)
