"""Models: a file is refused with ModelError, or it is a policy that can be executed.

An input is a model file.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from fuzz.command_lines import run_command
from fuzz.containers import Tensors, change_container
from planlog.errors import ModelError
from planlog.network import model_file
from planlog.network.model_file import Model
from planlog.pddl.task import Task
from support.model_files import make as make_model
from support.model_files import small
from support.random_networks import small_task

STEPS = 5


@cache
def _models() -> list[tuple[bytes, dict[str, Any]]]:
    """Return model files with their descriptions."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for model in (small(), make_model(), make_model(("ferry", "policy"), seed=1)):
            file = Path(folder, "model")
            model.write(file)
            found.append((file.read_bytes(), model.describe()))
    return found


@cache
def _task(domain: str) -> Task:
    return small_task(domain, 0)


def make(rng: Random) -> bytes:
    data, description = rng.choice(_models())
    return change_container(data, json.loads(json.dumps(description)), _sign, rng)


def _sign(description: Any, tensors: Tensors) -> dict[str, str]:
    description["checksum"] = model_file._checksum(description, tensors)
    return {"planlog": json.dumps(description)}


def check(data: bytes) -> str:
    with tempfile.TemporaryDirectory(dir=_memory()) as folder:
        file = Path(folder, "model.safetensors")
        file.write_bytes(data)
        code, _, _ = run_command(["info", str(file)])
        try:
            model = Model.read(file)
        except ModelError as error:
            assert code == 31, code
            str(error).encode(errors="backslashreplace")
            return "refused"
    assert code == 0, code
    domain = model.domain if model.domain in ("blocksworld", "ferry") else "blocksworld"
    task = _task(domain)
    try:
        policy = model.policy(task.domain)
    except ModelError:
        return "does not fit"
    walk = policy.start(task)
    for _ in range(STEPS):
        scores = walk.scores()
        assert scores.keys() == set(walk.actions())
        assert not any(map(math.isnan, scores.values())), scores
        if not scores:
            break
        walk.apply(max(scores, key=scores.__getitem__))
    while walk.steps:
        walk.undo()
    assert walk.state == task.initial
    return "used"


def _memory() -> str | None:
    """Return a folder in memory, where there is one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
