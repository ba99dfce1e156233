"""Checkpoints: a file is refused with ModelError, or a training continues from it to a model.

An input is a checkpoint file. One that a training wrote leads to the model of that training.
"""

from __future__ import annotations

import json
import os
import tempfile
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import planlog
from fuzz.containers import Tensors, change_container
from planlog.api.learn import checkpoint_of
from planlog.errors import ModelError
from planlog.learning import checkpoint
from planlog.learning.checkpoint import Checkpoint
from planlog.learning.learn import learn
from planlog.network.model_file import Model
from planlog.network.settings import preset
from planlog.pddl.task import Task
from planlog.policy.policy import Policy
from support.model_files import same_weights
from support.random_networks import rules_of
from support.shipped_domains import generated

SETTINGS = preset("small+epochs=3+width=2+layers=1")


@cache
def _inputs() -> tuple[Policy, Task]:
    return rules_of("ferry"), generated("ferry", 0, cars=2, locations=3)


def _checkpoint(model_file: Path) -> Checkpoint:
    rules, task = _inputs()
    return checkpoint_of(model_file, rules, [task], SETTINGS, 0, lambda message: None)


@cache
def _training() -> tuple[tuple[bytes, ...], Model]:
    """Return the checkpoints of a training, one after each epoch, and its model."""
    rules, task = _inputs()
    files: list[bytes] = []
    with tempfile.TemporaryDirectory() as folder:
        written = _checkpoint(Path(folder, "model"))

        def keep(arrays: Any) -> None:
            written.write(arrays)
            files.append(written.file.read_bytes())

        learned = learn(rules, [task], SETTINGS, workers=1, on_checkpoint=keep)
    return tuple(files), learned.model


def make(rng: Random) -> bytes:
    files, _ = _training()
    if rng.random() < 0.05:
        return rng.choice(files)
    made_for = dict(_checkpoint(Path("model"))._made_for)
    return change_container(rng.choice(files), made_for, _sign, rng)


def _sign(description: Any, tensors: Tensors) -> dict[str, str]:
    made_for = json.dumps(description)
    return {"made_for": made_for, "checksum": checkpoint._checksum(made_for, tensors)}


def check(data: bytes) -> str:
    rules, task = _inputs()
    files, expected = _training()
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as folder:
        file = Path(folder, "model")
        _checkpoint(file).file.write_bytes(data)
        try:
            planlog.learn(task, rules, SETTINGS, workers=1, model_file=file, resume=True)
        except ModelError as error:
            assert not file.exists()
            assert "checkpoint" in str(error), error
            return "refused"
        model = Model.read(file)
    if data in files:
        assert same_weights(model, expected)
        return "the same model"
    return "another model"
