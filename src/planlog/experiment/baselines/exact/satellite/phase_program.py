"""The phases of instruments in a Satellite task, and the integer program that chooses them.

In a phase an instrument is switched on, calibrated, and takes images in some directions. An
instrument needs at most one phase: joining two phases never costs more turns than it saves actions
to switch off, switch on and calibrate. The exception is an instrument that is on at the start: its
first phase is of another kind, and it may have a second one.

- A phase visits its calibration target first, and then the directions of its images in any order.
  Each visit costs a turn.
- A turn is saved if a phase ends at the target of the next one, if the satellite points at the
  target of its first phase at the start, and if the last phase ends at the goal direction.

Saved turns are arcs between the phases of a satellite, its start and its end. They must be part of
one sequence of all its phases. As in the travelling salesman problem, constraints against cycles
and other arcs that are in no sequence are added when a solution violates them.

G. Dantzig, R. Fulkerson, S. Johnson: Solution of a large-scale traveling-salesman problem. Journal
of the Operations Research Society of America 2, 1954.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from planlog.experiment.baselines.exact.integer_program import IntegerProgram

Image = tuple[str, str]  # direction, mode
# Between two phases of a satellite; None is its start as the first node, its end as the second.
Arc = tuple[int | None, int | None]


@dataclass(frozen=True)
class Satellite:
    """A satellite in the initial state and in the goal."""

    name: str
    points: str  # direction at the start
    goal: str | None  # direction in the goal
    on: str | None  # instrument that is on


@dataclass(frozen=True)
class Phase:
    """An instrument on a satellite, and its calibration target.

    The instrument of a phase with `start` is on at the start, so the phase comes first. If it is
    `calibrated` too, its target is the direction that the satellite points at.
    """

    satellite: int
    instrument: str
    target: str
    modes: frozenset[str]
    start: bool = False
    calibrated: bool = False


@dataclass(frozen=True)
class Problem:
    """Satellites, possible phases, and images to take."""

    satellites: tuple[Satellite, ...]
    phases: tuple[Phase, ...]
    images: tuple[Image, ...]

    def takes(self, phase: int, directions: Iterable[str]) -> Iterator[Image]:
        """Yield the images that a phase can take of its target and of these directions."""
        modes, seen = self.phases[phase].modes, {self.phases[phase].target, *directions}
        return ((d, m) for d, m in self.images if d in seen and m in modes)


@dataclass(frozen=True)
class PhaseChoice:
    """The directions that each chosen phase visits after its target, and the saved turns."""

    visits: dict[int, frozenset[str]] = field(default_factory=dict)
    arcs: frozenset[Arc] = frozenset()

    def images(self, problem: Problem) -> dict[int, list[Image]]:
        """Return the images that each chosen phase takes; each image is taken once."""
        left = set(problem.images)
        taken = {}
        for p, directions in self.visits.items():
            taken[p] = [image for image in problem.takes(p, directions) if image in left]
            left.difference_update(taken[p])
        return taken

    def chains(self, problem: Problem, satellite: int) -> list[list[int]]:
        """Return the chosen phases of a satellite along their arcs; a cycle is a chain too."""
        phases = [p for p in self.visits if problem.phases[p].satellite == satellite]
        after = {p: q for p, q in self.arcs if p is not None}
        chains = []
        left = set(phases)
        # Phases after no other one begin chains; those that remain are on cycles.
        for head in sorted(phases, key=set(after.values()).__contains__):
            chain = []
            node: int | None = head
            while node in left:
                left.remove(node)
                chain.append(node)
                node = after.get(node)
            if chain:
                chains.append(chain)
        return chains

    def sequence(self, problem: Problem, satellite: int) -> list[int]:
        """Return the chosen phases of a satellite in an order with as many arcs as possible."""
        # A chain from the start comes first, a chain to the end last.
        chains = sorted(
            self.chains(problem, satellite),
            key=lambda chain: ((None, chain[0]) not in self.arcs, (chain[-1], None) in self.arcs),
        )
        return [p for chain in chains for p in chain]


class PhaseProgram(IntegerProgram):
    """The integer program of a problem; cost plus `constant` is the plan length."""

    def __init__(self, problem: Problem) -> None:
        super().__init__()
        self.problem = problem
        self.constant = len(problem.images) + sum(s.goal is not None for s in problem.satellites)
        self._used: list[int] = []
        self._visits: dict[tuple[int, str], int] = {}
        self._arcs: dict[Arc, int] = {}
        self._rests: dict[int, int] = {}  # satellites without an instrument on at the start
        self._phases: dict[int, list[int]] = defaultdict(list)  # of a satellite
        for number, phase in enumerate(problem.phases):
            self._phases[phase.satellite].append(number)
            self._add_phase(number, phase)
        for image in problem.images:
            self._cover(*image)
        for satellite in range(len(problem.satellites)):
            self._add_arcs(satellite)

    def _add_phase(self, number: int, phase: Phase) -> None:
        """Add a phase with its switching, calibration, turn to the target, and visits."""
        switching = 0 if phase.start else 2
        used = self.variable(switching + (not phase.calibrated) + 1)
        self._used.append(used)
        for direction in dict.fromkeys(d for d, m in self.problem.images if m in phase.modes):
            if direction != phase.target:
                visit = self.variable(1)
                self._visits[number, direction] = visit
                self.implies(visit, [used])

    def _cover(self, direction: str, mode: str) -> None:
        """Require that a phase takes the image."""
        takers = [
            self._used[p] if phase.target == direction else self._visits[p, direction]
            for p, phase in enumerate(self.problem.phases)
            if mode in phase.modes
        ]
        self.at_least(1, [(1, taker) for taker in takers])

    def _add_arcs(self, satellite: int) -> None:
        """Add the turns that a satellite can save, and its last instrument, which stays on."""
        used = self._used
        phases = self._phases[satellite]
        about = self.problem.satellites[satellite]
        if about.on is None:
            rest = self.variable(-1)
            self.implies(rest, [used[p] for p in phases])
            self._rests[satellite] = rest
        for p in phases:
            phase = self.problem.phases[p]
            if phase.start:
                # This arc makes the phase the first one, with or without saving a turn.
                first = self.variable(-1 if phase.target == about.points else 0)
                self._arcs[None, p] = first
                self.implies(used[p], [first])
            elif phase.target == about.points:
                self._arcs[None, p] = self.variable(-1)
            for q in phases:
                other = self.problem.phases[q]
                if p != q and not other.start:
                    self._add_arc(p, q, other.target)
            if about.goal is not None:
                self._add_arc(p, None, about.goal)
        if about.goal is not None and about.points == about.goal:
            stays = self.variable(-1)  # no turn at all
            for p in phases:
                self.at_most(1, [(1, stays), (1, used[p])])
        for p in phases:
            leaving = [(-1, a) for (i, _), a in self._arcs.items() if i == p]
            arriving = [(-1, a) for (_, j), a in self._arcs.items() if j == p]
            self.at_least(0, [(1, used[p]), *leaving])
            self.at_least(0, [(1, used[p]), *arriving])
        self.at_most(1, [(1, a) for (i, j), a in self._arcs.items() if i is None and j in phases])
        self.at_most(1, [(1, a) for (i, j), a in self._arcs.items() if j is None and i in phases])

    def _add_arc(self, p: int, after: int | None, direction: str) -> None:
        """Add the turn saved if phase p ends in the next direction."""
        phase = self.problem.phases[p]
        if direction == phase.target:
            arc = self.variable(-1)
            # A phase ends at its target only if it has no other visit.
            for (q, _), visit in self._visits.items():
                if q == p:
                    self.at_most(1, [(1, arc), (1, visit)])
        elif (p, direction) in self._visits:
            arc = self.variable(-1)
            self.implies(arc, [self._visits[p, direction]])
        else:
            return
        self._arcs[p, after] = arc

    def choice(self, values: npt.NDArray[np.float64]) -> PhaseChoice:
        """Return the choice of a solution."""
        visits: dict[int, set[str]] = {
            p: set() for p, used in enumerate(self._used) if values[used]
        }
        for (p, direction), visit in self._visits.items():
            if values[visit]:
                visits[p].add(direction)
        arcs = frozenset(arc for arc, variable in self._arcs.items() if values[variable])
        return PhaseChoice({p: frozenset(ds) for p, ds in visits.items()}, arcs)

    def solution(self, choice: PhaseChoice) -> dict[int, int]:
        """Return the variables that are 1 for a choice, with no arcs but the required ones."""
        chosen = [self._used[p] for p in choice.visits]
        chosen += [self._visits[p, d] for p, ds in choice.visits.items() for d in ds]
        for p in choice.visits:
            satellite = self.problem.phases[p].satellite
            if self.problem.phases[p].start:
                chosen.append(self._arcs[None, p])
            if satellite in self._rests:
                chosen.append(self._rests[satellite])
        return dict.fromkeys(chosen, 1)

    def forbid_broken(self, choice: PhaseChoice) -> bool:
        """Add constraints against arcs that are in no sequence; return whether there are any."""
        broken = False
        for satellite in range(len(self.problem.satellites)):
            chains = choice.chains(self.problem, satellite)
            for chain in chains:
                ends = {(None, chain[0]), (chain[-1], None)}
                if (chain[-1], chain[0]) in choice.arcs:
                    self._forbid_cycle(chain)
                elif ends <= choice.arcs and len(chains) > 1:
                    self._forbid_short(satellite, chain)
                else:
                    continue
                broken = True
        return broken

    def _forbid_short(self, satellite: int, chain: list[int]) -> None:
        """Forbid a chain from start to end over these phases if another phase is used."""
        nodes = {None, *chain}
        inside = [(1, a) for (i, j), a in self._arcs.items() if i in nodes and j in nodes]
        for p in self._phases[satellite]:
            if p not in nodes:
                self.at_most(len(chain) + 1, [*inside, (1, self._used[p])])

    def _forbid_cycle(self, cycle: list[int]) -> None:
        """Require fewer arcs between these phases than phases."""
        inside = [(1, a) for (i, j), a in self._arcs.items() if i in cycle and j in cycle]
        for p in cycle:
            others = [(-1, self._used[q]) for q in cycle if q != p]
            self.at_most(0, [*inside, *others])
