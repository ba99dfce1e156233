"""`planlog ipc learn`: knowledge gets better, and is whole whatever ends the learning."""

from __future__ import annotations

import os
import re
import signal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog import Domain
from planlog.cli.commands.ipc.learn import rules_alone, scores
from planlog.cli.plan_files import numbered_files
from planlog.network.model_file import Model
from planlog.policy.execution import Outcome, PlanResult, execute
from planlog.validation import validate_files
from support.commands import Run, assert_whole, process, wait_for


@pytest.mark.slow
def test_knowledge_gets_better_and_ends_as_dk(learned: Path, files: tuple[Path, ...]) -> None:
    found = assert_whole(learned)
    assert len(found) >= 2
    assert learned.read_bytes() == found[len(found)].read_bytes()
    assert {file.name for file in learned.parent.iterdir()} == {
        "dk",
        "printed",
        *(f"dk.{i}" for i in range(1, len(found) + 1)),
    }
    domain = Domain.read(files[0])
    costs = [
        [
            execute(
                Model.read(file).policy(domain),
                domain.read_task(task),
                rng=None,
                avoid_revisits=True,
            ).cost
            for task in files[1:]
        ]
        for file in found.values()
    ]
    for old, new in pairwise(costs):
        ours, theirs = scores(new, old)
        assert ours >= theirs
    first, last = Model.read(found[1]), Model.read(learned)
    assert first.training == {"note": "the rules alone"}
    assert not any(weight.any() for weight in first.weights.values())
    assert last.training["epochs"] in (50, 200)
    assert first.rules == last.rules
    assert last.rules is not None


def test_what_it_says(learned: Path) -> None:
    lines = (learned.parent / "printed").read_text().splitlines()
    assert lines[0].startswith("dk.1: the rules alone; plans for 3 of 3 tasks, cost ")
    assert "trained briefly, score " in lines[1]
    assert "trained with 1 layer, seed 5, score " in lines[2]
    assert "trained with 2 layers, seed 5, score " in lines[3]
    last = max(numbered_files(learned))
    assert lines[4:] == [f"{learned}: the same as dk.{last}"]
    assert sum(line.startswith("dk.") for line in lines) == last


@pytest.mark.slow
def test_an_earlier_run_leaves_nothing(
    planlog: Run, files: tuple[Path, ...], tmp_path: Path, no_training: None
) -> None:
    for name in ("dk", "dk.1", "dk.7", "dk.12", "dk.07", "dk.x", "dk.3.old", "other.1"):
        (tmp_path / name).write_text("earlier")
    # What is left stays until the new knowledge can take its place.
    assert planlog("learn", tmp_path / "dk", files[0], tmp_path / "missing.pddl")[0] == 31
    assert (tmp_path / "dk.12").read_text() == "earlier"
    assert planlog("learn", tmp_path / "dk", *files, "--trainings", 1)[0] == 0
    assert_whole(tmp_path / "dk")
    kept = {file.name for file in tmp_path.iterdir() if file.read_bytes() == b"earlier"}
    assert kept == {"dk.07", "dk.x", "dk.3.old", "other.1"}


def test_nothing_to_learn(planlog: Run, files: tuple[Path, ...], tmp_path: Path) -> None:
    rules = tmp_path / "rules.dl"
    rules.write_text("sail(A, B) :- at-ferry(A), at-ferry@ag(B).  % derives nothing")
    code, out, err = planlog("learn", tmp_path / "dk", *files, "--policy", rules)
    assert code == 0
    assert "nothing to learn" in err
    assert "the same as dk.1" in out
    assert Model.read(tmp_path / "dk").rules == rules.read_text()
    assert sorted(assert_whole(tmp_path / "dk")) == [1]
    # What the rules cannot do is still done.
    code, _, err = planlog("plan", tmp_path / "dk", files[0], files[1], tmp_path / "plan")
    assert code == 0
    assert "search without rules: solved" in err
    assert validate_files(files[0], files[1], tmp_path / "plan").valid


def test_a_domain_without_a_policy(planlog: Run, rooms: tuple[Path, Path], tmp_path: Path) -> None:
    domain, task = rooms
    code, out, err = planlog("learn", tmp_path / "dk", domain, task, "--trainings", 1)
    assert code == 0
    assert "no policy is shipped for the domain 'rooms', so all applicable action" in err
    assert Model.read(tmp_path / "dk").rules is None
    assert "dk.2: trained briefly" in out
    code, _, err = planlog("plan", tmp_path / "dk", domain, task, tmp_path / "plan")
    assert code == 0
    assert "solved: 5 actions" in err
    # Without what was learned, it takes a search.
    code, _, err = planlog("plan", tmp_path / "dk.1", domain, task, tmp_path / "plan")
    assert code == 0
    assert "search by scores: solved: " in err
    assert validate_files(domain, task, tmp_path / "plan").valid


def test_a_policy_that_does_not_fit_the_domain_of_its_name(
    planlog: Run, rooms: tuple[Path, Path], tmp_path: Path, no_training: None
) -> None:
    for file in rooms:
        file.write_text(
            re.sub(
                r"\(domain rooms\)|:domain rooms",
                lambda m: m[0].replace("rooms", "ferry"),
                file.read_text(),
            )
        )
    code, _, err = planlog("learn", tmp_path / "dk", *rooms, "--trainings", 1)
    assert code == 0
    assert "the policy shipped for 'ferry' does not fit this domain, so any applicable" in err
    assert planlog("plan", tmp_path / "dk", *rooms, tmp_path / "plan")[0] == 0


costs = st.lists(st.one_of(st.none(), st.integers(1, 50)), max_size=6)


@given(costs, costs)
def test_scores_of_two_planners(new: list[float | None], old: list[float | None]) -> None:
    both = min(len(new), len(old))
    ours, theirs = scores(new, old)
    assert (theirs, ours) == scores(old, new)
    assert scores(new, new)[0] == scores(new, new)[1] == sum(cost is not None for cost in new)
    assert 0 <= ours <= both
    assert scores(new[:both], old[:both]) == (ours, theirs)
    if all(b is None or (a is not None and a <= b) for a, b in zip(new, old, strict=False)):
        assert ours >= theirs
        assert ours == sum(cost is not None for cost in new[:both])
    # A plan more, or a cheaper one, is better.
    for i, cost in enumerate(new):
        if cost is None and i < both:
            more = [*new[:i], 1.0, *new[i + 1 :]]
            assert scores(more, old)[0] > ours


def test_models_are_judged_by_the_tasks_that_time_allows(
    planlog: Run, files: tuple[Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from planlog.learning.learn import Learned

    solved, out_of_time = Outcome.SOLVED, Outcome.TIME_LIMIT
    ends = [solved, out_of_time, solved, solved, Outcome.STEP_LIMIT, solved, out_of_time]

    def executed(*_: Any, time_limit: float, **__: Any) -> PlanResult:
        assert 0 < time_limit <= 60
        return PlanResult(ends.pop(0), (), 7, True, 7, 0, 0.0)

    monkeypatch.setattr("planlog.cli.commands.ipc.learn.execute", executed)
    monkeypatch.setattr(
        "planlog.learning.learn.learn",
        lambda rules, *_, **__: Learned(rules_alone(rules), False, {}),
    )
    code, out, _ = planlog("learn", tmp_path / "dk", *files, "--trainings", 1)
    assert (code, ends) == (0, [])
    lines = out.splitlines()
    assert "dk.1: the rules alone; plans for 1 of 1 task, cost 7, " in lines[0]
    assert "dk.2: trained briefly, score 1.00 to 1.00; plans for 2 of 3 tasks, cost 14" in lines[1]
    assert "not better: trained with 1 layer, seed 0, score 1.00 to 1.00; plans" in lines[2]


def test_half_the_cost_is_twice_as_good() -> None:
    assert scores([0.0, 0.0], [0.0, 3.0]) == (2.0, 1.0)
    assert scores([10.0, 4.0, None], [5.0, 8.0, 3.0]) == (1.5, 2.5)


# --- The end of learning, by signals and limits ------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_signals_end_learning_in_good_order(
    number: int, code: int, files: tuple[Path, ...], tmp_path: Path, planlog: Run
) -> None:
    dk = tmp_path / "dk"
    with process("ipc", "learn", dk, *files, "--trainings", 10**6) as learning:
        wait_for(tmp_path / "dk.2")
        assert not dk.exists()
        learning.send_signal(number)
        learning.send_signal(number)  # as a driver does that signals the group and the process
        out, err = learning.communicate(timeout=120)
    assert (learning.returncode, err) == (code, "")
    found = assert_whole(dk)
    assert dk.read_bytes() == found[len(found)].read_bytes()
    assert f"the same as dk.{len(found)}" in out
    assert {file.name for file in tmp_path.iterdir()} == {"dk", *(f.name for f in found.values())}
    assert planlog("plan", dk, files[0], files[1], tmp_path / "plan")[0] == 0


def interrupt_at(epoch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the first training that gets so far."""
    from planlog.cli.progress import TrainingProgress

    def on_epoch(self: Any, done: Any) -> None:
        if done.epoch == epoch:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(TrainingProgress, "on_epoch", on_epoch)


def test_the_best_of_an_interrupted_training_is_kept(
    planlog: Run,
    files: tuple[Path, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    interruptible: None,
) -> None:
    interrupt_at(30, monkeypatch)
    code, out, _ = planlog("learn", tmp_path / "dk", *files)
    assert code == 143
    assert "dk.2: trained briefly, interrupted, score " in out
    model = Model.read(tmp_path / "dk")
    assert model.training["interrupted"] is True
    assert model.training["epochs"] == 30
    assert sorted(assert_whole(tmp_path / "dk")) == [1, 2]


def test_an_interrupt_when_there_is_nothing_but_the_rules(
    planlog: Run, files: tuple[Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def learn(*_: Any, **__: Any) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("planlog.learning.learn.learn", learn)
    code, out, err = planlog("learn", tmp_path / "dk", *files)
    assert (code, err) == (130, "")
    assert out.splitlines()[-1] == f"{tmp_path / 'dk'}: the same as dk.1"
    assert planlog("plan", tmp_path / "dk", files[0], files[1], tmp_path / "plan")[0] == 0


# Learning that does nothing but write knowledge, faster than any real one.
HASTE = """
import planlog.learning.learn, planlog.cli.commands.ipc.learn as ipc
from planlog.learning.learn import Learned
from planlog.network.model_file import Model
ipc.Knowledge._judge = lambda self, *_: [10**6 - self._number]
planlog.learning.learn.learn = lambda rules, *_, **__: Learned(ipc.rules_alone(rules), False, {})
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 30])
def test_a_kill_leaves_whole_files(
    number: int, files: tuple[Path, ...], tmp_path: Path, planlog: Run
) -> None:
    dk = tmp_path / "dk"
    with process("ipc", "learn", dk, *files, "--trainings", 10**6, before=HASTE) as learning:
        wait_for(tmp_path / f"dk.{number}")
        learning.kill()
        learning.wait()
    assert len(assert_whole(dk)) >= number
    assert not dk.exists()
    assert planlog("plan", dk, files[0], files[1], tmp_path / "plan")[0] == 0


def test_the_time_limit_of_learning(
    planlog: Run, files: tuple[Path, ...], tmp_path: Path, interruptible: None
) -> None:
    dk = tmp_path / "dk"
    code, _, err = planlog("learn", dk, *files, "--time-limit", 0)
    assert code == 23
    assert "out of time" in err
    assert list(tmp_path.iterdir()) == []
    code, _, err = planlog("learn", dk, *files, "--time-limit", 2, "--trainings", 10**6)
    assert (code, err) == (23, "")
    found = assert_whole(dk)
    assert dk.read_bytes() == found[len(found)].read_bytes()


def test_the_memory_limit_of_learning(
    planlog: Run, files: tuple[Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dk = tmp_path / "dk"
    code, out, err = planlog("learn", dk, *files, "--memory-limit", 1)
    assert (code, out) == (22, "")
    assert "out of memory" in err
    assert list(tmp_path.iterdir()) == []
    for message in ("[enforce fail] can't allocate memory", "can't start new thread"):

        def learn(*_: Any, message: str = message, **__: Any) -> None:
            raise RuntimeError(message)

        monkeypatch.setattr("planlog.learning.learn.learn", learn)
        code, out, _ = planlog("learn", dk, *files)
        assert code == 22
        assert "the same as dk.1" in out
        assert dk.read_bytes() == (tmp_path / "dk.1").read_bytes()
