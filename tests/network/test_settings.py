"""Settings by name, with values of their own."""

from __future__ import annotations

from dataclasses import asdict
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.network.settings import (
    PRESETS,
    Activation,
    Aggregation,
    LearningSettings,
    Loss,
    Schedule,
    SelectBy,
    preset,
)
from planlog.statespace.labels import PAPER_TASKS
from planlog.statespace.space import DEFAULT_LIMIT

# For each setting a text, and the value that it stands for: not the one of a preset.
VALUES: dict[str, dict[str, tuple[str, Any]]] = {
    "template": {"layers": ("3", 3), "derived_messages": ("yes", True)},
    "network": {
        "width": ("5", 5),
        "message_activation": ("relu", Activation.RELU),
        "atom_activation": ("sigmoid", Activation.SIGMOID),
        "aggregation": ("sum", Aggregation.SUM),
        "score_width": ("6", 6),
    },
    "training": {
        "loss": ("binary", Loss.BINARY),
        "epochs": ("7", 7),
        "batch": ("11", 11),
        "learning_rate": ("0.25", 0.25),
        "schedule": ("constant", Schedule.CONSTANT),
        "select_by": ("f1", SelectBy.F1),
        "weight_decay": ("1e-2", 0.01),
        "only_informative": ("no", False),
    },
    "search_labels": {
        "iterations": ("5", 5),
        "states_per_iteration": ("6", 6),
        "labelled_steps": ("7", 7),
        "expansions_per_step": ("0", 0),
        "max_expansions": ("8", 8),
        "passes": ("9", 9),
        "exact_states": ("10", 10),
    },
    "": {
        "ensemble_size": ("4", 4),
        "limit": ("12", 12),
        "max_tasks": ("13", 13),
        "max_states": ("14", 14),
    },
}
EVERY = [(part, key) for part, values in VALUES.items() for key in values]


def plain(settings: LearningSettings) -> dict[tuple[str, str], Any]:
    """Return all values, by the part that they belong to and their name."""
    found: dict[tuple[str, str], Any] = {}
    for name, value in asdict(settings).items():
        if isinstance(value, dict):
            found |= {(name, key): inner for key, inner in value.items()}
        else:
            found["", name] = value
    return found


def test_every_setting_is_known_here() -> None:
    every = [(part, key) for part, key in plain(LearningSettings()) if key != "score_activation"]
    assert every == EVERY
    assert len({key for _, key in every}) == len(every), "names tell which part is meant"


def test_limits_are_those_of_state_spaces() -> None:
    """They are written once more in the settings, which import nothing."""
    assert LearningSettings().limit == DEFAULT_LIMIT
    assert LearningSettings().max_tasks == PAPER_TASKS


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


def test_values_are_checked_together() -> None:
    settings = preset("default+score_activation=tanh+ensemble_size=1")
    assert settings.network.score_activation is Activation.TANH


def test_presets_are_complete_and_can_be_changed() -> None:
    changed = PRESETS["paper"].changed(width=3, layers=0, max_states=5, ensemble_size=2)
    assert (changed.network.width, changed.template.layers) == (3, 0)
    assert (changed.max_states, changed.ensemble_size) == (5, 2)
    assert changed.training == PRESETS["paper"].training
    with pytest.raises(TypeError):
        PRESETS["paper"].changed(rate=3)


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
        (
            "default+rate=3",
            "there is no setting 'rate'; there are layers, derived_messages, width, ",
        ),
        ("default+Epochs=3", "there is no setting 'Epochs'"),
        ("default+training=3", "there is no setting 'training'"),
        ("default+search_labels=3", "there is no setting 'search_labels'"),
        ("default+__init__=3", "there is no setting '__init__'"),
        ("default+__post_init__=3", "there is no setting '__post_init__'"),
        ("default+__class__=3", "there is no setting '__class__'"),
        ("default+epochs", "epochs: expected a whole number from 1 to 1,000,000, got ''"),
        ("default+epochs=", "epochs: expected a whole number from 1 to 1,000,000, got ''"),
        ("default+epochs=2.5", "epochs: expected a whole number from 1 to 1,000,000, got '2.5'"),
        ("default+epochs=none", "epochs: expected a whole number from 1 to 1,000,000, got 'none'"),
        ("default+epochs=0", "epochs: expected a whole number from 1 to 1,000,000, got '0'"),
        ("default+epochs=3=4", "epochs: expected a whole number from 1 to 1,000,000, got '3=4'"),
        (
            "default+batch=all",
            "batch: expected a whole number from 1 to 1,000,000,000 or none, got 'all'",
        ),
        ("default+batch=0", "batch: expected a whole number from 1 to"),
        ("default+loss=square", "loss: expected one of binary, listwise, got 'square'"),
        ("default+schedule=LISTWISE", "schedule: expected one of constant, cosine"),
        ("default+select_by=", "select_by: expected one of loss, f1, got ''"),
        (
            "default+learning_rate=fast",
            "learning_rate: expected a number from 1e-12 to 10, got 'fast'",
        ),
        ("default+learning_rate=0", "learning_rate: expected a number from 1e-12 to 10, got"),
        ("default+weight_decay=-1", "weight_decay: expected a number from 0 to"),
        ("default+weight_decay=100", "weight_decay times learning_rate must be"),
        ("default+only_informative=true", "only_informative: expected yes or no, got 'true'"),
        ("default+score_activation=tanh", "an ensemble needs scores without activation"),
        ("default+layers=-1", "layers: expected a whole number from 0 to 100, got '-1'"),
        (
            "default+max_states=all",
            "max_states: expected a whole number from 1 to 1,000,000,000 or none, got 'all'",
        ),
        ("default+derived_messages=1", "derived_messages: expected yes or no, got '1'"),
        ("default+layers=101", "layers: expected a whole number from 0 to 100, got '101'"),
        ("default+ensemble_size=0", "ensemble_size: expected a whole number from 1 to 100"),
        (
            "default+ensemble_size=two",
            "ensemble_size: expected a whole number from 1 to 100, got 'two'",
        ),
        ("default+iterations=-1", "iterations: expected a whole number from 0 to 100"),
        ("default+passes=0", "passes: expected a whole number from 1"),
        *(
            (f"default+learning_rate={value}", "learning_rate: expected a number")
            for value in NOT_FINITE
        ),
        *(
            (f"default+weight_decay={value}", "weight_decay: expected a number")
            for value in NOT_FINITE
        ),
    ],
)
def test_mistakes_are_told(text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        preset(text)
    assert message in str(caught.value)


WORDS = st.sampled_from(
    [
        "default",
        "paper",
        "+",
        "=",
        "epochs",
        "batch",
        "select_by",
        "ensemble_size",
        "yes",
        "none",
        "3",
        "1e9",
    ]
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
