"""`planlog template` as its users meet it."""

from __future__ import annotations

from pathlib import Path

import pytest

from planlog import domains
from planlog.network.settings import TemplateSettings
from planlog.network.template import build_template
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
