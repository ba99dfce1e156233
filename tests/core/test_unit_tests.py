"""Run the C++ unit tests of the core, wherever CMake has built them with PLANLOG_TESTS."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXECUTABLES = sorted((ROOT / "build").glob("*/core_tests"))


@pytest.mark.core
@pytest.mark.skipif(not EXECUTABLES, reason="not built: the make targets build them")
def test_unit_tests_of_the_core() -> None:
    for executable in EXECUTABLES:
        result = subprocess.run([executable], capture_output=True, text=True, timeout=100)
        assert result.returncode == 0, f"{executable}:\n{result.stdout}{result.stderr}"
