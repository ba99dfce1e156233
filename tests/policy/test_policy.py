"""Policies as values: queries, text, copies and pickles."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog import domains
from planlog.errors import RuleError
from planlog.network.model_file import Model
from planlog.policy.execution import execute
from planlog.policy.policy import Policy
from support.profiles import examples
from support.shipped_domains import POLICIES, SHIPPED, generated, policy_of


def shipped_model(name: str) -> Model:
    file = domains.model_path(name)
    assert file is not None
    return Model.read(file)


# --- Queries -------------------------------------------------------------------------------


@examples(30)
@given(st.sampled_from(["policy", "model"]), st.integers(0, 20), st.integers(0, 5))
def test_a_query_answers_what_the_rules_derive(kind: str, steps: int, seed: int) -> None:
    rules, task = policy_of("blocksworld"), generated("blocksworld", seed, blocks=5)
    policy = rules if kind == "policy" else shipped_model("blocksworld").policy(rules.domain)
    walk, rng = policy.start(task), np.random.default_rng(seed)
    for _ in range(steps):
        if action := walk.sample(rng):
            walk.apply(action)
    clear = {atom.arguments[0] for atom in walk.state.atoms if atom.name == "clear"}
    assert {answer["X"] for answer in walk.query("clear(X)")} == clear
    unstack = {action.arguments for action in walk.actions() if action.name == "unstack"}
    assert {(a["X"], a["Y"]) for a in walk.query("unstack(X, Y)")} == unstack
    below = {atom.arguments[1] for atom in walk.state.atoms if atom.name == "on"}
    assert {a["X"] for a in walk.query("on(_, X)")} == below
    assert walk.query("clear(X), not clear(X)") == []
    assert walk.query("arm-empty") == ([{}] if "(arm-empty)" in walk.state else [])


def test_a_query_may_use_derived_predicates_and_end_with_a_dot() -> None:
    policy, task = policy_of("ferry"), generated("ferry", 0)
    assert policy.start(task).query("work_left.") == [{}]
    text = "far(C) :- at@ug(C, _). query(C) :- far(C)."
    asked = Policy.parse(text + " board(C, L) :- query(C).", SHIPPED["ferry"])
    cars = {answer["C"] for answer in asked.query(task, task.initial, "query(C)")}
    assert cars == {answer["C"] for answer in policy.query(task, task.initial, "at@ug(C, _)")}


@pytest.mark.parametrize(
    "body", ["nonsense(X)", "not clear(X)", "clear(X", "", "clear(X). clear(Y)"]
)
def test_a_wrong_query_is_an_error_at_its_place(body: str) -> None:
    task = generated("blocksworld", 0)
    with pytest.raises(RuleError, match=r"<query>:1:\d+: error"):
        policy_of("blocksworld").start(task).query(body)


# --- Text ----------------------------------------------------------------------------------


def test_policies_walks_and_models_show_what_they_are() -> None:
    policy, task = policy_of("ferry"), generated("ferry", 0, cars=2, locations=3)
    assert repr(policy) == f"Policy('ferry', {len(policy.program.rules)} rules)"  # type: ignore[union-attr]
    assert repr(Policy.applicable(task.domain)) == "Policy('ferry', all applicable actions)"
    model = shipped_model("ferry")
    assert repr(model).startswith("Model('ferry', 2 layers, width ")
    assert repr(model.policy(task.domain)).endswith(" rules, scorer)")
    assert "0 steps" in repr(policy.start(task))


# --- Copies and pickles --------------------------------------------------------------------


@pytest.mark.parametrize(("name", "variant"), [*POLICIES, ("ferry", "none")])
def test_a_pickled_policy_derives_the_same_actions(name: str, variant: str) -> None:
    task = generated(name, 0)
    policy = Policy.applicable(task.domain) if variant == "none" else policy_of(name, variant)
    again = pickle.loads(pickle.dumps(policy))
    assert again.domain is policy.domain
    assert again.text == policy.text
    assert again.actions(task, task.initial) == policy.actions(task, task.initial)
    assert copy.copy(policy) is copy.deepcopy(policy) is policy


@pytest.mark.parametrize("temperature", [None, 0.5])
def test_a_pickled_learned_policy_has_the_same_scores(temperature: float | None) -> None:
    task = generated("satellite", 0)
    shipped = shipped_model("satellite")
    policy = shipped.policy(task.domain, temperature=temperature)
    for model in (copy.copy(shipped), copy.deepcopy(shipped), pickle.loads(pickle.dumps(shipped))):
        scores = model.policy(task.domain).start(task).scores()
        assert scores == policy.start(task).scores()
    again = pickle.loads(pickle.dumps(policy))
    assert again.start(task).scores() == policy.start(task).scores()
    assert again.scorer.temperature == temperature
    plans = [execute(p, task, rng=np.random.default_rng(1)).actions for p in (policy, again)]
    assert plans[0] == plans[1]


def test_another_process_runs_a_pickled_policy(tmp_path: Path) -> None:
    task = generated("ferry", 0)
    policy = shipped_model("ferry").policy(task.domain)
    (tmp_path / "pickled").write_bytes(pickle.dumps((policy, task)))
    script = (
        "import pickle, sys; from planlog.policy.execution import execute;"
        "policy, task = pickle.load(open(sys.argv[1], 'rb'));"
        "print(execute(policy, task).plan, end='')"
    )
    printed = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "pickled")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert printed == str(execute(policy, task).plan)


# --- Randomness ----------------------------------------------------------------------------


def test_only_sampling_needs_a_random_generator() -> None:
    task = generated("ferry", 0)
    model = shipped_model("ferry")
    assert model.policy(task.domain).start(task).choose() is not None
    for policy in (policy_of("ferry"), model.policy(task.domain, temperature=1.0)):
        with pytest.raises(ValueError, match="random generator"):
            policy.start(task).choose()
    first, again = (execute(policy_of("ferry"), task).actions for _ in range(2))
    assert first == again
