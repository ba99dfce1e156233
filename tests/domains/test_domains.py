"""The shipped domains: compatible with the IPC, and policies that solve everything, without cycles.

The exhaustive tests look at every state of tiny tasks: whether the policy gets from there to the
goal (property 1), without seeing a state twice (2), and with an optimal action to choose (3).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog import domains
from planlog.errors import UnknownNameError
from planlog.pddl.task import State
from planlog.policy.execution import Outcome, execute
from planlog.policy.policy import Policy
from planlog.validation import validate
from support.profiles import examples
from support.shipped_domains import POLICIES as VARIANTS
from support.shipped_domains import SHIPPED as DOMAINS
from support.shipped_domains import policy_of
from support.statespace_reference import goal_distances, predecessors

POLICIES = {(name, variant): policy_of(name, variant) for name, variant in VARIANTS}

# Names and order as in the IPC 2023 learning track.
SIGNATURES = {
    "blocksworld": """
        (clear ?x) (on-table ?x) (arm-empty) (holding ?x) (on ?x ?y)
        (pickup ?ob) (putdown ?ob) (stack ?ob ?underob) (unstack ?ob ?underob)""",
    "ferry": """
        (at-ferry location) (at car location) (empty-ferry) (on car)
        (sail location location) (board car location) (debark car location)""",
    "rover": """
        (at rover waypoint) (at_lander lander waypoint) (equipped_for_soil_analysis rover)
        (equipped_for_rock_analysis rover) (equipped_for_imaging rover) (empty store)
        (have_rock_analysis rover waypoint) (have_soil_analysis rover waypoint) (full store)
        (calibrated camera rover) (supports camera mode) (visible waypoint waypoint)
        (have_image rover objective mode) (communicated_soil_data waypoint)
        (communicated_rock_data waypoint) (communicated_image_data objective mode)
        (at_soil_sample waypoint) (at_rock_sample waypoint) (visible_from objective waypoint)
        (store_of store rover) (calibration_target camera objective) (on_board camera rover)
        (navigate rover waypoint waypoint) (sample_soil rover store waypoint)
        (sample_rock rover store waypoint) (drop rover store)
        (calibrate rover camera objective waypoint)
        (take_image rover waypoint objective camera mode)
        (communicate_soil_data rover lander waypoint waypoint waypoint)
        (communicate_rock_data rover lander waypoint waypoint waypoint)
        (communicate_image_data rover lander objective mode waypoint waypoint)""",
    "satellite": """
        (on_board instrument satellite) (supports instrument mode) (pointing satellite direction)
        (power_avail satellite) (power_on instrument) (calibrated instrument)
        (have_image direction mode) (calibration_target instrument direction)
        (turn_to satellite direction direction) (switch_on instrument satellite)
        (switch_off instrument satellite) (calibrate satellite instrument direction)
        (take_image satellite direction instrument mode)""",
}


def solve(name: str, text: str, seed: int, variant: str = "policy") -> None:
    """Solve a task with a shipped policy and have the plan validated."""
    task = DOMAINS[name].parse_task(text)
    rng = np.random.default_rng(seed)
    result = execute(POLICIES[name, variant], task, rng=rng, max_steps=100_000)
    assert result.outcome is Outcome.SOLVED
    domain_text = (domains.path(name) / "domain.pddl").read_text()
    report = validate(domain_text, text, "\n".join(map(str, result.actions)))
    assert report.valid, report.reason
    assert report.steps == result.steps


# --- Loading -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", domains.names())
def test_domain_is_that_of_the_ipc(name: str) -> None:
    domain = DOMAINS[name]
    found = set()
    for symbol in (*domain.predicates, *domain.actions):
        kinds = [
            f"?{p.name}" if p.types == ("object",) else "|".join(p.types) for p in symbol.parameters
        ]
        found.add(" ".join([symbol.name, *kinds]))
    assert found == {re.sub(r"\s+", " ", s) for s in re.findall(r"\((.*?)\)", SIGNATURES[name])}
    assert domain.name == name
    assert domains.find(name.upper()) == name
    assert not domain.warnings


def test_policies_have_no_warnings() -> None:
    assert {name for name, _ in POLICIES} == set(domains.names())
    assert domains.variants("satellite") == ("policy", "paper")
    for policy in POLICIES.values():
        assert policy.warnings == ()


def test_unknown_names() -> None:
    assert domains.find("logistics") is None
    with pytest.raises(UnknownNameError, match=r"no policy 'best' for ferry; there are: policy"):
        domains.policy_path("ferry", "best")
    with pytest.raises(UnknownNameError, match=r"no domain 'logistics'"):
        domains.path("logistics")


# --- Solving generated tasks -------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("split", "count"), [("training", 20), ("easy", 15), ("medium", 5)])
@pytest.mark.parametrize("name", domains.names())
def test_policy_solves_generated_tasks(name: str, split: str, count: int, seed: int) -> None:
    for _, text in domains.generate(name, seed=seed, split=split, count=count):
        solve(name, text, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", domains.names())
def test_policy_solves_the_largest_tasks(name: str, seed: int) -> None:
    (*_, (_, text)) = domains.generate(name, seed=seed, split="hard", count=2)
    solve(name, text, seed)


@pytest.mark.parametrize("name", ["blocksworld", "satellite"])
def test_printed_policies_solve_easy_tasks(name: str) -> None:
    for _, text in domains.generate(name, seed=0, split="easy", count=10):
        solve(name, text, 0, "paper")


# --- All states of tiny tasks ------------------------------------------------------------------


@dataclass
class Failures:
    """States of a task where a property does not hold."""

    states: int
    stuck: int  # no way to the goal under the policy
    cyclic: int  # on or before a cycle of the policy
    not_optimal: int  # no derived action is optimal


def examine(name: str, text: str, variant: str = "policy") -> Failures:
    """The properties of a policy in all states that can be reached by any actions at all."""
    task = DOMAINS[name].parse_task(text)
    walk = Policy.applicable(DOMAINS[name]).start(task)
    goals: set[State] = set()
    successors: dict[State, dict[object, State]] = {}
    todo = [task.initial]
    while todo:
        state = todo.pop()
        if state in successors:
            continue
        walk.restart(state)
        if walk.is_goal:
            goals.add(state)
        successors[state] = {}
        for action in walk.actions():
            walk.apply(action)
            successors[state][action] = walk.state
            walk.undo()
        todo += successors[state].values()

    policy = POLICIES[name, variant]
    chosen = {
        state: [] if state in goals else [row[a] for a in policy.actions(task, state)]
        for state, row in successors.items()
    }
    distance = goal_distances({s: list(row.values()) for s, row in successors.items()}, goals)
    live = [state for state in distance if state not in goals]
    return Failures(
        states=len(successors),
        stuck=len(distance.keys() - goal_distances(chosen, goals).keys()),
        cyclic=len(distance) - len(in_order({s: chosen[s] for s in distance})),
        not_optimal=sum(all(distance.get(t) != distance[s] - 1 for t in chosen[s]) for s in live),
    )


def in_order(graph: dict[State, list[State]]) -> list[State]:
    """The states from which no cycle can be reached."""
    left = {state: len(row) for state, row in graph.items()}
    before = predecessors(graph)
    done = [state for state, n in left.items() if n == 0]
    for state in done:
        for predecessor in before[state]:
            left[predecessor] -= 1
            if left[predecessor] == 0:
                done.append(predecessor)
    return done


TINY = {
    "blocksworld": [{"blocks": 3}, {"blocks": 4}, {"blocks": 5}],
    "ferry": [{"cars": 2, "locations": 4}, {"cars": 3, "locations": 3}],
    "rover": [
        {"rovers": 1, "waypoints": 2, "cameras": 1, "objectives": 1},
        {"rovers": 1, "waypoints": 2, "cameras": 2, "objectives": 1},
    ],
    "satellite": [
        {"satellites": 1, "instruments": 2, "modes": 2, "directions": 2},
        {"satellites": 1, "instruments": 3, "modes": 2, "directions": 2},
        {"satellites": 2, "instruments": 2, "modes": 1, "directions": 3},
    ],
}


@pytest.mark.parametrize(
    ("name", "sizes"), [(name, sizes) for name, rows in TINY.items() for sizes in rows]
)
def test_policy_has_all_properties_in_every_state(name: str, sizes: dict[str, int]) -> None:
    count = 1 if name == "rover" else 2  # even tiny tasks have many states there
    for _, text in domains.generate(name, seed=1, count=count, sizes=sizes):
        found = examine(name, text)
        assert found.states > 10
        assert (found.stuck, found.cyclic, found.not_optimal) == (0, 0, 0)


def test_printed_satellite_policy_loses_optimal_actions() -> None:
    """It may calibrate only, where another satellite had better turn."""
    sizes = {"satellites": 2, "instruments": 2, "modes": 1, "directions": 3}
    texts = [text for _, text in domains.generate("satellite", seed=1, count=2, sizes=sizes)]
    found = [examine("satellite", text, "paper") for text in texts]
    assert sum(f.stuck + f.cyclic for f in found) == 0
    assert sum(f.not_optimal for f in found) > 0


# --- Unusual tasks -----------------------------------------------------------------------------


def parts(name: str, seed: int, sizes: dict[str, int]) -> tuple[str, list[str], list[str]]:
    """A generated task as its objects, its initial and its goal atoms."""
    ((_, text),) = domains.generate(name, seed=seed, sizes=sizes)
    head, rest = text.split("(:init")
    initial, goal = (re.findall(r"\([^()]+\)", part) for part in rest.split("(:goal (and"))
    return head, initial, goal


def problem(head: str, initial: list[str], goal: list[str]) -> str:
    return f"{head}(:init {' '.join(initial)}) (:goal (and {' '.join(goal)})))"


@given(st.data())
@examples(60)
def test_blocksworld_with_goals_for_some_blocks(data: st.DataObject) -> None:
    head, initial, goal = parts("blocksworld", data.draw(st.integers(0, 999)), {"blocks": 8})
    some = data.draw(st.lists(st.sampled_from(goal), min_size=1, unique=True))
    text = problem(head, initial, some)
    solve("blocksworld", text, 0)
    task = DOMAINS["blocksworld"].parse_task(text)
    placed = {atom.split()[1].strip(")") for atom in some if atom.startswith("(on")}
    notes = domains.problem_notes("blocksworld", task)
    if len(placed) < 8:
        assert f"no position to {8 - len(placed)} of 8 blocks" in notes[0]
    else:
        assert notes == []


@pytest.mark.parametrize("keep", range(4))
def test_blocksworld_stays_optimal_with_goals_for_some_blocks(keep: int) -> None:
    head, initial, goal = parts("blocksworld", 3, {"blocks": 4})
    found = examine("blocksworld", problem(head, initial, goal[keep : keep + 3]))
    assert (found.stuck, found.cyclic, found.not_optimal) == (0, 0, 0)


@pytest.mark.parametrize("placed", [0, 1])
def test_ferry_with_a_car_aboard(placed: int) -> None:
    """Also if it is of no interest: then it has no goal and only takes up room."""
    head, initial, goal = parts("ferry", 1, {"cars": 3, "locations": 3})
    initial = [a for a in initial if not a.startswith(("(at car1", "(empty"))] + ["(on car1)"]
    found = examine("ferry", problem(head, initial, goal[1 - placed :]))
    assert (found.stuck, found.cyclic, found.not_optimal) == (0, 0, 0)
    # Goals of the ferry itself are reached too, though not always with the fewest steps.
    found = examine("ferry", problem(head, initial, [*goal, "(empty-ferry)", "(at-ferry loc3)"]))
    assert (found.stuck, found.cyclic) == (0, 0)
    found = examine("ferry", problem(head, initial, ["(at-ferry loc3)"]))
    assert (found.stuck, found.cyclic, found.not_optimal) == (0, 0, 0)


SHARED_POWER = """
(define (problem shared-power) (:domain satellite)
  (:objects s - satellite i j k - instrument m n - mode d e f - direction)
  (:init (on_board i s) (on_board j s) (on_board k s) (pointing s d) (power_on k)
         (supports i m) (supports j n) (supports k n)
         (calibration_target i d) (calibration_target j e))
  (:goal (and (have_image f m) (have_image f n) (pointing s d))))
"""


def test_satellite_switches_off_what_is_in_the_way() -> None:
    """Instrument k has the power but can never be calibrated; i and j need it in turn."""
    found = examine("satellite", SHARED_POWER)
    assert (found.stuck, found.cyclic, found.not_optimal) == (0, 0, 0)
    solve("satellite", SHARED_POWER, 0)
    task = DOMAINS["satellite"].parse_task(SHARED_POWER)
    printed = execute(POLICIES["satellite", "paper"], task, rng=np.random.default_rng(0))
    assert printed.outcome is Outcome.NO_ACTION


LEAVE_FOR_LATER = """
(define (problem leave-for-later) (:domain rover)
  (:objects general - lander colour - mode r - rover s - store cam - camera
            here there spot base - waypoint o p target - objective)
  (:init (at_lander general base) (visible spot base) (at r here) (store_of s r) (full s)
         (equipped_for_imaging r) (on_board cam r) (supports cam colour) (calibrated cam r)
         (calibration_target cam target) (visible_from target spot)
         (visible_from o here) (visible_from o spot) (visible_from p there))
  (:goal (and (communicated_image_data o colour) (communicated_image_data p colour))))
"""


def test_rover_may_leave_an_image_for_later() -> None:
    """Image o is better taken at the calibration spot, which sees the lander, after p."""
    task = DOMAINS["rover"].parse_task(LEAVE_FOR_LATER)
    derived = POLICIES["rover", "policy"].actions(task, task.initial)
    assert [str(a) for a in derived] == [
        "(navigate r here there)",
        "(take_image r here o cam colour)",
    ]
    found = examine("rover", LEAVE_FOR_LATER)
    assert (found.stuck, found.cyclic, found.not_optimal) == (0, 0, 0)


@pytest.mark.parametrize("name", domains.names())
@given(seed=st.integers(0, 2**20), steps=st.integers(0, 200))
@examples(25)
def test_policy_solves_from_wherever_random_actions_lead(name: str, seed: int, steps: int) -> None:
    """And it never sees a state twice."""
    rng = np.random.default_rng(seed)
    ((_, text),) = domains.generate(name, seed=seed)
    task = DOMAINS[name].parse_task(text)
    lost = Policy.applicable(DOMAINS[name]).start(task)
    for _ in range(steps):
        action = lost.sample(rng)
        assert action is not None
        lost.apply(action)
    walk = POLICIES[name, "policy"].start(task, lost.state)
    seen = {walk.fingerprint}
    while not walk.is_goal:
        action = walk.sample(rng)
        assert action is not None, f"stuck after {walk.steps} steps"
        walk.apply(action)
        assert walk.fingerprint not in seen
        seen.add(walk.fingerprint)


def test_goals_that_the_policy_does_not_know_are_mentioned() -> None:
    def notes(goal: str) -> list[str]:
        text = SHARED_POWER.replace("(pointing s d))))", f"{goal})))")
        return domains.problem_notes("satellite", DOMAINS["satellite"].parse_task(text))

    assert notes("(pointing s d)") == []
    assert notes("(power_on j)") == [
        "the shipped policy does not work towards these goals: (power_on j)"
    ]


@pytest.mark.parametrize("name", domains.names())
def test_generated_tasks_need_no_notes(name: str) -> None:
    for _, text in domains.generate(name, seed=0, split="easy", count=5):
        assert domains.problem_notes(name, DOMAINS[name].parse_task(text)) == []


def test_domains_are_found_by_their_folders() -> None:
    """A domain is a folder: no module beside the folders names one."""
    folder = domains.path("ferry").parent
    assert domains.names() == tuple(sorted(file.parent.name for file in folder.glob("*/*.pddl")))
    for module in folder.glob("*.py"):
        text = module.read_text()
        assert not [name for name in domains.names() if name in text.lower()], module
