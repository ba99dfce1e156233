"""Atoms, actions, states and plans as values: text, ids, copies and pickles."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import sys
import threading
from decimal import Decimal
from pathlib import Path

import pytest

from planlog.errors import PddlError, PlanFileError, UnknownNameError
from planlog.pddl.plan import Plan
from planlog.pddl.task import Action, Atom, Domain, State, Task
from planlog.policy.policy import Policy
from planlog.statespace.space import expand
from support.graph_domain import DOMAIN, PROBLEM


@pytest.fixture
def task() -> Task:
    return Domain.parse(DOMAIN, file="graph.pddl").parse_task(PROBLEM)


# --- Text and ids --------------------------------------------------------------------------


def test_atoms_and_actions_have_the_text_of_pddl() -> None:
    assert str(Action("go", ("a", "b"))) == "(go a b)"
    assert str(Atom("flag", ())) == "(flag)"
    assert Action.parse(" ( Go A  b ) ") == Action("go", ("a", "b"))
    assert isinstance(Atom.parse("(on a b)"), Atom)


@pytest.mark.parametrize("text", ["", "go a b", "(go a b", "()", "(go (a))", "(go a) (go b)"])
def test_other_text_is_no_action(text: str) -> None:
    with pytest.raises(PddlError, match="expected a ground action"):
        Action.parse(text)


def test_actions_are_encoded_and_decoded(task: Task) -> None:
    codes = task.encode([Action("go", ("a", "b")), "(go b c)"])
    assert codes == [(0, (0, 1)), (0, (1, 2))]
    assert [str(task.decode(*code)) for code in codes] == ["(go a b)", "(go b c)"]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("(fly a b)", "domain 'graph' has no action 'fly'"),
        ("(go a)", "action 'go' has 2 parameters, but (go a) has 1"),
        ("(go a z)", "task 'p' has no object 'z'"),
    ],
)
def test_unknown_actions_are_named(task: Task, action: str, message: str) -> None:
    with pytest.raises(UnknownNameError) as error:
        task.encode([Action.parse(action)])
    assert str(error.value) == message
    with pytest.raises(UnknownNameError) as error:
        Policy.applicable(task.domain).start(task).apply(action)
    assert str(error.value) == message


def test_goal_atoms_leave_other_formulas_out(task: Task) -> None:
    assert task.goals == ("(at c)", "(not (at a))")
    assert task.goal_atoms == (Atom("at", ("c",)),)


# --- States --------------------------------------------------------------------------------


def test_states_show_their_atoms(task: Task) -> None:
    state = task.state([Atom("at", ("b",)), "(seen b)"])
    assert set(map(str, state.atoms)) == {"(at b)", "(seen b)"}
    assert repr(task.initial) == "State((at a))"
    assert "(seen b)" in state
    assert "(seen c)" not in state
    assert set(map(str, task.static_atoms)) == {"(edge a b)", "(edge b c)"}


@pytest.mark.parametrize("text", ["(edge a b)", "(at a b)", "(fly a)", "(at z)"])
def test_states_consist_of_fluent_atoms(task: Task, text: str) -> None:
    with pytest.raises(UnknownNameError):
        task.state([text])


def test_a_state_does_not_freeze_the_array_it_is_made_from(task: Task) -> None:
    array = task.state(["(at a)", "(seen b)"]).ids.copy()
    state = State(task, array)
    array[0] = 99
    assert 99 not in state.ids


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_states_stay_immutable_when_copied(task: Task, copied) -> None:  # type: ignore[no-untyped-def]
    state = task.initial
    for one in (state, copied(state), pickle.loads(pickle.dumps(state))):
        assert one == state
        assert hash(one) == hash(state)
        with pytest.raises(ValueError, match="read-only"):
            one.ids[0] = 1


def test_states_of_two_tasks_compare_by_their_atoms(task: Task) -> None:
    other = task.domain.parse_task(PROBLEM)
    forwards = [task.state([f"(seen {name})"]) for name in "abc"]
    backwards = [other.state([f"(seen {name})"]) for name in "cba"]
    assert forwards == backwards[::-1]
    assert set(forwards) == set(backwards)
    assert forwards[0] != backwards[0]
    # The ids differ, so a walk has to translate them.
    actions = Policy.applicable(task.domain).actions
    state = other.state(["(at b)"])
    assert [str(action) for action in actions(task, state)] == ["(go b c)"]


# --- Pickles -------------------------------------------------------------------------------


def test_domains_tasks_and_states_can_be_pickled_and_copied(task: Task) -> None:
    for value in (task.domain, task):
        for one in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
            assert one is value  # immutable: policies and tasks go on to agree in their domain
    state = task.state(["(at b)", "(seen b)"])
    assert pickle.loads(pickle.dumps(state)).task is task


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda v: pickle.loads(pickle.dumps(v))]
)
def test_atoms_actions_and_plans_are_values(copied) -> None:  # type: ignore[no-untyped-def]
    action = Action("go", ("a", "b"))
    for value in (Atom("at", ("a",)), action, Plan((action,), 1)):
        assert copied(value) == value
        assert type(copied(value)) is type(value)
        with pytest.raises(AttributeError):
            value.cost = 2  # type: ignore[union-attr,misc]


def test_another_process_reads_pickles(task: Task, tmp_path: Path) -> None:
    walk = Policy.applicable(task.domain).start(task)
    for action in ("(go a b)", "(go b c)"):
        walk.apply(action)  # gives ids to atoms in an order that only this process knows
    (tmp_path / "pickle").write_bytes(pickle.dumps((walk.state, task)))
    (tmp_path / "domain").write_bytes(pickle.dumps(task.domain))
    program = (
        "import pickle, pathlib\n"
        "state, task = pickle.loads(pathlib.Path('pickle').read_bytes())\n"
        "assert state.task is task\n"
        "domain = pickle.loads(pathlib.Path('domain').read_bytes())\n"
        "assert domain is task.domain and domain.name == 'graph'\n"
        "print(sorted(map(str, state.atoms)))\n"
    )
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout == "['(at c)', '(seen b)', '(seen c)']\n"


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_does_not_wait_for_locks_of_threads_that_it_does_not_have() -> None:
    names = " ".join(f"n{i}" for i in range(60))
    text = (
        f"(define (problem p) (:domain graph) (:objects {names}) (:init (at n0)) (:goal (at n1)))"
    )
    domain = Domain.parse(DOMAIN.replace("(and (at ?x) (edge ?x ?y))", "(at ?x)"))
    task, policy, stop = domain.parse_task(text), Policy.applicable(domain), threading.Event()

    def work() -> None:
        while not stop.is_set():
            policy.actions(task, task.initial)
            expand(task, limit=1000)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(15):  # without new locks, three of ten children hang
            child = os.fork()
            if child == 0:
                signal.alarm(20)  # ends a child that hangs
                policy.actions(task, task.state(["(at n1)"]))
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


# --- Plans ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "plan",
    [
        Plan((), 0),
        Plan((Action("go", ("a", "b")), Action("flip", ())), 2),
        Plan((Action("go", ("a", "b")),), 2.5, unit_cost=False),
    ],
)
def test_plans_are_read_as_they_were_written(plan: Plan, tmp_path: Path) -> None:
    plan.write(tmp_path / "plan")
    assert Plan.read(tmp_path / "plan") == plan


def test_the_repr_of_a_plan_is_short() -> None:
    actions = (Action("go", ("a", "b")),) * 1000
    assert (
        repr(Plan(actions, Decimal("2500.5"), unit_cost=False)) == "Plan(1000 actions, cost 2500.5)"
    )


def test_a_plan_without_a_stated_cost_costs_one_for_each_action() -> None:
    assert Plan.parse("(GO a b) ; first\n\n(go b c)\n").cost == 2


def test_mistakes_in_plan_files_are_located() -> None:
    with pytest.raises(PlanFileError) as error:
        Plan.parse("(go a b)\n  go b c\n(go c\n", file="plan.1")
    assert [(d.file, d.line, d.column) for d in error.value.diagnostics] == [
        ("plan.1", 2, 3),
        ("plan.1", 3, 1),
    ]
