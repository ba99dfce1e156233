"""Replaying a plan step by step, and what there is to say about it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from planlog.validation.conditions import And, Env
from planlog.validation.domain import read_domain
from planlog.validation.model import Action, Domain, Problem
from planlog.validation.plan import Step, read_plan
from planlog.validation.problem import read_problem
from planlog.validation.sexpr import Source
from planlog.validation.world import Row, World

SHOWN_GOALS = 5


@dataclass(frozen=True)
class Report:
    """Whether the plan is valid, and if not, the first step and literal that fail."""

    valid: bool
    steps: int  # that could be executed
    cost: float  # of these steps; each costs 1 unless the problem minimises (total-cost)
    step: int | None  # the number of the step that fails, from 1; none if only the goal does
    action: str | None  # that step, as in "(stack b1 b2)"
    reason: str  # empty if valid
    warnings: tuple[str, ...]
    complete: bool  # whether the plan file ends with its cost line


class _StepError(Exception):
    """Why a step cannot be executed."""


class Validator:
    """A domain and a problem, read once to replay many plans."""

    def __init__(
        self,
        domain_text: str,
        problem_text: str,
        *,
        names: tuple[str, str] = ("domain.pddl", "problem.pddl"),
    ) -> None:
        """Raises PddlError for texts that cannot be read."""
        self._domain = read_domain(Source(names[0], domain_text))
        self._problem = read_problem(Source(names[1], problem_text), self._domain)

    def replay(self, plan_text: str, *, prefix: bool = False, name: str = "plan") -> Report:
        """Replay the plan; with `prefix`, its steps have to be executable but not reach the goal.

        Raises PlanFileError for a text that cannot be read.
        """
        domain, problem = self._domain, self._problem
        plan = read_plan(plan_text, name)
        world = World(problem.objects, problem.relations, domain.strata)
        warnings = []
        if problem.domain_name != domain.name:
            warnings.append(
                f"the problem is for domain {problem.domain_name}, but the domain is {domain.name}"
            )
        if plan.declared_cost is None:
            warnings.append("incomplete plan file: the last line is not '; cost = N (...)'")

        cost = 0.0
        for number, step in enumerate(plan.steps, 1):
            try:
                cost += _execute(step, domain, problem, world)
            except _StepError as failure:
                reason = f"step {number} {step}: {failure}"
                return Report(
                    valid=False,
                    steps=number - 1,
                    cost=cost,
                    step=number,
                    action=str(step),
                    reason=reason,
                    warnings=tuple(warnings),
                    complete=plan.declared_cost is not None,
                )
        if plan.declared_cost is not None and not math.isclose(
            plan.declared_cost, cost, abs_tol=1e-6
        ):
            warnings.append(f"the plan file says cost {plan.declared_cost:g}, but it is {cost:g}")
        reason = "" if prefix else _open_goals(problem, world)
        return Report(
            valid=not reason,
            steps=len(plan.steps),
            cost=cost,
            step=None,
            action=None,
            reason=reason,
            warnings=tuple(warnings),
            complete=plan.declared_cost is not None,
        )


def validate(
    domain_text: str,
    problem_text: str,
    plan_text: str,
    *,
    prefix: bool = False,
    names: tuple[str, str, str] = ("domain.pddl", "problem.pddl", "plan"),
) -> Report:
    """Replay the plan; with `prefix`, its steps have to be executable but not reach the goal.

    Raises PddlError and PlanFileError for texts that cannot be read.
    """
    validator = Validator(domain_text, problem_text, names=names[:2])
    return validator.replay(plan_text, prefix=prefix, name=names[2])


def validate_files(
    domain: str | Path, problem: str | Path, plan: str | Path, *, prefix: bool = False
) -> Report:
    """As validate; raises OSError for files that cannot be opened."""
    # Bytes that are not UTF-8 occur in comments of old files.
    texts = [Path(p).read_text("utf-8-sig", errors="replace") for p in (domain, problem, plan)]
    return validate(
        texts[0],
        texts[1],
        texts[2],
        prefix=prefix,
        names=(str(domain), str(problem), str(plan)),
    )


def _execute(step: Step, domain: Domain, problem: Problem, world: World) -> float:
    """Change the world by the step; its cost."""
    action = domain.actions.get(step.name)
    if action is None:
        near = get_close_matches(step.name, domain.actions, 1)
        raise _StepError(
            f"there is no action {step.name}" + (f" (did you mean {near[0]}?)" if near else "")
        )
    env = _bind(step, action, problem, world)
    if not action.precondition.holds(env, world):
        raise _StepError(f"precondition {action.precondition.failure(env, world)} is false")
    # Everything is evaluated in the state before the step.
    cost = _cost(action, env, problem, world) if problem.counts_costs else 1.0
    deleted: list[tuple[str, Row]] = []
    added: list[tuple[str, Row]] = []
    for effect in action.effects:
        changed = added if effect.adds else deleted
        for found in [env] if effect.query is None else effect.query.solutions(env, world):
            changed.append((effect.atom.predicate, effect.atom.row(found)))
    world.apply(deleted, added)
    return cost


def _bind(step: Step, action: Action, problem: Problem, world: World) -> Env:
    if len(step.arguments) != len(action.parameters):
        raise _StepError(
            f"{action.name} has {len(action.parameters)} arguments, not {len(step.arguments)}"
        )
    for name, parameter in zip(step.arguments, action.parameters, strict=True):
        if name not in problem.objects:
            near = get_close_matches(name, problem.objects, 1)
            raise _StepError(
                f"there is no object {name}" + (f" (did you mean {near[0]}?)" if near else "")
            )
        if name not in world.members(parameter.types):
            raise _StepError(
                f"{name} is not of type {' or '.join(parameter.types)}, "
                f"as parameter {parameter.name} has to be"
            )
    return [*step.arguments, *[""] * (action.slots - len(step.arguments))]


def _cost(action: Action, env: Env, problem: Problem, world: World) -> float:
    total = 0.0
    for cost in action.costs:
        for found in [env] if cost.query is None else cost.query.solutions(env, world):
            if isinstance(cost.amount, float):
                total += cost.amount
                continue
            value = problem.values.get((cost.amount.predicate, cost.amount.row(found)))
            if value is None:
                raise _StepError(f"the cost {cost.amount.show(found)} has no value")
            total += value
    return total


def _open_goals(problem: Problem, world: World) -> str:
    """Which parts of the goal do not hold; empty if all do."""
    goals, todo = [], [problem.goal]
    while todo:
        goal = todo.pop()
        if isinstance(goal, And):
            todo += reversed(goal.parts)
        else:
            goals.append(goal)
    env = [""] * problem.goal_slots
    unsatisfied = [goal for goal in goals if not goal.holds(env, world)]
    if not unsatisfied:
        return ""
    shown = [goal.failure(env, world) for goal in unsatisfied[:SHOWN_GOALS]]
    more = len(unsatisfied) - len(shown)
    return (
        f"goal not reached, {len(unsatisfied)} of {len(goals)} parts are false: "
        + ", ".join(shown)
        + (f" and {more} more" if more else "")
    )
