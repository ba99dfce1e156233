"""Checkpoints: files beside model files, from which interrupted trainings continue."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save

from planlog.errors import ModelError
from planlog.files import explain, write_atomically
from planlog.network.model_file import read_container

SECONDS = 5.0  # between two checkpoints
MOST_BYTES = 4 * 1024**3  # that are read; several arrays for each training

_TYPES = {"F32": "<f4", "F64": "<f8", "I64": "<i8"}


class Checkpoint:
    """The checkpoint of a training that writes a certain model file.

    `made_for` names everything that the training depends on; only an equal training continues.
    """

    def __init__(
        self, model_file: Path, made_for: Mapping[str, str], on_failure: Callable[[str], None]
    ) -> None:
        """Call `on_failure` once with a message if checkpoints cannot be written."""
        self.file = model_file.with_name(f"{model_file.name}.checkpoint")
        self._made_for = dict(made_for)
        self._on_failure = on_failure
        self._next = time.monotonic() + SECONDS
        self._warned = False

    def read(self) -> dict[str, Any] | None:
        """Return the arrays, or None without a file. Raises ModelError if they do not fit."""
        if not self.file.exists():
            return None
        if self.file.is_dir():
            raise ModelError(f"{self.file} is no checkpoint, but a folder")
        metadata, tensors = read_container(self.file, "checkpoint", MOST_BYTES)
        try:
            arrays = {name: _as_array(tensor) for name, tensor in tensors.items()}
            if metadata.get("checksum") != _checksum(metadata.get("made_for"), arrays):
                raise ModelError(f"{self.file} is no checkpoint, or has been changed since")
            made_for = dict(json.loads(metadata["made_for"]))
        except (TypeError, ValueError, RecursionError) as error:
            raise ModelError(f"{self.file} is no checkpoint, or damaged: {error}") from None
        other = [name for name, value in self._made_for.items() if made_for.get(name) != value]
        if other:
            raise ModelError(
                f"{self.file} belongs to another training, with other {' and '.join(other)}; give "
                "those again, or leave out --resume to start again"
            )
        return arrays

    def write_now_and_then(self, arrays: Mapping[str, Any]) -> None:
        """Write the checkpoint if the last one is old enough; a failure is only reported."""
        if time.monotonic() < self._next:
            return
        try:
            self.write(arrays)
        except OSError as error:
            if not self._warned:
                self._on_failure(f"warning: no checkpoints are written: {explain(error)}")
            self._warned = True
        self._next = time.monotonic() + SECONDS

    def write(self, arrays: Mapping[str, Any]) -> None:
        made_for = json.dumps(self._made_for)
        metadata = {"made_for": made_for, "checksum": _checksum(made_for, arrays)}
        write_atomically(self.file, save(dict(arrays), metadata=metadata))

    def remove(self) -> None:
        self.file.unlink(missing_ok=True)


def _as_array(tensor: Mapping[str, Any]) -> npt.NDArray[Any]:
    """Return the array of a tensor. Raises ValueError for a type that no checkpoint has."""
    if tensor["dtype"] not in _TYPES:
        raise ValueError(f"numbers of the type {tensor['dtype']}")
    # A copy: the data of the file cannot be changed.
    array = np.frombuffer(tensor["data"], dtype=_TYPES[tensor["dtype"]]).reshape(tensor["shape"])
    return array.copy()


def _checksum(made_for: str | None, arrays: Mapping[str, Any]) -> str:
    digest = hashlib.sha256(str(made_for).encode())
    for name in sorted(arrays):
        digest.update(f"\n{name} {arrays[name].dtype} {arrays[name].shape}\n".encode())
        digest.update(arrays[name].tobytes())
    return digest.hexdigest()
