"""Safetensors files that are damaged in bytes, header, description or tensors."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import safetensors.numpy

from fuzz.mutations import NUMBERS, change_bytes, change_json

Tensors = dict[str, Any]
Sign = Callable[[Any, Tensors], dict[str, str]]  # the metadata that belongs to a description


def change_container(data: bytes, description: Any, sign: Sign, rng: Random) -> bytes:
    """Return a changed file; `sign` makes metadata with a checksum that fits.

    Without it, nothing behind the checksum would ever be reached.
    """
    tensors = safetensors.numpy.load(data)
    match rng.randrange(5):
        case 0:
            return change_bytes(data, rng)
        case 1:
            return _with_header(data, rng)
        case 2:
            tensors = change_tensors(tensors, rng)
        case 3:
            description = change_json(description, rng)
        case 4:
            description, tensors = change_json(description, rng), change_tensors(tensors, rng)
    try:
        return saved(tensors, sign(description, tensors))
    except (TypeError, ValueError, RecursionError, AttributeError):
        return change_bytes(data, rng)  # it cannot be written


def saved(tensors: Tensors, metadata: dict[str, str]) -> bytes:
    """Return a file; unlike the library, which hashes, always the same one."""
    data = safetensors.numpy.save(tensors, metadata=metadata)
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.dumps(json.loads(data[8:end]), sort_keys=True).encode()
    return len(header).to_bytes(8, "little") + header + data[end:]


def _with_header(data: bytes, rng: Random) -> bytes:
    """Change the JSON of the header, or the length that stands before it."""
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    try:
        text = json.dumps(change_json(header, rng)).encode(errors="surrogatepass")
    except RecursionError:
        text = b"{}"
    length = len(text) if rng.random() < 0.8 else rng.choice(NUMBERS) % 2**64
    return length.to_bytes(8, "little") + text + data[8 + len(text) :]


def change_tensors(tensors: Tensors, rng: Random) -> Tensors:
    """Rename, delete or add a tensor, or change its shape, its type or its values."""
    changed = dict(tensors)
    name = rng.choice(sorted(changed))
    array = changed.pop(name)
    match rng.randrange(7):
        case 0:
            pass
        case 1:
            changed[rng.choice(["", "x", "\x1b[31m", name + "0", name.upper()])] = array
        case 2:
            changed[name] = array.astype(rng.choice(["f2", "f8", "i8", "u1", "?"]))
        case 3:
            shape = [rng.randrange(4) for _ in range(rng.randrange(4))]
            changed[name] = np.zeros(shape, dtype=array.dtype)
        case 4:
            changed[name] = np.full_like(array, rng.choice([0, 1, 100, 127]))
        case 5 if array.dtype.kind == "f":
            changed[name] = np.full_like(array, rng.choice([np.nan, np.inf, 3e38, -3e38, 1e-45]))
        case 6 if array.ndim:
            changed[name] = array.reshape(-1)
        case _:
            changed[name] = array
    return changed
