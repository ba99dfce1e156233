"""Rover: plans and lower bounds from an integer program over the arrivals of rovers.

The program ignores the order of the visits. If a rover cannot take its images in any order, the
reason becomes a constraint of the program, which is then solved again.

J. N. Hooker, G. Ottosson: Logic-based Benders decomposition. Mathematical Programming 96, 2003.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from planlog.experiment.baselines.exact.clock import Clock
from planlog.experiment.baselines.exact.rover import order_search
from planlog.experiment.baselines.exact.rover.arrival_program import ArrivalProgram
from planlog.experiment.baselines.exact.rover.problem import Image, Problem, Sample, read
from planlog.experiment.baselines.exact.rover.tours import Hints, Impossible, Take, Tours, complete
from planlog.experiment.baselines.exact.task_shape import Unsolvable
from planlog.experiment.baselines.solution import Solution, TimedPlan
from planlog.experiment.records import Status
from planlog.pddl.task import Action, Task


def solve(task: Task, clock: Clock) -> Solution:
    """Return the best plan found within the time limit, and a lower bound."""
    problem = read(task)
    program = ArrivalProgram(problem)
    best: TimedPlan | None = None
    lower_bound = 0
    while (best is None or len(best.actions) > lower_bound) and clock.left > 0:
        answer = program.solve(clock.left)
        if answer.infeasible:
            raise Unsolvable("no rovers can achieve all goals")
        lower_bound = max(lower_bound, answer.lower_bound + program.constant)
        if answer.values is None:
            break
        hints, conflicts = _ordered(problem, program, program.hints(answer.values))
        plan = _plan(problem, hints)
        if plan is not None and (best is None or len(plan) < len(best.actions)):
            best = clock.plan(plan)
        for conflict in conflicts:
            program.forbid(conflict)
        if not conflicts:
            break
    if best is None and (plan := _plan(problem, Hints())) is not None:
        best = clock.plan(plan)
    if best is None:
        return clock.solution(Status.NO_PLAN, lower_bound=lower_bound)
    return clock.solved(best, lower_bound)


def _ordered(
    problem: Problem, program: ArrivalProgram, hints: Hints
) -> tuple[Hints, list[order_search.Conflict]]:
    """Return the hints with ordered visits, and a conflict for each rover without an order."""
    visits = dict(hints.visits)
    conflicts = []
    for r, images in hints.away.items():
        try:
            found = order_search.order_or_conflict(
                problem, r, visits[r], images, program.waypoints(r)
            )
        except order_search.TooLarge:
            continue
        if isinstance(found, order_search.Conflict):
            conflicts.append(found)
        else:
            visits[r] = found
    return replace(hints, visits=visits), conflicts


def _plan(problem: Problem, hints: Hints) -> list[Action] | None:
    """Return the actions of all rovers, one after the other; None if a goal is impossible."""
    try:
        tours = complete(problem, hints)
    except Impossible:
        return None
    return [step for r in range(len(problem.rovers)) for step in _Trip(problem, tours, r).steps()]


class _Trip:
    """A rover on its tour."""

    def __init__(self, problem: Problem, tours: Tours, r: int) -> None:
        self.problem = problem
        self.rover = problem.rovers[r]
        self.visits = tours.visits[r]
        self.samples = [sample for sample, q in tours.samplers.items() if q == r]
        self.takes = {i: take for i, take in tours.takes.items() if take.rover == r}
        self.sends = [datum for datum, q in tours.senders.items() if q == r]
        self.empty = list(self.rover.empty)
        self.full = list(self.rover.full)
        self.calibrated = {n for n, c in enumerate(self.rover.cameras) if c.calibrated}

    def steps(self) -> Iterator[Action]:
        """Yield the actions of the rover, which communicates all data at the end."""
        data: list[Sample | Image] = [*self.sends, *self.samples, *self.takes]
        if not data:
            return
        for t, waypoint in enumerate(self.visits):
            if t > 0:
                yield Action("navigate", (self.rover.name, self.visits[t - 1], waypoint))
            for sample in self.samples:
                if self.visits.index(sample[1]) == t:
                    yield from self._sample(sample)
            yield from self._images(t)
        for datum in data:
            yield self._send(datum)

    def _sample(self, sample: Sample) -> Iterator[Action]:
        kind, waypoint = sample
        if not self.empty:
            store = self.full.pop()
            yield Action("drop", (self.rover.name, store))
            self.empty.append(store)
        store = self.empty.pop()
        yield Action(f"sample_{kind}", (self.rover.name, store, waypoint))
        self.full.append(store)

    def _images(self, t: int) -> Iterator[Action]:
        """Use older calibrations, then take images with new ones, then calibrate for later."""
        here = [(image, take) for image, take in self.takes.items() if take.taken == t]
        targets = [camera.targets for camera in self.rover.cameras]
        older = [x for x in here if self.visits[t] not in targets[x[1].camera]]
        newer = [x for x in here if self.visits[t] in targets[x[1].camera]]
        for image, take in older:
            yield self._take(image, take)
        for image, take in newer:
            yield from self._calibrate(take.camera, t)
            yield self._take(image, take)
        for take in self.takes.values():
            if take.calibrated == t < take.taken:
                yield from self._calibrate(take.camera, t)

    def _calibrate(self, number: int, t: int) -> Iterator[Action]:
        if number not in self.calibrated:
            camera, waypoint = self.rover.cameras[number], self.visits[t]
            target = camera.targets[waypoint]
            yield Action("calibrate", (self.rover.name, camera.name, target, waypoint))
            self.calibrated.add(number)

    def _take(self, image: Image, take: Take) -> Action:
        self.calibrated.remove(take.camera)
        (objective, mode), camera = image, self.rover.cameras[take.camera]
        waypoint = self.visits[take.taken]
        return Action("take_image", (self.rover.name, waypoint, objective, camera.name, mode))

    def _send(self, datum: Sample | Image) -> Action:
        here = self.visits[-1]
        lander, site = self.problem.contact[here]
        name = self.rover.name
        if datum in self.problem.images:
            return Action("communicate_image_data", (name, lander, *datum, here, site))
        kind, waypoint = datum
        return Action(f"communicate_{kind}_data", (name, lander, waypoint, here, site))
