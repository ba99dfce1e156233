"""Measurements of rules that choose, and of the search inside the rules."""

from __future__ import annotations

import random
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from inputs import Sizes, best, generated, setting
from planlog import _core
from planlog.pddl.task import Action, Domain
from planlog.policy.policy import Policy
from plans import planlog
from results import Budget, Process, Quantity, Ratio
from values import DOMAIN, calls, city, scratch

MINIMISE = "unmark(A) :- size(A, S), minimise S.\n"

PICK_DOMAIN = """
(define (domain picking)
  (:types a b c)
  (:predicates (fa ?x - a) (fb ?x - b) (fc ?x - c))
  (:action pick :parameters (?x - a ?y - b ?z - c)
    :precondition (and (fa ?x) (fb ?y) (fc ?z))
    :effect (and (not (fa ?x)) (not (fb ?y)) (not (fc ?z)))))
"""
SECONDS_FOR_PICK = 20e-6

SNACK_DOMAIN = """
(define (domain snack)
  (:requirements :typing :negative-preconditions)
  (:types child bread content sandwich tray place)
  (:constants kitchen - place)
  (:predicates (bread ?b - bread) (content ?c - content) (free-bread ?b - bread)
    (free-content ?c - content) (unmade ?s - sandwich) (made ?s - sandwich) (free ?s - sandwich)
    (on ?s - sandwich ?t - tray) (at ?t - tray ?p - place) (waits ?c - child ?p - place)
    (allergic ?c - child) (served ?c - child))
  (:action make-free :parameters (?s - sandwich ?b - bread ?c - content)
    :precondition (and (bread ?b) (content ?c) (free-bread ?b) (free-content ?c) (unmade ?s))
    :effect (and (not (bread ?b)) (not (content ?c)) (not (unmade ?s)) (made ?s) (free ?s)))
  (:action make :parameters (?s - sandwich ?b - bread ?c - content)
    :precondition (and (bread ?b) (content ?c) (unmade ?s))
    :effect (and (not (bread ?b)) (not (content ?c)) (not (unmade ?s)) (made ?s)))
  (:action put :parameters (?s - sandwich ?t - tray)
    :precondition (and (made ?s) (at ?t kitchen)) :effect (and (not (made ?s)) (on ?s ?t)))
  (:action move :parameters (?t - tray ?p ?q - place)
    :precondition (and (at ?t ?p) (not (at ?t ?q))) :effect (and (not (at ?t ?p)) (at ?t ?q)))
  (:action serve-free :parameters (?s - sandwich ?c - child ?t - tray ?p - place)
    :precondition (and (allergic ?c) (on ?s ?t) (waits ?c ?p) (free ?s) (at ?t ?p))
    :effect (and (not (on ?s ?t)) (served ?c)))
  (:action serve :parameters (?s - sandwich ?c - child ?t - tray ?p - place)
    :precondition (and (not (allergic ?c)) (on ?s ?t) (waits ?c ?p) (at ?t ?p))
    :effect (and (not (on ?s ?t)) (served ?c))))
"""
SNACK = """
here(S) :- made(S).
here(S) :- on(S, _).
make-free(S, B, C) :-
    count { X : served@ug(X), allergic(X) } > count { Y : here(Y), free(Y) }, any S, B, C.
else
make(S, B, C) :- count { X : served@ug(X) } > count { Y : here(Y) }, any S, B, C.
else
put(S, T) :- any S, T.
else
serve-free(S, C, _, _) :- served@ug(C), any S, C.
serve(S, C, _, _)      :- served@ug(C), not free(S), any S, C.
else
move(_, _, P) :- served@ug(C), waits(C, P), any P.
"""
SNACK_ALLOWED = 2, 200  # seconds, megabytes
SNACK_CHILDREN = 300


def measure_choices(sizes: Sizes) -> Iterator[Budget | Ratio | Process]:
    """Measure `minimise` over one group, `any` over independent variables, and a whole plan."""
    yield _minimise(sizes)
    yield from _any(sizes)
    yield _snack(sizes)


def _minimise(sizes: Sizes) -> Ratio:
    domain = Domain.parse(DOMAIN)
    size = sizes.group
    places = [f"p{i}" for i in range(size)]
    values = [f"(= (size {place}) {i})" for i, place in enumerate(places)]
    marks = [f"(marked {place})" for place in places]
    task = domain.parse_task(city(places, [*values, *marks], [f"(visited {places[-1]})"]))
    changes = []
    for place in random.Random(0).sample(places, min(size, 100)):
        changes += [Action("unmark", (place,)), Action("mark", (place,))]
    policy = Policy.parse(MINIMISE, domain)
    steps, whole = best(
        sizes.repetitions, lambda: calls(policy, task, changes), scratch(policy, task)
    )
    what = f"minimise over {size} answers, one more or less"
    return Ratio(what, steps / len(changes), whole, "from scratch", required=50)


def _any(sizes: Sizes) -> Iterator[Budget]:
    domain = Domain.parse(PICK_DOMAIN)
    policy = Policy.parse("pick(X, Y, Z) :- any X, Y, Z.\n", domain)
    for count in (max(3, sizes.group * 3 // 100), max(3, sizes.group * 3 // 10)):
        names = {kind: [f"{kind}{i}" for i in range(count)] for kind in "abc"}
        declared = " ".join(f"{' '.join(each)} - {kind}" for kind, each in names.items())
        facts = " ".join(f"(f{kind} {name})" for kind, each in names.items() for name in each)
        task = domain.parse_task(
            f"(define (problem p) (:domain picking) (:objects {declared})"
            f" (:init {facts}) (:goal (and (not (fa a0)))))"
        )
        picked = [Action("pick", (f"a{i}", f"b{i}", f"c{i}")) for i in range(count - 1)]
        (seconds,) = best(
            sizes.repetitions, lambda task=task, picked=picked: calls(policy, task, picked)
        )
        yield Budget(
            f"any of three variables with {count} objects each, a step",
            seconds / len(picked),
            SECONDS_FOR_PICK,
        )


def snack_task(children: int) -> str:
    """Return a task in which a third of the children is allergic, with three tables and trays."""
    rng = random.Random(0)
    free = children // 3
    names = {
        "child": [f"child{i}" for i in range(children)],
        "bread": [f"bread{i}" for i in range(children)],
        "content": [f"content{i}" for i in range(children)],
        "sandwich": [f"sandwich{i}" for i in range(children)],
        "tray": ["tray0", "tray1", "tray2"],
        "place": ["table0", "table1", "table2"],
    }
    declared = "\n".join(f"{' '.join(each)} - {kind}" for kind, each in names.items())
    facts = [f"({kind} {name})" for kind in ("bread", "content") for name in names[kind]]
    for kind in ("bread", "content"):
        facts += [f"(free-{kind} {name})" for name in names[kind][:free]]
    facts += [f"(unmade {name})" for name in names["sandwich"]]
    facts += [f"(at {name} kitchen)" for name in names["tray"]]
    facts += [f"(allergic {name})" for name in names["child"][:free]]
    facts += [f"(waits {name} {rng.choice(names['place'])})" for name in names["child"]]
    goal = " ".join(f"(served {name})" for name in names["child"])
    return (
        f"(define (problem p) (:domain snack) (:objects {declared})"
        f" (:init {' '.join(facts)}) (:goal (and {goal})))"
    )


def _snack(sizes: Sizes) -> Process:
    children = max(3, SNACK_CHILDREN * sizes.group // 1000)
    with tempfile.TemporaryDirectory() as folder:
        files = {"domain.pddl": SNACK_DOMAIN, "rules.dl": SNACK, "p.pddl": snack_task(children)}
        domain, rules, problem = (Path(folder) / name for name in files)
        for name, text in files.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        done = planlog("solve", str(domain), str(problem), "--policy", str(rules), cores=1)
    outcome, count = done.report["outcome"], done.report["steps"]
    used = done.seconds, done.megabytes
    what = f"childsnack with {children} children, rules alone"
    return Process(what, outcome, "solved", count, *used, *SNACK_ALLOWED)


def measure_search(sizes: Sizes) -> Iterator[Ratio | Quantity]:
    """Measure the search among all applicable actions, with a goal that nothing achieves."""
    domain, _ = setting("blocksworld")
    text = generated("blocksworld", {"blocks": max(4, sizes.blocks // 5)}, seed=1)
    block = next(iter(domain.parse_task(text).object_names))
    task = domain.parse_task(re.sub(r":goal\s*\(and", f":goal (and (on {block} {block})", text))
    policy = Policy.applicable(domain)
    ids = task.ids(task.initial)
    limit = 300 * sizes.states

    def space() -> float:
        expansion = _core.StateSpace(task.core, policy.core, ids, limit // 3, True, False)
        start = time.thread_time()
        while expansion.advance(64):
            pass
        return (time.thread_time() - start) / (len(expansion.offsets) - 1)

    def search() -> float:
        nonlocal found
        found = _core.BestFirstSearch(task.core, policy.core, None, ids, [], None, limit, [], True)
        start = time.thread_time()
        while found.states < limit // 3 and found.advance(64) is _core.SearchOutcome.RUNNING:
            pass
        return (time.thread_time() - start) / found.expanded

    found: _core.BestFirstSearch | None = None
    ours, other = best(min(3, sizes.repetitions), search, space)
    assert found is not None
    what = f"an expansion of the search, {len(task.object_names)} blocks"
    yield Ratio(what, ours, other, "state space", required=0.5)
    packed, memory = found.state_size, found.memory / found.states
    what = f"memory of a state, {packed} bytes packed"
    yield Quantity(what, memory, 2 * packed, "bytes")
