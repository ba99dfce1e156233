"""Odd files and mutations: planner and validator give one verdict, and mostly Fast Downward's.

The odd files are the corpus that `support/pddl_corpus.py` describes.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from pathlib import Path

import pytest

from planlog.pddl.task import Action, Domain
from planlog.policy.policy import Policy
from planlog.validation import Validator
from support.pddl_corpus import CASES, MORE_LIBERAL, STRICTER, texts
from support.pddl_mutations import mutated_task
from support.pddl_verdicts import (
    ACCEPTED,
    ERROR,
    UNSUPPORTED,
    as_text,
    planner_verdict,
    translator_verdict,
    validator_verdict,
)

pytestmark = pytest.mark.core


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}-{case.stem}")
def test_verdicts(case: Path) -> None:
    domain, problem = texts(case)
    expected = case.parent.name
    assert planner_verdict(domain, problem) == expected
    assert validator_verdict(domain, problem) == expected
    other = translator_verdict(domain, problem)
    differs = (expected == ACCEPTED) != (other == ACCEPTED)
    assert differs == (case.stem in (MORE_LIBERAL if expected == ACCEPTED else STRICTER)), other


def test_every_difference_is_in_the_corpus() -> None:
    assert {*MORE_LIBERAL, *STRICTER} <= {case.stem for case in CASES}
    assert {case.parent.name for case in CASES} == {ACCEPTED, ERROR, UNSUPPORTED}


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.parent.name == ACCEPTED], ids=lambda case: case.stem
)
def test_accepted_files_mean_the_same(case: Path) -> None:
    """Planner and validator agree on the actions that are applicable in the initial state."""
    domain_text, problem_text = texts(case)
    task = Domain.parse(domain_text).parse_task(problem_text)
    applicable = set(Policy.applicable(task.domain).start(task).actions())
    validator = Validator(as_text(domain_text), as_text(problem_text))
    for schema in task.domain.actions:
        if len(task.objects) ** schema.arity > 1000:
            continue
        for arguments in itertools.product(task.objects, repeat=schema.arity):
            action = Action(schema.name, arguments)
            report = validator.replay(f"{action}\n", prefix=True)
            assert report.valid == (action in applicable), report.reason


@pytest.mark.parametrize("seed", range(4))
def test_mutations_get_one_verdict(seed: int) -> None:
    rng = random.Random(seed)
    verdicts = Counter[str]()
    for _ in range(500):
        domain, problem = mutated_task(rng)
        verdict = planner_verdict(domain, problem)
        assert validator_verdict(domain, problem) == verdict, (domain, problem)
        verdicts[verdict] += 1
    assert min(verdicts[verdict] for verdict in (ACCEPTED, ERROR, UNSUPPORTED)) >= 5, verdicts
