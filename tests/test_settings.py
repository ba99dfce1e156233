"""Settings by name, with values of their own."""

from __future__ import annotations

from dataclasses import asdict, fields
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.settings import (
    PRESETS,
    Keep,
    Loss,
    Preset,
    Schedule,
    SurveySettings,
    TrainingSettings,
    preset,
)

# For each setting a text, and the value that it stands for: not the one of a preset.
VALUES: dict[str, dict[str, tuple[str, Any]]] = {
    "training": {
        "loss": ("binary", Loss.BINARY),
        "epochs": ("7", 7),
        "batch": ("11", 11),
        "learning_rate": ("0.25", 0.25),
        "schedule": ("constant", Schedule.CONSTANT),
        "keep": ("f1", Keep.F1),
        "weight_decay": ("1e-2", 0.01),
        "only_informative": ("no", False),
    },
    "surveys": {
        "rounds": ("5", 5),
        "states": ("6", 6),
        "steps": ("7", 7),
        "effort": ("0", 0),
        "expansions": ("8", 8),
        "passes": ("9", 9),
        "exact": ("10", 10),
    },
    "": {"over_derived": ("no", False), "members": ("4", 4)},
}
EVERY = [(part, key) for part, values in VALUES.items() for key in values]


def plain(settings: Preset) -> dict[tuple[str, str], Any]:
    """All values, by the part that they belong to."""
    parts = asdict(settings)
    return {
        (part, key): value
        for part, values in (
            ("training", parts.pop("training")),
            ("surveys", parts.pop("surveys")),
            ("", parts),
        )
        for key, value in values.items()
    }


def test_every_setting_is_known_here() -> None:
    for part, kind in (("training", TrainingSettings), ("surveys", SurveySettings)):
        assert list(VALUES[part]) == [field.name for field in fields(kind)]
    assert {"training", "surveys", *VALUES[""]} == {field.name for field in fields(Preset)}


@pytest.mark.parametrize("name", PRESETS)
def test_names_alone(name: str) -> None:
    assert preset(name) == PRESETS[name]


@pytest.mark.parametrize(("part", "key"), EVERY)
@pytest.mark.parametrize("name", PRESETS)
def test_every_setting_can_be_given(name: str, part: str, key: str) -> None:
    """And nothing else changes."""
    text, value = VALUES[part][key]
    changed = plain(preset(f"{name}+{key}={text}"))
    assert changed == {**plain(PRESETS[name]), (part, key): value}
    assert type(changed[part, key]) is type(value)


@given(st.permutations(EVERY), st.integers(0, len(EVERY)))
def test_many_at_once(order: list[tuple[str, str]], count: int) -> None:
    chosen = order[:count]
    text = "".join(f"+{key}={VALUES[part][key][0]}" for part, key in chosen)
    given_values = {(part, key): VALUES[part][key][1] for part, key in chosen}
    assert plain(preset(f"default{text}")) == {**plain(PRESETS["default"]), **given_values}


def test_the_last_of_two_values_counts() -> None:
    assert preset("paper+epochs=3+epochs=4").training.epochs == 4


def test_batches_of_everything() -> None:
    assert preset("default+batch=none").training.batch is None
    assert preset("small+batch=3").training.batch == 3


NOT_FINITE = ["nan", "inf", "-inf"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected one of default, small, paper, got ''"),
        ("best", "expected one of default, small, paper, got 'best'"),
        ("best+epochs=3", "got 'best'"),
        ("Default", "got 'Default'"),
        ("epochs=3", "got 'epochs=3'"),
        ("default+", "there is no setting ''"),
        ("default+=3", "there is no setting ''"),
        ("default++epochs=3", "there is no setting ''"),
        ("default+rate=3", "there is no setting 'rate'; there are over_derived, members, loss, "),
        ("default+Epochs=3", "there is no setting 'Epochs'"),
        ("default+training=3", "there is no setting 'training'"),
        ("default+surveys=3", "there is no setting 'surveys'"),
        ("default+__init__=3", "there is no setting '__init__'"),
        ("default+__post_init__=3", "there is no setting '__post_init__'"),
        ("default+__class__=3", "there is no setting '__class__'"),
        ("default+epochs", "epochs: expected a whole number, got ''"),
        ("default+epochs=", "epochs: expected a whole number, got ''"),
        ("default+epochs=2.5", "epochs: expected a whole number, got '2.5'"),
        ("default+epochs=none", "epochs: expected a whole number, got 'none'"),
        ("default+epochs=0", "epochs: epochs and batches must be positive"),
        ("default+epochs=3=4", "epochs: expected a whole number, got '3=4'"),
        ("default+batch=all", "batch: expected a whole number or none, got 'all'"),
        ("default+batch=0", "batch: epochs and batches must be positive"),
        ("default+loss=square", "loss: expected one of binary, listwise, got 'square'"),
        ("default+schedule=LISTWISE", "schedule: expected one of constant, cosine"),
        ("default+keep=", "keep: expected one of loss, f1, got ''"),
        ("default+learning_rate=fast", "learning_rate: expected a number, got 'fast'"),
        ("default+learning_rate=0", "learning_rate: the learning rate must be positive"),
        ("default+weight_decay=-1", "weight_decay: weights must not decay"),
        ("default+weight_decay=100", "weight_decay: weights must not decay"),
        ("default+only_informative=true", "only_informative: expected yes or no, got 'true'"),
        ("default+over_derived=1", "over_derived: expected yes or no, got '1'"),
        ("default+members=0", "members: there must be one network at least"),
        ("default+members=two", "members: expected a whole number, got 'two'"),
        ("default+rounds=-1", "rounds: rounds and effort must not be negative"),
        ("default+states=0", "states: all but rounds and effort must be positive"),
        *((f"default+learning_rate={value}", "learning_rate: ") for value in NOT_FINITE),
        *((f"default+weight_decay={value}", "weight_decay: ") for value in NOT_FINITE),
    ],
)
def test_mistakes_are_told(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        preset(text)
    assert message in str(caught.value)


WORDS = st.sampled_from(
    ["default", "paper", "+", "=", "epochs", "batch", "keep", "members", "yes", "none", "3", "1e9"]
)


@given(st.lists(st.one_of(WORDS, WORDS, st.text(max_size=3))).map("".join))
def test_any_text_gives_settings_or_a_message(text: str) -> None:
    try:
        settings = preset(text)
    except ValueError as error:
        assert str(error)
    else:
        assert all(
            isinstance(value, (int, float, Enum)) or value is None
            for value in plain(settings).values()
        )
