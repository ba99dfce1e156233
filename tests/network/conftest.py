"""Fixtures of the tests of networks."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a path for a model file; the tests of a module overwrite it."""
    return tmp_path_factory.mktemp("models") / "model.safetensors"
