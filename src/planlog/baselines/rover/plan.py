"""Rover: a plan from an integer program that says who drives where, which is also a bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from planlog.baselines.exact import as_actions
from planlog.baselines.integer import Clock
from planlog.baselines.rover.conflicts import Conflict, order_or_conflict
from planlog.baselines.rover.model import Model
from planlog.baselines.rover.problem import Image, Problem, Sample, read
from planlog.baselines.rover.search import TooLarge
from planlog.baselines.rover.tours import Hints, Impossible, Take, Tours, complete
from planlog.baselines.solution import Found, Solution
from planlog.results import Status
from planlog.task import Task

_Step = tuple[str, ...]


def solve(task: Task, *, time_limit: float | None = None) -> Solution:
    """The best plan that is found in time, and a bound."""
    clock = Clock(time_limit)
    problem = read(task)
    model = Model(problem)
    best: Found | None = None
    lower_bound = 0
    while (best is None or len(best.actions) > lower_bound) and clock.left > 0:
        answer = model.program.solve(clock.left)
        if answer.infeasible:
            return clock.solution(Status.UNSOLVABLE)
        lower_bound = max(lower_bound, answer.lower_bound + model.constant)
        if answer.values is None:
            break
        hints, conflicts = _ordered(problem, model, model.hints(answer.values))
        plan = _plan(problem, hints)
        if plan is not None and (best is None or len(plan) < len(best.actions)):
            best = Found(as_actions(plan), clock.seconds)
        for conflict in conflicts:
            model.forbid(conflict)
        if not conflicts:
            break
    if best is None and (plan := _plan(problem, Hints())) is not None:
        best = Found(as_actions(plan), clock.seconds)
    return clock.solution(Status.SOLVED if best else Status.NO_PLAN, best, lower_bound)


def _ordered(problem: Problem, model: Model, hints: Hints) -> tuple[Hints, list[Conflict]]:
    """The hints with visits in good orders, and what is wrong where there is none."""
    visits = dict(hints.visits)
    conflicts = []
    for r, images in hints.away.items():
        try:
            found = order_or_conflict(problem, r, visits[r], images, model.waypoints(r))
        except TooLarge:
            continue
        if isinstance(found, Conflict):
            conflicts.append(found)
        else:
            visits[r] = found
    return replace(hints, visits=visits), conflicts


def _plan(problem: Problem, hints: Hints) -> list[_Step] | None:
    """The actions of all rovers, one rover after the other; None if it finds no way."""
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
        self.samples = {s: t for s, (q, t) in tours.samples.items() if q == r}
        self.takes = {i: take for i, take in tours.takes.items() if take.rover == r}
        self.sends = [datum for datum, q in tours.senders.items() if q == r]
        self.empty = list(self.rover.empty)
        self.full = list(self.rover.full)
        self.calibrated = {n for n, c in enumerate(self.rover.cameras) if c.calibrated}

    def steps(self) -> Iterator[_Step]:
        """All it does; what it has, it sends at the end."""
        data: list[Sample | Image] = [*self.sends, *self.samples, *self.takes]
        if not data:
            return
        for t, waypoint in enumerate(self.visits):
            if t > 0:
                yield "navigate", self.rover.name, self.visits[t - 1], waypoint
            for sample, visit in self.samples.items():
                if visit == t:
                    yield from self._sample(sample)
            yield from self._images(t)
        for datum in data:
            yield self._send(datum)

    def _sample(self, sample: Sample) -> Iterator[_Step]:
        kind, waypoint = sample
        if not self.empty:
            store = self.full.pop()
            yield "drop", self.rover.name, store
            self.empty.append(store)
        store = self.empty.pop()
        yield f"sample_{kind}", self.rover.name, store, waypoint
        self.full.append(store)

    def _images(self, t: int) -> Iterator[_Step]:
        """Images taken with older calibrations, those with new ones, and calibrations for later."""
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

    def _calibrate(self, number: int, t: int) -> Iterator[_Step]:
        if number not in self.calibrated:
            camera = self.rover.cameras[number]
            waypoint = self.visits[t]
            yield "calibrate", self.rover.name, camera.name, camera.targets[waypoint], waypoint
            self.calibrated.add(number)

    def _take(self, image: Image, take: Take) -> _Step:
        self.calibrated.remove(take.camera)
        (objective, mode), camera = image, self.rover.cameras[take.camera]
        waypoint = self.visits[take.taken]
        return "take_image", self.rover.name, waypoint, objective, camera.name, mode

    def _send(self, datum: Sample | Image) -> _Step:
        here = self.visits[-1]
        lander, site = self.problem.contact[here]
        name = self.rover.name
        if datum in self.problem.images:
            return "communicate_image_data", name, lander, *datum, here, site
        kind, waypoint = datum
        return f"communicate_{kind}_data", name, lander, waypoint, here, site
