"""`planlog experiment`: records survive kills, no run is repeated, and failures are records."""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from planlog import domains
from planlog.cli import main
from planlog.experiment import cluster, suite
from planlog.experiment.configurations import Learned, Rules, Shipped
from planlog.experiment.jobs import Job, is_done, plan_jobs
from planlog.experiment.process_limits import Limits
from planlog.experiment.records import (
    Family,
    Record,
    ResultsError,
    Status,
    append_record,
    read_records,
)
from planlog.network.model_file import Model
from planlog.report.comparison import compare
from planlog.validation import validate_files
from support.marked_processes import MARK, alive
from support.waiting import wait_until


def write_tasks(place: Path, split: str, seed: int, count: int, **sizes: int) -> Path:
    """Write tasks of the domain that the folder is named after, in the layout of the IPC."""
    (place / split).mkdir(parents=True)
    for file, text in domains.generate(place.name, seed=seed, count=count, sizes=sizes):
        (place / split / file).write_text(text)
    shutil.copy(domains.path(place.name) / "domain.pddl", place)
    return place


@pytest.fixture(scope="module")
def ipc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two domains with small tasks."""
    folder = tmp_path_factory.mktemp("ipc")
    for split, seed, count in (("training", 1, 2), ("testing_easy", 2, 3)):
        write_tasks(folder / "blocksworld", split, seed, count, blocks=4)
        write_tasks(folder / "ferry", split, seed, count, cars=3, locations=3)
    return folder


@pytest.fixture
def endless(ipc: Path, tmp_path: Path) -> Path:
    """Ferry tasks with a policy that never reaches a goal."""
    place = tmp_path / "ipc" / "ferry"
    shutil.copytree(ipc / "ferry", place)
    (place / "policy.dl").write_text("sail(A, B) :- location(A), location(B).\n")
    return place


POLICIES = ("--layers", "none", "--planners", "none")  # no training and no planner
QUICK = ("--layers", "1", "--widths", "2", "--settings", "small", "--planners", "none")


def experiment(*arguments: str | Path) -> int:
    return main(["experiment", *map(str, arguments)])


def lines(folder: Path) -> list[dict]:
    """Return all stored records, including repeated ones, without those that are being written."""
    files = sorted((folder / "records").glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().split("\n")[:-1]]


# --- Whole experiments -----------------------------------------------------------------------


def test_all_runs_are_done_and_recorded(ipc: Path, tmp_path: Path, capfd) -> None:
    code = experiment(
        "--tasks", ipc, "-o", tmp_path, *QUICK, "--seeds", "1", "--planners", "exact",
        "--keep-plans", "--json",
    )  # fmt: skip
    answer = json.loads(capfd.readouterr().out)
    assert code == 0
    # Each domain: a training, and three runs each of the model, the rules and the exact method.
    assert answer["runs"] == 2 * (1 + 3 + 3 + 3)
    assert answer["outcomes"] == {"solved": 18, "trained": 2}
    records = list(read_records(tmp_path))
    assert len({record.run for record in records}) == answer["runs"]
    for record in records:
        assert record.seconds > 0 and record.cpu_seconds > 0
        assert record.memory > 1_000_000 and record.started
        assert record.details["versions"]["planlog"]
        assert len(record.details["hashes"]["domain"]) == 64
        if record.status is Status.TRAINED:
            assert record.training is not None
            assert len(record.training["loss"]) == record.training["epochs"] + 1
            assert len(record.training["objects"]) == len(record.training["tasks"]) == 2
            continue
        assert record.split == "easy"
        assert record.length == record.cost
        assert record.objects == {"blocksworld": 4, "ferry": 6}[record.domain]
        assert [cost for cost, _ in record.plans] == [record.cost]
        seed = "" if record.seed is None else f"-{record.seed}"
        plans = tmp_path / "plans" / record.domain / "easy"
        plan = plans / f"{record.task}-{record.planner}{seed}.plan"
        task = ipc / record.domain / "testing_easy" / f"{record.task}.pddl"
        assert validate_files(ipc / record.domain / "domain.pddl", task, plan).cost == record.cost
    optimal = {(r.domain, r.task): r.length for r in records if r.optimal}
    assert len(optimal) == 6
    assert all(r.length >= optimal[r.domain, r.task] for r in records if r.length is not None)
    assert {r.seed for r in records if r.family is Family.RULES} == {0}


def test_generated_tasks_are_kept_and_compared(tmp_path: Path, capfd) -> None:
    arguments = ("-o", tmp_path, "--domains", "ferry", *POLICIES, "--splits", "easy",
                 "--count", "2", "--seeds", "1")  # fmt: skip
    task = tmp_path / "tasks" / "ferry" / "easy" / "p02.pddl"
    assert experiment(*arguments) == 0
    first = task.read_text()
    assert experiment(*arguments) == 0
    assert task.read_text() == first
    assert "0 of them now" in capfd.readouterr().out
    assert len(lines(tmp_path)) == 2
    assert experiment(*arguments, "--task-seed", "1") == 31
    assert "another content" in capfd.readouterr().err


def test_more_can_be_added(ipc: Path, tmp_path: Path, capfd) -> None:
    shared = ("--tasks", ipc, "-o", tmp_path, "--domains", "ferry", *POLICIES)
    assert experiment(*shared, "--seeds", "1") == 0
    assert experiment(*shared, "--seeds", "3", "--shipped") == 0
    counts = Counter((record["planner"], record.get("seed")) for record in lines(tmp_path))
    assert counts == {("rules", 0): 3, ("rules", 1): 3, ("rules", 2): 3, ("shipped", None): 3}
    commands = json.loads((tmp_path / "experiment.json").read_text())["commands"]
    assert len(commands) == 2
    assert commands[0]["machine"]["processors"] >= 1


@pytest.mark.slow
def test_the_same_seed_gives_the_same_plans_and_model(ipc: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert experiment("--tasks", ipc, "-o", tmp_path / name, "--domains", "blocksworld", *QUICK,
                          "--seeds", "1", "--keep-plans") == 0  # fmt: skip
    for plan in (tmp_path / "one" / "plans").rglob("*.plan"):
        other = tmp_path / "two" / plan.relative_to(tmp_path / "one")
        assert plan.read_bytes() == other.read_bytes()
    runs = [{record["run"] for record in lines(tmp_path / name)} for name in ("one", "two")]
    assert runs[0] == runs[1]


@pytest.mark.slow
def test_settings_with_values_of_their_own(ipc: Path, tmp_path: Path) -> None:
    text = "small+epochs=2+ensemble_size=2+derived_messages=yes"
    assert experiment("--tasks", ipc, "-o", tmp_path, "--domains", "blocksworld", *QUICK,
                      "--settings", text, "--seeds", "1", "--planners", "none") == 0  # fmt: skip
    learned = [r for r in read_records(tmp_path) if r.planner != "rules"]
    (training,) = [r.training for r in learned if r.status is Status.TRAINED]
    assert training is not None
    assert (training["epochs"], training["ensemble"]) == (2, [0, 1])
    assert len({r.planner for r in learned}) == 1
    assert learned[0].planner.endswith(text)
    (file,) = (tmp_path / "models").rglob("*.safetensors")
    assert Model.read(file).template.derived_messages


def test_redundant_actions_are_eliminated(tmp_path: Path) -> None:
    sizes = {"rovers": 2, "waypoints": 6, "cameras": 6, "objectives": 6}
    place = write_tasks(tmp_path / "rover", "testing_easy", 1, 2, **sizes)
    out = tmp_path / "out"
    arguments = ("--tasks", place, "-o", out, *POLICIES, "--seeds", "2")
    assert experiment(*arguments, "--shipped", "--eliminate") == 0
    records = {(r.planner, r.task, r.seed): r for r in read_records(out)}
    assert Counter(planner for planner, _, _ in records) == {
        "rules": 4, "rules-eliminated": 4, "shipped": 2, "shipped-eliminated": 2
    }  # fmt: skip
    saved = [
        records[planner.removesuffix("-eliminated"), task, seed].cost - record.cost
        for (planner, task, seed), record in records.items()
        if planner.endswith("-eliminated")
    ]
    assert min(saved) >= 0 and max(saved) > 0
    labels = {p.name: p.label for p in compare(records.values()).planners}
    assert labels == {
        "rules": "rules alone",
        "rules-eliminated": "rules, actions eliminated",
        "shipped": "shipped model",
        "shipped-eliminated": "shipped model, actions eliminated",
    }


@pytest.mark.slow
def test_plans_are_improved_until_the_time_limit(tmp_path: Path) -> None:
    place = write_tasks(tmp_path / "blocksworld", "testing_easy", 3, 2, blocks=12)
    out = tmp_path / "out"
    arguments = ("--tasks", place, "-o", out, *POLICIES, "--seeds", "2", "--shipped")
    improving = ("--improve", "0.5", "--improve-rules", "--keep-plans")
    assert experiment(*arguments, *improving) == 0
    records = {(r.planner, r.task, r.seed): r for r in read_records(out)}
    assert Counter(planner for planner, _, _ in records) == {
        "rules": 4, "rules-0.5s": 4, "shipped": 2, "shipped-0.5s": 2
    }  # fmt: skip
    improved = 0
    for (planner, task, seed), record in records.items():
        if not planner.endswith("-0.5s"):
            continue
        first = records[planner.removesuffix("-0.5s"), task, seed]
        costs, times = zip(*record.plans, strict=True)
        # A search with a model starts with a plan of the rules.
        assert costs[0] == first.cost or (planner.startswith("shipped") and costs[-1] <= first.cost)
        assert list(costs) == sorted(set(costs), reverse=True)
        assert list(times) == sorted(times)
        assert times[-1] <= 0.5 <= record.seconds
        assert costs[-1] == record.cost == record.length
        assert record.family is not Family.RULES
        assert record.details["configuration"]["seconds"] == 0.5
        assert record.details["limits"]["seconds"] == 0.5
        name = f"{task}-{planner}" + ("" if seed is None else f"-{seed}")
        report = validate_files(
            place / "domain.pddl",
            place / "testing_easy" / f"{task}.pddl",
            out / "plans" / "blocksworld" / "easy" / f"{name}.plan",
        )
        assert report.valid and report.cost == record.cost
        improved += len(costs) > 1
    assert improved >= 3
    # Another time limit is another run.
    before = len(lines(out))
    assert experiment(*arguments, *improving) == 0
    assert len(lines(out)) == before
    assert experiment(*arguments, "--improve", "0.6") == 0
    assert len(lines(out)) == before + 2


# --- Failures ----------------------------------------------------------------------------


def test_a_run_that_fails_is_a_record(ipc: Path, tmp_path: Path, capfd) -> None:
    broken = tmp_path / "ipc"
    shutil.copytree(ipc / "ferry", broken / "ferry")
    task = broken / "ferry" / "testing_easy" / "p02.pddl"
    good = task.read_text()
    task.write_text(good.replace("(:init", "(:init (no-such-thing)"))
    out = tmp_path / "out"
    arguments = ("--tasks", broken, "-o", out, *POLICIES)
    assert experiment(*arguments) == 12
    assert "no-such-thing" in capfd.readouterr().out
    records = {(r.task, r.seed): r for r in read_records(out)}
    assert [records["p02", seed].status for seed in range(3)] == [Status.FAILED] * 3
    assert "p02.pddl:" in records["p02", 0].message
    assert {r.status for (task, _), r in records.items() if task != "p02"} == {Status.SOLVED}
    # A failed run is repeated only on request; a task that has changed is another run.
    assert experiment(*arguments) == 12
    assert len(lines(out)) == 9
    assert experiment(*arguments, "--retry-failed") == 12
    assert len(lines(out)) == 12
    task.write_text(good)
    assert experiment(*arguments) == 0


@pytest.mark.slow
def test_runs_are_repeated_with_larger_limits(endless: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ("--tasks", endless, "-o", out, *POLICIES, "--count", "1", "--seeds", "1")
    assert experiment(*arguments, "--time-limit", "0.5") == 0
    assert [record.status for record in read_records(out)] == [Status.TIME]
    assert experiment(*arguments, "--time-limit", "0.4") == 0
    assert len(lines(out)) == 1
    assert experiment(*arguments, "--time-limit", "0.6") == 0
    assert len(lines(out)) == 2
    [record] = read_records(out)
    assert record.details["limits"]["seconds"] == 0.6
    assert experiment(*arguments, "--time-limit", "60", "--memory-limit", "1") == 0
    [record] = read_records(out)
    assert record.status is Status.MEMORY


def test_the_death_of_a_worker_is_a_record(ipc: Path, tmp_path: Path) -> None:
    """A planner kills all workers above it."""
    driver = tmp_path / "killer.py"
    driver.write_text(
        "import os, signal\n"
        "def parent(pid):\n"
        "    with open(f'/proc/{pid}/stat') as file:\n"
        "        return int(file.read().rpartition(')')[2].split()[1])\n"
        "def is_worker(pid):\n"
        "    with open(f'/proc/{pid}/cmdline') as file:\n"
        "        return 'planlog.experiment.worker' in file.read()\n"
        "pid, workers = os.getpid(), []\n"
        "while pid > 1:\n"
        "    if is_worker(pid):\n"
        "        workers.append(pid)\n"
        "    pid = parent(pid)\n"
        "for worker in reversed(workers):\n"
        "    os.kill(worker, signal.SIGKILL)\n"
    )
    out = tmp_path / "out"
    arguments = ("--tasks", ipc / "ferry", "-o", out, "--layers", "none", "--count", "1",
                 "--planners", "scorpion", "--scorpion", driver, "--seeds", "1")  # fmt: skip
    assert experiment(*arguments) == 12
    statuses = {record.planner: record.status for record in read_records(out)}
    assert statuses == {"rules": Status.SOLVED, "scorpion": Status.FAILED}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--layers", "one"], 36, "--layers"),
        (["--widths", "0"], 36, "--widths"),
        (["--settings", "best"], 36, "--settings"),
        (
            ["--settings", "default+epochs=0"],
            36,
            "--settings: epochs: expected",
        ),
        (["--settings", "paper,small+rate=1"], 36, "--settings: there is no setting 'rate'"),
        (["--planners", "lamma"], 36, "lama-first"),
        (["--domains", "chess"], 31, "chess"),
        (["--splits", "huge", "--planners", "none"], 31, "huge"),
        (["--tasks", "nowhere"], 31, "nowhere"),
        (["--planners", "scorpion"], 31, "SCORPION"),
        (["--cluster", "tcp://127.0.0.1:9", "--domains", "ferry", *POLICIES], 31, "Dask"),
        (["--cluster", "tcp://127.0.0.1:9", "--workers", "2"], 36, "--workers"),
        (["--improve-rules"], 36, "--improve has to say"),
    ],
)
def test_errors(
    arguments: list[str], code: int, message: str, tmp_path: Path, capfd, monkeypatch
) -> None:
    monkeypatch.delenv("SCORPION", raising=False)
    monkeypatch.setattr(cluster, "TIMEOUT", 0.5)
    assert experiment("-o", tmp_path, *arguments) == code
    err = capfd.readouterr().err
    assert message in err
    assert "Traceback" not in err


# --- Kills -------------------------------------------------------------------------------


Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start an experiment with marked processes, which are killed after the test."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of shells

    def run(*arguments: str | Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "planlog", "experiment", *map(str, arguments)]
        marked = os.environ | {MARK: str(tmp_path)}
        return subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=marked
        )

    yield run
    for process in alive(str(tmp_path)):
        os.kill(process, signal.SIGKILL)


@pytest.mark.slow
def test_a_kill_loses_nothing_and_repeats_nothing(ipc: Path, tmp_path: Path, start: Start) -> None:
    out = tmp_path / "out"
    arguments = ("--tasks", ipc / "ferry", "-o", out, *QUICK, "--seeds", "1")
    rng = random.Random(0)
    before: list[dict] = []
    kills = 0
    for _ in range(40):
        process = start(*arguments)
        # Some time after the first new record, or at the end.
        old = len(before)
        wait_until(lambda: len(lines(out)) > old or process.poll() is not None)  # noqa: B023
        time.sleep(rng.random() * 0.3)
        process.send_signal(rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM]))
        code = process.wait()
        assert wait_until(lambda: not alive(str(tmp_path))), "something is still running"
        now = lines(out)
        assert all(record in now for record in before)
        before = now
        if code == 0:
            break
        kills += 1
    assert kills >= 2
    assert experiment(*arguments) == 0
    counts = Counter(record["run"] for record in lines(out))
    assert set(counts.values()) == {1}
    assert len(counts) == 1 + 3 + 3
    assert all(record in lines(out) for record in before)


def test_ctrl_c_ends_all_processes(endless: Path, tmp_path: Path, start: Start) -> None:
    process = start("--tasks", endless, "-o", tmp_path / "out", *POLICIES)
    assert wait_until(lambda: len(alive(str(tmp_path))) >= 3)
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert b"continues the experiment" in err
    assert b"Traceback" not in err
    assert wait_until(lambda: not alive(str(tmp_path)), 5)


# --- Records -----------------------------------------------------------------------------


def record(run: str, started: str = "", **values) -> Record:
    return Record(run, "ferry", "rules", Family.RULES, Status.SOLVED, started=started, **values)


def test_stored_records_are_read_back(tmp_path: Path) -> None:
    written = [
        record("a", "1", split="easy", task="p01", seed=0, length=3, cost=3, seconds=0.25,
               plans=((4.0, 0.1), (3.0, 0.2)), details={"limits": {"seconds": None}}),
        record("b", "2", message="ünïcode\nand lines", optimal=True, lower_bound=2.0),
    ]  # fmt: skip
    for each in written:
        append_record(tmp_path / "records" / "w.jsonl", each.to_json())
    assert list(read_records(tmp_path)) == written


def test_the_unfinished_line_of_a_killed_process_is_replaced(tmp_path: Path) -> None:
    place = tmp_path / "records" / "w.jsonl"
    append_record(place, record("a").to_json())
    append_record(place, record("b").to_json())
    whole = place.read_bytes()
    for length in range(len(record("a").to_json()) + 1, len(whole)):
        place.write_bytes(whole[:length])
        append_record(place, record("c").to_json())
        found = [each.run for each in read_records(tmp_path)]
        whole_line = length == len(whole) - 1  # only the newline is missing
        assert found == (["a", "b", "c"] if whole_line else ["a", "c"])


def test_a_line_that_is_being_written_is_skipped(tmp_path: Path) -> None:
    place = tmp_path / "records" / "w.jsonl"
    append_record(place, record("a").to_json())
    append_record(place, record("b", message="ünïcode").to_json())
    whole = place.read_bytes()
    for length in range(len(record("a").to_json()) + 1, len(whole) - 1):
        place.write_bytes(whole[:length])
        assert [each.run for each in read_records(tmp_path)] == ["a"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"run"', '"ru', "damaged: "),
        ('"seconds": 0.0', '"seconds": NaN', "'NaN' is no number of JSON"),
        ('"seconds": 0.0', '"seconds": -Infinity', "'-Infinity' is no number of JSON"),
        ('"seconds": 0.0', '"seconds": 1e999', "'1e999' is no number of JSON"),
        ('"seconds": 0.0', '"seconds": "0"', "'seconds' must be a number from 0 on"),
        ('"seconds": 0.0', '"seconds": -1', "'seconds' must be a number from 0 on"),
        ('"memory": 0', '"memory": 1.5', "'memory' must be a whole number"),
        ('"memory": 0', f'"memory": {10**30}', "'memory' must be a whole number"),
        ('"memory": 0', '"memory": true', "'memory' must be a whole number"),
        ('"domain": "ferry"', '"domain": ["ferry"]', "'domain' must be a text"),
        ('"domain": "ferry", ', "", "'domain' is missing"),
        ('"family": "rules"', '"family": {}', "'family' must be a kind of planner"),
        ('"status": "solved"', '"status": "?"', "'status' must be an outcome of a run"),
        ('"plans": []', '"plans": [[1]]', "'plans' must be pairs of cost and seconds"),
        ('"plans": []', '"plans": 3', "'plans' must be pairs of cost and seconds"),
        ('"optimal": false', '"optimal": 0', "'optimal' must be true or false"),
        ('"details": {}', '"details": []', "'details' must be an object"),
        ('"details": {}', '"details": {"limits": {"seconds": "x"}}', "'details' must be an obj"),
        ('"details": {}', '"details": {"configuration": 3}', "'details' must be an object"),
        ('"details": {}', f'"details": {"[" * 100_000}', "nested too deeply"),
        ('"details": {}', '"training": {"loss": "x"}', "'training' must be an object"),
    ],
)
def test_a_damaged_record_is_named_wherever_it_is(
    tmp_path: Path, old: str, new: str, message: str, capfd
) -> None:
    place = tmp_path / "records" / "w.jsonl"
    for name in "abc":
        append_record(place, record(name).to_json())
    lines = place.read_text().splitlines(keepends=True)
    assert old in lines[0]
    for number in range(3):
        damaged = [*lines]
        damaged[number] = lines[number].replace(old, new)
        place.write_text("".join(damaged))
        with pytest.raises(ResultsError) as raised:
            list(read_records(tmp_path))
        assert str(raised.value).startswith(f"{place}:{number + 1}: ")
        assert message in str(raised.value)
        assert len(str(raised.value)) < 1000
    assert main(["report", str(tmp_path), "--format", "md"]) == 31
    assert experiment("-o", tmp_path, "--domains", "ferry", "--count", "1", *POLICIES) == 31
    assert message in capfd.readouterr().err


def test_records_that_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "records" / "w.jsonl").mkdir(parents=True)
    with pytest.raises(ResultsError, match=r"w\.jsonl: not a file"):
        list(read_records(tmp_path))


def test_a_clock_that_was_set_back_hides_nothing(tmp_path: Path) -> None:
    """Within a file the position counts, between files the attempt."""
    for run, name, attempt, started in (
        ("one file", "a", 0, "2026-02"),
        ("one file", "a", 0, "2026-01"),
        ("two files", "z", 0, "2026-02"),
        ("two files", "a", 1, "2026-01"),
        ("attempts", "a", 1, "2026-01"),
        ("attempts", "a", 0, "2026-02"),
    ):
        line = record(run, started, attempt=attempt).to_json()
        append_record(tmp_path / "records" / f"{name}.jsonl", line)
    found = {each.run: each.started for each in read_records(tmp_path)}
    assert found == dict.fromkeys(found, "2026-01")


def test_a_repeated_run_is_a_later_attempt(ipc: Path, tmp_path: Path) -> None:
    arguments = ("--tasks", ipc, "-o", tmp_path, "--domains", "ferry", *POLICIES)
    shared = (*arguments, "--count", "1", "--seeds", "1")
    assert experiment(*shared) == 0
    (file,) = (tmp_path / "records").glob("*.jsonl")
    text = file.read_text().replace('"status": "solved"', '"status": "failed"')
    file.write_text(text.replace('"started": "2', '"started": "9'))  # in the far future
    assert experiment(*shared, "--retry-failed") == 0
    (found,) = read_records(tmp_path)
    assert (found.status, found.attempt) == (Status.SOLVED, 1)


def test_last_record_of_a_run_counts(tmp_path: Path) -> None:
    for name, started in (("z", "2026-01-01"), ("a", "2026-01-02")):
        append_record(tmp_path / "records" / f"{name}.jsonl", record("same", started).to_json())
    assert [each.started for each in read_records(tmp_path)] == ["2026-01-02"]


def test_errors_in_records(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="no results"):
        list(read_records(tmp_path))
    (tmp_path / "records").mkdir()
    for text in ("[]", '{"run": 3}', "hello", '{"run": "a", "family": "rules", "status": "?"}'):
        (tmp_path / "records" / "w.jsonl").write_text(f"{text}\n")
        with pytest.raises(ResultsError, match=r"w\.jsonl:1"):
            list(read_records(tmp_path))


# --- Jobs --------------------------------------------------------------------------------


LEARNED = Learned(1, 8, "paper")


def plan(folder: Path, tasks: suite.Suite, *configurations, seeds: int = 1) -> list[Job]:
    limits = Limits(10.0, 1000)
    jobs = plan_jobs(folder, [tasks], {tasks.domain: configurations}, seeds=seeds,
                     plan_limits=limits, training_limits=limits)  # fmt: skip
    return list(jobs)


def runs(folder: Path, tasks: suite.Suite, *configurations) -> dict[tuple[str, str], str]:
    """Return the run ids of one seed, by planner and task."""
    jobs = plan(folder, tasks, *configurations)
    ids = {(job.planner, job.task): job.run for job in jobs}
    assert len(ids) == len(jobs) == len(set(ids.values()))
    return ids


@pytest.fixture
def ferry(ipc: Path) -> suite.Suite:
    [tasks] = suite.find(ipc, ["ferry"])
    return tasks


def test_jobs_have_unique_ids(ferry: suite.Suite, tmp_path: Path) -> None:
    jobs = plan(tmp_path, ferry, Rules(), LEARNED, seeds=2)
    assert len({job.run for job in jobs}) == len(jobs) == 2 * 3 + 2 * (1 + 3)
    trainings = {job.run: job for job in jobs if job.trains}
    for job in jobs:
        assert pickle.loads(pickle.dumps(job)) == job
        if job.planner != "rules" and not job.trains:
            assert trainings[job.after].seed == job.seed


def test_ids_do_not_depend_on_the_folder(ipc: Path, ferry: suite.Suite, tmp_path: Path) -> None:
    shutil.copytree(ipc, tmp_path / "moved")
    [moved] = suite.find(tmp_path / "moved", ["ferry"])
    assert runs(ipc, ferry, Rules(), LEARNED) == runs(tmp_path / "moved", moved, Rules(), LEARNED)


def test_postprocessing_shares_the_training(ferry: suite.Suite, tmp_path: Path) -> None:
    improved, eliminated = replace(LEARNED, seconds=10), replace(LEARNED, eliminate=True)
    greedy, alone = (runs(tmp_path, ferry, each) for each in (LEARNED, improved))
    both = runs(tmp_path, ferry, LEARNED, improved, eliminated)
    name = "lrnn-1-8-paper"
    assert {planner for planner, _ in both} == {name, f"{name}-10s", f"{name}-eliminated"}
    assert both.items() >= greedy.items() | alone.items()
    assert greedy[name, ""] == alone[name, ""]
    assert len(both) == 1 + 3 * 3


def test_another_shipped_model_is_another_run(ferry: suite.Suite, tmp_path: Path) -> None:
    assert ferry.model_file is not None
    other = tmp_path / "model.safetensors"
    other.write_bytes(ferry.model_file.read_bytes() + b"more")
    chosen = (Rules(), Shipped(), Shipped(seconds=10))
    before = runs(tmp_path, ferry, *chosen)
    after = runs(tmp_path, replace(ferry, model_file=other), *chosen)
    assert {key[0] for key in before if before[key] != after[key]} == {"shipped", "shipped-10s"}


def test_is_done(ferry: suite.Suite, tmp_path: Path) -> None:
    training, job, *_ = plan(tmp_path, ferry, LEARNED)
    assert not is_done(job, None, tmp_path)
    for status in (Status.SOLVED, Status.TIME, Status.FAILED):
        assert is_done(job, job.record(status), tmp_path)
    assert not is_done(job, job.record(Status.FAILED), tmp_path, retry_failed=True)
    # A training is repeated if its model is missing.
    assert not is_done(training, training.record(Status.TRAINED), tmp_path)
    model = tmp_path / str(training.files.model)
    model.parent.mkdir(parents=True)
    model.touch()
    assert is_done(training, training.record(Status.TRAINED), tmp_path)


# --- Suites ------------------------------------------------------------------------------


def test_splits_are_found_in_all_layouts(ipc: Path, tmp_path: Path) -> None:
    shutil.copytree(ipc / "ferry" / "training", tmp_path / "ferry" / "training" / "easy")
    shutil.copytree(ipc / "ferry" / "testing_easy", tmp_path / "ferry" / "testing" / "hard")
    shutil.copytree(ipc / "ferry" / "testing_easy", tmp_path / "ferry" / "testing_medium")
    shutil.copy(ipc / "ferry" / "domain.pddl", tmp_path / "ferry")
    [found] = suite.find(tmp_path)
    assert len(found.training) == 2
    assert Counter(test.split for test in found.tests) == {"hard": 3, "medium": 3}
    assert found.policy_file == domains.policy_path("ferry")
    [found] = suite.find(tmp_path / "ferry", splits=["hard"], count=2)
    assert [(test.split, test.name) for test in found.tests] == [("hard", "p01"), ("hard", "p03")]
    (tmp_path / "ferry" / "policy.dl").write_text("board(C, L) :- car(C).\n")
    [found] = suite.find(tmp_path)
    assert found.policy_file == tmp_path / "ferry" / "policy.dl"
