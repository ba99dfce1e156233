"""The command line, run inside the test's process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from planlog.cli import main
from support.commands import Run


@pytest.fixture
def planlog(capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a command; return its exit code, its output and its messages."""

    def run(*arguments: object) -> tuple[int, str, str]:
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        assert "Traceback" not in err, err
        return code, out, err

    return run


@pytest.fixture(scope="module")
def generate(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Generate tasks of a shipped domain in a new folder."""

    def run(domain: str, *sizes: object) -> Path:
        folder = tmp_path_factory.mktemp("tasks")
        assert main(["generate", domain, *map(str, sizes), "--out", str(folder)]) == 0
        return folder

    return run
