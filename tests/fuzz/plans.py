"""Plans: planner and validator read the same plan files and give the same verdict.

An input is the name of a sample task and a plan file.
"""

from __future__ import annotations

import math
from functools import cache
from random import Random

from fuzz.mutations import change_alike, change_bytes, change_text
from fuzz.pddl import SAMPLES
from fuzz.texts import joined, parts
from planlog.errors import MissingValueError, PlanFileError, PlanlogError
from planlog.pddl.plan import Plan
from planlog.pddl.task import Action, Domain, Task
from planlog.policy.policy import Policy
from planlog.validation import Validator
from planlog.validation.plan import read_plan

WORDS = (
    "( ) ; ;cost ; cost = 3 (general cost)|; cost = 1e400 (unit cost)|; cost = 2|0.0003:|1:|[1]|"
    "-|=|?x|object|()|\n|\r|\r\n|\x0b|\x0c|\x1c|\x85|\u2028|\ufeff|\x00|é"
).split("|")
MOST_STEPS = 12


@cache
def _task(number: int) -> tuple[Task, Validator]:
    domain, problem = SAMPLES[number]
    return Domain.parse(domain).parse_task(problem), Validator(domain, problem)


def make(rng: Random) -> bytes:
    number = rng.randrange(len(SAMPLES))
    task, _ = _task(number)
    steps = _steps(task, rng)
    text = "\n".join([*map(str, steps), f"; cost = {len(steps)} (unit cost)", ""])
    kind = rng.random()
    if kind < 0.1:
        pass
    elif kind < 0.4:
        text = change_alike(text, rng)
    elif kind < 0.9:
        text = change_text(text, WORDS, rng)
    else:
        return joined(str(number), "") + change_bytes(text.encode(), rng)
    return joined(str(number), text)


def _steps(task: Task, rng: Random) -> list[Action]:
    """Return random applicable actions, which now and then end in the goal."""
    walk = Policy.applicable(task.domain).start(task)
    steps: list[Action] = []
    for _ in range(rng.randrange(MOST_STEPS)):
        actions = walk.actions()
        if not actions or (walk.is_goal and rng.random() < 0.7):
            break
        steps.append(rng.choice(actions))
        walk.apply(steps[-1])
    return steps


def check(data: bytes) -> str:
    number, content = parts(data, 2)
    task, validator = _task(int(number) % len(SAMPLES) if number.isdigit() else 0)
    text = content.decode("utf-8-sig", errors="replace")
    plan = report = None
    try:
        plan = Plan.parse(text)
    except PlanFileError as error:
        _check_bounds(error)
        reason = error.diagnostics[0].message
    try:
        report = validator.replay(text)
    except PlanFileError as error:
        _check_bounds(error)
        reason = error.diagnostics[0].message
    assert (plan is None) == (report is None), f"only one of them reads the plan: {reason}"
    if plan is None or report is None:
        return "refused"
    steps, _ = read_plan(text, "plan")
    assert [(s.name, s.arguments) for s in steps] == [(a.name, a.arguments) for a in plan.actions]
    walk = Policy.applicable(task.domain).start(task)
    failed = None
    for action in plan.actions:
        try:
            walk.apply(action)
        except PlanlogError as error:
            failed = error
            break
    assert report.steps == walk.steps, (failed, report)
    assert (report.step is not None) == (failed is not None), (failed, report)
    assert report.valid == (failed is None and walk.is_goal), (failed, report)
    assert math.isclose(report.cost, walk.cost, rel_tol=1e-12), (walk.cost, report)
    assert len(report.reason) < 10_000
    assert Plan.parse(str(plan)) == plan
    if isinstance(failed, MissingValueError):
        return "cost missing"
    return "valid" if report.valid else "invalid"


def _check_bounds(error: PlanFileError) -> None:
    assert error.diagnostics
    assert len(str(error)) < 100_000
