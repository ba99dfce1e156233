"""State spaces as the rest of Planlog sees them: limits, distances, policies, threads."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import deque

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from planlog import domains
from planlog._core import resident_memory
from planlog.pddl.task import Action, Domain, Task
from planlog.policy.policy import Policy
from planlog.statespace.graph import NOT_REACHED
from planlog.statespace.space import DEAD_END, UNKNOWN, StateSpace, derive, expand, expand_all
from support.pddl_by_the_book import Book
from support.profiles import examples
from support.random_policies import random_rules, world_task
from support.random_worlds import random_world
from support.shipped_domains import POLICIES, generated, policy_of
from support.statespace_reference import as_dictionaries, atoms_of, explore, same

seeds = st.integers(0, 2**32)


def same_spaces(left: StateSpace, right: StateSpace) -> bool:
    return (
        same(as_dictionaries(left), as_dictionaries(right))
        and left.goal_distances.tolist() == right.goal_distances.tolist()
    )


def steps(space: StateSpace, state: int, mask: np.ndarray | None = None) -> dict[Action, int]:
    """Return the actions of a state, or those of them in a mask, with their successors."""
    return {
        space.action_of(t): int(space.successors[t])
        for t in space.transitions(state)
        if mask is None or mask[t]
    }


def sizes_of(spaces: list[StateSpace]) -> list[int]:
    return [len(space) for space in spaces]


# --- Limits ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", domains.names())
def test_limit_is_the_number_of_states(name: str) -> None:
    task = generated(name)
    whole = expand(task, limit=10**6)
    assert whole.complete
    assert whole.expanded == len(whole) > 10
    for limit in (len(whole), len(whole) + 1):
        assert same_spaces(expand(task, limit=limit), whole)
    below = expand(task, limit=len(whole) - 1)
    assert not below.complete
    assert below.expanded < len(below) == len(whole) - 1


def assert_part_of(part: StateSpace, whole: StateSpace) -> None:
    """Assert that the part has the first states of the whole, and true distances only."""
    assert atoms_of(part) == atoms_of(whole)[: len(part)]
    assert part.depths.tolist() == whole.depths[: len(part)].tolist()
    assert part.complete == (part.expanded == len(part))
    for state in range(part.expanded):
        assert steps(part, state) == steps(whole, state)
    true, found = whole.goal_distances[: len(part)], part.goal_distances
    known = found != UNKNOWN
    assert found[known].tolist() == true[known].tolist()
    assert set(found[part.goal].tolist()) <= {0}
    leaving = known[part.graph.sources]  # where the distance is known, so are optimal actions
    assert part.optimal[leaving].tolist() == whole.optimal[: len(leaving)][leaving].tolist()
    if part.complete:
        assert known.all()
        return
    # Distances are known within the expanded layers, and dead ends if they reach expanded states
    # only.
    inside = (true >= 0) & (part.depths.astype(int) + true < int(part.depths[part.expanded]))
    open_states = range(part.expanded, len(whole))
    closed = whole.graph.reverse.distances(open_states)[: len(part)] == NOT_REACHED
    assert known[inside | (closed & (true == DEAD_END))].all()


@examples(150)
@given(seeds, st.floats(0, 1))
def test_part_of_a_space(seed: int, share: float) -> None:
    task = world_task(seed)
    whole = expand(task, limit=500)
    if whole.complete:
        assert_part_of(expand(task, limit=max(1, round(share * len(whole)))), whole)


@pytest.mark.parametrize("limit", [1, 2, 3, 10, 50, 100, 200])
@pytest.mark.parametrize("name", domains.names())
def test_part_of_a_shipped_space(name: str, limit: int) -> None:
    task = generated(name)
    assert_part_of(expand(task, limit=limit), expand(task))


def test_dead_ends_are_known_in_closed_parts() -> None:
    """A trap is known although other states are not expanded."""
    domain = """(define (domain d) (:predicates (at ?x) (edge ?x ?y))
      (:action go :parameters (?x ?y) :precondition (and (at ?x) (edge ?x ?y))
        :effect (and (not (at ?x)) (at ?y))))"""
    edges = [("n0", "trap"), ("trap", "pit"), ("pit", "trap")]
    edges += [(f"n{i}", f"n{i + 1}") for i in range(99)]
    objects = sorted({node for edge in edges for node in edge})
    facts = " ".join(f"(edge {x} {y})" for x, y in edges)
    task = Domain.parse(domain).parse_task(
        f"""(define (problem p) (:domain d) (:objects {" ".join(objects)})
        (:init (at n0) {facts}) (:goal (at n99)))"""
    )
    part = expand(task, limit=20)
    distances = {str(part.state(s).atoms[0]): int(part.goal_distances[s]) for s in range(len(part))}
    assert distances["(at trap)"] == distances["(at pit)"] == DEAD_END
    assert {d for at, d in distances.items() if at.startswith("(at n")} == {UNKNOWN}


def test_a_limit_leaves_room_for_the_start() -> None:
    space = expand(generated("blocksworld"), limit=1)
    assert (len(space), space.expanded, space.complete) == (1, 0, False)
    assert space.goal_distances.tolist() == [UNKNOWN]


# --- Tasks at the edge -------------------------------------------------------------------

SWITCH = """(define (domain s) (:requirements :negative-preconditions)
  (:predicates (ready) (on))
  (:action start :parameters () :precondition (and (ready) (not (on))) :effect (on)))"""


def switch(init: str, goal: str) -> Task:
    return Domain.parse(SWITCH).parse_task(
        f"(define (problem p) (:domain s) (:init {init}) (:goal {goal}))"
    )


def test_a_task_whose_initial_state_is_a_goal() -> None:
    whole = expand(switch("(ready)", "(ready)"))
    assert len(whole) == 2
    assert whole.goal.tolist() == [True, True]
    assert whole.goal_distances.tolist() == [0, 0]
    task = whole.task
    for space in (expand(task, stop_at_goal=True), expand(task, Policy.applicable(task.domain))):
        assert len(space) == 1
        assert space.goal_distances.tolist() == [0]
        assert len(space.successors) == 0


@pytest.mark.parametrize(("goal", "distance"), [("(on)", DEAD_END), ("(not (on))", 0)])
def test_a_task_without_an_applicable_action(goal: str, distance: int) -> None:
    space = expand(switch("", goal))
    assert space.complete
    assert len(space) == 1
    assert space.segments.lengths.tolist() == [0]
    assert space.goal_distances.tolist() == [distance]


LAMPS = """(define (domain lamps) (:requirements :adl) (:predicates (lit ?x) (works ?x))
  (:action on :parameters (?x) :precondition (and (works ?x) (not (lit ?x))) :effect (lit ?x))
  (:action off :parameters (?x) :precondition (and (works ?x) (lit ?x)) :effect (not (lit ?x))))"""


@given(
    st.sampled_from([1, 2, 63, 64, 65, 127, 128, 129, 200, 300]),
    st.integers(0, 2**32),
    st.sampled_from([0.0, 0.3, 1.0]),
)
def test_states_of_many_atoms(count: int, seed: int, density: float) -> None:
    """The distance to the goal is the number of lamps to switch, if they can be switched."""
    rng = random.Random(seed)
    lamps = [f"l{i}" for i in range(count)]
    lit = {lamp for lamp in lamps if rng.random() < density}
    working = set(rng.sample(lamps, min(count, rng.randint(0, 6)))) | {lamps[-1]}
    wanted = {lamp: rng.random() < 0.5 for lamp in rng.sample(lamps, min(count, 5))}
    goals = [f"(lit {lamp})" if value else f"(not (lit {lamp}))" for lamp, value in wanted.items()]
    facts = [f"(lit {lamp})" for lamp in sorted(lit)]
    facts += [f"(works {lamp})" for lamp in sorted(working)]
    task = Domain.parse(LAMPS).parse_task(
        f"""(define (problem p) (:domain lamps) (:objects {" ".join(lamps)})
        (:init {" ".join(facts)}) (:goal (and {" ".join(goals)})))"""
    )
    space = expand(task)
    found = {
        frozenset(atom[1] for atom in state if atom[0] == "lit"): distance
        for state, distance in zip(atoms_of(space), space.goal_distances.tolist(), strict=True)
    }
    assert len(found) == len(space) == 2 ** len(working)
    assert space.complete
    assert len(space.successors) == len(space) * len(working)
    for state, distance in found.items():
        assert lit - working == state - working
        wrong = [lamp for lamp, value in wanted.items() if (lamp in state) != value]
        assert distance == (len(wrong) if working.issuperset(wrong) else DEAD_END)


def chain(length: int, effect: str) -> Task:
    """Return a task in which each state has one atom more than the state before."""
    domain = f"""(define (domain chain) (:requirements :adl) (:predicates (seen ?x) (next ?x ?y))
      (:action go :parameters (?x ?y)
        :precondition (and (seen ?x) (next ?x ?y) (not (seen ?y))) :effect {effect}))"""
    facts = " ".join(f"(next n{i} n{i + 1})" for i in range(length - 1))
    objects = " ".join(f"n{i}" for i in range(length))
    return Domain.parse(domain).parse_task(
        f"""(define (problem p) (:domain chain) (:objects {objects})
        (:init (seen n0) {facts}) (:goal (seen n{length - 1})))"""
    )


@pytest.mark.parametrize("effect", ["(seen ?y)", "(when (seen ?x) (seen ?y))"])
@pytest.mark.parametrize("length", [63, 64, 65, 66, 128, 129, 200])
def test_atoms_that_appear_during_expansion(length: int, effect: str) -> None:
    space = expand(chain(length, effect))
    assert len(space) == length
    assert [len(space.state(s)) for s in range(length)] == list(range(1, length + 1))
    assert space.goal_distances.tolist() == list(range(length - 1, -1, -1))
    assert space.depths.tolist() == list(range(length))
    assert space.goal.tolist() == [False] * (length - 1) + [True]


# --- Goals -------------------------------------------------------------------------------


@examples(100)
@given(seeds)
def test_goal_states_are_ends_under_a_policy(seed: int) -> None:
    task = world_task(seed)
    domain, problem = random_world(random.Random(seed))
    space = expand(task, Policy.applicable(task.domain), limit=200)
    reference = explore(Book(domain, problem), through_goals=False, limit=200)
    assert same(as_dictionaries(space), reference)


@examples(100)
@given(seeds)
def test_expansion_to_the_nearest_goal(seed: int) -> None:
    """Expansion up to the nearest goal yields goal distance and optimal actions of any state."""
    task = world_task(seed)
    whole = expand(task, limit=500)
    if not whole.complete:
        return
    for state in random.Random(seed).sample(range(len(whole)), min(5, len(whole))):
        near = expand(task, start=whole.state(state), stop_at_goal=True, limit=500)
        distance = int(whole.goal_distances[state])
        assert near.goal_distances[0] == distance
        if distance > 0:
            assert nearer(near, 0) == nearer(whole, state)
            assert near.depths[: near.expanded].max() <= distance


def nearer(space: StateSpace, state: int) -> set[Action]:
    """Return the optimal actions of a state."""
    distances = space.goal_distances
    return {
        action
        for action, successor in steps(space, state).items()
        if distances[successor] == distances[state] - 1
    }


@pytest.mark.parametrize("name", domains.names())
def test_expansion_to_the_nearest_goal_in_shipped_domains(name: str) -> None:
    task = generated(name)
    whole = expand(task)
    rng = random.Random(name)
    for state in rng.sample(range(len(whole)), 20):
        near = expand(task, start=whole.state(state), stop_at_goal=True)
        assert near.goal_distances[0] == whole.goal_distances[state]
        if not whole.goal[state]:
            assert nearer(near, 0) == nearer(whole, state)


def test_a_goal_beyond_the_limit_is_unknown() -> None:
    for stop in (False, True):
        near = expand(chain(50, "(seen ?y)"), limit=20, stop_at_goal=stop)
        assert near.goal_distances.tolist() == [UNKNOWN] * len(near)
        assert near.expanded < len(near) == 20


@examples(60)
@given(seeds)
def test_another_start(seed: int) -> None:
    domain, problem = random_world(random.Random(seed))
    task = world_task(seed)
    whole = expand(task, limit=100)
    state = random.Random(seed).randrange(len(whole))
    space = expand(task, start=whole.state(state), limit=100)
    assert same(
        as_dictionaries(space),
        explore(Book(domain, problem), atoms_of(whole)[state], limit=100),
    )
    assert space.state(0) == whole.state(state)
    assert task.initial == whole.state(0)


# --- Policies ----------------------------------------------------------------------------


def rule_counts(space: StateSpace, policy: Policy, states: list[int]) -> list[tuple[int, int]]:
    """Return for each rule the number of states in which it fires, and of its derivations."""
    assert policy.program is not None
    rules = policy.derivations(space.task, [space.state(s) for s in states]).rules
    counts = []
    for rule in policy.rule_numbers:
        derivations = rules[rule].segments.lengths
        if rules[rule].static:
            derivations = np.repeat(derivations, len(states))
        counts.append((int((derivations > 0).sum()), int(derivations.sum())))
    return counts


def assert_policy(space: StateSpace, policy: Policy) -> np.ndarray:
    """Assert that `derive` equals the evaluation of each state, and return its mask."""
    derived = derive(space, policy)
    assert derived.mask.shape == space.successors.shape
    asked = []
    for state in range(space.expanded):
        if space.goal[state]:
            assert not steps(space, state, derived.mask)
        else:
            asked.append(state)
            expected = policy.actions(space.task, space.state(state))
            assert list(steps(space, state, derived.mask)) == expected
    expected_counts = rule_counts(space, policy, asked)
    assert derived.rules.states.tolist() == [states for states, _ in expected_counts]
    assert derived.rules.derivations.tolist() == [n for _, n in expected_counts]
    return derived.mask


def assert_reached(space: StateSpace, mask: np.ndarray, policy: Policy) -> None:
    """Assert that the space of the policy is the part of the whole that the mask reaches."""
    own = expand(space.task, policy)
    assert own.complete
    depths = {0: 0}
    queue = deque([0])
    while queue:
        state = queue.popleft()
        for successor in steps(space, state, mask).values():
            if successor not in depths:
                depths[successor] = depths[state] + 1
                queue.append(successor)
    states = atoms_of(space)
    reached = as_dictionaries(own)
    assert reached.depths == {states[s]: depth for s, depth in depths.items()}
    assert reached.goal == {states[s]: bool(space.goal[s]) for s in depths}
    assert reached.transitions == {
        states[s]: {a: states[t] for a, t in steps(space, s, mask).items()} for s in depths
    }
    asked = [s for s in range(len(own)) if not own.goal[s]]
    expected = rule_counts(own, policy, asked)
    assert own.rules.states.tolist() == [n for n, _ in expected]
    assert own.rules.derivations.tolist() == [n for _, n in expected]


@pytest.mark.parametrize(("name", "variant"), POLICIES)
def test_shipped_policies(name: str, variant: str) -> None:
    policy = policy_of(name, variant)
    for seed in range(2):
        space = expand(generated(name, seed), limit=3_000)
        mask = assert_policy(space, policy)
        if space.complete:
            assert_reached(space, mask, policy)


@examples(150)
@given(seeds)
def test_random_programs(seed: int) -> None:
    task = world_task(seed)
    text = random_rules(random.Random(seed), task.domain)
    note(text)
    policy = Policy.parse(text, task.domain)
    space = expand(task, limit=200)
    mask = assert_policy(space, policy)
    if space.complete:
        assert_reached(space, mask, policy)


def test_executions_end_in_goals() -> None:
    domain = Domain.parse(SWITCH)
    policy = Policy.parse("start :- ready.", domain)
    task = domain.parse_task("(define (problem p) (:domain s) (:init (ready)) (:goal (ready)))")
    assert len(expand(task, policy)) == 1
    assert sizes_of(list(expand_all([task], policy))) == [1]
    assert sizes_of(list(expand_all([task]))) == [2]


# --- Many tasks --------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [None, 1, 2, 3])
def test_spaces_of_many_tasks_come_in_order(workers: int | None) -> None:
    """The spaces come in the order of the tasks, whatever the number of threads."""
    sizes = [5, 2, 4, 3, 5, 2, 2, 3]
    tasks = [generated("blocksworld", seed, blocks=n) for seed, n in enumerate(sizes)]
    spaces = list(expand_all(tasks, limit=500, workers=workers))
    assert [space.task for space in spaces] == tasks
    for task, space in zip(tasks, spaces, strict=True):
        assert same_spaces(space, expand(task, limit=500))
    policy = policy_of("blocksworld")
    for task, space in zip(
        tasks, expand_all(tasks, policy, limit=500, workers=workers), strict=True
    ):
        assert same_spaces(space, expand(task, policy))


def test_the_same_task_in_several_threads() -> None:
    task = generated("blocksworld", blocks=5)
    first, *others = expand_all([task] * 6, limit=10_000, workers=3)
    assert all(same_spaces(first, other) for other in others)


def test_no_tasks() -> None:
    assert list(expand_all([], limit=10)) == []


# --- Interrupts, progress, memory ----------------------------------------------------------


def interrupt_after(seconds: float) -> None:
    threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_an_expansion() -> None:
    task = generated("blocksworld", blocks=12)
    interrupt_after(0.3)
    with pytest.raises(KeyboardInterrupt):
        expand(task, limit=10**7)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_ends_many_expansions(workers: int) -> None:
    tasks = [generated("blocksworld", seed, blocks=12) for seed in range(4)]
    threads = threading.active_count()
    interrupt_after(0.3)
    with pytest.raises(KeyboardInterrupt):
        list(expand_all(tasks, limit=10**7, workers=workers))
    time.sleep(0.1)
    assert threading.active_count() <= threads  # no thread is left


def test_progress_is_reported() -> None:
    task = generated("blocksworld", blocks=6)
    seen: list[int] = []
    space = expand(task, on_progress=seen.append)
    assert seen == sorted(seen)
    assert len(seen) > 1
    assert seen[-1] <= len(space)


def test_errors_of_on_progress_pass_through() -> None:
    def fail(_: int) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        expand(generated("blocksworld", blocks=6), on_progress=fail)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("blocksworld", {"blocks": 7}),
        ("satellite", {"satellites": 2, "instruments": 2, "modes": 2, "directions": 3}),
    ],
)
def test_ten_thousand_states_take_a_few_megabytes(name: str, sizes: dict[str, int]) -> None:
    task = generated(name, **sizes)
    spaces = [expand(task)]
    assert len(spaces[0]) > 7_000
    before = resident_memory()
    spaces += [expand(task) for _ in range(10)]
    assert (resident_memory() - before) / 10 < 3 * 2**20
    space = spaces[0]
    arrays = [space.core.bits, space.depths, space.goal, space.segments.offsets]
    arrays += [space.successors, space.actions]
    assert sum(array.nbytes for array in arrays) < 2 * 2**20
