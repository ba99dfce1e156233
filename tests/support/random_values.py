"""A domain whose actions change roads, marks and loads, for tests of rules with integers."""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from planlog.pddl.task import Domain, Task

DOMAIN = Domain.read(Path(__file__).parent / "small_domains" / "roads.pddl")

Atom = tuple[str, ...]


@dataclass
class World:
    """A task with random lengths and weights, and the atoms of a state of it."""

    seed: int
    places: list[str] = field(default_factory=lambda: [f"p{i}" for i in range(6)])
    items: list[str] = field(default_factory=lambda: [f"i{i}" for i in range(4)])

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        pairs = [(a, b) for a in self.places for b in self.places]
        # Zeros make cycles of length 0.
        self.length = {pair: self.rng.choice([0, 1, 1, 2, 5]) for pair in pairs}
        self.weight = {item: self.rng.randrange(4) for item in self.items}
        self.atoms: set[Atom] = {("road", a, b) for a, b in pairs if self.rng.random() < 0.25}

    def task(self) -> Task:
        values = [f"(= (len {a} {b}) {n})" for (a, b), n in self.length.items()]
        values += [f"(= (weight {item}) {n})" for item, n in self.weight.items()]
        atoms = [f"({' '.join(atom)})" for atom in sorted(self.atoms)]
        return DOMAIN.parse_task(
            f"(define (problem p) (:domain roads) (:objects {' '.join(self.places)} - place"
            f" {' '.join(self.items)} - item) (:init {' '.join(values + atoms)})"
            " (:goal (wanted p0)))"
        )

    def move(self) -> str:
        """Change an atom, and return the action that does."""
        kind = self.rng.choice(["road", "road", "road", "slow", "slow", "wanted", "has", "has"])
        second = {"wanted": [], "has": [self.rng.choice(self.items)]}
        atom = (kind, self.rng.choice(self.places))
        atom += tuple(second.get(kind, [self.rng.choice(self.places)]))
        verb = "del" if atom in self.atoms else "add"
        self.atoms ^= {atom}
        return f"({verb}-{' '.join(atom)})"

    def of(self, name: str) -> Iterator[Atom]:
        """The arguments of the atoms of a predicate."""
        return (atom[1:] for atom in self.atoms if atom[0] == name)

    def cost(self, a: str, b: str) -> int:
        """The length of a road; slow ones count twice."""
        return self.length[a, b] * (2 if ("slow", a, b) in self.atoms else 1)

    def distances(self, sources: list[str]) -> dict[str, int]:
        """Dijkstra's algorithm, along the roads backwards."""
        found: dict[str, int] = {}
        queue = [(0, source) for source in sources]
        while queue:
            distance, place = heapq.heappop(queue)
            if place in found:
                continue
            found[place] = distance
            for a, b in self.of("road"):
                if b == place:
                    heapq.heappush(queue, (distance + self.cost(a, b), a))
        return found

    def cheapest(self) -> dict[str, int]:
        """Costs of places that are wanted, or made of two others along roads: a naive fixpoint."""
        cost = {a: 1 for (a,) in self.of("wanted")}
        roads = sorted(self.of("road"))
        changed = True
        while changed:
            changed = False
            for a, b in roads:
                for other, c in roads:
                    if other != a or b not in cost or c not in cost:
                        continue
                    value = cost[b] + cost[c] + self.length[a, b]
                    if value < cost.get(a, value + 1):
                        cost[a] = value
                        changed = True
        return cost
