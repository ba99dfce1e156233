"""Execution on graphs, whose nodes are the states, so that reachability is easy to see."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.pddl.plan import Plan
from planlog.pddl.task import Action, Domain, Task
from planlog.policy.execution import Outcome, PlanResult, execute
from planlog.policy.policy import Policy
from planlog.policy.walk import Walk
from planlog.validation import validate

GRAPH = """
(define (domain graph)
  (:requirements :strips)
  (:predicates (at ?x) (edge ?x ?y))
  (:action go :parameters (?x ?y) :precondition (and (at ?x) (edge ?x ?y))
    :effect (and (not (at ?x)) (at ?y))))
"""
DOMAIN = Domain.parse(GRAPH)
APPLICABLE = Policy.applicable(DOMAIN)

Edges = set[tuple[int, int]]


def problem(nodes: int, edges: Edges, goal: int) -> str:
    """Start at node 0, get to the goal."""
    objects = " ".join(f"n{i}" for i in range(nodes))
    facts = " ".join(f"(edge n{x} n{y})" for x, y in sorted(edges))
    return f"""(define (problem p) (:domain graph) (:objects {objects})
      (:init (at n0) {facts}) (:goal (at n{goal})))"""


def graph(nodes: int, edges: Edges, goal: int) -> Task:
    return DOMAIN.parse_task(problem(nodes, edges, goal))


def run(task: Task, policy: Policy = APPLICABLE, seed: int = 0, **limits: object) -> PlanResult:
    return execute(policy, task, rng=np.random.default_rng(seed), **limits)  # type: ignore[arg-type]


def moves(result: PlanResult) -> list[tuple[str, ...]]:
    return [action.arguments for action in result.actions]


def reachable(edges: Edges) -> set[int]:
    found, todo = {0}, [0]
    while todo:
        node = todo.pop()
        new = {y for x, y in edges if x == node} - found
        found |= new
        todo += new
    return found


graphs = st.integers(2, 7).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))),
        st.integers(0, n - 1),
    )
)


@given(graphs, st.integers(0, 3))
def test_avoiding_revisits_finds_the_goal_if_and_only_if_it_can_be_reached(
    given_graph: tuple[int, Edges, int], seed: int
) -> None:
    nodes, edges, goal = given_graph
    result = run(graph(nodes, edges, goal), seed=seed, avoid_revisits=True)
    assert result.solved == (goal in reachable(edges))
    assert result.outcome in {Outcome.SOLVED, Outcome.NO_ACTION, Outcome.CYCLE}
    if result.solved:
        visited = ["n0", *(to for _, to in moves(result))]
        assert len(set(visited)) == len(visited)
        plan = str(result.plan)
        assert validate(GRAPH, problem(nodes, edges, goal), plan).valid


@given(graphs, st.integers(0, 3))
def test_every_end_of_a_random_walk_is_what_it_says(
    given_graph: tuple[int, Edges, int], seed: int
) -> None:
    nodes, edges, goal = given_graph
    result = run(graph(nodes, edges, goal), seed=seed, max_steps=300)
    at = 0
    for x, y in moves(result):  # the actions are a walk through the graph
        assert x == f"n{at}"
        at = int(y[1:])
        assert (int(x[1:]), at) in edges
    ways_out = {(x, y) for x, y in edges if x == at}
    assert result.steps == len(result.actions) == result.cost
    assert result.goals_left == (0 if at == goal else 1)
    match result.outcome:
        case Outcome.SOLVED:
            assert at == goal
        case Outcome.NO_ACTION:
            assert not ways_out
        case Outcome.CYCLE:
            # The loop has no way out: following the only edge leads back here.
            node = at
            while True:
                (node,) = {y for x, y in edges if x == node}
                assert node != goal
                if node == at:
                    break
        case Outcome.STEP_LIMIT:
            assert result.steps == 300
        case other:
            pytest.fail(f"unexpected {other}")


@given(graphs)
def test_the_seed_decides_everything(given_graph: tuple[int, Edges, int]) -> None:
    task = graph(*given_graph)
    for avoid in (False, True):
        first, second = (run(task, seed=7, max_steps=50, avoid_revisits=avoid) for _ in range(2))
        assert (first.outcome, first.actions) == (second.outcome, second.actions)


def test_actions_are_drawn_uniformly() -> None:
    ways = 4
    task = graph(ways + 1, {(0, i) for i in range(1, ways + 1)}, 1)
    rng = np.random.default_rng(0)
    draws = [moves(execute(APPLICABLE, task, rng=rng, max_steps=1))[0][1] for _ in range(4000)]
    for i in range(1, ways + 1):
        # Five standard deviations around the expected 1000.
        assert abs(draws.count(f"n{i}") - 1000) < 5 * (4000 * 0.25 * 0.75) ** 0.5


@pytest.mark.parametrize("avoid", [False, True])
def test_another_start(avoid: bool) -> None:
    task = graph(4, {(0, 1), (1, 2), (2, 3)}, 3)
    walk = APPLICABLE.start(task)
    for length in (3, 2, 1, 0):
        result = run(task, start=walk.state, avoid_revisits=avoid)
        assert result.solved
        assert len(result.actions) == result.cost == result.steps == length
        if length:
            walk.apply(result.actions[0])
    assert len(run(task, avoid_revisits=avoid).actions) == 3


def test_a_goal_that_holds_at_once_needs_no_action() -> None:
    result = run(graph(2, set(), 0), max_steps=0, time_limit=10)
    assert (result.outcome, result.actions) == (Outcome.SOLVED, ())


def test_a_loop_without_choice_is_seen_after_a_choice_has_led_into_it() -> None:
    task = graph(5, {(0, 1), (0, 2), (1, 2), (2, 3), (3, 2)}, 4)
    result = run(task)
    assert result.outcome is Outcome.CYCLE
    assert result.steps <= 4


def test_the_time_limit_holds() -> None:
    task = graph(3, {(0, 1), (1, 0), (0, 0)}, 2)  # for ever, with a choice
    result = run(task, time_limit=0.2)
    assert result.outcome is Outcome.TIME_LIMIT
    assert result.steps > 0


def test_the_time_limit_holds_before_the_first_state() -> None:
    nodes = 20
    joins = ", ".join(f"edge(X{i}, X{i + 1})" for i in range(nodes))  # 20^21 paths, no answer
    policy = Policy.parse(f"go(X0, X1) :- {joins}, not edge(X{nodes}, X0).", DOMAIN)
    policy.compiled  # noqa: B018 (the time limit is not for the compilation)
    complete = graph(nodes, set(itertools.product(range(nodes), repeat=2)), 1)
    begin = time.monotonic()
    result = execute(policy, complete, time_limit=0.05)
    assert result.outcome is Outcome.TIME_LIMIT
    assert time.monotonic() - begin < 0.5


def test_no_time_at_all_is_a_time_limit_too() -> None:
    assert run(graph(2, {(0, 1)}, 1), time_limit=0).outcome is Outcome.TIME_LIMIT


def test_the_memory_limit_holds() -> None:
    task = graph(3, {(0, 1), (1, 0), (0, 0)}, 2)
    result = run(task, memory_limit=1, time_limit=60)  # one byte
    assert result.outcome is Outcome.MEMORY_LIMIT


def test_failing_allocations_are_a_memory_limit() -> None:
    def fail(walk: Walk, action: Action) -> None:
        if walk.steps == 3:
            raise MemoryError

    result = run(graph(3, {(0, 1), (1, 0), (0, 0)}, 2), observer=fail)
    assert result.outcome is Outcome.MEMORY_LIMIT
    assert result.steps == 3


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("avoid", [False, True])
def test_ctrl_c_is_an_outcome_and_tells_how_far_it_got(avoid: bool) -> None:
    def interrupt(walk: Walk, action: Action) -> None:
        if walk.steps == 3:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)

    edges = {(i, i + 1) for i in range(9)}
    result = run(graph(10, edges, 9), observer=interrupt, avoid_revisits=avoid)
    assert result.outcome is Outcome.INTERRUPTED
    assert len(result.actions) == result.steps == 3
    assert result.goals_left == 1


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_an_endless_walk() -> None:
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    result = run(graph(3, {(0, 1), (1, 0), (0, 0)}, 2), time_limit=60)
    assert result.outcome is Outcome.INTERRUPTED


def test_the_observer_sees_each_state_and_action() -> None:
    seen: list[tuple[int, str]] = []
    run(
        graph(4, {(0, 1), (1, 2), (2, 3)}, 3),
        observer=lambda walk, action: seen.append((walk.steps, str(action))),
    )
    assert seen == [(0, "(go n0 n1)"), (1, "(go n1 n2)"), (2, "(go n2 n3)")]


COSTS = """
(define (domain toll) (:requirements :strips :action-costs)
  (:predicates (at ?x) (edge ?x ?y))
  (:functions (total-cost) (toll ?x ?y))
  (:action go :parameters (?x ?y) :precondition (and (at ?x) (edge ?x ?y))
    :effect (and (not (at ?x)) (at ?y) (increase (total-cost) (toll ?x ?y)))))
"""


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6))
def test_costs_are_added_up_and_written(tolls: list[int]) -> None:
    nodes = " ".join(f"n{i}" for i in range(len(tolls) + 1))
    facts = " ".join(
        f"(edge n{i} n{i + 1}) (= (toll n{i} n{i + 1}) {toll})" for i, toll in enumerate(tolls)
    )
    text = f"""(define (problem p) (:domain toll) (:objects {nodes})
      (:init (at n0) {facts} (= (total-cost) 0)) (:goal (at n{len(tolls)}))
      (:metric minimize (total-cost)))"""
    domain = Domain.parse(COSTS)
    result = run(domain.parse_task(text), Policy.applicable(domain))
    assert result.solved
    assert result.cost == sum(tolls)
    plan = str(result.plan)
    assert plan.splitlines()[-1] == f"; cost = {sum(tolls)} (general cost)"
    report = validate(COSTS, text, plan)
    assert report.valid
    assert report.cost == sum(tolls)


def solved() -> Plan:
    plan = run(graph(3, {(0, 1), (1, 2)}, 2)).plan
    assert plan is not None
    return plan


def test_plan_files_are_as_planners_write_them(tmp_path: Path) -> None:
    solved().write(tmp_path / "plan")
    assert (tmp_path / "plan").read_text() == "(go n0 n1)\n(go n1 n2)\n; cost = 2 (unit cost)\n"
    assert [p.name for p in tmp_path.iterdir()] == ["plan"]


def test_a_plan_file_is_replaced_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "plan"
    old.write_text("old")

    def fail(self: Path, target: Path) -> None:
        assert Path(target).read_text() == "old"  # nothing has been touched so far
        raise OSError("no space")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        solved().write(old)
    assert old.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["plan"]


def test_a_link_to_a_plan_file_stays_a_link(tmp_path: Path) -> None:
    link = tmp_path / "latest"
    link.symlink_to(tmp_path / "plan.1")
    solved().write(link)
    assert link.is_symlink()
    assert (tmp_path / "plan.1").read_text().endswith("(unit cost)\n")


def test_only_solved_results_have_a_plan() -> None:
    assert run(graph(2, set(), 1)).plan is None
