"""Satellite: the fewest actions, by an integer program over phases of instruments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from planlog.baselines.exact import (
    UnsuitableTaskError,
    as_actions,
    check_costs,
    check_shipped,
    goal_atoms,
    initial_atoms,
)
from planlog.baselines.integer import Clock
from planlog.baselines.satellite.phases import Choice, Image, Model, Phase, Problem, Satellite
from planlog.baselines.solution import Found, Solution
from planlog.results import Status
from planlog.task import Task

_Step = tuple[str, ...]


def solve(task: Task, *, time_limit: float | None = None) -> Solution:
    """The best plan that is found in time, and a bound."""
    clock = Clock(time_limit)
    problem = _read(task)
    choice = _greedy(problem) if problem else None
    if problem is None or choice is None:
        return clock.solution(Status.UNSOLVABLE)
    plan = _plan(problem, choice)
    found = clock.seconds
    model = Model(problem)
    start = model.solution(choice)
    lower_bound = 0
    while clock.left > 0:
        answer = model.program.solve(clock.left, start)
        lower_bound = max(lower_bound, answer.lower_bound + model.constant)
        if answer.values is None:
            break
        choice = model.choice(answer.values)
        broken = model.forbid_broken(choice)
        other = _plan(problem, choice)
        if len(other) < len(plan):
            plan, start, found = other, model.solution(choice), clock.seconds
        if not broken or len(plan) <= lower_bound:
            break
    return clock.solution(Status.SOLVED, Found(as_actions(plan), found), lower_bound)


def _read(task: Task) -> Problem | None:
    """The problem of a task; None if its goals exclude each other."""
    check_shipped(task.domain, "satellite")
    check_costs(task)
    facts: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for name, *arguments in initial_atoms(task):
        facts[name].append(tuple(arguments))
    wanted = goal_atoms(task, {"have_image": 2, "pointing": 2})
    goals: dict[str, str] = {}
    for name, first, second in wanted:
        if name == "pointing" and goals.setdefault(first, second) != second:
            return None

    points = _one_each(task, facts["pointing"], "satellite", "points at two directions")
    carrier = _one_each(task, facts["on_board"], "instrument", "is on board of two satellites")
    on = _one_each(
        task,
        [(carrier[i], i) for (i,) in facts["power_on"] if i in carrier],
        "satellite",
        "has two instruments on",
    )
    powered = {s for (s,) in facts["power_avail"]}
    for name in sorted(powered & on.keys()):
        raise _unsuitable(task, "satellite", name, "has power for a second instrument")
    satellites = []
    for name, kind in task.objects.items():
        if kind == "satellite":
            if name not in points:
                raise _unsuitable(task, kind, name, "points nowhere")
            satellites.append(Satellite(name, points[name], goals.get(name), on.get(name)))
    there = set(facts["have_image"])
    images = sorted({(d, m) for name, d, m in wanted if name == "have_image"} - there)
    number = {satellite.name: s for s, satellite in enumerate(satellites)}
    calibrated = {i for (i,) in facts["calibrated"]}
    modes, targets = _lists(facts["supports"]), _lists(facts["calibration_target"])
    phases = []
    for i, name in carrier.items():
        s = number[name]
        useful = frozenset(modes[i]) & {m for _, m in images}
        if not useful or not (name in powered or name in on):
            continue
        phases += [Phase(s, i, target, useful) for target in targets[i]]
        if on.get(name) == i and i in calibrated:
            phases.append(Phase(s, i, points[name], useful, start=True, calibrated=True))
        elif on.get(name) == i:
            phases += [Phase(s, i, target, useful, start=True) for target in targets[i]]
    return Problem(tuple(satellites), tuple(phases), tuple(images))


def _one_each(task: Task, pairs: list[tuple[str, ...]], kind: str, problem: str) -> dict[str, str]:
    """Pairs as a mapping; nothing may have two values."""
    found: dict[str, str] = {}
    for key, value in sorted(pairs):
        if found.setdefault(key, value) != value:
            raise _unsuitable(task, kind, key, problem)
    return found


def _unsuitable(task: Task, kind: str, name: str, problem: str) -> UnsuitableTaskError:
    return UnsuitableTaskError(f"task '{task.name}': {kind} '{name}' {problem}")


def _lists(pairs: list[tuple[str, ...]]) -> dict[str, list[str]]:
    """All second elements of pairs by their first ones."""
    found: dict[str, list[str]] = defaultdict(list)
    for key, value in sorted(pairs):
        found[key].append(value)
    return found


def _greedy(problem: Problem) -> Choice | None:
    """Phases that take all images, each time that which takes the most; None if there are none."""
    left = set(problem.images)
    everywhere = frozenset(direction for direction, _ in left)
    visits: dict[int, frozenset[str]] = {}
    begun: set[int] = set()  # satellites with a phase from the start
    while left:
        gains = {
            p: {image for image in problem.takes(p, everywhere) if image in left}
            for p, phase in enumerate(problem.phases)
            if not (phase.start and phase.satellite in begun)
        }
        best = max(gains, key=lambda p: len(gains[p]), default=None)
        if best is None or not gains[best]:
            return None
        phase = problem.phases[best]
        visits[best] = frozenset(d for d, _ in gains[best]) - {phase.target}
        left -= gains[best]
        if phase.start:
            begun.add(phase.satellite)
    return Choice(visits)


def _plan(problem: Problem, choice: Choice) -> list[_Step]:
    """A plan of the chosen phases, without those that turn out to be of no use."""
    taken = choice.images(problem)
    plan: list[_Step] = []
    for s, satellite in enumerate(problem.satellites):
        sequence = [p for p in choice.sequence(problem, s) if taken[p]]
        plan += _steps(satellite, [(problem.phases[p], taken[p]) for p in sequence])
    return plan


def _steps(satellite: Satellite, phases: list[tuple[Phase, list[Image]]]) -> Iterator[_Step]:
    """The actions of a satellite whose phases take these images."""
    name, points, on = satellite.name, satellite.points, satellite.on
    targets = [phase.target for phase, _ in phases]
    for (phase, images), last in zip(phases, [*targets[1:], satellite.goal], strict=False):
        if not phase.start:
            if on is not None:
                yield "switch_off", on, name
            yield "switch_on", phase.instrument, name
        on = phase.instrument
        if not phase.calibrated:
            yield from _turn(name, points, phase.target)
            points = phase.target
            yield "calibrate", name, on, points
        # First what is seen from here, last what is needed next.
        for direction in sorted({d for d, _ in images}, key=lambda d: (d != points, d == last, d)):
            yield from _turn(name, points, direction)
            points = direction
            for d, mode in images:
                if d == direction:
                    yield "take_image", name, d, on, mode
    if satellite.goal is not None:
        yield from _turn(name, points, satellite.goal)


def _turn(satellite: str, old: str, new: str) -> Iterator[_Step]:
    if new != old:
        yield "turn_to", satellite, new, old
