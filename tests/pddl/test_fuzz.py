"""Any text is read as a domain or task, or gives located errors."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.errors import PddlError, Severity
from planlog.pddl.task import Domain
from support.profiles import examples
from support.token_changes import change_tokens

pytestmark = pytest.mark.core

SAMPLES = [
    ((folder / "domain.pddl").read_text(), (folder / "problem.pddl").read_text())
    for folder in sorted((Path(__file__).parents[1] / "support" / "pddl_samples").iterdir())
]
TOKEN = re.compile(r"[()]|[^\s()]+")
WORDS = (
    "( ) and or not imply exists forall when increase either - = :action :derived :types :init"
    " :goal :parameters ?x ?x ?y object number total-cost 0 -1 1e400 () ?: ; : ? -- a@b é \x00"
).split(" ")


def judge(read: Callable[[str | bytes], object], text: str | bytes) -> bool:
    """Whether the text is taken; if it is not, the errors must be located in it."""
    try:
        read(text)
        return True
    except PddlError as error:
        lines = (text.encode() if isinstance(text, str) else text).split(b"\n")
        severities = [diagnostic.severity for diagnostic in error.diagnostics]
        assert 1 <= len(severities) - severities.count(Severity.WARNING) <= 50
        for diagnostic in error.diagnostics:
            assert diagnostic.message
            assert 1 <= diagnostic.line <= len(lines)
            source = lines[diagnostic.line - 1].decode(errors="replace")
            assert 1 <= diagnostic.column <= len(source) + 1
            assert diagnostic.length >= 1 or not source
            assert diagnostic.render().startswith(f"{diagnostic.file}:{diagnostic.line}:")
        return False


def damaged(text: str, rng: random.Random) -> str:
    """The text after one to three changes of tokens, at times cut off."""
    tokens = TOKEN.findall(re.sub(";.*", "", text))
    for _ in range(rng.randint(1, 3)):
        i, j = sorted((rng.randrange(len(tokens)), rng.randrange(len(tokens))))
        change = rng.choice(["delete", "double", "swap", "move", "word", "part", "cut"])
        change_tokens(tokens, change, i, j)
        if change == "move":
            tokens.insert(j, tokens.pop(i))
        elif change == "word":
            tokens[i] = rng.choice(WORDS)
        elif change == "part" and j - i < 30:
            tokens[j:j] = tokens[i:j]
        elif change in ("part", "cut") and rng.random() < 0.1:
            del tokens[j:]
        if not tokens:
            return ""
    return " ".join(token + "\n" * (rng.random() < 0.1) for token in tokens)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files(seed: int) -> None:
    rng = random.Random(seed)
    verdicts = Counter[bool]()
    for _ in range(1000):
        domain_text, problem_text = rng.choice(SAMPLES)
        if rng.random() < 0.5:
            text = damaged(domain_text, rng)
            verdicts[judge(Domain.parse, text)] += 1
        else:
            domain = Domain.parse(domain_text)
            text = damaged(problem_text, rng)
            verdicts[judge(domain.parse_task, text)] += 1
    assert verdicts[True] > 20
    assert verdicts[False] > 500


@examples(300)
@given(st.binary(max_size=60), st.integers(0, 4), st.floats(0, 1))
def test_bytes_anywhere(inserted: bytes, sample: int, where: float) -> None:
    domain_text, problem_text = SAMPLES[sample]
    domain = Domain.parse(domain_text)
    for text, read in ((domain_text, Domain.parse), (problem_text, domain.parse_task)):
        content = text.encode()
        at = int(where * len(content))
        changed = content[:at] + inserted + content[at:]
        judge(read, changed)
        judge(read, inserted)


def test_every_prefix() -> None:
    for domain_text, problem_text in SAMPLES:
        domain = Domain.parse(domain_text)
        for text, read in ((domain_text, Domain.parse), (problem_text, domain.parse_task)):
            complete = text.rstrip()
            for end in range(0, len(complete), 3):
                assert not judge(read, complete[:end])


def domain_with(body: str) -> str:
    return f"(define (domain d) (:types t) (:predicates (p ?x - t) (q)) {body})"


def action_with(condition: str = "(q)", effect: str = "(q)", parameters: str = "?x - t") -> str:
    return domain_with(
        f"(:action a :parameters ({parameters}) :precondition {condition} :effect {effect})"
    )


N = 20_000
GIANTS = {
    "parentheses": "(" * 1_000_000,
    "closed parentheses": "(" * 500_000 + ")" * 500_000,
    "nested not": action_with("(not " * 200 + "(q)" + ")" * 200),
    "nested or": action_with("(or (q) (p ?x) (and (p ?x) " * 100 + "(q)" + "))" * 100),
    "nested exists": action_with("(exists (?x - t) " * 200 + "(p ?x)" + ")" * 200),
    "wide and": action_with("(and" + " (p ?x)" * N + ")"),
    "wide or": action_with("(or" + " (p ?x)" * N + ")"),
    "conditions times effects": action_with(
        effect="(when (and" + " (q)" * N + ") (and" + " (p ?x)" * N + "))"
    ),
    "variables": action_with(parameters=" ".join(f"?x{i}" for i in range(N))),
    "quantified variables": action_with(
        effect=f"(forall ({' '.join(f'?y{i}' for i in range(N))}) (and {'(q)' * N}))"
    ),
    "names": domain_with("(:constants " + " ".join(f"c{i}" for i in range(N)) + " - u)"),
    "long name": domain_with(f"(:action {'a' * 1_000_000} :parameters () :effect (z))"),
    "unknown names": action_with("(and" + "".join(f" (p{i} ?x)" for i in range(N)) + ")"),
    "chain of types": "(define (domain d) (:types "
    + " ".join(f"t{i} - t{i + 1}" for i in range(N))
    + "))",
    "either": domain_with(f"(:constants c - (either {'t ' * N}))"),
    "derived chain": "(define (domain d) (:predicates "
    + " ".join(f"(r{i})" for i in range(N))
    + ")"
    + " ".join(f"(:derived (r{i}) (not (r{i + 1})))" for i in range(N - 1))
    + ")",
    "negative cycle": "(define (domain d) (:predicates "
    + " ".join(f"(r{i})" for i in range(N))
    + ")"
    + " ".join(f"(:derived (r{i}) (not (r{(i + 1) % N})))" for i in range(N))
    + ")",
    "number": action_with(effect=f"(increase (total-cost) {'9' * 100_000})"),
    "comment": ";" * 3_000_000,
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", GIANTS)
def test_giants(name: str) -> None:
    """Texts that nest deeply or multiply take seconds; anything worse than linear, hours."""
    judge(Domain.parse, GIANTS[name])


def test_only_the_first_errors_are_told() -> None:
    atoms = "\n".join(f"(at nowhere{i})" for i in range(10_000))
    domain_text, _ = SAMPLES[1]
    text = f"(define (problem x) (:domain hikes) (:init {atoms}) (:goal (rested)))"
    with pytest.raises(PddlError) as raised:
        Domain.parse(domain_text).parse_task(text)
    assert len(raised.value.diagnostics) == 50
