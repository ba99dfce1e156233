"""Measurements of rules with integers: least values and aggregates."""

from __future__ import annotations

import itertools
import math
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from inputs import Sizes, best, timed
from planlog.pddl.task import Action, Domain, Task
from planlog.policy.policy import Policy
from plans import planlog
from results import Budget, Process, Ratio

DOMAIN = """
(define (domain city)
  (:requirements :strips :negative-preconditions)
  (:predicates (place ?a) (link ?a ?b) (road ?a ?b) (at ?a) (marked ?a) (visited ?a))
  (:functions (size ?a) (length ?a ?b))
  (:action drive :parameters (?a ?b) :precondition (and (at ?a) (link ?a ?b))
    :effect (and (not (at ?a)) (at ?b) (visited ?b)))
  (:action build :parameters (?a ?b) :precondition (not (road ?a ?b)) :effect (road ?a ?b))
  (:action close :parameters (?a ?b) :precondition (road ?a ?b) :effect (not (road ?a ?b)))
  (:action mark :parameters (?a) :precondition (not (marked ?a)) :effect (marked ?a))
  (:action unmark :parameters (?a) :precondition (marked ?a) :effect (not (marked ?a))))
"""
DISTANCES = """
distance(A, A, 0)         :- place(A).
distance(A, C, min D + {1}) :- {0}(A, B), distance(B, C, D).
"""
DISTANCES_FOR_CLINGO = """
distance(A, A, 0)     :- place(A).
distance(A, C, D + N) :- link(A, B, N), distance(B, C, D), D + N <= {0}.
"""
DRIVE = "drive(A, B).\n"
READ = "read :- distance(_, _, 1).\ndrive(A, B) :- read.\n"
NEAREST = """
near(A, 0)         :- visited@ug(A).
near(A, min D + 1) :- link(A, B), near(B, D).
drive(A, B)        :- near(A, D), near(B, E), E < D.
"""
AGGREGATES = {
    "count": "number(N) :- N = count { A : marked(A) }.\n",
    "min": "least(N) :- N = min { S, A : marked(A), size(A, S) }.\n",
}

SECONDS_FOR_DISTANCES = 0.5
NEAREST_ALLOWED = 2, 150  # seconds, megabytes

Arc = tuple[str, str]


def city(places: list[str], init: Iterable[str], goal: Iterable[str]) -> str:
    return (
        f"(define (problem p) (:domain city) (:objects {' '.join(places)})"
        f" (:init (at {places[0]}) {' '.join(f'(place {place})' for place in places)}"
        f" {' '.join(init)}) (:goal (and {' '.join(goal)})))"
    )


def road_graph(places: int, pairs: int) -> tuple[list[str], list[Arc]]:
    """Return random places in a square, and one-way roads both ways between pairs of near ones."""
    rng = random.Random(0)
    points = [(rng.random(), rng.random()) for _ in range(places)]

    def length(pair: tuple[int, int]) -> float:
        return math.dist(points[pair[0]], points[pair[1]])

    # A road to the nearest of the places before it connects each place with all others.
    found = {min(((i, j) for i in range(j)), key=length) for j in range(1, places)}
    shortest = sorted(itertools.combinations(range(places), 2), key=length)
    found.update([pair for pair in shortest if pair not in found][: pairs - len(found)])
    both_ways = sorted(found | {(b, a) for a, b in found})
    return [f"p{i}" for i in range(places)], [(f"p{a}", f"p{b}") for a, b in both_ways]


def of(predicate: str, arcs: Iterable[Arc]) -> list[str]:
    return [f"({predicate} {a} {b})" for a, b in arcs]


def calls(policy: Policy, task: Task, actions: Iterable[Action]) -> float:
    """Return the CPU seconds of applying actions; preparing the walk does not count."""
    walk = policy.start(task)
    encoded = task.encode(actions)
    walk.core.apply(*encoded[0])  # it chooses the plans of joins
    walk.core.undo()
    start = time.thread_time()
    for row in encoded:
        walk.core.apply(*row)
    return time.thread_time() - start


def scratch(policy: Policy, task: Task) -> Callable[[], float]:
    """Return a function that evaluates the first state of a task anew."""
    core = policy.start(task).core
    return timed(lambda: core.start(task.initial.ids))


def distances_of_both(policy: Policy, task: Task, sizes: Sizes) -> tuple[float, float, int]:
    """Return the CPU seconds of Planlog and of clingo, and the largest distance.

    clingo cannot compute least values without an upper bound. It gets the best one.
    """
    import clingo

    found = policy.query(task, task.initial, "distance(A, B, D)")
    bound = max(row["D"] for row in found)
    roads = "length(A, B, N)" if "length" in str(policy.program) else "link(A, B), N = 1"
    lines = [f"place({place})." for place in task.object_names]
    lines += [
        f"link({row['A']}, {row['B']}, {row['N']})."
        for row in policy.query(task, task.initial, roads)
    ]
    program = "\n".join([*lines, DISTANCES_FOR_CLINGO.format(bound)])

    def theirs() -> clingo.Control:
        control = clingo.Control(["--warn=none"])
        control.add("base", [], program)
        control.ground([("base", [])])
        return control

    grounded = theirs()
    least: dict[Arc, int] = {}
    for atom in grounded.symbolic_atoms.by_signature("distance", 3):
        a, b, distance = atom.symbol.arguments
        pair = a.name, b.name
        least[pair] = min(least.get(pair, bound), distance.number)
    if {(row["A"], row["B"]): row["D"] for row in found} != least:
        raise SystemExit("clingo finds other distances")
    (ours,) = best(sizes.repetitions, timed(lambda: policy.start(task)))
    (other,) = best(1, timed(theirs))
    return ours, other, bound


def measure_distances(sizes: Sizes) -> Iterator[Budget | Ratio]:
    """Measure the distances between all places: once for a task, and when a road changes."""
    domain = Domain.parse(DOMAIN)
    places, arcs = road_graph(sizes.places, 2 * sizes.places)
    rng = random.Random(1)
    lengths = [f"(= (length {a} {b}) {rng.randint(1, 3)})" for a, b in arcs]
    facts = [*of("link", arcs), *of("road", arcs), *lengths]
    task = domain.parse_task(city(places, facts, [f"(visited {p})" for p in places]))
    without = Policy.parse(DRIVE, domain)
    static = Policy.parse(READ + DISTANCES.format("link", "1"), domain)
    weighted = Policy.parse(READ + DISTANCES.format("length(A, B, N), link", "N"), domain)
    what = f"all distances, {len(places)} places, {len(arcs)} roads"
    for policy, kind in ((static, ""), (weighted, ", with lengths")):
        ours, other, bound = distances_of_both(policy, task, sizes)
        yield Budget(what + kind, ours, SECONDS_FOR_DISTANCES)
        yield Ratio(what + kind, ours, other, f"clingo, distances up to {bound}", required=20)

    drive = [Action("drive", arc) for a, b in arcs for arc in ((a, b), (b, a)) if a == places[0]]
    drive *= sizes.repetitions * 10
    with_distances, alone = best(
        sizes.repetitions,
        lambda: calls(static, task, drive),
        lambda: calls(without, task, drive),
    )
    what, n = "a step that changes no road, with all distances", len(drive)
    yield Ratio(what, with_distances / n, alone / n, "without distances", required=1 / 1.1)

    policy = Policy.parse(DRIVE + READ + DISTANCES.format("road", "1"), domain)
    changes = []
    for arc in rng.sample(arcs, 10):
        changes += [Action("close", arc), Action("build", arc)]
    steps, whole = best(
        min(3, sizes.repetitions),
        lambda: calls(policy, task, changes),
        scratch(policy, task),
    )
    what = "all distances after one road closes or opens"
    yield Ratio(what, steps / len(changes), whole, "from scratch", required=10)


def measure_nearest(sizes: Sizes) -> Iterator[Process]:
    """Measure `planlog solve` on a grid, all of whose cells are to be visited."""
    side = sizes.grid
    cells = {(x, y): f"c{x}-{y}" for y in range(side) for x in range(side)}
    steps = ((1, 0), (-1, 0), (0, 1), (0, -1))
    arcs = [
        (name, cells[x + dx, y + dy])
        for (x, y), name in cells.items()
        for dx, dy in steps
        if (x + dx, y + dy) in cells
    ]
    goal = [f"(visited {cell})" for cell in list(cells.values())[1:]]
    with tempfile.TemporaryDirectory() as folder:
        files = {"domain.pddl": DOMAIN, "rules.dl": NEAREST}
        files["problem.pddl"] = city(list(cells.values()), of("link", arcs), goal)
        domain, rules, problem = (Path(folder) / name for name in files)
        for name, text in files.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        done = planlog("solve", str(domain), str(problem), "--policy", str(rules), cores=1)
    what = f"nearest of a set, {side} × {side} cells, rules alone"
    outcome, count = done.report["outcome"], done.report["steps"]
    used = done.seconds, done.megabytes
    yield Process(what, outcome, "solved", count, *used, *NEAREST_ALLOWED)


def measure_aggregates(sizes: Sizes) -> Iterator[Ratio]:
    """Measure aggregates over one large group, one element of which comes or goes."""
    domain = Domain.parse(DOMAIN)
    size = sizes.group
    places = [f"p{i}" for i in range(size)]
    values = [f"(= (size {place}) {i})" for i, place in enumerate(places)]
    marks = [f"(marked {place})" for place in places]
    task = domain.parse_task(city(places, [*values, *marks], [f"(visited {places[-1]})"]))
    changes = []
    for place in random.Random(0).sample(places, min(size, 100)):
        changes += [Action("unmark", (place,)), Action("mark", (place,))]
    for name, rules in AGGREGATES.items():
        policy = Policy.parse(f"{rules}mark(A) :- {rules.split(' :- ')[0]}, N < 0.\n", domain)
        steps, whole = best(
            sizes.repetitions,
            lambda policy=policy: calls(policy, task, changes),
            scratch(policy, task),
        )
        what = f"{name} of {size}, one more or less"
        yield Ratio(what, steps / len(changes), whole, "from scratch", required=100)
