"""Better plans by search: valid, cheaper and cheaper, the same again, and at best optimal."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from dataclasses import replace
from heapq import heappop, heappush
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog import _core, domains
from planlog.errors import MissingValueError
from planlog.network.model_file import Model
from planlog.pddl.task import Action, Domain, Task
from planlog.policy.execution import Outcome, PlanResult, execute
from planlog.policy.policy import Policy
from planlog.search.action_elimination import eliminate_redundant_actions
from planlog.search.improve import first_plan, improve
from planlog.statespace.space import expand
from planlog.validation import validate
from support.profiles import examples
from support.shipped_domains import SHIPPED, SMALL, generated, policy_of

# Large enough that plans of the rules can be improved, and small enough for all their states.
WIDER = {
    "blocksworld": {"blocks": 5},
    "ferry": {"cars": 3, "locations": 3},
    "rover": {"rovers": 2, "waypoints": 3, "cameras": 2, "objectives": 2},
    "satellite": {"satellites": 2, "instruments": 2, "modes": 2, "directions": 3},
}
ROADS = """
(define (domain roads) (:requirements :strips :action-costs)
  (:predicates (at ?x) (road ?x ?y)) (:functions (length ?x ?y) (total-cost))
  (:action go :parameters (?x ?y) :precondition (and (at ?x) (road ?x ?y))
    :effect (and (not (at ?x)) (at ?y) (increase (total-cost) (length ?x ?y)))))
"""
Roads = dict[tuple[int, int], int]
names = st.sampled_from(domains.names())
seeds = st.integers(0, 2**64 - 1)


def plan_of(policy: Policy, task: Task, seed: int = 0) -> PlanResult:
    result = execute(policy, task, rng=np.random.default_rng(seed), max_steps=10_000)
    assert result.solved
    return result


def shipped_model(name: str) -> Policy:
    file = domains.model_path(name)
    assert file is not None
    return Model.read(file).policy(SHIPPED[name])


def plans(*arguments: object, **options: object) -> list[tuple[tuple[Action, ...], float, int]]:
    """All of a search that does not depend on time."""
    found = improve(*arguments, **options)  # type: ignore[arg-type]
    return [(result.actions, result.cost, result.steps) for result in found]


def roads(lengths: Roads, goal: int) -> tuple[str, Task]:
    """Start at place 0, get to the goal."""
    places = " ".join(f"p{i}" for i in range(goal + 1))
    facts = " ".join(
        f"(road p{x} p{y}) (= (length p{x} p{y}) {length})" for (x, y), length in lengths.items()
    )
    text = f"""(define (problem p) (:domain roads) (:objects {places})
      (:init (at p0) {facts} (= (total-cost) 0)) (:goal (at p{goal}))
      (:metric minimize (total-cost)))"""
    return text, Domain.parse(ROADS).parse_task(text)


def least_length(lengths: Roads, goal: int) -> int:
    queue, done = [(0, 0)], set()
    while queue:
        length, place = heappop(queue)
        if place == goal:
            return length
        if place not in done:
            done.add(place)
            for (x, y), more in lengths.items():
                if x == place:
                    heappush(queue, (length + more, y))
    raise AssertionError("no way")


def random_roads(seed: int, places: int = 8) -> Roads:
    """Every place can be left for the next one and for some others."""
    rng = random.Random(seed)
    lengths = {(i, i + 1): rng.randint(1, 9) for i in range(places - 1)}
    for _ in range(3 * places):
        x, y = rng.sample(range(places), 2)
        lengths.setdefault((x, y), rng.randint(0, 40))
    return lengths


# --- What is found -------------------------------------------------------------------------


@examples(40)
@given(names, seeds, st.booleans(), st.integers(1, 3))
def test_plans_are_valid_and_each_costs_less_than_the_last(
    name: str, seed: int, with_model: bool, threads: int
) -> None:
    ((_, problem),) = domains.generate(name, seed=seed % 1000, sizes=SMALL[name])
    task = SHIPPED[name].parse_task(problem)
    policy = shipped_model(name) if with_model else policy_of(name)
    first = plan_of(policy_of(name), task, seed)
    found = [
        first,
        *improve(policy, task, first, seed=seed, threads=threads, max_expansions=500),
    ]
    domain = (domains.path(name) / "domain.pddl").read_text()
    for result in found:
        assert result.outcome is Outcome.SOLVED
        assert (result.unit_cost, result.goals_left) == (first.unit_cost, 0)
        text = str(result.plan)
        report = validate(domain, problem, text)
        assert report.valid
        assert report.cost == result.cost == len(result.actions)
    for result in found[1:]:
        assert eliminate_redundant_actions(task, result) == result
    for one, next_one in pairwise(found):
        assert next_one.cost < one.cost
    for one, next_one in pairwise(found[1:]):
        assert next_one.steps > one.steps
        assert next_one.seconds >= one.seconds
    assert found[-1].cost >= expand(task).goal_distances[0]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", domains.names())
def test_what_is_best_under_the_rules_is_found_in_small_tasks(name: str, seed: int) -> None:
    task = generated(name, seed, **WIDER[name])
    rules = policy_of(name)
    optimum = expand(task, rules, limit=200_000).goal_distances[0]
    first = max((plan_of(rules, task, s) for s in range(20)), key=lambda plan: plan.cost)
    *_, last = [first, *improve(rules, task, first, threads=2, max_expansions=30_000)]
    assert last.cost == optimum


def test_some_of_these_first_plans_can_be_improved() -> None:
    for name in domains.names():
        tasks = [generated(name, seed, **WIDER[name]) for seed in range(3)]
        rules = policy_of(name)
        optima = [expand(task, rules, limit=200_000).goal_distances[0] for task in tasks]
        costs = [max(plan_of(rules, task, s).cost for s in range(20)) for task in tasks]
        assert any(cost > optimum for cost, optimum in zip(costs, optima, strict=True)), name


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", ["rover", "satellite"])
def test_the_search_goes_on_with_the_plan_without_redundant_actions(
    name: str, threads: int
) -> None:
    sizes = {
        "rover": {"rovers": 2, "waypoints": 6, "cameras": 6, "objectives": 6},
        "satellite": {"satellites": 3, "instruments": 6, "modes": 3, "directions": 8},
    }
    task, rules = generated(name, 1, **sizes[name]), policy_of(name)
    first = plan_of(rules, task)
    start = (task.initial.ids, task.encode(first.actions))
    search = _core.ParallelSearch(task.core, rules.core, None, *start, 0, threads, True)
    # The search begins with the plan without them, reports it, and so ends no worse.
    shorter = eliminate_redundant_actions(task, first)
    assert search.plan() == task.encode(shorter.actions)
    assert search.cost == shorter.cost < first.cost
    found = list(improve(rules, task, first, threads=threads, max_expansions=5_000))
    assert (found[0].actions, found[0].steps) == (shorter.actions, 0)
    while search.improve(5_000, None):
        plan = tuple(task.decode(*step) for step in search.plan())
        result = replace(first, actions=plan, cost=search.cost)
        assert search.cost == len(plan)
        assert eliminate_redundant_actions(task, result) == result
    assert (search.cost, search.expansions) == (found[-1].cost, max(5_000, search.expansions))
    # Without elimination, the plan stays as it is.
    search = _core.ParallelSearch(task.core, rules.core, None, *start, 0, threads, False)
    assert search.plan() == task.encode(first.actions)


def test_redundant_actions_without_cost_are_eliminated() -> None:
    lengths = {(0, 1): 0, (1, 0): 0, (0, 2): 9, (0, 3): 2, (3, 2): 2}
    text, _ = roads(lengths, 3)
    task = Domain.parse(ROADS).parse_task(text.replace("(:goal (at p3))", "(:goal (at p2))"))
    policy = Policy.applicable(task.domain)
    actions = tuple(Action("go", pair) for pair in (("p0", "p1"), ("p1", "p0"), ("p0", "p2")))
    first = PlanResult(Outcome.SOLVED, actions, 9, False, 3, 0, 0.0)
    *_, last = improve(policy, task, first, threads=1, max_expansions=1_000)
    assert last.actions == (Action("go", ("p0", "p3")), Action("go", ("p3", "p2")))


@pytest.mark.parametrize("seed", range(10))
def test_costs_count_rather_than_actions(seed: int) -> None:
    lengths = random_roads(seed)
    problem, task = roads(lengths, 7)
    policy = Policy.applicable(task.domain)
    first = plan_of(policy, task)
    assert not first.unit_cost
    found = [first, *improve(policy, task, first, threads=2, max_expansions=20_000)]
    assert found[-1].cost == least_length(lengths, 7)
    for result in found:
        text = str(result.plan)
        report = validate(ROADS, problem, text)
        assert report.valid
        assert report.cost == result.cost


def test_a_plan_may_come_from_elsewhere() -> None:
    # The rules never derive what the detour does, and no way leads back to it.
    domain = SHIPPED["ferry"]
    task = domain.parse_task(
        """(define (problem p) (:domain ferry)
          (:objects l1 l2 l3 l4 - location c1 - car)
          (:init (empty-ferry) (at c1 l2) (at-ferry l1)) (:goal (at c1 l3)))"""
    )
    rules = policy_of("ferry")
    first = plan_of(rules, task)
    sail = [Action("sail", pair) for pair in (("l1", "l4"), ("l4", "l3"), ("l3", "l1"))]
    detour = (*sail, *sail, *first.actions)
    given_plan = replace(first, actions=detour, cost=float(len(detour)))
    *_, last = improve(rules, task, given_plan, threads=1, max_expansions=5_000)
    assert last.cost == first.cost == 4


def test_nothing_is_left_to_improve() -> None:
    task = Domain.parse(ROADS).parse_task(
        "(define (problem p) (:domain roads) (:objects a) (:init (at a)) (:goal (at a)))"
    )
    policy = Policy.applicable(task.domain)
    first = plan_of(policy, task)
    assert first.actions == ()
    assert list(improve(policy, task, first)) == []  # it ends without a limit
    _, free = roads({(0, 1): 0, (1, 0): 0}, 1)
    policy = Policy.applicable(free.domain)
    assert list(improve(policy, free, plan_of(policy, free))) == []


# --- What it begins with -------------------------------------------------------------------


def test_the_first_plan_is_that_of_the_rules() -> None:
    model, task = shipped_model("blocksworld"), generated("blocksworld", 3, blocks=25)

    def first(policy: Policy, **limits: int) -> PlanResult:
        return first_plan(
            policy, lambda way: execute(way, task, rng=np.random.default_rng(0), **limits)
        )

    rules, learned = plan_of(model.rules, task), plan_of(model, task)
    assert len(learned.actions) < len(rules.actions)
    assert first(model).actions == first(model.rules).actions == rules.actions
    # The rules find no plan of so few steps, but the learned policy does.
    assert first(model, max_steps=len(learned.actions)).actions == learned.actions
    assert first(model, time_limit=0).outcome is Outcome.TIME_LIMIT


def test_what_the_learned_policy_does_by_itself_is_tried() -> None:
    model, task = shipped_model("blocksworld"), generated("blocksworld", 3, blocks=80)
    first, learned = plan_of(model.rules, task), plan_of(model, task)

    def best(policy: Policy) -> PlanResult:
        found = improve(policy, task, first, threads=1, max_expansions=8_000)
        return [first, *found][-1]

    assert best(model).cost <= learned.cost < best(model.rules).cost


# --- The same again ------------------------------------------------------------------------


def large_task() -> tuple[Policy, Task, PlanResult]:
    rules = policy_of("blocksworld")
    task = generated("blocksworld", 3, blocks=25)
    return rules, task, plan_of(rules, task)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_seed_threads_and_expansions_decide_what_is_found(threads: int) -> None:
    rules, task, first = large_task()

    def search(policy: Policy, **options: int) -> list[tuple[tuple[Action, ...], float, int]]:
        return plans(policy, task, first, **{"threads": threads, "seed": 4} | options)

    once = search(rules, max_expansions=20_000)
    assert len(once) > 1
    assert search(rules, max_expansions=20_000) == once
    assert search(rules, max_expansions=20_000, seed=5) != once
    # Fewer expansions, and the search is the beginning of the same one.
    fewer = search(rules, max_expansions=5_000)
    assert fewer[:-1] == once[: len(fewer) - 1]
    scored = search(shipped_model("blocksworld"), max_expansions=20_000)
    assert scored
    assert search(shipped_model("blocksworld"), max_expansions=20_000) == scored


def test_the_number_of_expansions_is_kept_to() -> None:
    rules, task, first = large_task()
    for threads in (1, 3):
        for most in (0, 1, 1_000, 5_000):
            found = plans(rules, task, first, threads=threads, max_expansions=most)
            length = len(first.actions)
            assert all(steps < most + 2 * threads * length for _, _, steps in found)
            if most == 0:
                assert found == []


# --- Limits and interrupts -----------------------------------------------------------------


def test_the_time_limit_ends_the_search() -> None:
    rules, task, first = large_task()
    found = list(improve(rules, task, first, threads=2, time_limit=0.5))
    assert found
    assert [result.seconds for result in found] == sorted(result.seconds for result in found)
    assert list(improve(rules, task, first, time_limit=0.0)) == []


@pytest.mark.usefixtures("interruptible")
def test_after_an_interrupt_the_best_plan_is_there_and_the_search_can_go_on() -> None:
    rules, task, first = large_task()
    start = (task.initial.ids, task.encode(first.actions))
    search = _core.ParallelSearch(task.core, rules.core, None, *start, 0, 2, True)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        while True:
            search.improve(10**12, None)
    timer.join()
    cost, expansions = search.cost, search.expansions
    assert cost == len(search.plan()) < first.cost
    search.improve(expansions + 1_000, None)
    assert search.expansions > expansions
    assert search.cost <= cost


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_leaves_the_loop_over_plans() -> None:
    rules, task, first = large_task()
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    found = [first]
    with pytest.raises(KeyboardInterrupt):
        found.extend(improve(rules, task, first, threads=2))
    timer.join()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system does not tell")
def test_threads_work_at_the_same_time() -> None:
    rules, task, first = large_task()
    done = threading.Event()
    counts = []

    def count() -> None:
        while not done.is_set():
            counts.append(sum(1 for _ in Path("/proc/self/task").iterdir()))
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    time.sleep(0.1)
    idle = max(counts)
    list(improve(rules, task, first, threads=2, max_expansions=20_000))
    done.set()
    counter.join()
    assert max(counts) >= idle + 2


# --- Mistakes ------------------------------------------------------------------------------


def test_there_must_be_a_plan() -> None:
    rules, task, first = large_task()
    with pytest.raises(ValueError, match="no plan to improve: step limit"):
        improve(rules, task, execute(rules, task, rng=np.random.default_rng(0), max_steps=1))
    for actions, message in ((first.actions[:-1], "goal"), (first.actions[1:], "not applicable")):
        with pytest.raises(ValueError, match=message):
            next(improve(rules, task, replace(first, actions=actions)))
    with pytest.raises(ValueError, match="one thread"):
        improve(rules, task, first, threads=0)


def test_an_action_without_a_cost_is_told() -> None:
    text, _ = roads({(0, 1): 5, (1, 2): 5}, 2)
    text = text.replace("(road p0 p1)", "(road p0 p1) (road p0 p2) (road p1 p0)")
    task = Domain.parse(ROADS).parse_task(text.replace("(length p0 p2)", "(length p2 p2)"))
    policy = Policy.applicable(task.domain)
    actions = (Action("go", ("p0", "p1")), Action("go", ("p1", "p2")))
    first = PlanResult(Outcome.SOLVED, actions, 10, False, 2, 0, 0.0)
    with pytest.raises(MissingValueError, match="length"):
        list(islice(improve(policy, task, first, threads=2), 1))


def test_the_time_limit_holds_before_the_search_begins() -> None:
    task = Domain.parse(WIDE).parse_task(wide_problem(250))
    first = execute(Policy.parse("stop(X) :- p(X).", task.domain), task)
    start = time.monotonic()
    assert list(improve(Policy.applicable(task.domain), task, first, time_limit=0.3)) == []
    assert time.monotonic() - start < 1.5


def test_the_time_limit_of_elimination_keeps_the_plan() -> None:
    task = Domain.parse(WIDE).parse_task(wide_problem(3))
    first = execute(Policy.parse("stop(X) :- p(X).", task.domain), task)
    redundant = replace(first, actions=first.actions * 100_000)
    assert eliminate_redundant_actions(task, redundant, time_limit=0.0) is redundant
    assert len(eliminate_redundant_actions(task, redundant).actions) == 1


# The policy of all applicable actions derives the third power of the number of objects.
WIDE = """
(define (domain wide) (:predicates (p ?x) (q ?x ?y) (done))
  (:action go :parameters (?a ?b ?c) :precondition (and (p ?a) (p ?b) (p ?c)) :effect (q ?a ?b))
  (:action stop :parameters (?a) :precondition (p ?a) :effect (done)))
"""


def wide_problem(objects: int) -> str:
    names = [f"o{i}" for i in range(objects)]
    atoms = " ".join(f"(p {name})" for name in names)
    return (
        f"(define (problem x) (:domain wide) (:objects {' '.join(names)})"
        f" (:init {atoms}) (:goal (done)))"
    )
