"""Mutations of PDDL texts: damaged tokens, changed characters, moved parts and odd snippets.

`mutated_task(rng)` gives a domain and a problem of which one or both are damaged. Most mutations
keep the parentheses balanced, so that they reach the checks behind the syntax.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

HERE = Path(__file__).parent
SAMPLES = [
    ((folder / "domain.pddl").read_text(), (folder / "problem.pddl").read_text())
    for folder in sorted((HERE / "pddl_samples").iterdir())
]

_TOKEN = re.compile(r"[()]|[^\s()]+")
_COMMENT = re.compile(r";[^\n]*")

# Words and parts that are odd somewhere: keywords, other names, features that are not supported.
WORDS = (
    "and or not imply exists forall when increase decrease assign either preference oneof at over"
    " object number total-cost define domain problem :domain :objects :init :goal :metric :length"
    " :requirements :types :constants :predicates :functions :action :derived :parameters"
    " :precondition :effect :vars :axiom :durative-action :duration :goal-utilities :constraints"
    " :strips :typing :adl :fluents :durative-actions :negation :derivd - = < >= + ? ?x ?y ?-"
    " ?x?y x?y a+b a.b a@b a:b -a :a 0 1 -1 +1 1.5 1e3 1e400 .5 5. 00 -0 nan inf 0x1 minimize"
    " maximize é \ufeff \x00 , ' \" ; ;; : --"
).split(" ")
PARTS = (
    "()",
    "(and)",
    "(or)",
    "(not ())",
    "(= ?x ?x)",
    "(= ?x ?y)",
    "(= (total-cost) 0)",
    "(= (total-cost) 5)",
    "(increase (total-cost) 1)",
    "(increase (total-cost) -1)",
    "(increase (total-cost) (total-cost))",
    "(increase (fuel) 1)",
    "(either object number)",
    "(either)",
    "- object",
    "- (either object)",
    "(exists () (and))",
    "(forall (?x) (and))",
    "(when (and) (and))",
    "(at 5 (and))",
    "(at start (and))",
    "(over all (and))",
    "(preference p (and))",
    "(oneof (and) (and))",
    "(:length (:serial 5))",
    "(:metric maximize (total-cost))",
    "(:metric minimize (total-cost))",
    "(:requirements :durative-actions)",
    "(:requirements :adl)",
    "(:types a - b b - a)",
    "(:types a - object a - b)",
    "(:constraints (and))",
    "(:goal-utilities (= (and) 1))",
    "(:durative-action a)",
    "(:derived (and) (and))",
    "(:action a :effect ())",
    "(:functions (total-cost) (total-cost))",
)


def mutated_task(rng: random.Random, tasks: Sequence[tuple[str, str]] = SAMPLES) -> tuple[str, str]:
    """Return a domain and a problem with one to three mutations."""
    texts = list(rng.choice(tasks))
    others = rng.choice(tasks) if rng.random() < 0.2 else texts
    for _ in range(rng.choice([1, 1, 1, 1, 2, 2, 3])):
        side = rng.random() < 0.4
        texts[side] = mutate(texts[side], rng, others[side])
    return texts[0], texts[1]


def mutate(text: str, rng: random.Random, donor: str = "") -> str:
    """Return the text after one mutation; parts may come from the donor, a similar text."""
    tokens = _TOKEN.findall(_COMMENT.sub("", text))
    if not tokens:
        return rng.choice(PARTS)
    change = rng.choices(_CHANGES, _WEIGHTS)[0]
    return change(text, tokens, rng, _TOKEN.findall(_COMMENT.sub("", donor or text)))


Change = Callable[[str, list[str], random.Random, list[str]], str]


def written(tokens: Sequence[str], rng: random.Random) -> str:
    """Return the text of tokens, on several lines."""
    return "".join(token + rng.choice("      \n") for token in tokens)


def kind(token: str) -> str:
    return token[0] if token[0] in "()?:" else "name"


def part_at(tokens: Sequence[str], start: int) -> int:
    """Return the end of the token or list that begins at `start`."""
    depth = 0
    for end in range(start, len(tokens)):
        depth += (tokens[end] == "(") - (tokens[end] == ")")
        if depth <= 0:
            return end + 1
    return len(tokens)


def random_part(tokens: Sequence[str], rng: random.Random) -> tuple[int, int]:
    """Return the range of a token or list that is not the closing parenthesis of one."""
    starts = [i for i, token in enumerate(tokens) if token != ")"] or [0]
    start = rng.choice(starts)
    return start, part_at(tokens, start)


def _token(text: str, tokens: list[str], rng: random.Random, donor: list[str]) -> str:
    """Delete, double, swap or replace a token, mostly by one of the same kind."""
    i = rng.randrange(len(tokens))
    alike = [j for j, token in enumerate(tokens) if kind(token) == kind(tokens[i])]
    j = rng.choice(alike) if rng.random() < 0.7 else rng.randrange(len(tokens))
    match rng.randrange(4):
        case 0:
            del tokens[i]
        case 1:
            tokens.insert(i, tokens[i])
        case 2:
            tokens[i], tokens[j] = tokens[j], tokens[i]
        case _:
            tokens[i] = tokens[j]
    return written(tokens, rng)


def _word(text: str, tokens: list[str], rng: random.Random, donor: list[str]) -> str:
    """Replace a token by an odd word, or insert one."""
    i = rng.choice([i for i, token in enumerate(tokens) if token not in "()"] or [0])
    tokens[i : i + rng.randrange(2)] = [rng.choice(WORDS)]
    return written(tokens, rng)


def _part(text: str, tokens: list[str], rng: random.Random, donor: list[str]) -> str:
    """Delete, double, move or replace a part, perhaps by one of the donor or an odd one."""
    start, end = random_part(tokens, rng)
    first, last = random_part(donor or tokens, rng)
    other = (donor or tokens)[first:last]
    match rng.randrange(6):
        case 0:
            del tokens[start:end]
        case 1:
            tokens[start:start] = tokens[start:end]
        case 2:
            tokens[start:end] = other
        case 3:
            tokens[start:start] = other
        case 4:
            tokens[start:start] = _TOKEN.findall(rng.choice(PARTS))
        case _:
            tokens[start:end] = _TOKEN.findall(rng.choice(PARTS))
    return written(tokens, rng)


def _wrap(text: str, tokens: list[str], rng: random.Random, donor: list[str]) -> str:
    """Put a part into a connective, a few times over."""
    start, end = random_part(tokens, rng)
    before = rng.choice(
        ["not", "and", "or", "exists (?x)", "forall (?y)", "when (and)", "imply ()"]
    )
    count = rng.choice([1, 1, 1, 2, 5, 300])
    tokens[end:end] = [")"] * count
    tokens[start:start] = ["(", *_TOKEN.findall(before)] * count
    return written(tokens, rng)


def _character(text: str, tokens: list[str], rng: random.Random, donor: list[str]) -> str:
    """Delete, insert or change a character; comments and line ends stay as they are."""
    at = rng.randrange(len(text))
    new = rng.choice("?-:;()=+.@ax0 \t\n\r\f\v\x00\x1c\x7fé\ufeff\u2028")
    return text[:at] + rng.choice(["", new]) + text[at + rng.randrange(2) :]


def _whole(text: str, tokens: list[str], rng: random.Random, donor: list[str]) -> str:
    """Change the whole text: its line ends, case, end or spaces."""
    match rng.randrange(6):
        case 0:
            return text.replace("\n", "\r")
        case 1:
            return text.replace("\n", "\r\n")
        case 2:
            return "\ufeff" + text
        case 3:
            return text.upper()
        case 4:
            return text[: rng.randrange(len(text))]
        case _:
            return "".join(tokens) if rng.random() < 0.5 else text + rng.choice(PARTS)


_CHANGES: list[Change] = [_token, _word, _part, _wrap, _character, _whole]
_WEIGHTS = [6, 4, 8, 1, 2, 0.5]
