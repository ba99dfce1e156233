"""Every example of the documentation is run, page by page, each page in an empty folder.

- `sh` blocks are run by the shell; a `text` block right after one is its expected output.
- `python` blocks of a page share their names; those with `>>>` also state their output.
- A block with title="NAME" is written to that file, for the later examples of the page.
- Commands that would start this test again (`make test`, `pip install`) are checked, but not run.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
# docs/rules.md is tested with the rule language.
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted(set(ROOT.glob("docs/*.md")) - {ROOT / "docs/rules.md"}),
]
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    language: str
    title: str | None
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    content = page.read_text()
    found = []
    for match in BLOCK.finditer(content):
        title = re.search(r'title="([^"]*)"', match[2])
        line = content.count("\n", 0, match.start()) + 2
        found.append(Block(match[1], title and title[1], match[3], line))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_examples_run_and_print_what_they_say(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("COLUMNS", "100")
    names: dict[str, Any] = {"__name__": "__main__"}
    printed: str | None = None
    for block in blocks(page):
        place = f"{page.name}:{block.line}"
        if block.title:
            Path(block.title).write_text(block.text)
        elif block.language == "sh":
            printed = run_shell(block.text, place)
            continue
        elif block.language == "python":
            if block.text.startswith(">>>"):
                run_session(block.text, names, place)
                continue
            # Lines as in the page, so that a traceback points into it.
            exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), names)
        elif block.language == "text" and printed is not None:
            assert comparable(printed) == comparable(block.text), place
        printed = None


def run_shell(script: str, place: str) -> str | None:
    """Run a script and return its output, or None if nothing in it is run."""
    commands = [line for line in script.splitlines() if not is_only_checked(line)]
    if not commands:
        return None
    result = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(commands)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, f"{place}\n{result.stdout}"
    return result.stdout


def run_session(text: str, names: dict[str, Any], place: str) -> None:
    test = doctest.DocTestParser().get_doctest(text, names, place, None, None)
    report: list[str] = []
    doctest.DocTestRunner().run(test, out=report.append, clear_globs=False)
    assert not report, "".join(report)
    names.update(test.globs)


def is_only_checked(line: str) -> bool:
    """Return whether a line must not be run; check that its targets and extras exist."""
    words = line.split("#")[0].split()
    match words:
        case ["make", *targets]:
            known = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
            assert {target for target in targets if "=" not in target} <= set(known), line
            return True
        case ["pip", "install", what]:
            extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
                "optional-dependencies"
            ]
            wanted = re.fullmatch(r"""["']?\.(?:\[([\w,]+)\])?["']?""", what)
            assert wanted is not None, line
            assert not wanted[1] or set(wanted[1].split(",")) <= set(extras), line
            return True
        case ["pre-commit" | "git" | "cd" | ".venv/bin/python", *_]:
            return True
    return False


def comparable(output: str) -> str:
    """Return output without times and plan lengths, which differ between runs and versions."""

    def without_numbers(line: str) -> str:
        return re.sub(r"[\d.]+", "N", line) if re.match("(not )?(solved|valid):", line) else line

    return "\n".join(without_numbers(line) for line in output.strip().splitlines())


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_every_file_that_the_bibliography_names_exists() -> None:
    named = re.findall(r"`((?:src|core)/[^`]+)`", (ROOT / "docs/bibliography.md").read_text())
    assert len(named) > 20
    for file in named:
        assert (ROOT / file).is_file(), file


def test_the_development_page_follows_the_tree() -> None:
    script = ROOT / "tools" / "development_page.py"
    result = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr


AMERICAN = r"\b(behavior|color|neighbor|labeled|labeling|modeled|favor|center|analyze|catalog)"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_pages_use_british_spelling(page: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`\n]*`|\*[^*]*\*", "", page.read_text(), flags=re.DOTALL)
    assert not re.findall(AMERICAN, prose)


def test_help_of_every_command_has_examples() -> None:
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100", "TERM": "dumb"}

    def help_of(*command: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "planlog", *command, "--help"],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        ).stdout

    commands = re.findall(r"^  (\w+)  ", help_of().partition("Commands")[2], re.MULTILINE)
    assert {"solve", "validate", "generate", "doctor"} <= set(commands)
    for command in commands:
        assert f"planlog {command}" in help_of(command).partition("Example")[2], command
