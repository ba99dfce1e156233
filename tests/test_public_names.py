"""The public names of `planlog`, and the examples of all docstrings."""

from __future__ import annotations

import doctest
import importlib
import inspect
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import planlog
from planlog import domains
from planlog.checking import Property, Verdict
from planlog.network.settings import NetworkSettings, TemplateSettings
from planlog.network.template import build_template
from support.graph_domain import DOMAIN, PROBLEM
from support.random_networks import random_weights

# The longer of two paths to the goal is never optimal.
FORK = """(define (problem fork) (:domain graph) (:objects a b c d)
  (:init (at a) (edge a b) (edge b c) (edge a d) (edge d b)) (:goal (at c)))"""
RULES = "go(X, Y) :- not seen(Y).\n"
SOURCE = Path(planlog.__file__).parent
MODULES = [
    ".".join(["planlog", *file.relative_to(SOURCE).with_suffix("").parts])
    for file in sorted(SOURCE.rglob("*.py"))
    if ">>> " in file.read_text()
]


@pytest.fixture
def graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Write the files that examples read, and return the values that they use."""
    folder = tmp_path / "graph"
    folder.mkdir()
    (folder / "domain.pddl").write_text(DOMAIN)
    (folder / "problem.pddl").write_text(PROBLEM)
    (folder / "policy.dl").write_text(RULES)
    monkeypatch.chdir(tmp_path)
    domain = planlog.Domain.read("graph/domain.pddl")
    policy = planlog.Policy.parse(RULES, domain)
    network = NetworkSettings(width=4)
    template = build_template(policy, TemplateSettings(layers=1))
    weights = random_weights(policy, template.settings, network)
    planlog.Model.of(template, network, weights).write(folder / "model.safetensors")
    task = domain.read_task("graph/problem.pddl")
    known = {"domain": domain, "task": task, "fork": domain.parse_task(FORK), "policy": policy}
    return known | {name: getattr(planlog, name) for name in planlog.__all__}


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings(name: str, graph: dict[str, object]) -> None:
    module = importlib.import_module(name)
    known = graph | {"planlog": planlog, "TemplateSettings": TemplateSettings}
    others = {name: value for name, value in known.items() if name not in vars(module)}
    assert doctest.testmod(module, extraglobs=others).failed == 0


@pytest.mark.parametrize("name", planlog.__all__)
def test_every_public_name_has_an_example(name: str) -> None:
    tests = doctest.DocTestFinder().find(getattr(planlog, name), name)
    assert any(test.examples for test in tests)


def public_members() -> Iterator[tuple[str, object]]:
    """Yield the public names, and the public members of public classes that Planlog defines."""
    for name in planlog.__all__:
        value = getattr(planlog, name)
        yield name, value
        for base in value.__mro__ if inspect.isclass(value) else ():
            if base.__module__.startswith("planlog."):
                # Plain attributes are described in the docstring of their class.
                for member, attribute in vars(base).items():
                    is_plain = inspect.ismemberdescriptor(attribute) or not (
                        callable(getattr(value, member)) or hasattr(attribute, "__get__")
                    )
                    if not member.startswith("_") and not is_plain:
                        yield f"{name}.{member}", attribute


def test_every_public_member_has_a_docstring() -> None:
    found = dict(public_members())
    assert {"solve", "Walk.apply", "Walk.query", "Task.encode", "Policy.read"} <= found.keys()
    assert [name for name, value in found.items() if not inspect.getdoc(value)] == []


def test_every_public_class_shows_its_content(graph: dict[str, Any]) -> None:
    policy, task = graph["policy"], graph["task"]
    walk = policy.start(task)
    walk.apply("(go a b)")
    model = planlog.Model.read("graph/model.safetensors")
    result = planlog.solve(task, policy)
    assert [repr(value) for value in (policy.domain, task, policy, walk, walk.state, model)] == [
        "Domain('graph', 3 predicates, 1 action)",
        "Task('p' of domain 'graph', 3 objects, 2 goals)",
        "Policy('graph', 1 rule)",
        "Walk('p', 1 step, 1 goal left, 1 action derived)",
        "State((at b) (seen b))",
        "Model('graph', 1 layer, width 4)",
    ]
    assert repr(result).startswith("PlanResult(solved, 2 actions, cost 2, ")
    assert walk.query("edge(X, Y), seen(X)") == [{"X": "b", "Y": "c"}]


def test_unknown_names_are_errors() -> None:
    assert set(planlog.__all__) <= set(dir(planlog))
    with pytest.raises(AttributeError, match="no attribute 'solved'"):
        planlog.solved  # noqa: B018


# --- Functions -----------------------------------------------------------------------------


def test_a_shipped_domain_is_solved_by_name_of_its_task(tmp_path: Path) -> None:
    shutil.copy(domains.path("ferry") / "domain.pddl", tmp_path)
    ((_, problem),) = domains.generate("ferry", seed=0, sizes={"cars": 3, "locations": 4})
    (tmp_path / "p.pddl").write_text(problem)
    result = planlog.solve(tmp_path / "p.pddl")
    assert result.plan is not None
    assert planlog.validate(tmp_path / "p.pddl", result.plan).valid
    result.plan.write(tmp_path / "plan")
    assert planlog.validate(str(tmp_path / "p.pddl"), str(tmp_path / "plan")).valid


@pytest.mark.parametrize("policy", ["graph/policy.dl", "graph/model.safetensors", "none"])
def test_policies_are_given_by_name(policy: str, graph: dict[str, object]) -> None:
    assert planlog.solve("graph/problem.pddl", policy).solved
    *_, best = planlog.improve("graph/problem.pddl", policy, max_expansions=20, threads=1)
    assert best.cost == 2
    assert planlog.check("graph", policy).verdict(Property.GOAL_ACHIEVING) is Verdict.PROVED


def test_a_plan_from_elsewhere_is_improved(graph: dict[str, object]) -> None:
    task, policy = graph["fork"], graph["policy"]
    long = planlog.Plan.parse("(go a d)\n(go d b)\n(go b c)")
    assert [result.cost for result in planlog.improve(task, policy, long, max_expansions=50)] == [2]
    with pytest.raises(planlog.PlanlogError, match="not applicable"):
        planlog.improve(task, policy, planlog.Plan.parse("(go b c)"))
    with pytest.raises(planlog.PlanlogError, match="1 goals left"):
        planlog.improve(task, policy, planlog.Plan.parse("(go a b)"))


def test_a_task_without_a_plan_has_one_result(graph: dict[str, object]) -> None:
    stuck = graph["domain"].parse_task(PROBLEM.replace("(edge b c)", ""))
    (result,) = planlog.improve(stuck, graph["policy"])
    assert result.outcome is planlog.Outcome.NO_PLAN


@pytest.mark.slow
def test_a_model_is_learned_into_a_file(graph: dict[str, object]) -> None:
    settings = "small+epochs=2"
    model = planlog.learn(graph["fork"], graph["policy"], settings, model_file="model")
    assert sorted(path.name for path in Path().glob("model*")) == ["model"]
    read = planlog.Model.read("model")
    assert read.training["seed"] == model.training["seed"] == 0
    assert planlog.solve(graph["fork"], read).solved
