"""Measurements of rules: reading, evaluation and state spaces."""

from __future__ import annotations

import itertools
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from inputs import Sizes, best, generated, setting, timed
from planlog import domains
from planlog.pddl.task import Action, Domain, State, Task
from planlog.policy.execution import execute
from planlog.policy.policy import Policy
from planlog.policy.walk import Walk
from planlog.statespace.labels import label
from planlog.statespace.space import StateSpace, expand
from results import Budget, Ratio

SECONDS_FOR_SPACES = 2


def states_along(policy: Policy, task: Task) -> tuple[tuple[Action, ...], list[State]]:
    """Return a plan of the policy, and the states before its actions."""
    plan = execute(policy, task, rng=np.random.default_rng(0))
    if not plan.solved:
        raise SystemExit(f"{task.name}: {plan.outcome.value}")
    walk = policy.start(task)
    states = []
    for action in plan.actions:
        states.append(walk.state)
        walk.apply(action)
    return plan.actions, states


# --- Reading -------------------------------------------------------------------------------


def measure_reading(sizes: Sizes) -> Iterator[Ratio]:
    """Measure parsing the text of a task; the domain has been read before."""
    from pypddl.formalism import Parser, ParserOptions

    texts = (generated("rover", sizes.read_sizes, seed) for seed in itertools.count())
    problem = next(text for text in texts if len(text) >= sizes.read_characters)
    domain_text = (domains.path("rover") / "domain.pddl").read_text(encoding="utf-8")
    domain = Domain.parse(domain_text)
    options = ParserOptions()
    options.strict = True  # check numbers and types of arguments, as Planlog does

    def theirs() -> float:
        # A parser caches what it has read, so each task gets a new one.
        parser = Parser(domain_text, options)
        return timed(lambda: parser.parse_task(problem))()

    ours, other = best(sizes.repetitions, timed(lambda: domain.parse_task(problem)), theirs)
    what = f"read a Rover task of {len(problem) / 1e6:.1f} MB"
    yield Ratio(what, ours, other, "pypddl", required=5)


# --- One state from scratch ----------------------------------------------------------------

# The shipped policy with the preconditions of its actions.
BLOCKSWORLD_FOR_CLINGO = """
placed_by_goal(A) :- on_table_goal(A).
placed_by_goal(A) :- on_goal(A, _).
reserved(B) :- on_goal(_, B).
reserved(B) :- clear_goal(B).
well_placed(A) :- on_table_ag(A).
well_placed(A) :- on_ag(A, B), well_placed(B).
well_placed(A) :- on_table(A), not placed_by_goal(A).
well_placed(A) :- on(A, B), well_placed(B), not placed_by_goal(A), not reserved(B).
unstack(A, B) :- arm_empty, on(A, B), clear(A), not well_placed(A).
stack(A, B) :- holding(A), clear(B), on_ug(A, B), well_placed(B).
pickup(A) :- arm_empty, on_table(A), clear(A), on_ug(A, B), well_placed(B), clear(B).
putdown(A) :- holding(A), not stack(A, _).
"""
BLOCKSWORLD_ACTIONS = {"pickup": 1, "putdown": 1, "stack": 2, "unstack": 2}


def facts_for_clingo(task: Task, state: State) -> str:
    """Return the atoms of the state and of the goal, and achieved and unachieved goals."""
    true, goal = {*state.atoms, *task.static_atoms}, set(task.goal_atoms)
    lines = []
    for atoms, suffix in ((true, ""), (goal, "_goal"), (goal & true, "_ag"), (goal - true, "_ug")):
        for atom in sorted(atoms):
            row = f"({', '.join(atom.arguments)})" if atom.arguments else ""
            lines.append(f"{atom.name.replace('-', '_')}{suffix}{row}.")
    return "\n".join(lines)


def measure_scratch(sizes: Sizes) -> Iterator[Ratio]:
    """Measure the evaluation of states along a plan, each from scratch."""
    import clingo

    domain, policy = setting("blocksworld")
    task = domain.parse_task(generated("blocksworld", {"blocks": sizes.blocks}, seed=0))
    _, states = states_along(policy, task)
    states = states[:: max(1, len(states) // 8)]
    facts = [facts_for_clingo(task, state) for state in states]

    def prepared(text: str) -> clingo.Control:
        control = clingo.Control(["--warn=none"])
        control.add("base", [], BLOCKSWORLD_FOR_CLINGO + text)
        return control

    def grounded(control: clingo.Control) -> list[tuple[str, list[str]]]:
        control.ground([("base", [])])
        return [
            (name, [argument.name for argument in atom.symbol.arguments])
            for name, arity in BLOCKSWORLD_ACTIONS.items()
            for atom in control.symbolic_atoms.by_signature(name, arity)
        ]

    for state, text in zip(states, facts, strict=True):
        theirs = {Action(name, tuple(row)) for name, row in grounded(prepared(text))}
        if theirs != set(policy.actions(task, state)):
            raise SystemExit("clingo derives other actions: the policy has changed")

    def all_of_clingo() -> None:
        for text in facts:
            grounded(prepared(text))

    def grounding_alone() -> float:
        controls = [prepared(text) for text in facts]
        return timed(lambda: [grounded(control) for control in controls])()

    ours, with_text, alone = best(
        sizes.repetitions,
        timed(lambda: [policy.actions(task, state) for state in states]),
        timed(all_of_clingo),
        grounding_alone,
    )
    what = f"one state from scratch, {sizes.blocks} blocks: derived actions"
    n = len(states)
    yield Ratio(what, ours / n, with_text / n, "clingo: add, ground, read atoms", required=10)
    yield Ratio(what, ours / n, alone / n, "clingo: ground, read atoms", required=None)


# --- One step ------------------------------------------------------------------------------


def measure_step(sizes: Sizes) -> Iterator[Ratio]:
    """Measure the mean step of a whole plan, against evaluation of the same states from scratch.

    After both, all that the rules derive is up to date, derivations included.
    """
    domain, policy = setting("blocksworld")
    task = domain.parse_task(generated("blocksworld", {"blocks": sizes.blocks}, seed=0))
    plan, states = states_along(policy, task)
    encoded = task.encode(plan)

    def calls(method: Callable[[Walk], Callable[..., object]], rows: Iterable[Any]) -> float:
        """Return the seconds of calls of a method of a new walk, with these arguments."""
        call = method(policy.start(task))
        start = time.thread_time()
        for row in rows:
            call(*row)
        return time.thread_time() - start

    times = best(
        4 * sizes.repetitions,  # they are short
        lambda: calls(lambda walk: walk.core.apply, encoded),
        lambda: calls(lambda walk: walk.core.start, ((state.ids,) for state in states)),
        lambda: calls(lambda walk: walk.apply, ((action,) for action in plan)),
        lambda: calls(lambda walk: walk.restart, ((state,) for state in states)),
    )
    steps, scratch, public_steps, public_scratch = (seconds / len(plan) for seconds in times)
    what = f"one step, {sizes.blocks} blocks"
    yield Ratio(f"{what}: the core", steps, scratch, "from scratch", required=20)
    yield Ratio(f"{what}: Walk.apply", public_steps, public_scratch, "Walk.restart", required=None)


# --- State spaces --------------------------------------------------------------------------


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress the lines that mimir prints about each task that it grounds."""
    sys.stdout.flush()
    kept = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


class Labelled(NamedTuple):
    """Sums over state spaces, by which the results of both sides are compared."""

    states: int = 0
    transitions: int = 0
    optimal: int = 0
    distances: int = 0

    @classmethod
    def of(cls, distances: np.ndarray, optimal: np.ndarray) -> Labelled:
        return cls(len(distances), len(optimal), int(optimal.sum()), int(distances.sum()))

    def plus(self, other: Labelled) -> Labelled:
        return Labelled(*map(sum, zip(self, other, strict=True)))


def training_texts(name: str, states: int) -> list[str]:
    """Return the generated training set up to the first task with too many states."""
    domain, _ = setting(name)
    texts = []
    for _, text in domains.generate(name, seed=0, split="training"):
        if not expand(domain.parse_task(text), limit=states).complete:
            break
        texts.append(text)
    return texts


def measure_space(sizes: Sizes) -> Iterator[Ratio | Budget]:
    """Measure the expansion of the Blocksworld training set: all states, their goal distances,
    and for each applicable action whether it is optimal. Tasks have been read before.

    With the policy: also whether the policy derives the action.
    """
    import pymimir
    from pymimir.advanced import datasets, search

    name = "blocksworld"
    domain, policy = setting(name)
    texts = training_texts(name, sizes.states)
    # mimir accepts comments in files only.
    domain_text, *bare = (
        re.sub(";.*", "", text)
        for text in ((domains.path(name) / "domain.pddl").read_text(encoding="utf-8"), *texts)
    )
    options = datasets.StateSpaceOptions()
    options.max_num_states = sizes.states + 1
    options.symmetry_pruning = False
    options.remove_if_unsolvable = False

    def ours(also: Callable[[StateSpace], object]) -> tuple[float, Labelled]:
        # The tasks are new in every repetition, for both sides.
        tasks = [domain.parse_task(text) for text in texts]
        total = Labelled()
        start = time.thread_time()
        for task in tasks:
            space = expand(task, limit=sizes.states)
            total = total.plus(Labelled.of(space.goal_distances, space.optimal))
            also(space)
        return time.thread_time() - start, total

    def theirs(mode: object) -> tuple[float, Labelled]:
        theirs = pymimir.Domain(domain_text)
        problems = [pymimir.Problem(theirs, text)._advanced_problem for text in bare]
        total = Labelled()
        start = time.thread_time()
        for problem in problems:
            context = search.SearchContext.create(problem, search.SearchContextOptions(mode))
            space, _ = datasets.StateSpace.create(context, options)
            graph = space.get_graph()
            distances = numbers(datasets.get_unit_goal_distance, graph.get_vertices())
            edges = graph.get_edges()
            before = distances[numbers(datasets.ProblemEdge.get_source, edges)]
            after = distances[numbers(datasets.ProblemEdge.get_target, edges)]
            total = total.plus(Labelled.of(distances, after == before - 1))
        return time.thread_time() - start, total

    def numbers(function: Callable[[object], int], items: list[object]) -> np.ndarray:
        return np.fromiter(map(function, items), dtype=np.int32, count=len(items))

    found = []

    def checked(result: tuple[float, Labelled]) -> float:
        found.append(result[1])
        return result[0]

    lifted = search.LiftedOptions(search.LiftedKPKCOptions())
    with quiet():
        alone, with_policy, default, grounded = best(
            sizes.repetitions,
            lambda: checked(ours(lambda _: None)),
            lambda: checked(ours(lambda space: label(space, policy))),
            lambda: checked(theirs(lifted)),
            lambda: checked(theirs(search.GroundedOptions())),
        )
    if len(set(found)) > 1:
        raise SystemExit(f"mimir finds other state spaces: {set(found)}")
    what = f"{len(texts)} state spaces, {found[0].states} states: h*, optimal actions"
    yield Ratio(what, alone, default, "mimir, as it comes (lifted)", required=3)
    yield Ratio(what, alone, grounded, "mimir, grounded", required=3)
    also = f"{what}; which of them the policy derives"
    yield Ratio(also, with_policy, default, "mimir, lifted, without a policy", required=3)
    yield Ratio(also, with_policy, grounded, "mimir, grounded, without a policy", required=None)
    yield Budget(also, with_policy, SECONDS_FOR_SPACES)
