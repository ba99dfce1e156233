"""Replay a plan step by step and report the first step or goal that fails."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from planlog.errors import clip, nearest
from planlog.files import read_input_text
from planlog.validation.conditions import Env, conjuncts
from planlog.validation.domain import read_domain
from planlog.validation.model import Action, Cost, Domain, Effect, Problem
from planlog.validation.numbers import exact, plain
from planlog.validation.plan import Step, read_plan
from planlog.validation.problem import read_problem
from planlog.validation.sexpr import MAX_DEPTH, Source
from planlog.validation.world import Row, World

SHOWN_GOALS = 5
LONGEST_REASON = 2_000  # characters


@dataclass(frozen=True)
class Report:
    """Result of a replay: whether the plan is valid, or else the step and literal that fail."""

    valid: bool
    steps: int  # number of executed steps
    # Of the executed steps; each costs 1 unless the problem minimises (total-cost).
    cost: int | Decimal
    step: int | None  # number of the failing step, from 1; None if only the goal fails
    action: str | None  # text of the failing step: "(stack b1 b2)"
    reason: str  # empty if the plan is valid
    warnings: tuple[str, ...]
    complete: bool  # whether the plan file ends with its cost line


class _StepError(Exception):
    """A step that cannot be executed; the message says why."""


class Validator:
    """A domain and a problem, read once to replay many plans."""

    def __init__(
        self,
        domain_text: str,
        problem_text: str,
        *,
        names: tuple[str, str] = ("domain.pddl", "problem.pddl"),
    ) -> None:
        """Read the PDDL texts. Raises PddlError; messages call the texts `names`."""
        _allow_deep_conditions()
        self._domain = read_domain(Source(names[0], domain_text))
        self._problem = read_problem(Source(names[1], problem_text), self._domain)

    def replay(self, plan_text: str, *, prefix: bool = False, name: str = "plan") -> Report:
        """Replay a plan; with `prefix`, it need not reach the goal.

        Raises PlanFileError if the text is not a plan.
        """
        domain, problem = self._domain, self._problem
        steps, declared = read_plan(plan_text, name)
        replay = _Replay(domain, problem)
        warnings = []
        if declared is None:
            warnings.append("incomplete plan file: the last line is not '; cost = N (...)'")

        cost, executed = Fraction(0), 0
        failed: Step | None = None
        for step in steps:
            try:
                cost += replay.execute(step)
            except _StepError as failure:
                failed, reason = step, f"step {executed + 1} {step}: {failure}"
                break
            executed += 1
        else:
            if declared is not None and declared != cost:
                said, computed = plain(declared), plain(cost)
                warnings.append(f"the plan file says cost {said}, but it is {computed}")
            reason = "" if prefix else replay.open_goals()
        return Report(
            valid=not reason,
            steps=executed,
            cost=exact(cost),
            step=executed + 1 if failed else None,
            action=clip(str(failed)) if failed else None,
            reason=clip(reason, LONGEST_REASON),
            warnings=tuple(warnings),
            complete=declared is not None,
        )


def validate(
    domain_text: str,
    problem_text: str,
    plan_text: str,
    *,
    prefix: bool = False,
    names: tuple[str, str, str] = ("domain.pddl", "problem.pddl", "plan"),
) -> Report:
    """Replay a plan; with `prefix`, it need not reach the goal. Messages call the texts `names`.

    Raises PddlError if the domain or problem cannot be read, PlanFileError if the plan cannot.
    """
    validator = Validator(domain_text, problem_text, names=names[:2])
    return validator.replay(plan_text, prefix=prefix, name=names[2])


def validate_files(
    domain: str | Path, problem: str | Path, plan: str | Path, *, prefix: bool = False
) -> Report:
    """Replay a plan file as `validate` does. Also raises OSError if a file cannot be read."""
    texts = (read_input_text(file) for file in (domain, problem, plan))
    return validate(*texts, prefix=prefix, names=(str(domain), str(problem), str(plan)))


class _Replay:
    """A replay of a plan: the world after the steps executed so far."""

    def __init__(self, domain: Domain, problem: Problem) -> None:
        self.domain = domain
        self.problem = problem
        self.world = World(problem.objects, problem.relations, domain.strata)

    def execute(self, step: Step) -> Fraction:
        """Apply a step to the world and return its cost."""
        action = self.domain.actions.get(step.name)
        if action is None:
            raise _unknown("action", step.name, self.domain.actions)
        env = self.bind(step, action)
        if not action.precondition.holds(env, self.world):
            reason = action.precondition.failure(env, self.world)
            raise _StepError(f"precondition {reason} is false")
        # Conditions of effects and costs refer to the state before the step.
        cost = Fraction(0 if self.problem.counts_costs else 1)
        deleted: list[tuple[str, Row]] = []
        added: list[tuple[str, Row]] = []
        for effect in action.effects:
            for found in effect.query.solutions(env, self.world):
                if isinstance(effect, Effect):
                    changed = added if effect.adds else deleted
                    changed.append((effect.atom.predicate, effect.atom.row(found)))
                elif self.problem.counts_costs:
                    cost += self.amount(effect, found)
        self.world.apply(deleted, added)
        return cost

    def bind(self, step: Step, action: Action) -> Env:
        given, wanted = step.arguments, action.parameters
        if len(given) != len(wanted):
            raise _StepError(f"{action.name} has {len(wanted)} arguments, not {len(given)}")
        for name, parameter in zip(given, wanted, strict=True):
            if name not in self.problem.objects:
                raise _unknown("object", name, self.problem.objects)
            if name not in self.world.members(parameter.types):
                raise _StepError(
                    f"{name} is not of type {' or '.join(parameter.types)}, "
                    f"as parameter {parameter.name} has to be"
                )
        return {parameter.name: name for parameter, name in zip(wanted, given, strict=True)}

    def amount(self, cost: Cost, env: Env) -> Fraction:
        if isinstance(cost.amount, Fraction):
            return cost.amount
        value = self.problem.values.get((cost.amount.predicate, cost.amount.row(env)))
        if value is None:
            raise _StepError(f"the cost {cost.amount.show(env)} has no value")
        return value

    def open_goals(self) -> str:
        """Describe the parts of the goal that do not hold; return an empty text if all do."""
        goals = list(conjuncts(self.problem.goal))
        unsatisfied = [goal for goal in goals if not goal.holds({}, self.world)]
        if not unsatisfied:
            return ""
        shown = [goal.failure({}, self.world) for goal in unsatisfied[:SHOWN_GOALS]]
        more = len(unsatisfied) - len(shown)
        return (
            f"goal not reached, {len(unsatisfied)} of {len(goals)} parts are false: "
            + ", ".join(shown)
            + (f" and {more} more" if more else "")
        )


def _allow_deep_conditions() -> None:
    """Raise the recursion limit of Python for conditions that are nested MAX_DEPTH deep."""
    frames = 12 * MAX_DEPTH  # more than a level takes when it is read or evaluated
    sys.setrecursionlimit(max(sys.getrecursionlimit(), frames + 1000))


def _unknown(kind: str, name: str, known: Iterable[str]) -> _StepError:
    near = nearest(name, known)
    hint = f" (did you mean {near}?)" if near else ""
    return _StepError(f"there is no {kind} {name}{hint}")
