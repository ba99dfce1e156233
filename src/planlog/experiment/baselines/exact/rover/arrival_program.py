"""The integer program of a Rover task: which rover arrives at which waypoints.

It relaxes the task, so its optimum is a lower bound on the plan length:

- A rover that drives ends where a lander is visible, and communicates all its data there.
- A rover takes a sample where it arrives or starts. Each sample needs an empty store; unless the
  store is empty at the start, emptying it costs an action.
- A rover takes an image near, where it can also calibrate a camera for it, or away from there.
  Each image taken away needs an arrival (or start) where the camera can be calibrated, other than
  the last arrival, and at each arrival at most one such image is taken. The program does not
  require that calibrations and images alternate.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

import numpy as np
import numpy.typing as npt

from planlog.experiment.baselines.exact.integer_program import IntegerProgram
from planlog.experiment.baselines.exact.rover.order_search import Conflict
from planlog.experiment.baselines.exact.rover.problem import Image, Problem, Rover, Sample
from planlog.experiment.baselines.exact.rover.tours import Hints, inside

_Terms = list[tuple[int, int]]  # factor, variable


class ArrivalProgram(IntegerProgram):
    """The program; its cost plus `constant` is a lower bound on the plan length."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.problem = problem
        # Three actions for each image, and one to communicate each sample, without savings.
        self.constant = 3 * len(problem.images) + len(problem.samples)
        self._arrives: dict[tuple[int, str], int] = {}
        self._again: dict[tuple[int, str], int] = {}  # arrivals after the first, any number
        self._ends: dict[tuple[int, str], int] = {}
        self._drives: list[int] = []
        # Variables for taking an image where its camera cannot be calibrated.
        self._away: dict[tuple[int, Image], list[int]] = defaultdict(list)
        self._more: dict[tuple[int, str, int], int] = {}
        self._samplers: dict[tuple[Sample, int], int] = {}
        self._firsts: dict[tuple[Image, int, int], int] = {}
        self._covers: dict[Sample | Image, _Terms] = {
            datum: [] for datum in (*problem.samples, *problem.images)
        }
        # At most one saving counts for each image.
        self._saving: dict[Image, _Terms] = {image: [] for image in problem.images}
        self._given: set[Sample | Image] = set()  # available without driving
        for r, rover in enumerate(problem.rovers):
            self._add_rover(r, rover)
        for datum, terms in self._covers.items():
            if datum not in self._given:
                self.at_least(1, terms)
        for terms in self._saving.values():
            self.at_most(1, terms)

    def _add_rover(self, r: int, rover: Rover) -> None:
        drives = self.variable()
        self._drives.append(drives)
        for waypoint in self._useful(rover):
            arrives = self.variable(1)
            self._arrives[r, waypoint] = arrives
            self.implies(arrives, [drives])
            if waypoint in self.problem.contact:
                self._ends[r, waypoint] = self.variable()
                self.implies(self._ends[r, waypoint], [arrives])
        ends = [end for (q, _), end in self._ends.items() if q == r]
        self.implies(drives, ends)
        self.at_most(1, [(1, end) for end in ends])
        for sample in sorted(rover.samples):
            self._cover(sample, r, self.variable(), [rover.start])
        for image in sorted(rover.images):
            has = self.variable(-2)
            self._cover(image, r, has, [rover.start])
            self._saving[image].append((1, has))
        self._add_samples(r, rover)
        self._add_images(r, rover)

    def _useful(self, rover: Rover) -> list[str]:
        """Return the waypoints that may be useful for a rover."""
        problem = self.problem
        useful = set(problem.contact)
        useful |= {w for kind, w in problem.lying if kind in rover.kinds}
        modes = frozenset(m for camera in rover.cameras for m in camera.modes)
        wanted = [o for o, m in problem.images if m in modes]
        useful |= {w for o in wanted for w in problem.seen_from[o]}
        if wanted:
            useful |= rover.modes_at.keys()
        return sorted(useful)

    def _cover(self, datum: Sample | Image, r: int, variable: int, places: Collection[str]) -> None:
        """Let a variable stand for a datum that a rover collects at one of these waypoints."""
        start = self.problem.rovers[r].start
        if start not in places:
            self.implies(variable, [self._arrives[r, w] for w in sorted(places)])
        elif start not in self.problem.contact:
            self.implies(variable, [self._drives[r]])
        self._covers[datum].append((1, variable))

    def _add_samples(self, r: int, rover: Rover) -> None:
        taken = []
        for sample in self.problem.samples:
            kind, waypoint = sample
            if kind not in rover.kinds or sample not in self.problem.lying:
                continue
            takes = self.variable(2)  # one to empty the store, one to take the sample
            self._samplers[sample, r] = takes
            taken.append(takes)
            self._cover(sample, r, takes, [waypoint])
        if taken and rover.empty:
            self.implies(self.variable(-1, most=len(rover.empty)), taken)

    def _add_images(self, r: int, rover: Rover) -> None:
        problem = self.problem
        for image in problem.takes_at(rover, rover.start):
            if rover.start in problem.contact:
                self._given.add(image)
            else:
                self._covers[image].append((1, self._drives[r]))
        for (q, waypoint), arrives in self._arrives.items():
            if q == r and waypoint != rover.start:
                for image in problem.takes_at(rover, waypoint):
                    self._covers[image].append((1, arrives))
        for number in range(len(rover.cameras)):
            self._add_camera(r, rover, number)
            if rover.cameras[number].calibrated:
                self._add_first(r, rover, number)

    def _add_first(self, r: int, rover: Rover, number: int) -> None:
        """Add the first image of a camera that is calibrated at the start."""
        camera = rover.cameras[number]
        firsts = []
        for image in self.problem.images:
            objective, mode = image
            if mode in camera.modes:
                first = self.variable(-1)
                firsts.append((1, first))
                self._firsts[image, r, number] = first
                self._away[r, image].append(first)
                self._saving[image].append((1, first))
                self._cover(image, r, first, self.problem.seen_from[objective])
        self.at_most(1, firsts)

    def _add_camera(self, r: int, rover: Rover, number: int) -> None:
        """Add the images that a camera takes where the rover cannot calibrate for them."""
        problem = self.problem
        camera = rover.cameras[number]
        if not camera.targets:
            return
        slots: dict[str, int] = {}  # waypoint -> images taken there
        taken: _Terms = []
        for image in problem.images:
            objective, mode = image
            near = {w for w, modes in rover.modes_at.items() if mode in modes}
            away = sorted(problem.seen_from[objective] - near)
            if mode not in camera.modes or not away or image in self._given:
                continue
            for waypoint in away:
                if waypoint not in slots:
                    slots[waypoint] = self.variable(most=len(problem.images))
                    self.at_least(0, [(-1, slots[waypoint]), *self._arrivals(r, [waypoint])])
            takes = self.variable()
            taken.append((1, takes))
            self.implies(takes, [slots[w] for w in away])
            self._covers[image].append((1, takes))
            self._away[r, image].append(takes)
        if not taken:
            return
        self.at_least(0, [*((1, s) for s in slots.values()), *((-f, v) for f, v in taken)])
        ends = [(-1, self._ends[r, w]) for w in camera.targets if (r, w) in self._ends]
        self.at_least(
            -1 if rover.start in camera.targets else 0,
            [*self._arrivals(r, camera.targets), *ends, *((-1, s) for s in slots.values())],
        )

    def _arrivals(self, r: int, waypoints: Iterable[str]) -> _Terms:
        """Return the number of arrivals of a rover at waypoints."""
        terms: _Terms = []
        for waypoint in waypoints:
            first = self._arrives[r, waypoint]
            if (r, waypoint) not in self._again:
                most = len(self.problem.images)
                again = self.variable(1, most=most)
                self._again[r, waypoint] = again
                self.at_least(0, [(most, first), (-1, again)])
            terms += [(1, first), (1, self._again[r, waypoint])]
        return terms

    def hints(self, values: npt.NDArray[np.float64]) -> Hints:
        """Return the hints of a solution."""
        visits: dict[int, list[str]] = {r: [] for r in range(len(self.problem.rovers))}
        for (r, waypoint), arrives in self._arrives.items():
            again = self._again.get((r, waypoint))
            count = int(values[arrives]) + (0 if again is None else int(values[again]))
            visits[r] += [waypoint] * count
        for (r, waypoint), ends in self._ends.items():
            if values[ends]:
                visits[r].remove(waypoint)
                visits[r].append(waypoint)
        starts = [[rover.start, *visits[r]] for r, rover in enumerate(self.problem.rovers)]
        near = inside(self.problem, starts)
        return Hints(
            visits=visits,
            away={
                r: frozenset(
                    image
                    for (q, image), ways in self._away.items()
                    if q == r and image not in near and any(values[way] for way in ways)
                )
                for r in visits
            },
            samplers={sample: r for (sample, r), takes in self._samplers.items() if values[takes]},
            firsts={
                image: (r, c) for (image, r, c), first in self._firsts.items() if values[first]
            },
        )

    def waypoints(self, r: int) -> list[str]:
        """Return the possible destinations of a rover."""
        return [w for q, w in self._arrives if q == r]

    def forbid(self, conflict: Conflict) -> None:
        """Add a conflict as a constraint."""
        r = conflict.rover
        terms: _Terms = []
        for image in sorted(conflict.images):
            terms += [(-1, way) for way in self._away[r, image]]
        for waypoint in self.waypoints(r):
            if waypoint not in conflict.harmless:
                terms += self._arrivals_after(r, waypoint, conflict.visits[waypoint])
        self.at_least(1 - len(conflict.images), terms)

    def _arrivals_after(self, r: int, waypoint: str, count: int) -> _Terms:
        """Return terms that are positive only if a rover arrives more than `count` times."""
        again = [(1, self._again[r, waypoint])] if (r, waypoint) in self._again else []
        if count == 0:
            return [(1, self._arrives[r, waypoint]), *again]
        if count == 1 or not again:
            return again
        if (r, waypoint, count) not in self._more:
            more = self.variable()
            self._more[r, waypoint, count] = more
            most = len(self.problem.images)
            self.at_least(1 - count, [(most, more), (-1, again[0][1])])
        return [(1, self._more[r, waypoint, count])]
