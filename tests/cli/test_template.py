"""`planlog template` as its users meet it."""

from __future__ import annotations

from pathlib import Path

import pytest

from planlog import domains
from planlog.network.settings import TemplateSettings
from planlog.network.template import build_template
from planlog.pddl.task import Domain
from planlog.policy.policy import Policy
from support.commands import Run
from support.shipped_domains import SHIPPED, policy_of

RULES = "unstack(A, B) :- not placed(A).\nplaced(A) :- on-table@ag(A).\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a domain."""
    monkeypatch.chdir(tmp_path)
    domain = domains.path("blocksworld") / "domain.pddl"
    Path("domain.pddl").write_bytes(domain.read_bytes())
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "policy", "settings"),
    [
        (["rules.dl"], "own", TemplateSettings(1)),
        (["rules.dl", "--layers", 2, "--derived-messages"], "own", TemplateSettings(2, True)),
        (["--policy", "rules.dl"], "own", TemplateSettings(1)),
        (["none", "--layers", 0], "none", TemplateSettings(0)),
        (["shipped"], "policy", TemplateSettings(1)),
        ([], "policy", TemplateSettings(1)),
        (["--policy", "blocksworld:paper"], "paper", TemplateSettings(1)),
    ],
)
def test_the_text(
    arguments: list[object],
    policy: str,
    settings: TemplateSettings,
    planlog: Run,
    folder: Path,
) -> None:
    Path("rules.dl").write_text(RULES)
    Path("tasks").mkdir()
    blocks = SHIPPED["blocksworld"]
    own = {"own": Policy.parse(RULES, blocks), "none": Policy.applicable(blocks)}
    expected = build_template(own.get(policy) or policy_of("blocksworld", policy), settings).text
    for place in (["domain.pddl"], ["tasks"], []):
        assert planlog("template", *place, *arguments) == (0, expected, "")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["rules.dl"], 31, "unknown predicate 'blue'"),
        (["shipped:best"], 31, "no policy 'best' for blocksworld"),
        (["none", "--layers", "-1"], 36, "--layers"),
        (["none", "--policy", "none"], 36, "the policy is given twice"),
        (["other.pddl", "none"], 36, "expected [DOMAIN] [POLICY], got 3 files"),
    ],
)
def test_mistakes(
    arguments: list[str],
    code: int,
    message: str,
    planlog: Run,
    folder: Path,
) -> None:
    Path("rules.dl").write_text("unstack(A, B) :- blue(A), on(A, B).")
    found, out, err = planlog("template", "domain.pddl", *arguments)
    assert (found, out) == (code, "")
    assert message in err


SHARED_NAMES = """
(define (domain harbour) (:requirements :typing)
  (:types crane truck - object)
  (:predicates (crane ?c - crane ?t - truck) (truck) (object ?x) (free ?c - crane) (load ?x))
  (:action load :parameters (?x - (either crane truck)) :precondition (truck) :effect (load ?x))
  (:action take :parameters (?c - crane ?t - truck)
    :precondition (not (crane ?c ?t)) :effect (crane ?c ?t))
  (:action leave :parameters (?c - crane) :effect (and (free ?c) (not (truck)))))
"""
SHARED_NAMES_TASK = """
(define (problem p) (:domain harbour) (:objects c1 c2 - crane t1 - truck o - object)
  (:init (truck) (object t1) (crane c1 t1)) (:goal (and (crane c2 t1) (free c1))))
"""


@pytest.mark.parametrize(
    "rules",
    ["", "take(C, T) :- crane(_, T), truck@type(T).\nleave(C) :- crane@type(C)."],
)
def test_output_is_read_back_if_a_type_and_a_predicate_share_a_name(
    rules: str, planlog: Run, tmp_path: Path
) -> None:
    (tmp_path / "domain.pddl").write_text(SHARED_NAMES)
    (tmp_path / "rules.dl").write_text(rules)
    domain = Domain.parse(SHARED_NAMES)
    task = domain.parse_task(SHARED_NAMES_TASK)
    policy = Policy.parse(rules, domain) if rules else Policy.applicable(domain)
    given = tmp_path / "rules.dl" if rules else "none"
    for options in ([], ["--layers", 2, "--derived-messages"]):
        code, out, err = planlog("template", tmp_path / "domain.pddl", given, *options)
        assert (code, "crane@type(" in out, "object@type(" in out) == (0, True, True), err
        read = Policy.parse(out, domain)
        for state in (task.initial, task.state([]), task.state(["(truck)", "(crane c2 t1)"])):
            assert read.actions(task, state) == policy.actions(task, state)


def test_output_is_read_back_if_names_need_quotes(planlog: Run, tmp_path: Path) -> None:
    domain = Path(__file__).parents[1] / "support/small_domains/signs.pddl"
    (tmp_path / "rules").write_text("'%up'(X) :- 's.1'(X).\n'_turn'(X) :- '%up'(X).\n")
    for policy in ("none", tmp_path / "rules"):
        code, out, err = planlog("template", domain, policy)
        assert (code, "'_turn'(X" in out) == (0, True), err
        (tmp_path / "again").write_text(out)
        code, _, err = planlog("template", domain, tmp_path / "again", "--layers", 0)
        assert (code, err) == (0, "")
