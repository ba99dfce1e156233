"""PDDL: planner and validator read the same files, and agree on what the actions do.

A sample of the files is given to Fast Downward's translator, which must accept the same ones, apart
from the differences that the corpus of odd files justifies.

An input is a domain and a problem.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from random import Random

from fuzz import targets
from fuzz.mutations import change_alike, change_bytes, change_text
from fuzz.texts import check_diagnostics, joined, parts
from planlog.errors import MissingValueError, PddlError, PlanlogError, UnsupportedError
from planlog.pddl.task import Action, Domain, Task
from planlog.policy.policy import Policy
from planlog.policy.walk import Walk
from planlog.validation import Validator
from planlog.validation.plan import Step
from planlog.validation.replay import _Replay
from support.pddl_corpus import known_refusals
from support.pddl_mutations import mutated_task
from support.pddl_verdicts import refusal, translator_refusal
from support.random_tasks import random_task
from support.random_worlds import random_world

SAMPLES = [
    ((folder / "domain.pddl").read_text(), (folder / "problem.pddl").read_text())
    for folder in sorted((Path(__file__).parents[1] / "support" / "pddl_samples").iterdir())
]
WORDS = (
    "( ) and or not imply exists forall when increase either - = :action :derived :types :init"
    " :goal :parameters :precondition :effect :objects :constants :metric :requirements :domain"
    " :length :constraints :durative-action :adl ?x ?x ?y object number total-cost minimize 0 -1"
    " 1.5 1e400 9007199254740993 () ?: ; : ? -- a@b a+b a.b é \x00 \ufeff define domain problem"
).split(" ")
STEPS = 5
TRANSLATED = 5  # one of so many inputs goes to Fast Downward's translator
QUANTIFIER = re.compile(rb"forall|exists", re.IGNORECASE)
MOST_QUANTIFIERS = 10  # the translator instantiates all of them, within each other
MOST_GROUND = 20_000  # ground actions or axioms; larger tasks are read but not walked through


def make(rng: Random) -> bytes:
    kind = rng.random()
    if kind < 0.15:
        return joined(*random_task(rng))  # correct, with all features
    base = rng.choice(
        [lambda: rng.choice(SAMPLES), lambda: random_task(rng), lambda: random_world(rng)]
    )
    texts = list(base())
    which = rng.randrange(2)
    if kind < 0.2:
        return change_bytes(joined(*texts), rng)
    if kind < 0.25:
        return change_bytes(rng.choice(targets.seeds("pddl")), rng)
    if kind < 0.6:
        return joined(*mutated_task(rng, [(texts[0], texts[1])]))
    if kind < 0.75:
        texts[which] = change_alike(texts[which], rng)
    else:
        texts[which] = change_text(texts[which], WORDS, rng)
    return joined(*texts)


def check(data: bytes) -> str:
    contents = parts(data, 2)
    domain_text, problem_text = (c.decode("utf-8-sig", errors="replace") for c in contents)
    task = refused = None
    try:
        verdict, texts = "domain", contents[0]
        domain = Domain.parse(contents[0])
        check_diagnostics(domain.warnings, _text(texts))
        texts = contents[1]
        task = domain.parse_task(contents[1])
        check_diagnostics(task.warnings, _text(texts))
        verdict = "read"
    except PddlError as error:
        refused = error
        check_diagnostics(error.diagnostics, _text(texts))
        verdict = "unsupported" if isinstance(error, UnsupportedError) else "refused"
    validator = None
    try:
        validator = Validator(domain_text, problem_text)
        other = "read"
    except PddlError as error:
        refused = refused or error
        other = "unsupported" if isinstance(error, UnsupportedError) else "refused"
    assert verdict == other, f"planner {verdict}, validator {other}: {refused}"
    if sum(data) % TRANSLATED == 0 and len(QUANTIFIER.findall(data)) <= MOST_QUANTIFIERS:
        _check_translator(contents, refused and refusal(refused))
    if task is None or validator is None or _ground_size(task) > MOST_GROUND:
        return verdict
    _walk(task, validator, Random(targets.digest(data)))
    return "walked"


def _check_translator(contents: list[bytes], refused: str | None) -> None:
    """Compare with Fast Downward's verdict; differences must be of a kind that is in the corpus."""
    theirs = translator_refusal(*contents)
    liberal, strict = known_refusals()
    if theirs and not refused:
        assert theirs in liberal, f"refused by Fast Downward only: {theirs}"
    elif refused and not theirs:
        assert refused in strict, f"accepted by Fast Downward only: {refused}"


def _text(content: bytes) -> str:
    """Return a text with all kinds of line ends as line feeds."""
    text = content.decode("utf-8-sig", errors="replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _ground_size(task: Task) -> int:
    sizes = [schema.parameters for schema in task.domain.actions]
    sizes += [axiom.variables for axiom in task.domain.axioms]
    count = len(task.objects)
    return sum(count ** len(parameters) for parameters in sizes)


def _walk(task: Task, validator: Validator, rng: Random) -> None:
    """Take random actions; compare applicability, successors, costs and the goal."""
    walk = Policy.applicable(task.domain).start(task)
    replay = _Replay(validator._domain, validator._problem)
    objects = list(task.objects)
    plan: list[Action] = []
    for _ in range(STEPS):
        _compare_states(walk, replay)
        report = validator.replay("\n".join(map(str, plan)))
        assert report.valid == walk.is_goal, (plan, report)
        applicable = walk.actions()
        candidates = rng.sample(applicable, min(3, len(applicable)))
        for schema in task.domain.actions:
            if objects or not schema.parameters:
                arguments = tuple(rng.choice(objects) for _ in schema.parameters)
                candidates.append(Action(schema.name, arguments))
        known = set(applicable)
        for action in candidates:
            theirs = validator.replay("\n".join(map(str, [*plan, action])), prefix=True)
            try:
                before = walk.cost
                walk.apply(action)
                assert theirs.valid, (plan, action, theirs.reason)
                assert action in known, (plan, action)
                assert math.isclose(walk.cost, theirs.cost, rel_tol=1e-12), (plan, action)
                walk.undo()
                assert walk.cost == before
            except PlanlogError as error:
                assert not theirs.valid, (plan, action, error)
                missing = isinstance(error, MissingValueError)
                assert missing or action not in known, (plan, action, error)
                assert missing == ("has no value" in theirs.reason), (plan, theirs.reason)
                known.discard(action)
        usable = [action for action in candidates if action in known]
        if not usable:
            return
        taken = rng.choice(usable)
        walk.apply(taken)
        replay.execute(Step(taken.name, taken.arguments))
        plan.append(taken)


def _compare_states(walk: Walk, replay: _Replay) -> None:
    ours = {(name, *arguments) for name, arguments in (*walk.state.atoms, *walk.task.static_atoms)}
    basic = [p.name for p in walk.task.domain.predicates if not p.derived]
    theirs = {(name, *row) for name in basic for row in replay.world.relation(name).rows}
    assert ours == theirs, (sorted(ours - theirs), sorted(theirs - ours))
