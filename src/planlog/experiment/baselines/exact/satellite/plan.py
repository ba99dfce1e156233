"""Satellite: plans and lower bounds from an integer program over phases of instruments."""

from __future__ import annotations

from collections.abc import Iterator

from planlog.experiment.baselines.exact.clock import Clock
from planlog.experiment.baselines.exact.satellite.phase_program import (
    Image,
    Phase,
    PhaseChoice,
    PhaseProgram,
    Problem,
    Satellite,
)
from planlog.experiment.baselines.exact.task_shape import Facts, Unsolvable, goal_atoms
from planlog.experiment.baselines.solution import Solution
from planlog.pddl.task import Action, Task


def solve(task: Task, clock: Clock) -> Solution:
    """Return the best plan found within the time limit, and a lower bound."""
    problem = _read(task)
    choice = _greedy(problem)
    best = clock.plan(_plan(problem, choice))
    program = PhaseProgram(problem)
    start = program.solution(choice)
    lower_bound = 0
    while clock.left > 0:
        answer = program.solve(clock.left, start=start)
        lower_bound = max(lower_bound, answer.lower_bound + program.constant)
        if answer.values is None:
            break
        choice = program.choice(answer.values)
        broken = program.forbid_broken(choice)
        plan = clock.plan(_plan(problem, choice))
        if len(plan.actions) < len(best.actions):
            best, start = plan, program.solution(choice)
        if not broken or len(best.actions) <= lower_bound:
            break
    return clock.solved(best, lower_bound)


def _read(task: Task) -> Problem:
    """Return the problem of a task; raise Unsolvable if its goals contradict each other."""
    facts = Facts(task)
    wanted = goal_atoms(task, ("have_image", "pointing"))
    goals: dict[str, str] = {}
    for name, first, second in wanted:
        if name == "pointing" and goals.setdefault(first, second) != second:
            raise Unsolvable
    points = facts.function(facts["pointing"], "points at two directions")
    carrier = facts.function(facts["on_board"], "is on board of two satellites")
    on = facts.function(
        [(carrier[i], i) for i in facts.objects("power_on") if i in carrier],
        "has two instruments on",
    )
    powered = set(facts.objects("power_avail"))
    for name in sorted(powered & on.keys()):
        raise facts.unsuitable(f"{name} has power for a second instrument")
    satellites = []
    for name, kind in task.objects.items():
        if kind == "satellite":
            if name not in points:
                raise facts.unsuitable(f"{name} points nowhere")
            satellites.append(Satellite(name, points[name], goals.get(name), on.get(name)))
    there = set(facts["have_image"])
    images = sorted({(d, m) for name, d, m in wanted if name == "have_image"} - there)
    number = {satellite.name: s for s, satellite in enumerate(satellites)}
    calibrated = facts.objects("calibrated")
    modes, targets = facts.grouped("supports"), facts.grouped("calibration_target")
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


def _greedy(problem: Problem) -> PhaseChoice:
    """Choose phases that take the most remaining images; raise Unsolvable if none can."""
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
            raise Unsolvable("no instrument can take the image of {} in mode {}".format(*min(left)))
        phase = problem.phases[best]
        visits[best] = frozenset(d for d, _ in gains[best]) - {phase.target}
        left -= gains[best]
        if phase.start:
            begun.add(phase.satellite)
    return PhaseChoice(visits)


def _plan(problem: Problem, choice: PhaseChoice) -> list[Action]:
    """Return a plan of the chosen phases, without those that take no image."""
    taken = choice.images(problem)
    plan: list[Action] = []
    for s, satellite in enumerate(problem.satellites):
        sequence = [p for p in choice.sequence(problem, s) if taken[p]]
        plan += _steps(satellite, [(problem.phases[p], taken[p]) for p in sequence])
    return plan


def _steps(satellite: Satellite, phases: list[tuple[Phase, list[Image]]]) -> Iterator[Action]:
    """Yield the actions of a satellite whose phases take these images."""
    name, points, on = satellite.name, satellite.points, satellite.on
    targets = [phase.target for phase, _ in phases]
    for (phase, images), last in zip(phases, [*targets[1:], satellite.goal], strict=False):
        if not phase.start:
            if on is not None:
                yield Action("switch_off", (on, name))
            yield Action("switch_on", (phase.instrument, name))
        on = phase.instrument
        if not phase.calibrated:
            yield from _turn(name, points, phase.target)
            points = phase.target
            yield Action("calibrate", (name, on, points))
        # The current direction first, the next target last.
        for direction in sorted({d for d, _ in images}, key=lambda d: (d != points, d == last, d)):
            yield from _turn(name, points, direction)
            points = direction
            for d, mode in images:
                if d == direction:
                    yield Action("take_image", (name, d, on, mode))
    if satellite.goal is not None:
        yield from _turn(name, points, satellite.goal)


def _turn(satellite: str, old: str, new: str) -> Iterator[Action]:
    if new != old:
        yield Action("turn_to", (satellite, new, old))
