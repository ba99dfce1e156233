"""Options for numbers: each has a range, and its message states it for every hostile value."""

from __future__ import annotations

import time
from collections.abc import Iterator

import click
import pytest

from planlog.cli import options
from planlog.cli.app import app
from planlog.ranges import MOST_CHARACTERS, Range
from support.commands import Run

HOSTILE = [
    "",
    " ",
    "x",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "1_0",
    "0x10",
    "٣",
    "--",
    "9" * 5000,
    "1" * 41,
]


def commands(group: click.Group, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)
        else:
            yield (*path, name), command


def numbers() -> Iterator[tuple[tuple[str, ...], str, Range]]:
    for path, command in commands(app):
        for parameter in command.params:
            if isinstance(parameter.type, options.Number):
                yield path, parameter.opts[0], parameter.type.range


def test_numbers_have_ranges() -> None:
    plain = (click.types.IntParamType, click.types.FloatParamType)
    for path, command in commands(app):
        for parameter in command.params:
            assert not isinstance(parameter.type, plain), (path, parameter.name)
    assert len(list(numbers())) > 40


@pytest.mark.parametrize(("path", "option", "range"), list(numbers()))
def test_hostile_numbers(path: tuple[str, ...], option: str, range: Range, planlog: Run) -> None:
    outside = [range.least - 1, range.most * 2 + 1, -(10**30), 10**30]
    start = time.monotonic()
    for value in (*HOSTILE, *map(str, outside)):
        code, out, err = planlog(*path, f"{option}={value}", "nowhere.pddl")
        assert (code, out) == (36, ""), value
        assert str(range) in err, (value, err)
        assert len(err) < 1000
    assert time.monotonic() - start < 10


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--threads", "100000"),
        ("--expansions", "99999999999999999999999999"),
        ("--memory-limit", "8796093022207"),
        ("--time-limit", "1e400"),
        ("--time-limit", "nan"),
        ("--time-limit", "-1"),
    ],
)
def test_numbers_of_solve(option: str, value: str, planlog: Run) -> None:
    code, _, err = planlog("solve", option, value, "p.pddl")
    assert code == 36
    assert f"got '{value}'" in err


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--layers", "1,101"),
        ("--widths", "9" * 5000),
        ("--settings", "paper+learning_rate=1e300"),
        ("--settings", "paper+epochs=" + "9" * 5000),
    ],
)
def test_numbers_in_lists_and_settings(option: str, value: str, planlog: Run) -> None:
    code, _, err = planlog("experiment", "-o", "nowhere", option, value)
    assert code == 36
    assert "number from" in err
    assert len(err) < 1000


def test_what_a_range_reads() -> None:
    whole, real = Range(0, 10), Range(0.0, 10.0)
    assert [whole.read(text) for text in ("0", "+3", " 10 ", "007")] == [0, 3, 10, 7]
    assert [real.read(text) for text in (".5", "1.", "1e1", "0")] == [0.5, 1.0, 10.0, 0.0]
    assert str(whole) == "a whole number from 0 to 10"
    assert 3 in real
    assert True not in whole
    assert 3.0 not in whole
    with pytest.raises(ValueError, match=r"^expected a number from 0 to 10, got '1{40}…'$"):
        real.read("1" * (MOST_CHARACTERS + 1))
    with pytest.raises(ValueError, match="steps: expected a whole number from 0 to 10, got None"):
        whole.check(None, "steps")
