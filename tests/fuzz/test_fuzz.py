"""A short fuzz run of every target with fixed seeds, the corpus, and the fuzzer itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from fuzz import targets
from fuzz.mutations import change_json
from fuzz.shrink import shrink
from support.profiles import examples

TESTS = Path(__file__).parents[1]

# Inputs of the complete suite, a few seconds each, and answers that must occur among them: a fuzzer
# whose inputs are all refused tests little.
SHORT = {
    "pddl": (1_500, {"walked", "refused", "unsupported"}),
    "rules": (1_500, {"evaluated", "read", "refused"}),
    "plans": (4_000, {"valid", "invalid", "refused"}),
    "models": (800, {"used", "does not fit", "refused"}),
    "checkpoints": (900, {"the same model", "another model", "refused"}),
    "records": (1_000, {"reported", "refused"}),
    "command_lines": (300, {"solve 0", "solve 31", "? 36"}),
}
PARTS = 3


def test_every_target_has_a_short_run_and_a_corpus() -> None:
    assert SHORT.keys() == set(targets.NAMES)
    assert all(map(targets.corpus, targets.NAMES))


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", targets.NAMES)
def test_short_run(name: str, part: int) -> None:
    count, answers = SHORT[name]
    count = max(10, examples(count).max_examples // PARTS)
    checked = targets.target(name)
    found = Counter[str]()
    for number in range(part * count, (part + 1) * count):
        data = targets.input_number(name, 1, number)
        try:
            found[checked.check(data)] += 1
        except Exception as error:
            error.add_note(f"input {number} of seed 1: {data!r}")
            raise
    if count >= SHORT[name][0] // PARTS:
        assert answers <= found.keys(), found


@pytest.mark.parametrize(
    ("name", "file"),
    [
        pytest.param(name, file, id=f"{name}-{file.name}")
        for name in targets.NAMES
        for file in targets.corpus(name)
    ],
)
def test_corpus(name: str, file: Path) -> None:
    targets.target(name).check(file.read_bytes())


def test_inputs_depend_on_their_number_only() -> None:
    for name in targets.NAMES:
        assert targets.input_number(name, 3, 7) == targets.input_number(name, 3, 7)


def test_changed_json_has_no_circles() -> None:
    rng = Random(24)
    for _ in range(15):
        value: object = {"a": [1, {"b": []}], "c": {}}
        for _ in range(10):
            value = change_json(value, rng)
        with suppress(RecursionError):  # some values are very deep
            json.dumps(value)


def test_shrinking() -> None:
    data = b"some\nlines of text\nwith a needle in it\nand more\n" * 20
    assert shrink(data, lambda candidate: b"needle" in candidate, 10) == b"needle"


@pytest.mark.slow
@pytest.mark.parametrize("bug", ["", "exception", "crash"])
def test_the_fuzzer_finds_shrinks_and_reproduces(tmp_path: Path, bug: str) -> None:
    def fuzz(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "fuzz", "--targets", "planted", *map(str, arguments)]
        environment = {**os.environ, "PLANLOG_PLANTED": bug}
        return subprocess.run(command, cwd=TESTS, env=environment, text=True, capture_output=True)

    done = fuzz("--minutes", 0.05, "--jobs", 1, "--out", tmp_path / "out")
    findings = list((tmp_path / "out" / "planted").glob("finding-????????????"))
    assert (done.returncode, bool(findings)) == ((1, True) if bug else (0, False)), done.stdout
    if not bug:
        return
    file = findings[0]
    assert f"INPUT={file}" in done.stdout
    if bug == "exception":
        assert len(findings) == 1
        assert file.read_bytes().split().count(b"a") == 10
        assert len(file.read_bytes()) < 30
        assert "ValueError" in file.with_suffix(".txt").read_text()
    again = fuzz("--input", file)
    assert again.returncode == (1 if bug == "exception" else -6), again.stderr
