"""Programs are compiled, and templates built, no more often than necessary."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from planlog import domains
from planlog.api.resolve import choose_policy
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
    """Count compilations, templates and the labels of state spaces, wherever they are made."""
    counted: Counter[str] = Counter()

    def count(module: Any, name: str) -> None:
        function = getattr(module, name)

        def wrapped(*arguments: Any, **options: Any) -> Any:
            counted[name] += 1
            return function(*arguments, **options)

        monkeypatch.setattr(module, name, wrapped)

    count(policy, "compile_program")
    count(template, "_sections")
    count(labels, "derive")
    return counted


@pytest.mark.parametrize("name", domains.names())
def test_loading_a_model_compiles_one_program(name: str, calls: Counter[str]) -> None:
    file = domains.model_path(name)
    assert file is not None
    learned = Model.read(file).policy(SHIPPED[name])
    learned.start(generated(name, 0)).choose()
    assert calls == {"_sections": 1, "compile_program": 1}


def test_choosing_a_shipped_policy_compiles_one_program(calls: Counter[str]) -> None:
    domain = Domain.read(domains.path("ferry") / "domain.pddl")
    choose_policy(domain).policy.start(domain.parse_task(generated_text())).choose()
    assert calls == {"_sections": 1, "compile_program": 1}


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
    # The template, and the policy of all applicable actions that expands a state space.
    assert calls == {"_sections": 1, "compile_program": 1 + len(tasks), "derive": 1}
