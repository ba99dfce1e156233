"""Random changes of texts, bytes and JSON values."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

TOKEN = re.compile(r"\s+|[\w@.+?-]+|:-|!=|.", re.DOTALL)
STRANGE = (
    "\0\t\r\n\f\x1b\x7f\x85\u2028\u202e\u00a0\u200b\ufeffé§∨'\"`?@!%&/\\()[]{}<>|;:,._-+*=~^$#0aA"
    "\U0001f600"
)
NUMBERS = (0, -1, 1, 2, 2**31, 2**53 + 1, 2**63, 2**64, 10**30, -(10**30))


def some(rng: Random) -> int:
    """Return how many changes to make: mostly one."""
    return rng.choice([1, 1, 1, 2, 3, 8])


def change_text(text: str, words: Sequence[str], rng: Random) -> str:
    """Change some tokens of a text: delete, double, swap, move or replace them, or cut it off."""
    tokens = TOKEN.findall(text) or [""]
    for _ in range(some(rng)):
        i, j = sorted(rng.randrange(len(tokens)) for _ in range(2))
        match rng.randrange(10):
            case 0:
                del tokens[i]
            case 1:
                tokens.insert(i, tokens[i])
            case 2:
                tokens[i], tokens[j] = tokens[j], tokens[i]
            case 3:
                tokens[rng.choice([i, j])] = tokens[rng.choice([i, j])]
            case 4:
                tokens[i] = rng.choice(words)
            case 5:
                tokens.insert(i, f" {rng.choice(words)} ")
            case 6:
                tokens.insert(j, tokens.pop(i))
            case 7 if j - i < 40:
                tokens[j:j] = tokens[i:j] * rng.choice([1, 1, 1, 20])
            case 8:
                tokens.insert(i, rng.choice(STRANGE) * rng.choice([1, 1, 1, 300]))
            case 9 if rng.random() < 0.2:
                del tokens[j:]
        if not tokens:
            return ""
    return "".join(tokens)


def change_alike(text: str, rng: Random) -> str:
    """Replace names by other names of the text, so that it often stays well-formed."""
    tokens = TOKEN.findall(text)
    for _ in range(some(rng)):
        kinds: dict[str, list[int]] = {}
        for i, token in enumerate(tokens):
            kind = token[0] if token[0] in "?():" else "A" if token[0].isupper() else "a"
            if not token.isspace():
                kinds.setdefault(kind, []).append(i)
        if not kinds:
            return text
        alike = rng.choice(list(kinds.values()))
        tokens[rng.choice(alike)] = tokens[rng.choice(alike)]
    return "".join(tokens)


def change_bytes(data: bytes, rng: Random) -> bytes:
    """Flip, insert, delete, double or overwrite some bytes, or cut the rest off."""
    content = bytearray(data)
    for _ in range(some(rng)):
        if not content:
            return rng.randbytes(rng.randrange(20))
        i = rng.randrange(len(content))
        j = min(len(content), i + rng.choice([1, 2, 8, 100]))
        match rng.randrange(7):
            case 0:
                content[i] ^= 1 << rng.randrange(8)
            case 1:
                content[i:i] = rng.randbytes(rng.choice([1, 4, 50]))
            case 2:
                del content[i:j]
            case 3:
                content[i:i] = content[i:j] * rng.choice([1, 20])
            case 4:
                content[i : i + 8] = (rng.choice(NUMBERS) % 2**64).to_bytes(8, "little")
            case 5:
                content[i] = rng.randrange(256)
            case 6 if rng.random() < 0.3:
                del content[i:]
    return bytes(content)


def odd_value(rng: Random) -> Any:
    """Return a JSON value of any type, often an extreme one."""
    deep: Any = 0
    for _ in range(rng.choice([3, 300, 900])):
        deep = [deep]
    values = (
        None, True, False, 0.5, 1e308, -0.0, float("nan"), float("inf"), "", "x", "none",
        "\x1b[31m\u202e", "\ud800", "x" * 5000, "2026-01-01", [], {}, [1, 2], {"a": 1}, [[]], deep,
        {"x" * 1000: {}}, [None] * 100, *NUMBERS,
    )  # fmt: skip
    return rng.choice(values)


def change_json(value: Any, rng: Random) -> Any:
    """Return a JSON value, which may be changed in place, with some parts replaced or deleted."""
    for _ in range(some(rng)):
        places = list(_places(value))
        if not places:
            return odd_value(rng)
        container, key = rng.choice(places)
        match rng.randrange(4):
            case 0:
                del container[key]
            case 1 if isinstance(container, dict):
                container[rng.choice(["x", "", "__class__", "\x1b", "format"])] = odd_value(rng)
            case 2:
                other, at = rng.choice(places)
                container[key] = _copy(other[at])
            case _:
                container[key] = odd_value(rng)
    return value


def _places(value: Any, depth: int = 0) -> list[tuple[Any, Any]]:
    """Return all places inside a value as containers with keys."""
    if depth > 20 or not isinstance(value, list | dict):
        return []
    keys = range(len(value)) if isinstance(value, list) else list(value)
    found = [(value, key) for key in keys]
    return found + [place for key in keys for place in _places(value[key], depth + 1)]


def _copy(value: Any) -> Any:
    """Return a copy of a JSON value; `deepcopy` fails for values that are nested too deeply."""
    whole = [value]
    containers: list[Any] = [whole]
    while containers:
        container = containers.pop()
        for key in range(len(container)) if isinstance(container, list) else list(container):
            if isinstance(container[key], list | dict):
                container[key] = container[key].copy()
                containers.append(container[key])
    return whole[0]


Change = Callable[[Random], Any]
