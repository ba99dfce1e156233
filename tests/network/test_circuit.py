"""Circuits: equal atoms found once, over many states, without any change of values or gradients."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from planlog import _core, domains
from planlog.learning.network import Network
from planlog.network.circuit import Circuit, CircuitBuilder, Lifted, Sharing, StateNodes
from planlog.network.settings import Activation, Aggregation, NetworkSettings, TemplateSettings
from planlog.network.structure import action_relations, structure_of
from planlog.network.template import build_template
from planlog.pddl.task import Domain, State, Task
from planlog.policy.policy import Policy
from planlog.statespace.labels import label
from planlog.statespace.space import StateSpace, derive, expand
from support.network_reference import GroundAtom, Vector, evaluate, substitutions
from support.profiles import examples
from support.random_programs import ARITIES, DOMAIN, World, make_task, programs, worlds

VECTORS = 3  # different feature vectors of a relation
# The ways of sharing that keep values, for each aggregation.
ALLOWED = {
    Aggregation.MAX: [Sharing.NONE, Sharing.SETS, Sharing.MULTISETS],
    Aggregation.MEAN: [Sharing.NONE, Sharing.MULTISETS],
    Aggregation.SUM: [Sharing.NONE, Sharing.MULTISETS],
}

shapes = st.builds(
    NetworkSettings,
    width=st.integers(1, 3),
    message_activation=st.sampled_from(Activation),
    atom_activation=st.sampled_from(Activation),
    aggregation=st.sampled_from(Aggregation),
)
seeds = st.integers(0, 2**32 - 1)


Place = tuple[Task, State]
Features = dict[int, dict[tuple[str, ...], int]]
Values = dict[GroundAtom, npt.NDArray[np.float64]]


def places_of(listed: Iterable[World], moves: int = 3) -> list[Place]:
    """Some states of several tasks."""
    found = []
    for world in listed:
        task = make_task(*world.task())
        walk = Policy.applicable(DOMAIN).start(task)
        found.append((task, walk.state))
        for move in world.moves(moves):
            if move is not None:
                walk.apply(move)
                found.append((task, walk.state))
    return found


def random_features(policy: Policy, places: Sequence[Place], seed: int) -> list[Features]:
    """For some of the inputs the vectors' numbers of all atoms, in each state others."""
    rng = random.Random(seed)
    structure = structure_of(policy)
    inputs = sorted({r for rule in structure.rules for r in rule.body} - structure.derived)
    task, state = places[0]
    relations = policy.derivations(task, [state]).relations
    # The features of an atom are given by its objects.
    chosen = [r for r in inputs if rng.random() < 0.5 and not relations[r].numbers]
    found = []
    for number, (task, state) in enumerate(places):
        rows = policy.derivations(task, [state]).relations
        features: Features = {}
        for relation in chosen:
            atoms = [tuple(task.object_names[i] for i in row) for row in rows[relation].of(0)]
            features[relation] = {
                atom: zlib.crc32(repr((number, relation, atom)).encode()) % VECTORS
                for atom in atoms
            }
        found.append({relation: atoms for relation, atoms in features.items() if atoms})
    return found


def lifted_of(
    policy: Policy,
    sharing: Sharing,
    places: Sequence[Place],
    *,
    outputs: Sequence[int] | None = None,
    features: Sequence[Features] | None = None,
) -> Lifted:
    builder = CircuitBuilder(policy, sharing, outputs)
    asked = sorted(builder.structure.derived) if outputs is None else outputs
    inputs = {relation for rule in builder.structure.rules for relation in rule.body}
    for number, (task, state) in enumerate(places):
        numbers = features[number] if features else {}
        used = {r: atoms for r, atoms in numbers.items() if r in inputs}
        builder.add(task, asked, state=state, features=used)
    return builder.finish()


def nodes_of(task: Task, state: StateNodes) -> dict[GroundAtom, int]:
    names = task.object_names
    found = {
        (relation, tuple(names[i] for i in atom)): node
        for relation, (atoms, nodes) in state.atoms.items()
        for atom, node in zip(atoms.tolist(), nodes.tolist(), strict=True)
    }
    assert len(found) == sum(len(nodes) for _, nodes in state.atoms.values())
    return found


def assert_close(ours: Mapping[Any, Any], expected: Mapping[Any, Any], tolerance: float) -> None:
    assert ours.keys() == expected.keys()
    scale = max([1.0, *(float(np.abs(value).max(initial=0)) for value in expected.values())])
    for key, value in expected.items():
        np.testing.assert_allclose(
            ours[key], value, rtol=tolerance, atol=tolerance * scale, err_msg=str(key)
        )


# --- Values and gradients ----------------------------------------------------------------------


class Setting:
    """A program with its network, and states with features."""

    def __init__(
        self, text: str, listed: Sequence[World], shape: NetworkSettings, seed: int
    ) -> None:
        self.policy = Policy.parse(text, DOMAIN)
        self.places = places_of(listed)
        self.features = random_features(self.policy, self.places, seed)
        rng = np.random.default_rng(seed)
        self.vectors: dict[int, Vector] = {
            relation: rng.normal(size=(VECTORS, 2))
            for relation in sorted({r for numbers in self.features for r in numbers})
        }
        # A relation with features needs them in every state.
        for (task, state), vectors in zip(self.places, self.features, strict=True):
            rows = self.policy.derivations(task, [state]).relations
            assert all(r in vectors or not len(rows[r].of(0)) for r in self.vectors)
        self.network = Network(
            structure_of(self.policy),
            shape,
            scores=action_relations(self.policy),
            dimensions=dict.fromkeys(self.vectors, 2),
            seed=seed,
            dtype=torch.float64,
        )

    def lifted(self, sharing: Sharing, outputs: Sequence[int] | None = None) -> Lifted:
        return lifted_of(self.policy, sharing, self.places, outputs=outputs, features=self.features)

    def values(self, lifted: Lifted, network: Network | None = None) -> list[dict[GroundAtom, Any]]:
        """The values of the atoms asked for, as tensors."""
        circuit = lifted.circuit
        rows = {
            relation: torch.as_tensor(vectors)
            for relation, vectors in self.vectors.items()
            if relation in circuit.inputs
        }
        values = (network or self.network)(circuit, rows)
        return [
            {atom: values[atom[0]][node] for atom, node in nodes_of(task, state).items()}
            for (task, _), state in zip(self.places, lifted.states, strict=True)
        ]

    def gradients(self, values: Sequence[Mapping[GroundAtom, Any]]) -> dict[str, Any]:
        """Of a linear functional of all values, by all weights."""
        self.network.zero_grad()
        total = torch.zeros((), dtype=torch.float64)
        for number, of_state in enumerate(values):
            for atom, value in of_state.items():
                key = zlib.crc32(repr((number, atom)).encode())
                factors = np.random.default_rng(key).normal(size=len(value))
                total = total + (torch.as_tensor(factors) * value).sum()
        if total.requires_grad:
            total.backward()
        return {
            name: np.zeros(weight.shape) if weight.grad is None else weight.grad.numpy().copy()
            for name in self.network.names
            for weight in [self.network.weight(name)]
        }


def arrays(values: Mapping[GroundAtom, Any]) -> Values:
    return {atom: value.detach().numpy() for atom, value in values.items()}


two_worlds = st.lists(worlds, min_size=1, max_size=2)


@examples(60)
@given(programs(values=True), two_worlds, shapes, seeds)
def test_circuits_compute_the_equations(
    text: str, listed: list[World], shape: NetworkSettings, seed: int
) -> None:
    case = Setting(text, listed, shape, seed)
    found = case.values(case.lifted(Sharing.NONE))
    weights = case.network.weights()
    for (task, state), features, values in zip(case.places, case.features, found, strict=True):
        expected = evaluate(
            case.policy,
            task,
            state,
            shape,
            weights,
            scores=case.network.scores,
            features={
                r: lambda atom, given=features: case.vectors[atom[0]][given[atom[0]][atom[1]]]
                for r in case.vectors
            },
        )
        assert_close(arrays(values), expected, 1e-9)


@examples(60)
@given(programs(values=True), two_worlds, shapes, seeds)
def test_sharing_keeps_values_and_gradients(
    text: str, listed: list[World], shape: NetworkSettings, seed: int
) -> None:
    case = Setting(text, listed, shape, seed)
    without = case.values(case.lifted(Sharing.NONE))
    gradients = case.gradients(without)
    for sharing in ALLOWED[shape.aggregation]:
        values = case.values(case.lifted(sharing))
        for ours, expected in zip(values, without, strict=True):
            assert_close(arrays(ours), arrays(expected), 1e-9)
        assert_close(case.gradients(values), gradients, 1e-7)


# --- What is in a circuit ----------------------------------------------------------------------


def check_form(circuit: Circuit) -> None:
    """Nodes are computed from earlier ones, all of them and once, and the counts are right."""
    known = {relation: len(numbers) for relation, numbers in circuit.inputs.items()}
    nodes = messages = 0
    for layer in circuit.layers:
        assert layer.first == known.get(layer.relation, 0) < layer.last
        covered = set()
        rules = [part.rule for part in layer.rules]
        assert len(set(rules)) == len(rules)
        for part in layer.rules:
            rule = circuit.structure.rules[part.rule]
            assert rule.head == layer.relation
            assert part.children.shape[1] == len(rule.body)
            for column, relation in zip(part.children.T, rule.body, strict=True):
                assert column.max(initial=0) < known.get(relation, 0)
            assert part.segments.offsets[0] == 0
            assert part.segments.offsets[-1] == len(part.messages)
            assert (part.segments.lengths > 0).all()
            assert set(part.messages.tolist()) == set(range(len(part.children)))
            assert len(set(part.nodes.tolist())) == len(part.nodes)
            covered.update(part.nodes.tolist())
            messages += len(part.children)
        assert covered == set(range(layer.last - layer.first))
        nodes += layer.last - layer.first
        known[layer.relation] = layer.last
    assert (nodes, messages) == (circuit.counts.nodes, circuit.counts.messages)


@examples(60)
@given(programs(values=True), two_worlds)
def test_counts(text: str, listed: list[World]) -> None:
    policy = Policy.parse(text, DOMAIN)
    places = places_of(listed)
    structure = structure_of(policy)
    derived = structure.derived
    found = [policy.derivations(task, [state]) for task, state in places]
    atoms = sum(len(each.relations[r].of(0)) for each in found for r in derived)
    kept = sum(len(substitutions(policy, structure, task, state)) for task, state in places)
    ground = sum(len(each.rules[number].heads) for each in found for number in policy.rule_numbers)
    sizes = {}
    for sharing in Sharing:
        circuit = lifted_of(policy, sharing, places).circuit
        check_form(circuit)
        counts = circuit.counts
        assert (counts.states, counts.atoms) == (len(places), atoms)
        assert counts.ground_messages == kept <= ground
        assert counts.nodes <= atoms
        sizes[sharing] = counts.nodes
    assert sizes[Sharing.SETS] <= sizes[Sharing.MULTISETS] <= sizes[Sharing.NONE] == atoms


@examples(60)
@given(programs(), two_worlds, shapes, seeds)
def test_only_what_outputs_depend_on_is_there(
    text: str, listed: list[World], shape: NetworkSettings, seed: int
) -> None:
    case = Setting(text, listed, shape, seed)
    derived = sorted(structure_of(case.policy).derived)
    outputs = random.Random(seed).sample(derived, k=min(2, len(derived)))
    expected = case.values(case.lifted(Sharing.NONE))
    whole = structure_of(case.policy).rules
    for sharing in ALLOWED[shape.aggregation]:
        lifted = case.lifted(sharing, outputs)
        structure = lifted.circuit.structure
        check_form(lifted.circuit)
        network = Network(
            structure,
            shape,
            scores=case.network.scores & structure.derived,
            dimensions={
                r: n for r, n in enumerate(case.network.dimensions) if r not in case.network.scores
            },
            dtype=torch.float64,
        )
        for i, rule in enumerate(structure.rules):
            for name in ("H", *(f"B{j}" for j in range(len(rule.body)))):
                weight = case.network.weight(f"r{whole.index(rule)}.{name}")
                network.set_weight(f"r{i}.{name}", weight.detach().numpy())
        for ours, theirs in zip(case.values(lifted, network), expected, strict=True):
            asked = {atom: value for atom, value in arrays(theirs).items() if atom[0] in outputs}
            assert_close(arrays(ours), asked, 1e-9)
        # Back from the outputs, everything is met.
        needed = {relation: set[int]() for relation in structure.derived}
        for layer in reversed(lifted.circuit.layers):
            own = range(layer.first, layer.last)
            if layer.relation in outputs:
                needed[layer.relation].update(own)
            assert needed[layer.relation].issuperset(own)
            for part in layer.rules:
                body = structure.rules[part.rule].body
                for column, relation in zip(part.children.T, body, strict=True):
                    if relation in needed:
                        needed[relation].update(column.tolist())


# --- Equal atoms -------------------------------------------------------------------------------

OTHERS = ["e", "f", "g"]  # objects that no program names


def renamed_task(atoms: list[tuple[str, ...]], order: Sequence[str], objects: list[str]) -> Task:
    """A task in which the objects e, f, g have other names, and all another order."""
    names = dict(zip(OTHERS, order, strict=True))
    texts = (" ".join(names.get(word, word) for word in atom) for atom in atoms)
    return DOMAIN.parse_task(
        f"(define (problem p) (:domain changes) (:objects b - warm {' '.join(objects)} - thing)"
        f"(:init {' '.join(f'({atom})' for atom in texts)}) (:goal (red b)))"
    )


@examples(60)
@given(programs(), seeds, st.permutations(OTHERS), st.permutations(["c", "d", *OTHERS]))
def test_other_names_make_no_other_nodes(
    text: str, seed: int, order: list[str], objects: list[str]
) -> None:
    policy = Policy.parse(text, DOMAIN)
    rng = random.Random(seed)
    everything = ["a", "b", "c", "d", *OTHERS]
    atoms = [
        (name, *rng.choices(everything, k=arity))
        for name, arity in ARITIES.items()
        for _ in range(rng.randint(0, 7) if arity else rng.randint(0, 1))
    ]
    one = renamed_task(atoms, OTHERS, ["c", "d", *OTHERS])
    other = renamed_task(rng.sample(atoms, len(atoms)), order, objects)
    new_names = dict(zip(OTHERS, order, strict=True))
    for sharing in (Sharing.SETS, Sharing.MULTISETS):
        alone = lifted_of(policy, sharing, [(one, one.initial)]).circuit.counts
        lifted = lifted_of(policy, sharing, [(one, one.initial), (other, other.initial)])
        first, second = (
            nodes_of(task, state) for task, state in zip((one, other), lifted.states, strict=True)
        )
        assert second == {
            (relation, tuple(new_names.get(name, name) for name in names)): node
            for (relation, names), node in first.items()
        }
        assert lifted.circuit.counts.nodes == alone.nodes
        assert lifted.circuit.counts.messages == alone.messages
        assert lifted.circuit.counts.atoms == 2 * alone.atoms


def test_sets_and_multisets() -> None:
    """a leads to one red thing, b to two: for the maximum this is the same."""
    policy = Policy.parse("near(X) :- edge(X, Y), red(Y).", DOMAIN)
    edges = [("edge", "a", "c"), ("edge", "b", "c"), ("edge", "b", "d")]
    task = make_task([*edges, ("red", "c"), ("red", "d")], [])
    sizes = {
        sharing: lifted_of(policy, sharing, [(task, task.initial)]).circuit.counts
        for sharing in Sharing
    }
    assert [sizes[sharing].nodes for sharing in Sharing] == [2, 1, 2]
    assert [sizes[sharing].messages for sharing in Sharing] == [3, 1, 1]


@examples(40)
@given(
    programs(values=True),
    st.lists(worlds, min_size=2, max_size=3),
    seeds,
    st.sampled_from(Sharing),
)
def test_states_of_several_tasks_in_turn(
    text: str, listed: list[World], seed: int, sharing: Sharing
) -> None:
    """Feeds that take turns find the same nodes as one after the other."""
    policy = Policy.parse(text, DOMAIN)
    structure = structure_of(policy)
    derived = sorted(structure.derived)
    circuit = _core.Circuit(policy.core, [rule.number for rule in structure.rules], sharing)
    feeds: dict[Task, _core.CircuitFeed] = {}
    places = places_of(listed)
    random.Random(seed).shuffle(places)
    asked = []
    for task, state in places:
        if task not in feeds:
            feeds[task] = _core.CircuitFeed(circuit, task.core, [])
        feeds[task].add_state(state.ids)
        asked.append({relation: feeds[task].nodes(relation) for relation in derived})
    steps, renumbered, _, counts = circuit.finish(derived)
    found = [
        StateNodes({r: (atoms, renumbered[r][nodes]) for r, (atoms, nodes) in of_state.items()})
        for of_state in asked
    ]
    expected = lifted_of(policy, sharing, places)
    assert len(steps) == len(expected.circuit.layers)
    pairs = set()
    for (task, _), ours, theirs in zip(places, found, expected.states, strict=True):
        of_ours, of_theirs = nodes_of(task, ours), nodes_of(task, theirs)
        assert of_ours.keys() == of_theirs.keys()
        if sharing is not Sharing.NONE:
            pairs |= {(atom[0], node, of_theirs[atom]) for atom, node in of_ours.items()}
    assert len({(r, n) for r, n, _ in pairs}) == len({(r, m) for r, _, m in pairs}) == len(pairs)
    if sharing is not Sharing.NONE:
        assert counts[2] == expected.circuit.counts.nodes


# --- Recursion ---------------------------------------------------------------------------------

REACH = "reach(X) :- red(X).\nreach(Y) :- reach(X), edge(X, Y)."
PATH = "path(X, Y) :- edge(X, Y).\npath(X, Z) :- path(X, Y), path(Y, Z)."


def ground_and_kept(text: str, pairs: Iterable[str]) -> tuple[int, int]:
    policy = Policy.parse(text, DOMAIN)
    task = make_task([("red", "a"), *(("edge", *pair) for pair in pairs)], [])
    found = policy.derivations(task, [task.initial])
    ground = sum(len(found.rules[number].heads) for number in policy.rule_numbers)
    counts = [
        lifted_of(policy, sharing, [(task, task.initial)]).circuit.counts.ground_messages
        for sharing in Sharing
    ]
    assert len(set(counts)) == 1
    return ground, counts[0]


@given(
    st.sampled_from([REACH, PATH]),
    st.sets(st.sampled_from(["ab", "ac", "ad", "bc", "bd", "cd"])),
)
def test_without_circles_nothing_is_left_out(text: str, pairs: set[str]) -> None:
    ground, kept = ground_and_kept(text, pairs)
    assert ground == kept


@pytest.mark.parametrize(
    ("pairs", "left_out"),
    [
        (["aa"], 1),
        (["ab", "ba"], 1),  # back to a
        (["ab", "bc", "ca", "cd"], 1),
        (["ab", "ac", "bc", "ca", "cd"], 2),  # b and c come in the same round
        (["ab", "ac", "bc", "cb"], 2),  # a is outside: a-b and a-c stay, b-c and c-b go
        (["ab", "bc", "cd", "dc"], 1),
        (["bc", "cb"], 0),  # not reached from a: no atoms
    ],
)
def test_what_is_left_out_of_circles(pairs: list[str], left_out: int) -> None:
    ground, kept = ground_and_kept(REACH, pairs)
    assert ground - kept == left_out


def test_values_on_circles() -> None:
    policy = Policy.parse(REACH, DOMAIN)
    shape = NetworkSettings(1, Activation.IDENTITY, Activation.IDENTITY, Aggregation.SUM)
    network = Network(structure_of(policy), shape, dtype=torch.float64)
    for name in network.names:
        network.set_weight(name, np.ones(network.weight(name).shape))
    (reach,) = structure_of(policy).derived
    rings = [["ab", "ac", "bc", "cd"], ["ab", "ac", "bc", "cd", "ca"], ["ab", "ba", "cd"]]
    tasks = [make_task([("red", "a"), *(("edge", *p) for p in ring)], []) for ring in rings]
    for sharing in (Sharing.NONE, Sharing.MULTISETS):
        lifted = lifted_of(policy, sharing, [(task, task.initial) for task in tasks])
        values = network(lifted.circuit)[reach]
        found = [
            {atom[1][0]: values[node].item() for atom, node in nodes_of(task, state).items()}
            for task, state in zip(tasks, lifted.states, strict=True)
        ]
        assert found == [
            {"a": 1, "b": 2, "c": 5, "d": 6},
            {"a": 1, "b": 2, "c": 2, "d": 3},
            {"a": 1, "b": 2},
        ]


# --- Special rules -----------------------------------------------------------------------------


@pytest.mark.parametrize("sharing", Sharing)
def test_special_rules(sharing: Sharing) -> None:
    """Facts, atoms without arguments, only negated literals, a relation twice, empty relations."""
    policy = Policy.parse(
        """start.
        start :- flag.
        quiet :- not flag, not red(_).
        pair(X, Y) :- red(X), red(Y), start.
        none(X) :- line(X, X, X).
        after(X) :- none(X), pair(X, X).
        add-blue(a) :- quiet.
        add-blue(X) :- pair(X, X).
        del-blue(X) :- after(X).""",
        DOMAIN,
    )
    quiet = make_task([], [])
    busy = make_task([("flag",), ("red", "a"), ("red", "c")], [])
    places = [(quiet, quiet.initial), (busy, busy.initial)]
    shape = NetworkSettings(2, aggregation=Aggregation.MAX)
    network = Network(structure_of(policy), shape, seed=4, dtype=torch.float64)
    lifted = lifted_of(policy, sharing, places)
    check_form(lifted.circuit)
    values = network(lifted.circuit)
    for (task, state), nodes in zip(places, lifted.states, strict=True):
        expected = evaluate(policy, task, state, shape, network.weights())
        found = {
            atom: values[atom[0]][node].detach().numpy()
            for atom, node in nodes_of(task, nodes).items()
        }
        assert_close(found, expected, 1e-9)
    assert lifted.circuit.counts.atoms == (1 + 1 + 1) + (1 + 4 + 2)
    names = [name for name, _ in lifted.circuit.structure.relations]
    for name in ("none", "after", "del-blue"):
        assert values[names.index(name)].shape == (0, 2)


# --- State spaces ------------------------------------------------------------------------------


def in_any_order(space: StateSpace, seed: int) -> npt.NDArray[np.uint32]:
    """The numbers of the states whose transitions are known."""
    numbers = np.arange(space.expanded, dtype=np.uint32)
    np.random.default_rng(seed).shuffle(numbers)
    return numbers


@examples(25)
@given(programs(), worlds, seeds, st.sampled_from(Sharing))
def test_states_of_spaces(text: str, world: World, seed: int, sharing: Sharing) -> None:
    """The same nodes as for states one by one; the actions are those that the policy derives."""
    policy = Policy.parse(text, DOMAIN)
    task = make_task(*world.task())
    space = expand(task, limit=600)
    numbers = in_any_order(space, seed)
    outputs = action_relations(policy)
    builder = CircuitBuilder(policy, sharing)
    told: list[int] = []
    builder.add_space(space, numbers, on_progress=told.append)
    for number in numbers.tolist():
        builder.add(task, outputs, state=space.state(number))
    lifted = builder.finish()
    (nodes,) = lifted.spaces
    assert told[-1:] == ([len(numbers)] if len(numbers) else [])
    assert nodes.states is numbers
    assert len(nodes.segments) == len(numbers)
    mask = derive(space, policy).mask
    for i, number in enumerate(numbers.tolist()):
        part = nodes.segments[i]
        transitions = nodes.transitions[part]
        if not space.goal[number]:
            expected = [t for t in space.transitions(number) if mask[t]]
            assert transitions.tolist() == expected
        alone = nodes_of(task, lifted.states[i])
        ours = {}
        for t, relation, node in zip(
            transitions.tolist(),
            nodes.relations[part].tolist(),
            nodes.nodes[part].tolist(),
            strict=True,
        ):
            action = space.action_of(t)
            assert policy.core.action_relation(DOMAIN.action_ids[action.name]) == relation
            ours[relation, action.arguments] = node
        assert ours.keys() == alone.keys()
        if sharing is not Sharing.NONE:
            assert ours == alone


@given(programs(values=True), worlds, seeds, st.sampled_from(Sharing))
def test_choices_are_those_of_spaces(text: str, world: World, seed: int, sharing: Sharing) -> None:
    """The same states, as choices and as a part of a space: the same actions in the same order."""
    policy = Policy.parse(text, DOMAIN)
    task = make_task(*world.task())
    space = expand(task, limit=200)
    numbers = in_any_order(space, seed)
    builder = CircuitBuilder(policy, sharing)
    builder.add_space(space, numbers)
    builder.add_choices(task, map(space.state, numbers.tolist()))
    builder.add_choices(task, [])
    lifted = builder.finish()
    (nodes,) = lifted.spaces
    choices, none = lifted.choices
    assert choices.segments.lengths.tolist() == nodes.segments.lengths.tolist()
    assert choices.relations.tolist() == nodes.relations.tolist()
    if sharing is not Sharing.NONE:
        assert choices.nodes.tolist() == nodes.nodes.tolist()
    assert (len(none.segments), len(none.relations), len(none.nodes)) == (0, 0, 0)


SIZES = {
    "blocksworld": {"blocks": 4},
    "ferry": {"cars": 2, "locations": 3},
    "rover": {"rovers": 1, "waypoints": 3, "cameras": 1, "objectives": 1},
    "satellite": {"satellites": 1, "instruments": 2, "modes": 2, "directions": 3},
}


@pytest.mark.parametrize("name", domains.names())
def test_templates_of_shipped_policies(name: str) -> None:
    """Several spaces: the template's actions are the policy's, and so are their labels."""
    domain = Domain.read(domains.path(name) / "domain.pddl")
    rules = Policy.read(domains.policy_path(name), domain)
    policy = build_template(rules, TemplateSettings(layers=2)).policy
    outputs = action_relations(policy)
    spaces = [
        expand(domain.parse_task(text), limit=3_000)
        for _, text in domains.generate(name, seed=5, sizes=SIZES[name], count=2)
    ]
    labels = [label(space, rules) for space in spaces]
    builder = CircuitBuilder(policy, Sharing.SETS, outputs)
    for labelled in labels:
        builder.add_space(labelled.space, labelled.states)
    lifted = builder.finish()
    check_form(lifted.circuit)
    assert lifted.circuit.counts.states == sum(map(len, labels))
    assert lifted.circuit.counts.nodes < lifted.circuit.counts.atoms / 5
    for labelled, nodes in zip(labels, lifted.spaces, strict=True):
        space = nodes.space
        assert space is labelled.space
        assert nodes.states.tolist() == labelled.states.tolist()
        mask = np.zeros(len(space.actions), dtype=bool)
        mask[nodes.transitions] = True
        chosen = np.isin(space.graph.sources, labelled.states)
        assert (mask[chosen] == labelled.derived).all()
        assert (space.optimal[chosen] == labelled.optimal).all()
        assert (np.sort(nodes.transitions) == nodes.transitions).all()
        sources = nodes.states[nodes.segments.owners]
        assert (space.graph.sources[nodes.transitions] == sources).all()
        for relation, t in zip(nodes.relations[:50], nodes.transitions[:50], strict=True):
            schema = domain.action_ids[space.action_of(t).name]
            assert policy.core.action_relation(schema) == relation
    # The same scores as each state has on its own.
    network = Network(
        lifted.circuit.structure, NetworkSettings(4), scores=outputs, dtype=torch.float64
    )
    values = network(lifted.circuit)
    nodes = lifted.spaces[0]
    for i in range(0, len(nodes.states), max(1, len(nodes.states) // 10)):
        alone = CircuitBuilder(policy, Sharing.NONE, outputs)
        task = nodes.space.task
        alone.add(task, outputs, state=nodes.space.state(int(nodes.states[i])))
        single = alone.finish()
        expected = {
            atom: network(single.circuit)[atom[0]][node].item()
            for atom, node in nodes_of(task, single.states[0]).items()
        }
        part = nodes.segments[i]
        found = {
            (
                relation,
                nodes.space.action_of(t).arguments,
            ): values[relation][node].item()
            for t, relation, node in zip(
                nodes.transitions[part].tolist(),
                nodes.relations[part].tolist(),
                nodes.nodes[part].tolist(),
                strict=True,
            )
        }
        assert found == pytest.approx(expected, rel=1e-9)


# --- Mistakes ----------------------------------------------------------------------------------

NEAR = Policy.parse("near(X) :- edge(X, Y), red(Y).\nadd-red(X) :- near(X).", DOMAIN)
NAMES = [name for _, name, _ in NEAR.core.relations]
EDGE, NEAR_RELATION = NAMES.index("edge"), NAMES.index("near")


def test_features_are_checked() -> None:
    task = make_task([("edge", "a", "b"), ("red", "b")], [])
    builder = CircuitBuilder(NEAR, Sharing.SETS)
    with pytest.raises(ValueError, match="no features"):
        builder.add(task, [], features={EDGE: {("b", "a"): 1}})
    with pytest.raises(ValueError, match="input"):
        builder.add(task, [], features={NEAR_RELATION: {("a",): 1}})


def test_features_of_an_empty_relation() -> None:
    task = make_task([("red", "b")], [])
    builder = CircuitBuilder(NEAR, Sharing.SETS)
    builder.add(task, [], features={EDGE: {}})
    assert builder.finish().circuit.counts.atoms == 0


def test_relations_that_are_no_outputs_have_no_nodes() -> None:
    task = make_task([("edge", "a", "b"), ("red", "b")], [])
    builder = CircuitBuilder(NEAR, Sharing.SETS, outputs=[NEAR_RELATION])
    with pytest.raises(ValueError, match="output"):
        builder.add(task, list(action_relations(NEAR)))


def test_spaces_are_of_expanded_states() -> None:
    task = make_task([("edge", "a", "b"), ("red", "b")], [])
    space = expand(task, limit=300)
    assert not space.complete
    builder = CircuitBuilder(NEAR, Sharing.SETS)
    with pytest.raises(ValueError, match="not expanded"):
        builder.add_space(space, np.array([len(space) - 1], dtype=np.uint32))


def core_circuit(policy: Policy, sharing: Sharing = Sharing.SETS) -> _core.Circuit:
    return _core.Circuit(policy.core, list(policy.rule_numbers), sharing)


EVEN = Policy.parse(
    "even(X) :- red(X).\nodd(Y) :- even(X), edge(X, Y).\neven(Y) :- odd(X), edge(X, Y).", DOMAIN
)


@pytest.mark.parametrize(
    "rules",
    [[0, 0], [10**6], [0], [0, 2], [1]],
    ids=["twice", "unknown", "one of a relation", "one of two relations", "the other"],
)
def test_circuits_have_all_rules_of_a_component(rules: list[int]) -> None:
    _core.Circuit(EVEN.core, [0, 1, 2], Sharing.SETS)
    with pytest.raises(ValueError, match="rule"):
        _core.Circuit(EVEN.core, rules, Sharing.SETS)


def test_the_way_of_sharing_is_one_of_three() -> None:
    for wrong in (3, -1, "sets"):
        with pytest.raises(TypeError):
            _core.Circuit(NEAR.core, [0, 1], wrong)  # type: ignore[arg-type]


def test_nodes_are_of_known_relations_in_the_last_state() -> None:
    circuit = core_circuit(NEAR)
    tasks = [make_task(edges, []) for edges in ([("red", "b")], [("edge", "a", "b"), ("red", "b")])]
    first, second = (_core.CircuitFeed(circuit, task.core, []) for task in tasks)
    for ask in (lambda: first.nodes(EDGE), first.actions):
        with pytest.raises(ValueError, match="last state"):
            ask()
    first.add_state(tasks[0].initial.ids)
    first.nodes(EDGE)
    for relation in (len(NAMES), 10**6):
        with pytest.raises(ValueError, match="relation"):
            first.nodes(relation)
    second.add_state(tasks[1].initial.ids)
    assert len(second.actions()[0]) == 1
    for ask in (lambda: first.nodes(EDGE), first.actions):
        with pytest.raises(ValueError, match="last state"):
            ask()
    with pytest.raises(ValueError, match="relation"):
        circuit.finish([len(NAMES)])


ROAD = Domain.parse(
    """(define (domain roads) (:predicates (road ?x ?y) (at ?x))
    (:action go :parameters (?x ?y) :precondition (and (at ?x) (road ?x ?y))
      :effect (and (at ?y) (not (at ?x)))))"""
)


def road_task(length: int) -> Task:
    """A road of several places, from the first to the last."""
    places = [f"p{i}" for i in range(length + 1)]
    roads = " ".join(f"(road {x} {y})" for x, y in pairwise(places))
    return ROAD.parse_task(
        f"""(define (problem p) (:domain roads) (:objects {" ".join(places)})
        (:init {roads} (at p0)) (:goal (at p{length})))"""
    )


def test_static_relations_are_those_of_each_task() -> None:
    """A feed may lie where a deleted one has been."""
    policy = Policy.parse("far(X) :- road(X, Y), road(Y, Z).\ngo(X, Y) :- road(X, Y).", ROAD)
    far = [name for _, name, _ in policy.core.relations].index("far")
    circuit = core_circuit(policy)
    for length in (2, 9, 4, 7, 3):
        task = road_task(length)
        feed = _core.CircuitFeed(circuit, task.core, [])
        feed.add_state(task.initial.ids)
        atoms, nodes = feed.nodes(far)
        assert len(atoms) == len(nodes) == length - 1
        assert set(nodes.tolist()) == {0}
        del feed


def test_features_are_those_of_a_feed() -> None:
    policy = Policy.parse("near(X) :- at(X).\ngo(X, Y) :- near(X), road(X, Y).", ROAD)
    at = [name for _, name, _ in policy.core.relations].index("at")
    circuit = core_circuit(policy)
    small, large = road_task(2), road_task(50)
    one = np.array([small.object_id("p0")], dtype=np.uint32)
    features = [(at, one, np.array([3], dtype=np.uint32))]
    first = _core.CircuitFeed(circuit, small.core, features)
    second = _core.CircuitFeed(circuit, large.core, [])
    first.add_state(small.initial.ids)
    assert first.nodes(at)[1].tolist() == [3]
    walk = Policy.applicable(ROAD).start(large)
    for _ in range(40):
        walk.apply(walk.actions()[0])
    second.add_state(walk.state.ids)
    assert second.nodes(at)[1].tolist() == [0]
