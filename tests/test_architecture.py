"""What must not drift: the direction of imports, small dependencies, headers that stand alone."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CORE = sorted((ROOT / "core").rglob("*.[ch]pp"))
# Bindings need nanobind; the build compiles them.
HEADERS = [f for f in CORE if f.suffix == ".hpp" and f.parent.name != "bindings"]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_imports_go_one_way() -> None:
    result = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
def test_each_header_compiles_alone(header: Path) -> None:
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("no compiler here")
    result = subprocess.run(
        [compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-x", "c++", "-"],
        input=f'#include "{header}"\n',
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr


def test_the_core_needs_the_standard_library_only() -> None:
    for file in CORE:
        if file.parent.name == "bindings":
            continue
        for included in re.findall(r"^#include <([^>]*)>", file.read_text(), re.MULTILINE):
            assert re.fullmatch(r"[a-z_]+", included), f"{file.name} includes <{included}>"


def test_solving_needs_only_what_a_plain_install_has() -> None:
    program = (
        "import sys, planlog.cli, planlog.execution, planlog.domains, planlog.validate;"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    for extra, packages in PYPROJECT["project"]["optional-dependencies"].items():
        for package in packages:
            name = re.split(r"[<>=]", package)[0].replace("-", "_")
            assert name not in loaded, f"{name} is of the extra '{extra}'"


def test_the_version_is_the_same_everywhere() -> None:
    import planlog

    version = PYPROJECT["project"]["version"]
    assert planlog.__version__ == version
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize(
    ("part", "limit"),
    [("core", 4000), ("pddl", 2000), ("network", 1000), ("search", 800), ("bindings", 1200)],
)
def test_each_part_of_the_core_can_be_read_in_an_afternoon(part: str, limit: int) -> None:
    """The reader of PDDL, networks, search, the border to Python, and everything else."""
    lines = 0
    for file in CORE:
        if file.parent.name == part:
            text = [line.strip() for line in file.read_text().splitlines()]
            lines += sum(bool(line) and not line.startswith("//") for line in text)
    assert 0 < lines < limit
