"""`planlog info` and `planlog solve --model` as their users meet them."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from planlog import domains
from planlog.network.model_file import FORMAT, Model
from planlog.network.settings import NetworkSettings, TemplateSettings
from planlog.network.template import build_template
from planlog.pddl.task import Domain
from planlog.policy.execution import execute
from planlog.policy.policy import Policy
from planlog.validation import validate_files
from support.commands import Run
from support.endless_domain import ENDLESS_DOMAIN, ENDLESS_PROBLEM
from support.model_files import forge, make, put
from support.random_networks import random_weights, rng_of

TRAINING = {
    "seed": 11,
    "settings": {"loss": "listwise", "epochs": 200, "batch": None},
    "tasks": [{"name": "p01", "states": 22}, {"name": "p02", "states": 125}],
    "loss": [1 / (i + 1) for i in range(100)],
    "ensemble": [4, 5, 6],
    "interrupted": False,
}


@pytest.fixture(scope="module")
def tasks(generate: Callable[..., Path]) -> Path:
    return generate("blocksworld", "--blocks", 8, "--seed", 3)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("models") / "model.safetensors"
    make(
        ("blocksworld", "paper"), TemplateSettings(1), NetworkSettings(width=3), 2, TRAINING
    ).write(file)
    return file


# --- planlog info ------------------------------------------------------------------------


def test_info_tells_everything(model: Path, planlog: Run) -> None:
    code, out, err = planlog("info", model)
    assert (code, err) == (0, "")
    read = Model.read(model)
    rows = dict(line.strip().split("  ", 1) for line in out.splitlines() if "  " in line.strip())
    rows = {key: value.strip() for key, value in rows.items()}
    numbers = sum(weight.size for weight in read.weights.values())
    assert rows["domain"] == "blocksworld"
    assert rows["signature"] == read.signature_hash
    assert rows["weights"] == f"{numbers:,} numbers in {len(read.weights)} matrices"
    assert rows["file"] == f"{model.stat().st_size:,} bytes, format {FORMAT}"
    assert f"numpy {np.__version__}" in rows["made with"]
    assert rows["network"] == "1 layer, width 3, max of messages along base predicates"
    assert rows["activations"].startswith("tanh of messages, tanh of atoms, ")
    assert rows["seed"] == "11"
    assert rows["settings"] == "loss listwise, epochs 200, batch none"
    assert rows["ensemble"] == "3 networks"
    assert rows["loss"].startswith("1, 0.5, 0.33333, … (94 more), ")
    assert "name p02, states 125" in out
    assert max(map(len, out.splitlines())) <= 100
    for line in domains.policy_path("blocksworld", "paper").read_text().splitlines():
        assert line in out


def test_info_as_json(model: Path, planlog: Run) -> None:
    code, out, err = planlog("info", model, "--json")
    assert (code, err) == (0, "")
    answer, read = json.loads(out), Model.read(model)
    assert answer["outcome"] == "done"
    assert answer["file"] == str(model)
    assert answer["bytes"] == model.stat().st_size
    assert answer["weights"]["matrices"] == len(read.weights)
    assert answer["weights"]["numbers"] == sum(weight.size for weight in read.weights.values())
    assert answer["training"] == TRAINING
    for key, value in read.describe().items():
        assert answer[key] == value


def test_info_without_rules_and_training(tmp_path: Path, planlog: Run) -> None:
    file = tmp_path / "model.safetensors"
    make(("ferry", "none")).write(file)
    code, out, _ = planlog("info", file)
    assert code == 0
    assert out.endswith("rules\n  none: all applicable actions\n")
    assert "training" not in out


def test_info_prints_no_control_characters(tmp_path: Path, planlog: Run) -> None:
    file = forge(tmp_path / "model", put("training", {"\x1b[2J": "\x07\u202e", "é": "ü\n"}))
    code, out, _ = planlog("info", file)
    assert code == 0
    assert not set(out) & set("\x1b\x07\u202e")
    assert "é" in out


# --- planlog solve -----------------------------------------------------------------------


def test_solve_with_a_model(tasks: Path, model: Path, tmp_path: Path, planlog: Run) -> None:
    code, out, err = planlog("solve", tasks / "p01.pddl", "--model", model, "--avoid-revisits")
    assert code == 0, err
    plan = tmp_path / "plan"
    plan.write_text(out)
    assert validate_files(tasks / "domain.pddl", tasks / "p01.pddl", plan).valid
    # It is the plan that Python finds.
    domain = Domain.read(tasks / "domain.pddl")
    policy = Model.read(model).policy(domain)
    task = domain.read_task(tasks / "p01.pddl")
    result = execute(policy, task, rng=rng_of(), avoid_revisits=True)
    assert [str(action) for action in result.actions] == out.splitlines()[:-1]


def solve_json(planlog: Run, *arguments: str | Path) -> dict[str, object]:
    _, out, _ = planlog("solve", *arguments, "--json", "--max-steps", "60", "--validate")
    answer = json.loads(out)
    assert answer["valid"] in (True, None)
    return answer


def test_seeds_matter_only_where_something_is_drawn(tasks: Path, model: Path, planlog: Run) -> None:
    problem = tasks / "p01.pddl"

    def plans(*arguments: str | Path) -> list[object]:
        seeds = ("1", "1", "2", "3", "4", "5")
        return [solve_json(planlog, problem, *arguments, "--seed", s)["plan"] for s in seeds]

    greedy = plans("--model", model)
    assert all(plan == greedy[0] for plan in greedy)
    for drawn in (
        plans("--model", model, "--sample", "5"),
        plans("--model", model, "--no-model"),
    ):
        assert drawn[0] == drawn[1]
        assert len(set(map(str, drawn))) > 1


def test_the_answer_names_the_policy(tasks: Path, model: Path, planlog: Run) -> None:
    problem = tasks / "p01.pddl"
    assert solve_json(planlog, problem, "--model", model)["policy"] == str(model)
    without = solve_json(planlog, problem, "--model", model, "--no-model")
    assert without["policy"] == f"rules of {model}"
    assert without["outcome"] == "solved"


def test_without_the_model_the_rules_are_the_same(tasks: Path, model: Path, planlog: Run) -> None:
    problem, rules = tasks / "p01.pddl", domains.policy_path("blocksworld", "paper")
    for seed in ("0", "1", "2"):
        alone = solve_json(planlog, problem, "--model", model, "--no-model", "--seed", seed)
        given = solve_json(planlog, problem, "--policy", rules, "--seed", seed)
        assert alone["plan"] == given["plan"]


def test_a_loop_of_best_actions_is_told(tmp_path: Path, planlog: Run) -> None:
    (tmp_path / "domain.pddl").write_text(ENDLESS_DOMAIN)
    problem = tmp_path / "p01.pddl"
    problem.write_text(ENDLESS_PROBLEM)
    rules = Policy.applicable(Domain.parse(ENDLESS_DOMAIN))
    settings = TemplateSettings(), NetworkSettings(width=2)
    file = tmp_path / "model.safetensors"
    template = build_template(rules, settings[0])
    Model.of(template, settings[1], random_weights(rules, *settings)).write(file)
    code, out, err = planlog("solve", problem, "--model", file, "--no-search")
    assert (code, out) == (12, "")
    assert "leads back to states already seen" in err
    code, out, err = planlog("solve", problem, "--model", file)
    assert (code, out) == (12, "")
    assert "no plan inside the rules" in err
    code, _, err = planlog("solve", problem, "--model", file, "--sample", "1", "--max-steps=99")
    assert code == 12
    assert "step limit" in err


def test_solving_and_info_do_without_torch(tasks: Path, model: Path) -> None:
    """And without all else that only training needs."""
    program = (
        "import sys; from planlog.cli import main; code = main(sys.argv[1:]);"
        "loaded = {name.partition('.')[0] for name in sys.modules};"
        "print('loaded', *sorted(loaded & {'torch', 'matplotlib', 'scipy'}), file=sys.stderr);"
        "sys.exit(code)"
    )
    for arguments in (
        ["solve", tasks / "p01.pddl", "--model", model, "--avoid-revisits"],
        ["solve", tasks / "p01.pddl", "--model", model, "--sample", "1", "--avoid-revisits"],
        ["info", model],
    ):
        result = subprocess.run(
            [sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True
        )
        assert result.returncode == 0, result.stderr
        assert result.stderr.splitlines()[-1] == "loaded"


# --- The shipped models ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "name"),
    [([], "shipped: blocksworld, learned"), (["--no-model"], "shipped: blocksworld")],
)
def test_a_shipped_model_is_used(
    tasks: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    planlog: Run,
    options: list[str],
    name: str,
) -> None:
    file = tmp_path / "model.safetensors"
    make(("blocksworld", "policy")).write(file)
    monkeypatch.setattr(domains, "model_path", lambda _: file)
    answer = solve_json(planlog, tasks / "p01.pddl", *options)
    assert answer["policy"] == name
    rules = str(domains.policy_path("blocksworld"))
    assert solve_json(planlog, tasks / "p01.pddl", "--policy", rules)["policy"] == rules


def test_where_the_shipped_model_does_not_fit_the_rules_are_used(
    tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, planlog: Run
) -> None:
    domain = tmp_path / "domain.pddl"
    text = (tasks / "domain.pddl").read_text()
    domain.write_text(text.replace("(on ?x ?y)", "(on ?x ?y) (red ?x)", 1))
    file = tmp_path / "model.safetensors"
    make(("blocksworld", "policy")).write(file)
    monkeypatch.setattr(domains, "model_path", lambda _: file)
    code, out, err = planlog("solve", domain, tasks / "p01.pddl", "--json")
    assert code == 0
    assert json.loads(out)["policy"] == "shipped: blocksworld"
    assert (
        "note: the shipped rules are used without the shipped model: the model was made for anoth"
        in err
    )
    assert "only in this one: arity_1(X1) :- red@ag(X1)." in err
    # Who asks for what only a model can do is told that it cannot be done.
    code, out, err = planlog("solve", domain, tasks / "p01.pddl", "--sample", "1")
    assert (code, out) == (31, "")
    assert "made for another domain" in err


def test_sampling_needs_a_model(
    tasks: Path, model: Path, monkeypatch: pytest.MonkeyPatch, planlog: Run
) -> None:
    problem, rules = tasks / "p01.pddl", domains.policy_path("blocksworld")
    for options in (
        ["--policy", rules],
        ["--policy", "none"],
        ["--no-model"],
        ["--model", model, "--no-model"],
    ):
        code, out, err = planlog("solve", problem, *options, "--sample", "1")
        assert (code, out) == (36, "")
        assert "--sample needs a model" in err
    monkeypatch.setattr(domains, "model_path", lambda _: None)
    code, out, err = planlog("solve", problem, "--sample", "1")
    assert (code, out) == (31, "")
    assert "none is shipped for the domain 'blocksworld'" in err


# --- Mistakes ----------------------------------------------------------------------------


def test_bad_usage(tasks: Path, model: Path, planlog: Run) -> None:
    for options, message in (
        (["--policy", "none"], "give --policy or --model, not both"),
        (["--sample", "0"], "a number from 1e-06 to 1,000,000"),
        (["--sample", "-1"], "a number from 1e-06 to 1,000,000"),
        (["--sample", "nan"], "a number from 1e-06 to 1,000,000"),
        (["--sample", "hot"], "Usage"),
    ):
        code, out, err = planlog("solve", tasks / "p01.pddl", "--model", model, *options)
        assert (code, out) == (36, "")
        assert message in err
    assert planlog("info")[0] == 36
    assert planlog("info", model, model)[0] == 36


def folder(file: Path) -> None:
    file.mkdir()


def pipe(file: Path) -> None:
    os.mkfifo(file)


def cut(file: Path) -> None:
    make().write(file)
    file.write_bytes(file.read_bytes()[:-10])


def tampered(file: Path) -> None:
    make().write(file)
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)


def other_rules(file: Path) -> None:
    make().write(file)
    file.write_bytes(file.read_bytes().replace(b"not well_placed(A)", b"not well_placed(B)"))


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda file: None, "No such file or directory"),
        (folder, "Is a directory"),
        (pipe, "is no file"),
        (lambda file: file.write_bytes(b""), "is no model file"),
        (lambda file: file.write_text("unstack(A, B) :- on(A, B).\n"), "this is a rule file"),
        (lambda file: file.write_bytes(struct.pack("<Q", 2**62)), "this is a binary file"),
        (
            lambda file: safetensors.numpy.save_file({"a": np.zeros(1)}, file),
            "is a safetensors file, but not of Planlog",
        ),
        (cut, "part of it is missing"),
        (tampered, "has been changed since it was written"),
        (other_rules, "has been changed since it was written"),
        (lambda file: forge(file, put("format", FORMAT + 1)), f"has format {FORMAT + 1}"),
        (
            lambda file: forge(file, put("network", "width", 0)),
            "width: expected a whole number from 1",
        ),
    ],
)
def test_files_that_cannot_be_used(
    tasks: Path,
    tmp_path: Path,
    planlog: Run,
    prepare: Callable[[Path], None],
    message: str,
) -> None:
    file = tmp_path / "model.safetensors"
    prepare(file)
    commands: list[list[str | Path]] = [
        ["info", file],
        ["solve", tasks / "p01.pddl", "--model", file],
        ["solve", tasks / "p01.pddl", "--model", file, "--no-model"],
    ]
    for command in commands:
        code, out, err = planlog(*command)
        assert (code, out) == (31, "")
        assert err.startswith("planlog: ") or ":1:1: error: " in err
        assert message in err
        code, out, err = planlog(*command, "--json")
        assert (code, err) == (31, "")
        answer = json.loads(out)
        assert answer["outcome"] == "bad input"
        assert message in answer["message"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("domain", "ferry"), "made for the domain 'ferry', not for 'blocksworld'"),
        (
            put("rules", "unstack(A, B) :- on(A)."),
            "rules do not fit the domain:\n<rules of the mod",
        ),
        (put("rules", "unstack(A, B) :- clear(B)."), "only in that one: unstack("),
        (put("network", "width", 2), "weights do not fit its rules: weight r0.H has shape"),
        (put("template", "layers", 1), "only in this one: edge("),
    ],
)
def test_models_that_do_not_fit(
    tasks: Path, tmp_path: Path, planlog: Run, change: Callable[..., None], message: str
) -> None:
    file = forge(tmp_path / "model", change)
    code, out, err = planlog("solve", tasks / "p01.pddl", "--model", file)
    assert (code, out) == (31, "")
    assert message in err
