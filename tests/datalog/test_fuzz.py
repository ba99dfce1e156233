"""Damaged rule files: located errors or a program, never another exception and never a hang."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from planlog.datalog import parse_program
from planlog.errors import Diagnostic, RuleError
from planlog.pddl.task import Domain

HERE = Path(__file__).parents[1]
TOKEN = re.compile(r"\s+|%[^\n]*|[\w-]+|:-|!=|.")
STRANGE = "\0\t\r\n\f\x85\u2028\u00a0\ufeffé§∨'\"`?@!%&/\\()[]{}<>|;:,._-+*=~^$#0aA\U0001f600"

DOMAINS = {
    path.stem: Domain.read(path)
    for path in sorted((HERE / "support" / "small_domains").glob("*.pddl"))
}
FILES = [
    path.read_text(encoding="utf-8") for path in sorted((HERE / "golden").glob("rules-*/policy.dl"))
]


def domain_of(text: str) -> Domain:
    return DOMAINS[text.splitlines()[0].removeprefix("% domain: ")]


def check(text: str, domain: Domain) -> bool:
    """Whether the text is a program; every message must point into it and be printable."""
    try:
        program = parse_program(text, domain, "fuzz.dl")
    except RuleError as error:
        assert error.diagnostics
        assert_located(error.diagnostics, text)
        return False
    assert_located(program.warnings, text)
    assert parse_program(str(program), domain) == program
    return True


def assert_located(diagnostics: tuple[Diagnostic, ...], text: str) -> None:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for diagnostic in diagnostics:
        assert 1 <= diagnostic.line <= len(lines), diagnostic
        line = lines[diagnostic.line - 1]
        # Just behind the line is a place, too: that is where a missing dot belongs.
        assert 1 <= diagnostic.column <= len(line) + 1, diagnostic
        assert diagnostic.source == line
        assert diagnostic.render().startswith(f"fuzz.dl:{diagnostic.line}:{diagnostic.column}: ")


def mutate(tokens: list[str], rng: random.Random) -> list[str]:
    tokens = list(tokens)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        i, j = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        match rng.randrange(5):
            case 0:
                if len(tokens) > 1:
                    del tokens[i]
            case 1:
                tokens.insert(i, tokens[i])
            case 2:
                tokens[i], tokens[j] = tokens[j], tokens[i]
            case 3:
                tokens[i] = tokens[j]
            case _:
                tokens.insert(i, rng.choice(STRANGE))
    return tokens


@pytest.mark.parametrize("seed", range(4))
def test_mutated_tokens(seed: int) -> None:
    rng = random.Random(seed)
    programs = 0
    for _ in range(1500):
        text = rng.choice(FILES)
        tokens = TOKEN.findall(text)
        programs += check("".join(mutate(tokens, rng)), domain_of(text))
    assert 0 < programs < 1500  # otherwise the mutations are too gentle or too rough


def test_every_prefix_of_a_file() -> None:
    for text in FILES:
        start = text.index("\n") + 1
        for end in range(start, len(text), 3):
            check(text[:end], domain_of(text))


def test_random_characters() -> None:
    rng = random.Random(0)
    for _ in range(1000):
        text = "".join(rng.choices(STRANGE, k=rng.randrange(60)))
        check(text, DOMAINS["blocks"])


def test_mixed_files() -> None:
    """Lines of all files in any order: many names meet that never met before."""
    rng = random.Random(1)
    lines = [line for text in FILES for line in text.splitlines()[1:]]
    for _ in range(300):
        check("\n".join(rng.choices(lines, k=12)), rng.choice(list(DOMAINS.values())))


@pytest.mark.parametrize(
    "part", ["(", ")", "p(", "p :- ", "p ", "p, ", "not ", ". ", "p(a", "@", "'"]
)
def test_long_repetitions(part: str) -> None:
    check(part * 10_000, DOMAINS["blocks"])
    check("putdown(A) :- " + part * 10_000, DOMAINS["blocks"])
