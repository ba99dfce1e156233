"""Networks against their equations evaluated atom by atom, on random programs and states."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from planlog.learning.network import Network
from planlog.learning.segment_ops import PreparedCircuit, RowSegments
from planlog.network.circuit import CircuitBuilder, Sharing
from planlog.network.settings import Activation, Aggregation, NetworkSettings
from planlog.network.structure import structure_of
from planlog.pddl.task import Task
from planlog.policy.policy import Policy
from planlog.ragged import Segments
from support.network_reference import GroundAtom, evaluate, unshared_circuit
from support.profiles import examples
from support.random_networks import networks
from support.random_programs import DOMAIN, World, make_task, programs, worlds

DOUBLE = torch.float64
ACTIONS = ("add-red", "del-red")
VECTORS = 3  # different feature vectors of a relation

# Random programs seldom have circles; these have them in most worlds.
RECURSIVE = [
    """reach(X) :- red(X).
    reach(Y) :- reach(X), edge(X, Y).
    reach(Y) :- reach(X), likes(X, Y), not blue(X).
    add-red(X) :- reach(X), edge(X, Y), reach(Y).""",
    """path(X, Y) :- edge(X, Y).
    path(X, Z) :- path(X, Y), path(Y, Z).
    some :- path(X, X).
    add-red(X) :- path(X, Y), some, not blue(Y).""",
    """even(X) :- red(X).
    odd(Y) :- even(X), edge(X, Y).
    even(Y) :- odd(X), likes(X, Y), odd(Y).
    even(Y) :- odd(X), edge(X, Y).
    both :- even(X), odd(X).
    del-red(X) :- even(X), odd(X), both.""",
]
any_program = st.one_of(programs(values=True), st.sampled_from(RECURSIVE))


def scores_of(policy: Policy) -> list[str]:
    heads = {rule.head.relation.name for rule in policy.program.rules} if policy.program else set()
    return sorted(heads & set(ACTIONS))


def vector_number(atom: GroundAtom) -> int:
    """Which of its relation's feature vectors an atom has."""
    return zlib.crc32(repr(atom).encode()) % VECTORS


def values_by_atom(
    values: Mapping[int, torch.Tensor], nodes: Mapping[GroundAtom, int]
) -> dict[GroundAtom, list[float]]:
    return {atom: values[atom[0]][node].tolist() for atom, node in nodes.items()}


def assert_close(ours: Mapping[Any, Any], expected: Mapping[Any, Any], tolerance: float) -> None:
    assert ours.keys() == expected.keys()
    for atom, value in expected.items():
        np.testing.assert_allclose(ours[atom], value, rtol=tolerance, atol=tolerance, err_msg=atom)


# --- Against the equations ---------------------------------------------------------------


@examples(150)
@given(any_program, worlds, networks, st.integers(0, 2**32 - 1))
def test_values_equal_the_equations(
    text: str, world: World, shape: NetworkSettings, seed: int
) -> None:
    policy = Policy.parse(text, DOMAIN)
    task = make_task(*world.task())
    structure = structure_of(policy)
    rng = random.Random(seed)
    inputs = sorted({r for rule in structure.rules for r in rule.body} - structure.derived)
    featured = {r: rng.randint(1, 3) for r in inputs if rng.random() < 0.5}
    derived = {r: rng.randint(1, 3) for r in structure.derived if rng.random() < 0.3}
    vectors = {
        r: np.random.default_rng(seed + r).normal(size=(VECTORS, n)) for r, n in featured.items()
    }
    network = Network(
        structure,
        shape,
        scores=scores_of(policy),
        dimensions=featured | derived,
        seed=seed,
        dtype=DOUBLE,
    )
    expected = evaluate(
        policy,
        task,
        task.initial,
        shape,
        network.weights(),
        scores=network.scores,
        features={r: lambda atom: vectors[atom[0]][vector_number(atom)] for r in featured},
    )
    circuit, (nodes,) = unshared_circuit(
        policy, [(task, task.initial)], dict.fromkeys(featured, vector_number)
    )
    rows = {r: torch.as_tensor(vectors[r]) for r in featured if len(circuit.inputs[r])}
    values = network(circuit, rows)
    assert_close(values_by_atom(values, nodes), expected, 1e-9)
    for relation in structure.derived:
        assert values[relation].shape[1] == network.dimensions[relation]


@examples(100)
@given(any_program, worlds, networks, st.integers(0, 2**32 - 1))
def test_lifting_changes_no_value_and_no_gradient(
    text: str, world: World, shape: NetworkSettings, seed: int
) -> None:
    """Over several states, with the sharing that the aggregation allows."""
    policy = Policy.parse(text, DOMAIN)
    task = make_task(*world.task())
    states = [task.initial]
    walk = policy.start(task)
    for move in world.moves(4):
        if move is not None:
            walk.apply(move)
            states.append(walk.state)
    structure = structure_of(policy)
    network = Network(structure, shape, scores=scores_of(policy), seed=seed, dtype=DOUBLE)
    circuit, nodes = unshared_circuit(policy, [(task, state) for state in states])

    def loss(values: Mapping[int, torch.Tensor], nodes: Iterable[Mapping[GroundAtom, int]]) -> Any:
        """Some function of the values of all atoms in all states."""
        return sum(
            (1 + zlib.crc32(repr((i, atom)).encode()) % 7) * values[atom[0]][node].sin().sum()
            for i, of_state in enumerate(nodes)
            for atom, node in of_state.items()
        )

    def gradients(total: Any) -> dict[str, Any]:
        network.zero_grad()
        if isinstance(total, torch.Tensor) and total.requires_grad:
            total.backward()
        return {
            name: np.zeros(weight.shape) if weight.grad is None else weight.grad.numpy().copy()
            for name in network.names
            for weight in [network.weight(name)]
        }

    values = network(circuit)
    expected = [values_by_atom(values, of_state) for of_state in nodes]
    expected_gradients = gradients(loss(values, nodes))
    allowed = [Sharing.NONE, Sharing.MULTISETS]
    if shape.aggregation is Aggregation.MAX:
        allowed.append(Sharing.SETS)
    for sharing in allowed:
        builder = CircuitBuilder(policy, sharing)
        for state in states:
            builder.add(task, sorted(structure.derived), state=state)
        lifted = builder.finish()
        values = network(lifted.circuit)
        found = [
            {
                (relation, tuple(task.object_names[i] for i in atom)): node
                for relation, (atoms, numbers) in of_state.atoms.items()
                for atom, node in zip(atoms.tolist(), numbers.tolist(), strict=True)
            }
            for of_state in lifted.states
        ]
        for ours, theirs in zip(found, expected, strict=True):
            assert_close(values_by_atom(values, ours), theirs, 1e-9)
        assert_close(gradients(loss(values, found)), expected_gradients, 1e-7)


@examples(60)
@given(any_program, worlds, networks, st.integers(0, 2**32 - 1))
def test_gradients_equal_finite_differences(
    text: str, world: World, shape: NetworkSettings, seed: int
) -> None:
    """In a random direction of all weights."""
    policy = Policy.parse(text, DOMAIN)
    task = make_task(*world.task())
    network = Network(
        structure_of(policy), shape, scores=scores_of(policy), seed=seed, dtype=DOUBLE
    )
    circuit = PreparedCircuit(unshared_circuit(policy, [(task, task.initial)])[0])

    def total() -> torch.Tensor:
        values = network(circuit)
        return sum((values[r].sin().sum() for r in sorted(values)), torch.zeros((), dtype=DOUBLE))

    rng = np.random.default_rng(seed)
    start = network.weights()
    direction = {name: rng.normal(size=weight.shape) for name, weight in start.items()}

    def at(step: float) -> float:
        for name, weight in start.items():
            network.set_weight(name, weight + step * direction[name])
        return total().item()

    difference = (at(1e-6) - at(-1e-6)) / 2e-6
    at(0)
    result = total()
    slope = 0.0
    if result.requires_grad:
        result.backward()
        for name in network.names:
            gradient = network.weight(name).grad
            if gradient is not None:
                slope += float((gradient.numpy() * direction[name]).sum())
    assert slope == pytest.approx(difference, rel=1e-4, abs=1e-5 * (1 + abs(at(0))))


@pytest.mark.parametrize("aggregation", Aggregation)
@pytest.mark.parametrize("activation", Activation)
def test_gradients_of_each_weight(activation: Activation, aggregation: Aggregation) -> None:
    policy = Policy.parse(
        """reach(X) :- red(X).
        reach(Y) :- reach(X), edge(X, Y).
        pair(X, Y) :- reach(X), reach(Y), X != Y.
        add-red(X) :- pair(X, Y), pair(Y, X), not blue(X).""",
        DOMAIN,
    )
    edges = [("edge", *pair) for pair in ("ab", "bc", "ca", "cd", "ad")]
    task = make_task([*edges, ("red", "a"), ("blue", "c")], [])
    shape = NetworkSettings(3, activation, activation, aggregation)
    network = Network(structure_of(policy), shape, scores=["add-red"], dtype=DOUBLE)
    circuit = PreparedCircuit(unshared_circuit(policy, [(task, task.initial)])[0])
    (score,) = network.scores

    def scores(*weights: torch.Tensor) -> torch.Tensor:
        names = [name for name, _ in network.named_parameters()]
        given = dict(zip(names, weights, strict=True))
        values = torch.func.functional_call(network, given, (circuit,))[score]
        assert isinstance(values, torch.Tensor)
        return values

    assert torch.autograd.gradcheck(scores, tuple(network.parameters()))


# --- Circles ---------------------------------------------------------------------------


def test_only_derivations_inside_circles_are_dropped() -> None:
    """From a, on a ring a-b-c: the way back to a is dropped, the second way to c is not."""
    policy = Policy.parse("reach(X) :- red(X).\nreach(Y) :- reach(X), edge(X, Y).", DOMAIN)
    shape = NetworkSettings(1, Activation.IDENTITY, Activation.IDENTITY, Aggregation.SUM)
    network = Network(structure_of(policy), shape, dtype=DOUBLE)
    for name in network.names:
        network.set_weight(name, np.ones(network.weight(name).shape))
    reach = policy.core.rule(policy.rule_numbers[0])[0]

    def values(*pairs: str) -> dict[str, float]:
        task = make_task([("red", "a"), *(("edge", *pair) for pair in pairs)], [])
        circuit, (nodes,) = unshared_circuit(policy, [(task, task.initial)])
        rows = network(circuit)[reach]
        return {atom[1][0]: rows[node].item() for atom, node in nodes.items()}

    # Without circles all derivations count: each edge adds its source's value and 1.
    assert values("ab", "ac", "bc", "cd") == {"a": 1, "b": 2, "c": 5, "d": 6}
    # The edge back to a makes a, b and c a circle: a-c and a-b lead on, b-c stays in a round.
    assert values("ab", "ac", "bc", "cd", "ca") == {"a": 1, "b": 2, "c": 2, "d": 3}
    assert values("ab", "bc", "cd", "aa", "ca") == {"a": 1, "b": 2, "c": 3, "d": 4}


# --- Invariance and repeatability -----------------------------------------------------


@examples(60)
@given(any_program, worlds, networks, st.permutations("bcd"))
def test_names_and_order_of_objects_change_no_value(
    text: str, world: World, shape: NetworkSettings, order: list[str]
) -> None:
    initial, goal = world.task()
    new_names = {"a": "a"} | {name: f"{name}-{i}" for i, name in enumerate(reversed(order))}
    types = {"b": "warm", "c": "thing", "d": "thing"}

    def renamed(atoms: list[tuple[str, ...]]) -> str:
        shuffled = random.Random(len(text)).sample(atoms, len(atoms))
        texts = (" ".join((name, *(new_names[o] for o in objects))) for name, *objects in shuffled)
        return " ".join(f"({atom})" for atom in texts)

    objects = " ".join(f"{new_names[name]} - {types[name]}" for name in order)
    other_task = DOMAIN.parse_task(
        f"(define (problem p) (:domain changes) (:objects {objects})"
        f"(:init {renamed(initial)}) (:goal (and {renamed(goal)})))"
    )
    other_text = re.sub(r"(?<=[(, ])[bcd](?=[,). ])", lambda match: new_names[match[0]], text)

    def values(text: str, task: Task) -> dict[GroundAtom, list[float]]:
        policy = Policy.parse(text, DOMAIN)
        network = Network(structure_of(policy), shape, scores=scores_of(policy), dtype=DOUBLE)
        circuit, (nodes,) = unshared_circuit(policy, [(task, task.initial)])
        return values_by_atom(network(circuit), nodes)

    expected = {
        (relation, tuple(new_names[o] for o in objects)): value
        for (relation, objects), value in values(text, make_task(initial, goal)).items()
    }
    assert_close(values(other_text, other_task), expected, 1e-9)


POLICY = Policy.parse("near(X) :- edge(X, Y), red(Y).\nadd-red(X) :- near(X).", DOMAIN)
STRUCTURE = structure_of(POLICY)


def test_weights_depend_on_the_seed_only() -> None:
    torch.manual_seed(1)
    first = Network(STRUCTURE, seed=5).weights()
    torch.manual_seed(2)
    torch.rand(3)
    state = torch.get_rng_state()
    second = Network(STRUCTURE, seed=5).weights()
    assert torch.equal(state, torch.get_rng_state())
    other = Network(STRUCTURE, seed=6).weights()
    for name, weight in first.items():
        assert np.array_equal(weight, second[name])
        assert not np.array_equal(weight, other[name])


@pytest.mark.parametrize("aggregation", Aggregation)
def test_results_can_be_repeated_exactly(aggregation: Aggregation) -> None:
    """Values and gradients, on a circuit that is large enough for several threads."""
    policy = Policy.parse(
        "near(X) :- edge(X, Y), likes(Y, Z).\nadd-red(X) :- near(X), near(Y), edge(X, Y).", DOMAIN
    )
    names = [f"o{i}" for i in range(40)]
    rng = random.Random(1)
    atoms = " ".join(
        f"({relation} {x} {y})"
        for relation in ("edge", "likes")
        for x, y in product(names, names)
        if rng.random() < 0.5
    )
    task = DOMAIN.parse_task(
        f"(define (problem p) (:domain changes) (:objects {' '.join(names)} - thing)"
        f"(:init {atoms}) (:goal (flag)))"
    )
    network = Network(
        structure_of(policy), NetworkSettings(aggregation=aggregation), scores=["add-red"]
    )
    builder = CircuitBuilder(policy, Sharing.NONE)
    builder.add(task, [])
    circuit = PreparedCircuit(builder.finish().circuit)
    (score,) = network.scores

    def run() -> list[torch.Tensor]:
        network.zero_grad()
        scores = network(circuit)[score]
        scores.sin().sum().backward()
        return [scores.detach(), *(p.grad.clone() for p in network.parameters())]

    first = run()
    for _ in range(3):
        for a, b in zip(first, run(), strict=True):
            assert torch.equal(a, b)


# --- Weights ---------------------------------------------------------------------------


def test_shapes_and_default_names() -> None:
    network = Network(STRUCTURE, NetworkSettings(width=4, score_width=6), scores=["add-red"])
    shapes = {name: network.weight(name).shape for name in network.names}
    assert shapes == {
        "r0.H": (4, 4),
        "r0.B0": (4, 1),
        "r0.B1": (4, 1),
        "r1.H": (1, 6),
        "r1.B0": (6, 4),
        "r1.B1": (6, 1),  # the type of the parameter
    }


def test_weights_can_be_shared_frozen_and_set() -> None:
    network = Network(
        STRUCTURE,
        scores=["add-red"],
        names={"r0.B0": "B", "r0.B1": "B"},
    )
    network.weight("B").requires_grad_(False)
    assert network.names == ("r0.H", "B", "r1.H", "r1.B0", "r1.B1")
    alone = Network(STRUCTURE, scores=["add-red"])
    for name in ("r0.H", "r1.H", "r1.B0", "r1.B1"):
        assert torch.equal(network.weight(name), alone.weight(name))
    network.set_weight("B", np.full((16, 1), 0.25))
    task = make_task([("edge", "a", "b"), ("red", "b")], [])
    values = network(unshared_circuit(POLICY, [(task, task.initial)])[0])
    near = values[POLICY.core.rule(POLICY.rule_numbers[0])[0]][0]
    expected = torch.tanh(network.weight("r0.H") @ torch.tanh(torch.full((16,), 0.5)))
    torch.testing.assert_close(near, expected)
    sum(v.sum() for v in values.values()).backward()
    assert network.weight("B").grad is None
    assert network.weight("r0.H").grad is not None


def test_mistakes_are_explained() -> None:
    with pytest.raises(ValueError, match=r"'B' cannot be that of r0.B0 too.*\(16, 1\).*\(16, 16\)"):
        Network(STRUCTURE, names={"r0.H": "B", "r0.B0": "B"})
    with pytest.raises(ValueError, match=r"no weights r9.H"):
        Network(STRUCTURE, names={"r9.H": "B"})
    with pytest.raises(ValueError, match="no relation has the name 'far'"):
        Network(STRUCTURE, dimensions={"far": 3})
    with pytest.raises(ValueError, match="edge has no rules"):
        Network(STRUCTURE, scores=["edge"])
    network = Network(STRUCTURE)
    with pytest.raises(ValueError, match="no weight 'x'"):
        network.weight("x")
    with pytest.raises(ValueError, match=r"'r0.H' has shape \(16, 16\), not \(2,\)"):
        network.set_weight("r0.H", [1, 2])
    other = Policy.parse("add-red(X) :- blue(X).", DOMAIN)
    task = make_task([("blue", "a")], [])
    with pytest.raises(ValueError, match="another program"):
        network(unshared_circuit(other, [(task, task.initial)])[0])


def test_features_are_checked() -> None:
    edge = [name for name, _ in STRUCTURE.relations].index("edge")
    near = POLICY.core.rule(POLICY.rule_numbers[0])[0]
    task = make_task([("edge", "a", "b"), ("red", "b")], [])
    circuit, _ = unshared_circuit(POLICY, [(task, task.initial)], {edge: lambda atom: 1})
    network = Network(STRUCTURE, dimensions={"edge": 2})
    network(circuit, {edge: torch.zeros(2, 2)})
    with pytest.raises(ValueError, match="edge has dimension 2 but no features"):
        network(circuit)
    with pytest.raises(ValueError, match=r"edge have shape \(2, 3\), not \(vectors, 2\)"):
        network(circuit, {edge: torch.zeros(2, 3)})
    with pytest.raises(ValueError, match=r"edge has 1 feature vectors.* at least 2"):
        network(circuit, {edge: torch.zeros(1, 2)})
    with pytest.raises(ValueError, match="near is not an input"):
        network(circuit, {edge: torch.zeros(2, 2), near: torch.zeros(2, 2)})


# --- Sums and maxima of lists -----------------------------------------------------------


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 7, 1000]),
    st.sampled_from([1, 5, 2000]),
    st.sampled_from([(1, 1), (0, 3), (1, 3)]),
)
def test_segments_of_any_size_give_what_indexing_gives(
    seed: int, rows: int, lists: int, lengths: tuple[int, int]
) -> None:
    """Values and gradients; few rows and many take different ways."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(lengths[0], lengths[1] + 1, size=lists)
    indices = rng.integers(rows, size=counts.sum())
    owners = torch.as_tensor(np.repeat(np.arange(lists), counts))
    prepared = RowSegments(indices, rows, Segments.of_lengths(counts))
    factors = torch.as_tensor(rng.normal(size=(lists, 3)))
    start = torch.as_tensor(rng.normal(size=(rows, 3)))

    def check(compute: Callable[[torch.Tensor], torch.Tensor], reduce: str) -> None:
        ours, plain = (start.clone().requires_grad_() for _ in range(2))
        found = compute(ours)
        expected = torch.zeros((lists, 3), dtype=DOUBLE).scatter_reduce(
            0, owners[:, None].expand(-1, 3), plain[indices], reduce, include_self=False
        )
        torch.testing.assert_close(found, expected)
        for result in (found, expected):
            (result * factors).sum().backward()
        torch.testing.assert_close(ours.grad, plain.grad)

    check(prepared.sums, "sum")
    if lengths[0] > 0:
        check(prepared.maxima, "amax")


# --- Something that is not planning --------------------------------------------------


@pytest.mark.slow
def test_the_example_learns_to_classify_graphs() -> None:
    example = Path(__file__).parents[2] / "examples" / "graph_classification.py"
    result = subprocess.run(
        [sys.executable, example, "--graphs", "200"], capture_output=True, text=True, check=True
    )
    seen, unseen = map(float, re.findall(r"accuracy on .* graphs: ([\d.]+)%", result.stdout))
    assert seen > 95
    assert unseen > 80  # by chance it would be about 55
