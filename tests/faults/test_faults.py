"""Full disks and failing devices: every system call of every command that writes fails once.

By default a few calls of each command fail; `PLANLOG_FAULTS=N` lets N of them fail, `all` each one.
"""

from __future__ import annotations

import errno
import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from planlog.cli import main
from planlog.cli.commands.ipc.learn import rules_alone
from planlog.cli.plan_files import numbered_files
from planlog.experiment.records import read_records
from planlog.network.model_file import Model
from planlog.pddl.task import Domain
from planlog.policy.policy import Policy
from planlog.validation import validate, validate_files
from support.faults import run_with_fault

FAULTS = os.environ.get("PLANLOG_FAULTS", "3")
ERRORS = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS)
OLD = "(of an earlier run)\n; cost = 1 (unit cost)\n"

Result = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tasks")
    assert main(["generate", "blocksworld", "--blocks", "4", "--out", str(folder)]) == 0
    large = ["--blocks", "25", "--seed", "3", "--out", str(folder / "large")]
    assert main(["generate", "blocksworld", *large]) == 0
    (folder / "bad.dl").write_text("unstack(A, B) :- on(A, B).\nputdown(A) :- holding(A).\n")
    records = folder / "results"
    experiment = ["experiment", "--domains", "ferry", "--splits", "easy", "--count", "1"]
    options = ["--seeds", "1", "--layers", "none", "--planners", "none"]
    assert main([*experiment, *options, "-o", str(records)]) == 0
    return folder


def assert_plan(tasks: Path, file: Path, result: Result | None = None) -> None:
    """The file holds a whole plan of the task."""
    report = validate_files(tasks / "domain.pddl", tasks / "p01.pddl", file)
    assert report.valid and report.complete, file


def assert_not_lost(tasks: Path, result: Result, file: Path) -> None:
    """A plan that was found is in the file or on the standard output."""
    if result.returncode == 0:
        assert_plan(tasks, file)
    elif "solved: " in result.stderr:
        texts = [(tasks / name).read_text() for name in ("domain.pddl", "p01.pddl")]
        plan = re.findall(r"[^;]*; cost = .*\n", result.stdout)[-1]
        assert validate(*texts, plan).valid


def check_solve(tasks: Path, out: Path, result: Result) -> None:
    plan = out / "plan"
    assert plan.read_text() == OLD or result.returncode == 0
    assert_not_lost(tasks, result, plan)


def old_series(out: Path) -> None:
    for name in ("plan", "plan.1", "plan.2"):
        (out / name).write_text(OLD)


def check_series(tasks: Path, out: Path, result: Result) -> None:
    files = [out / "plan", *(file for _, file in sorted(numbered_files(out / "plan").items()))]
    texts = [file.read_text() for file in files]
    if OLD in texts:
        assert texts == [OLD] * 3
        assert result.returncode == 73
    else:
        for file in files:
            assert_plan(tasks, file)
    assert_not_lost(tasks, result, files[-1])


def check_generated(tasks: Path, out: Path, result: Result) -> None:
    found = sorted(file.name for file in out.rglob("*.pddl"))
    assert found == (["domain.pddl", "p01.pddl", "p02.pddl"] if result.returncode == 0 else [])
    assert result.returncode == 0 or not (out / "new").exists()


def check_report(tasks: Path, out: Path, result: Result) -> None:
    found = [file.name for file in out.rglob("*") if file.is_file()]
    assert ("report.md" in found) == (result.returncode == 0)
    assert found == [] or result.returncode == 0


def check_counterexamples(tasks: Path, out: Path, result: Result) -> None:
    for file in out.rglob("*.plan"):
        assert "; cost = " in file.read_text()
    assert result.returncode in (1, 73)
    if result.returncode == 1:
        assert list(out.rglob("*.plan"))


def check_train(tasks: Path, out: Path, result: Result) -> None:
    if result.returncode == 0:
        Model.read(out / "model")
    elif "model in " in result.stdout:  # trained
        assert "saved in " in result.stderr or "c.svg" in result.stderr
    for file in out.glob("model"):
        Model.read(file)
    assert not (out / "c.svg").exists() or "</svg>" in (out / "c.svg").read_text()


def check_knowledge(tasks: Path, out: Path, result: Result) -> None:
    files = [*out.glob("dk"), *numbered_files(out / "dk").values()]
    for file in files:
        Model.read(file)
    if "dk.1: the rules alone" in result.stdout:  # there is a model
        assert "saved in " in result.stderr if result.returncode == 73 else (out / "dk").exists()
    else:
        assert result.returncode != 0


def check_experiment(tasks: Path, out: Path, result: Result) -> None:
    records = list(read_records(out)) if list(out.glob("records/*.jsonl")) else []
    if result.returncode == 0:
        assert len(records) == 1
        for plan in out.glob("plans/**/*.plan"):
            assert "; cost = " in plan.read_text()
    again = main(["experiment", "-o", str(out), *EXPERIMENT, "--retry-failed"])
    assert again == 0
    assert len(list(read_records(out))) == 1


EXPERIMENT = (
    "--domains ferry --splits easy --count 1 --seeds 1 --layers none --planners none "
    "--keep-plans --workers 1"
).split()


@dataclass(frozen=True)
class Case:
    """A command that writes to the folder OUT, and what must hold after it."""

    arguments: str
    check: Callable[[Path, Path, Result], None]
    codes: tuple[int, ...] = (0, 73)
    prepare: Callable[[Path], object] = field(default=lambda out: None)


SOLVE = "solve TASKS/p01.pddl --plan-file OUT/plan"
CASES = {
    "solve": Case(SOLVE, check_solve, prepare=lambda out: (out / "plan").write_text(OLD)),
    "improve": Case(
        "solve TASKS/large/p01.pddl --plan-file OUT/plan --no-model --expansions 9000 --threads 1",
        lambda tasks, out, result: check_series(tasks / "large", out, result),
        prepare=old_series,
    ),
    "generate": Case("generate ferry --count 2 --out OUT/new", check_generated),
    "report": Case("report TASKS/results --out OUT/report --format md,tex", check_report),
    "check": Case(
        "check TASKS/p01.pddl --policy TASKS/bad.dl --plan-dir OUT/found",
        check_counterexamples,
        codes=(1, 73),
    ),
    "ipc-plan": Case(
        "ipc plan TASKS/dk TASKS/domain.pddl TASKS/p01.pddl OUT/plan",
        check_series,
        prepare=old_series,
    ),
    "train": Case(
        "train TASKS/p01.pddl -o OUT/model --settings small --epochs 2 --curve OUT/c.svg",
        check_train,
    ),
    "ipc-learn": Case(
        "ipc learn OUT/dk TASKS/p01.pddl --trainings 1 --time-limit 4",
        check_knowledge,
        codes=(0, 23, 73),
    ),
    "experiment": Case(
        f"experiment -o OUT {' '.join(EXPERIMENT)}", check_experiment, codes=(0, 12, 73)
    ),
}
SLOW = ("train", "ipc-learn", "experiment")


@pytest.fixture(scope="module")
def knowledge(tasks: Path) -> None:
    """The rules alone as the domain knowledge of `planlog ipc plan`."""
    domain = Domain.read(tasks / "domain.pddl")
    rules_alone(Policy.applicable(domain)).write(tasks / "dk")


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in CASES],
)
def test_no_failing_call_loses_anything(
    name: str, tasks: Path, knowledge: None, tmp_path: Path
) -> None:
    case = CASES[name]

    def run(number: int, error: int = 0, *, forever: bool = False) -> int:
        out = tmp_path / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        case.prepare(out)
        arguments = case.arguments.replace("OUT", str(out)).replace("TASKS", str(tasks)).split()
        result, calls = run_with_fault(out, arguments, number, error, forever=forever)
        told = f"call {number}, error {error}, forever {forever}\n{result.stdout}{result.stderr}"
        assert "Traceback" not in result.stderr, told
        assert result.returncode in case.codes, told
        left = [file for file in out.rglob(".planlog*") if not file.name.endswith(".lock")]
        assert not left, told
        try:
            case.check(tasks, out, result)
        except BaseException as failure:
            failure.add_note(told)
            raise
        return calls

    calls = run(0)
    assert calls > 3
    everything = [
        (number, error, forever)
        for number in range(1, calls + 1)
        for error in ERRORS
        for forever in (False, True)
    ]
    random.Random(name).shuffle(everything)
    for number, error, forever in everything if FAULTS == "all" else everything[: int(FAULTS)]:
        run(number, error, forever=forever)
