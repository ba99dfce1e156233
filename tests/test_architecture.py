"""Check the architecture: import direction, dependencies, self-contained headers, size."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CORE = sorted((ROOT / "core").rglob("*.[ch]pp"))
# Bindings need nanobind; the build compiles them.
HEADERS = [f for f in CORE if f.suffix == ".hpp" and f.parent.name != "bindings"]
FLAGS = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'core'}"]
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
        [compiler, *FLAGS, "-x", "c++", "-"],
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
            # POSIX threads have the handlers of fork, which C++ lacks. The watchdog ends processes.
            standard = re.fullmatch(r"[a-z_]+", included) or included in (
                ("pthread.h", *WATCHDOG) if file.name == "watchdog.cpp" else ("pthread.h",)
            )
            assert standard, f"{file.name} includes <{included}>"


def test_the_stubs_are_those_of_the_core() -> None:
    pytest.importorskip("nanobind")
    spec = importlib.util.spec_from_file_location("stubs", ROOT / "tools" / "stubs.py")
    assert spec is not None and spec.loader is not None
    stubs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stubs)
    assert stubs.generate() == stubs.STUBS.read_text(), "out of date: run `make stubs`"


def test_solving_needs_only_what_a_plain_install_has() -> None:
    program = (
        "import sys, planlog.cli, planlog.policy.execution, planlog.domains, planlog.validation;"
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

    assert "version" in PYPROJECT["project"]["dynamic"]  # read from planlog/__init__.py
    assert metadata.version("planlog") == planlog.__version__
    assert f"## {planlog.__version__}" in (ROOT / "CHANGELOG.md").read_text()
    assert f"version: {planlog.__version__}\n" in (ROOT / "CITATION.cff").read_text()


# Lines of code, without blank lines and comments: each folder can be read in an afternoon.
WATCHDOG = ("fcntl.h", "poll.h", "sys/resource.h", "unistd.h")  # headers of POSIX
CORE_LIMITS = {
    "pddl": 2400,
    "datalog": 2600,
    "planning": 1200,
    "network": 1100,
    "search": 1250,
    "util": 550,
    "bindings": 1500,
}


def test_every_folder_of_the_core_stays_small() -> None:
    lines = dict.fromkeys(CORE_LIMITS, 0)
    for file in CORE:
        text = [line.strip() for line in file.read_text().splitlines()]
        lines[file.parent.name] += sum(bool(line) and not line.startswith("//") for line in text)
    too_long = {folder: n for folder, n in lines.items() if not 0 < n <= CORE_LIMITS[folder]}
    assert not too_long
