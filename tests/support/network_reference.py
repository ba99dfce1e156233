"""Networks by their equations, atom by atom, and circuits without any sharing: slow and readable.

Both start from the derivations of the core, which have references of their own.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planlog.network.circuit import Circuit, Counts, Layer, RuleMessages
from planlog.network.settings import Activation, Aggregation, NetworkSettings
from planlog.network.structure import Structure, structure_of
from planlog.pddl.task import State, Task
from planlog.policy.policy import Policy
from planlog.ragged import Segments

Vector = npt.NDArray[np.float64]
GroundAtom = tuple[int, tuple[str | int, ...]]  # relation, and objects and integers
Features = Callable[[GroundAtom], int]  # the number of an input atom's feature vector


@dataclass(frozen=True)
class Substitution:
    """A rule (its number in the structure) with the atoms of its head and its positive literals."""

    rule: int
    head: GroundAtom
    body: tuple[GroundAtom, ...]


# --- Derivations ---------------------------------------------------------------------


def substitutions(
    policy: Policy, structure: Structure, task: Task, state: State
) -> list[Substitution]:
    """Those by which values are computed: all, except where they would go in a circle.

    Of those that lead from one atom of a circle to another, the ones are kept that lead from atoms
    derived in earlier rounds.
    """
    found = _all_substitutions(policy, structure, task, state)
    component, rounds = _components(found), _rounds(structure, found)
    return [
        s
        for s in found
        if all(
            rounds[atom] < rounds[s.head]
            for atom in s.body
            if atom in component and component[atom] == component.get(s.head)
        )
    ]


def _all_substitutions(
    policy: Policy, structure: Structure, task: Task, state: State
) -> list[Substitution]:
    found = policy.derivations(task, [state])

    def atom(relation: int, row: int) -> GroundAtom:
        of = found.relations[relation]
        return relation, tuple(
            int(found.numbers[value]) if column in of.numbers else task.object_names[value]
            for column, value in enumerate(of.values[row].tolist())
        )

    return [
        Substitution(
            number,
            atom(rule.head, head),
            tuple(map(atom, rule.body, body)),
        )
        for number, network_rule in enumerate(structure.rules)
        for rule in [found.rules[network_rule.number]]
        for head, body in zip(rule.heads.tolist(), rule.bodies.tolist(), strict=True)
    ]


def _reachable(edges: Mapping[GroundAtom, set[GroundAtom]]) -> dict[GroundAtom, set[GroundAtom]]:
    """What can be reached from each atom by one edge or more."""
    result = {}
    for start in edges:
        seen: set[GroundAtom] = set()
        waiting = [start]
        while waiting:
            for atom in edges.get(waiting.pop(), ()):
                if atom not in seen:
                    seen.add(atom)
                    waiting.append(atom)
        result[start] = seen
    return result


def _components(found: Iterable[Substitution]) -> dict[GroundAtom, GroundAtom]:
    """The circles of atoms that help to derive each other, each named by its least atom; atoms
    that are on none are left out."""
    uses: dict[GroundAtom, set[GroundAtom]] = defaultdict(set)
    for s in found:
        uses[s.head].update(s.body)
    reach = _reachable(uses)
    return {
        atom: min(other for other in reach[atom] if atom in reach.get(other, ()))
        for atom in reach
        if atom in reach[atom]
    }


def _rounds(structure: Structure, found: Sequence[Substitution]) -> dict[GroundAtom, int]:
    """In which round each atom is first derived when relations that need each other are evaluated
    together, all rules in every round, from what the rounds before have derived."""
    needs: dict[int, set[int]] = defaultdict(set)
    for rule in structure.rules:
        needs[rule.head].update(rule.body)
    reach = _reachable({(r, ()): {(b, ()) for b in body} for r, body in needs.items()})

    def together(head: int, other: int) -> bool:
        return (other, ()) in reach.get((head, ()), ()) and (head, ()) in reach.get((other, ()), ())

    rounds: dict[GroundAtom, int] = {}
    number = 0
    while True:
        number += 1
        new = {
            s.head
            for s in found
            if s.head not in rounds
            and all(atom in rounds for atom in s.body if together(s.head[0], atom[0]))
        }
        if not new:
            return rounds
        rounds |= dict.fromkeys(new, number)


# --- Values ----------------------------------------------------------------------------


def integer_features(atom: GroundAtom) -> Vector:
    """The features of an atom with integers."""
    numbers = [term for term in atom[1] if isinstance(term, int)]
    return np.array([1.0, *(math.copysign(math.log1p(abs(n)), n) for n in numbers)])


ACTIVATIONS: dict[Activation, Callable[[float], float]] = {
    Activation.TANH: math.tanh,
    Activation.SIGMOID: lambda x: 1 / (1 + math.exp(-x)),
    Activation.RELU: lambda x: max(x, 0.0),
    Activation.LEAKY_RELU: lambda x: x if x > 0 else 0.01 * x,
    Activation.IDENTITY: lambda x: x,
}


def _applied(activation: Activation, vector: Vector) -> Vector:
    return np.array([ACTIVATIONS[activation](x) for x in vector])


def _aggregated(aggregation: Aggregation, vectors: Sequence[Vector]) -> Vector:
    components = list(zip(*vectors, strict=True))
    match aggregation:
        case Aggregation.MAX:
            return np.array([max(values) for values in components])
        case Aggregation.SUM:
            return np.array([sum(values) for values in components])
        case Aggregation.MEAN:
            return np.array([sum(values) / len(values) for values in components])


def evaluate(
    policy: Policy,
    task: Task,
    state: State,
    settings: NetworkSettings,
    weights: Mapping[str, Vector],
    *,
    scores: Iterable[int] = (),
    features: Mapping[int, Callable[[GroundAtom], Vector]] | None = None,
    outputs: Collection[int] | None = None,
) -> dict[GroundAtom, Vector]:
    """The value of each derived atom of a state; weights by their default names."""
    structure = structure_of(policy, outputs)
    by_head: dict[GroundAtom, dict[int, list[Substitution]]] = defaultdict(dict)
    for s in substitutions(policy, structure, task, state):
        by_head[s.head].setdefault(s.rule, []).append(s)
    values: dict[GroundAtom, Vector] = {}

    def message(s: Substitution) -> Vector:
        total = np.zeros(weights[f"r{s.rule}.H"].shape[1])
        for j, atom in enumerate(s.body):
            total = total + weights[f"r{s.rule}.B{j}"] @ value(atom)
        return _applied(settings.message_activation, total)

    def value(atom: GroundAtom) -> Vector:
        relation = atom[0]
        if relation in structure.features:
            return integer_features(atom)
        if relation not in structure.derived:
            return features[relation](atom) if features and relation in features else np.ones(1)
        if atom not in values:
            total = sum(
                weights[f"r{rule}.H"] @ _aggregated(settings.aggregation, list(map(message, found)))
                for rule, found in by_head[atom].items()
            )
            activation = (
                settings.score_activation if relation in scores else settings.atom_activation
            )
            values[atom] = _applied(activation, np.asarray(total))
        return values[atom]

    for atom in by_head:
        value(atom)
    return values


# --- Circuits ----------------------------------------------------------------------------


def unshared_circuit(
    policy: Policy,
    states: Sequence[tuple[Task, State]],
    features: Mapping[int, Features] | None = None,
    outputs: Collection[int] | None = None,
) -> tuple[Circuit, list[dict[GroundAtom, int]]]:
    """A circuit in which every derived atom of every state is a node of its own, and these nodes.

    The nodes of input relations are the feature vectors.
    """
    structure = structure_of(policy, outputs)
    features = features or {}
    found = [substitutions(policy, structure, task, state) for task, state in states]
    by_height: dict[tuple[int, int], list[tuple[int, GroundAtom]]] = defaultdict(list)
    for number, of_state in enumerate(found):
        for atom, height in _heights(of_state).items():
            by_height[height, atom[0]].append((number, atom))
    by_head: dict[tuple[int, GroundAtom], list[Substitution]] = defaultdict(list)
    for number, of_state in enumerate(found):
        for s in of_state:
            by_head[number, s.head].append(s)

    nodes: list[dict[GroundAtom, int]] = [{} for _ in states]
    sizes: dict[int, int] = defaultdict(int)
    vectors: dict[int, int] = defaultdict(lambda: 1)
    of_integers: dict[int, list[Vector]] = {relation: [] for relation in structure.features}

    def node(number: int, atom: GroundAtom) -> int:
        relation = atom[0]
        if relation in structure.derived:
            return nodes[number][atom]
        if relation in of_integers:
            of_integers[relation].append(integer_features(atom))
            vectors[relation] = len(of_integers[relation])
            return vectors[relation] - 1
        vector = features[relation](atom) if relation in features else 0
        vectors[relation] = max(vectors[relation], vector + 1)
        return vector

    steps = []
    for (_, relation), atoms in sorted(by_height.items()):
        first = sizes[relation]
        for number, atom in atoms:
            nodes[number][atom] = sizes[relation]
            sizes[relation] += 1
        parts = []
        for rule in range(len(structure.rules)):
            children: list[list[int]] = []
            heads: list[int] = []
            lengths: list[int] = []
            for i, (number, atom) in enumerate(atoms):
                own = [s for s in by_head[number, atom] if s.rule == rule]
                if own:
                    children += [[node(number, child) for child in s.body] for s in own]
                    heads.append(i)
                    lengths.append(len(own))
            if heads:
                width = len(structure.rules[rule].body)
                parts.append(
                    RuleMessages(
                        rule,
                        np.array(children, dtype=np.uint32).reshape(len(children), width),
                        np.array(heads, dtype=np.uint32),
                        Segments.of_lengths(lengths),
                        np.arange(len(children), dtype=np.uint32),
                    )
                )
        steps.append(Layer(relation, first, sizes[relation], tuple(parts)))
    messages = sum(map(len, found))
    atoms_total = sum(map(len, nodes))
    counts = Counts(len(states), atoms_total, atoms_total, messages, messages)
    inputs = {
        relation: np.arange(vectors[relation], dtype=np.uint32)
        for rule in structure.rules
        for relation in rule.body
        if relation not in structure.derived
    }
    matrices = {
        relation: np.array(rows, dtype=np.float32).reshape(-1, structure.features[relation])
        for relation, rows in of_integers.items()
    }
    inputs |= {r: np.arange(len(rows), dtype=np.uint32) for r, rows in matrices.items()}
    return Circuit(structure, inputs, tuple(steps), counts, matrices), nodes


def _heights(found: Sequence[Substitution]) -> dict[GroundAtom, int]:
    """The length of the longest chain of derivations below each derived atom."""
    by_head: dict[GroundAtom, list[Substitution]] = defaultdict(list)
    for s in found:
        by_head[s.head].append(s)
    heights: dict[GroundAtom, int] = {}

    def height(atom: GroundAtom) -> int:
        if atom not in by_head:
            return 0
        if atom not in heights:
            heights[atom] = 1 + max(
                (height(child) for s in by_head[atom] for child in s.body), default=0
            )
        return heights[atom]

    for atom in by_head:
        height(atom)
    return heights
