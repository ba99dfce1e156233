"""Programs are parsed, stratified and compiled, and templates built, only once."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import planlog
from planlog import domains
from planlog.api.resolve import choose_policy
from planlog.datalog import program
from planlog.learning.learn import learn
from planlog.network import template
from planlog.network.model_file import Model
from planlog.network.settings import PRESETS
from planlog.pddl.task import Domain
from planlog.policy import policy
from planlog.statespace import labels
from support.shipped_domains import SHIPPED, generated, policy_of


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the stages from a rule file to a template, and the labels of state spaces."""
    counted: Counter[str] = Counter()

    def count(module: Any, name: str) -> None:
        function = getattr(module, name)

        def wrapped(*arguments: Any, **options: Any) -> Any:
            counted[name] += 1
            return function(*arguments, **options)

        monkeypatch.setattr(module, name, wrapped)

    count(program, "resolve")
    count(program, "check_stratified")
    count(program, "Dependencies")
    count(template, "Dependencies")
    count(policy, "compile_program")
    count(template, "_sections")
    count(labels, "derive")
    return counted


def assert_each_stage_once(calls: Counter[str]) -> None:
    # The rules' dependencies are needed to check them, to split off the rules that only networks
    # read, and for the template.
    assert 1 <= calls.pop("Dependencies") <= 3
    stages = ("resolve", "check_stratified", "_sections", "compile_program")
    assert calls == dict.fromkeys(stages, 1)


@pytest.mark.parametrize("name", domains.names())
def test_solving_with_a_model(name: str, calls: Counter[str]) -> None:
    file = domains.model_path(name)
    assert file is not None
    learned = Model.read(file).policy(SHIPPED[name])
    task = generated(name, 0)
    assert planlog.solve(task, learned).solved
    for _ in range(3):
        learned.start(task).choose()
    assert_each_stage_once(calls)


def test_improving_the_plan_of_a_model(calls: Counter[str]) -> None:
    learned = Model.read(domains.path("ferry") / "model.safetensors").policy(SHIPPED["ferry"])
    assert list(planlog.improve(generated("ferry", 0), learned, max_expansions=100, threads=1))
    calls["compile_program"] -= 1  # of the rules, which find the first plan
    assert_each_stage_once(calls)


def test_choosing_a_shipped_policy(calls: Counter[str]) -> None:
    domain = Domain.read(domains.path("ferry") / "domain.pddl")
    choose_policy(domain).policy.start(domain.parse_task(generated_text())).choose()
    assert_each_stage_once(calls)


def generated_text() -> str:
    ((_, text),) = domains.generate("ferry", seed=0, sizes={"cars": 2, "locations": 3})
    return text


def test_a_training_builds_its_template_and_its_labels_once(calls: Counter[str]) -> None:
    sizes = [{"cars": 2, "locations": 3}, {"cars": 3, "locations": 4}]
    tasks = [generated("ferry", 0, **size) for size in sizes]
    settings = PRESETS["default"].changed(
        limit=400, epochs=2, iterations=2, states_per_iteration=10, ensemble_size=2
    )
    rules = policy_of("ferry")
    assert rules.core.rule_count > 0  # compiled now, or for another test
    calls.clear()
    model = learn(rules, tasks, settings).model
    assert model.training["search_labelled_tasks"]
    assert calls.pop("Dependencies") == 1
    assert calls == {"_sections": 1, "compile_program": 1, "derive": 1}
