"""Networks at work in the core: values that follow a walk, against those of torch."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from planlog import _core, domains
from planlog.learning.network import Network
from planlog.network.circuit import CircuitBuilder, Sharing
from planlog.network.settings import Activation, Aggregation, NetworkSettings, TemplateSettings
from planlog.network.structure import Structure, action_relations, structure_of
from planlog.network.template import build_template
from planlog.pddl.task import Action, Domain, State, Task
from planlog.policy.policy import Policy
from planlog.policy.walk import Walk
from support.profiles import examples
from support.random_programs import DOMAIN, World, make_task, programs, worlds

Values = dict[int, dict[tuple[int, ...], npt.NDArray[Any]]]  # per relation and atom

# In the core's order.
ACTIVATIONS = [
    Activation.IDENTITY,
    Activation.TANH,
    Activation.SIGMOID,
    Activation.RELU,
    Activation.LEAKY_RELU,
]
AGGREGATIONS = [Aggregation.MAX, Aggregation.MEAN, Aggregation.SUM]

shapes = st.builds(
    NetworkSettings,
    width=st.integers(1, 4),
    message_activation=st.sampled_from(ACTIVATIONS),
    atom_activation=st.sampled_from(ACTIVATIONS),
    aggregation=st.sampled_from(AGGREGATIONS),
    score_activation=st.sampled_from(ACTIVATIONS[:3]),
    score_width=st.sampled_from([None, 1, 5]),
)
seeds = st.integers(0, 2**32 - 1)


# Recursion in several forms; on random edges most of it goes in circles now and then.
RECURSIVE = [
    """reach(X) :- red(X).
    reach(Y) :- reach(X), edge(X, Y).
    add-blue(X) :- reach(X).""",
    """path(X, Y) :- edge(X, Y).
    path(X, Z) :- path(X, Y), path(Y, Z).
    near(X) :- path(X, Y), red(Y), not path(Y, X).
    add-blue(X) :- near(X).""",
    """even(X) :- red(X).
    odd(Y) :- even(X), edge(X, Y).
    even(Y) :- odd(X), edge(X, Y), flag.
    even(Y) :- odd(X), likes(X, Y), not flag.
    seen :- odd(X), even(X).
    add-blue(X) :- odd(X), seen.""",
]


def network_of(
    policy: Policy,
    shape: NetworkSettings,
    seed: int,
    dimensions: Mapping[str | int, int] | None = None,
) -> Network:
    scores = action_relations(policy)
    return Network(structure_of(policy), shape, scores=scores, dimensions=dimensions, seed=seed)


def core_arguments(policy: Policy, network: Network) -> list[Any]:
    """What the core wants to know of a network."""
    structure, shape = network.structure, network.settings

    def matrix(name: str) -> npt.NDArray[np.float32]:
        return network.weight(name).detach().numpy().astype(np.float32)

    return [
        policy.core,
        list(network.dimensions),
        [
            (rule.number, matrix(f"r{i}.H"), [matrix(f"r{i}.B{j}") for j in range(len(rule.body))])
            for i, rule in enumerate(structure.rules)
        ],
        _core.Activation[shape.message_activation.name],
        [
            _core.Activation[
                (shape.score_activation if r in network.scores else shape.atom_activation).name
            ]
            for r in range(len(structure.relations))
        ],
        _core.Aggregation[shape.aggregation.name],
        list(structure.features),
    ]


def core_network(policy: Policy, network: Network) -> _core.Network:
    return _core.Network(*core_arguments(policy, network))


def expected_values(
    policy: Policy,
    network: Network,
    task: Task,
    states: Sequence[State],
    outputs: Sequence[int] | None = None,
) -> list[Values]:
    """The values of atoms of some states by torch, with twice the digits: of all derived atoms, or
    of those of the relations that the network was made for."""
    precise = Network(
        network.structure,
        network.settings,
        scores=network.scores,
        dimensions=dict(enumerate(network.dimensions)),
        dtype=torch.float64,
    )
    for name, weight in network.weights().items():
        precise.set_weight(name, weight)
    builder = CircuitBuilder(policy, Sharing.NONE, outputs)
    relations = sorted(network.structure.derived) if outputs is None else outputs
    for state in states:
        builder.add(task, relations, state=state)
    lifted = builder.finish()
    with torch.no_grad():
        values = {r: rows.numpy() for r, rows in precise(lifted.circuit).items()}
    return [
        {
            relation: {
                tuple(atom): values[relation][node]
                for atom, node in zip(atoms.tolist(), nodes.tolist(), strict=True)
            }
            for relation, (atoms, nodes) in of_state.atoms.items()
        }
        for of_state in lifted.states
    ]


def values_of(walk: Walk, structure: Structure) -> Values:
    """The values of all derived atoms where a walk is now."""
    found: Values = {}
    for relation in sorted(structure.derived):
        atoms, values = walk.core.values(relation)
        found[relation] = dict(zip(map(tuple, atoms.tolist()), values, strict=True))
        assert len(found[relation]) == len(atoms)
    return found


def assert_close(ours: Values, expected: Values) -> None:
    """Up to what the digits of the core's numbers allow, beside the greatest of all values."""
    every = [value for values in expected.values() for value in values.values()]
    scale = max([1.0, *(float(np.abs(value).max()) for value in every)])
    assert {r: v.keys() for r, v in ours.items()} == {r: v.keys() for r, v in expected.items()}
    for relation, values in expected.items():
        for atom, value in values.items():
            np.testing.assert_allclose(
                ours[relation][atom],
                value,
                rtol=1e-5,
                atol=1e-5 * scale,
                err_msg=f"{relation}{atom}",
            )


def same(one: Values, other: Values) -> bool:
    """To the last digit."""
    return one.keys() == other.keys() and all(
        one[r].keys() == other[r].keys()
        and all(np.array_equal(value, other[r][atom]) for atom, value in one[r].items())
        for r in one
    )


def attached(policy: Policy, network: Network, task: Task, state: State | None = None) -> Walk:
    return with_network(policy, core_network(policy, network), task, state)


def with_network(
    policy: Policy, network: _core.Network, task: Task, state: State | None = None
) -> Walk:
    walk = Walk(policy, task, _core.Walk(task.core, policy.core, network))
    walk.restart(task.initial if state is None else state)
    return walk


# --- Values along walks --------------------------------------------------------------------


def check_walks(
    text: str, world: World, shape: NetworkSettings, seed: int, moves: Iterable[Action | None]
) -> None:
    """Walks, copies of them and new starts: all have the values that torch computes."""
    policy = Policy.parse(text, DOMAIN)
    task = make_task(*world.task())
    rng = random.Random(seed)
    structure = structure_of(policy)
    dimensions = {r: rng.randint(1, 3) for r in structure.derived if rng.random() < 0.4}
    network = network_of(policy, shape, seed, dimensions)
    of_core = core_network(policy, network)
    walk = with_network(policy, of_core, task)
    walks = [walk]
    states, found = [], []

    def look(walk: Walk) -> None:
        states.append(walk.state)
        found.append(values_of(walk, structure))
        scores = {
            (policy.core.action_relation(schema), arguments): score
            for (schema, arguments), score in walk.core.scores()
        }
        assert scores == {
            (relation, atom): value
            for relation in network.scores
            for atom, (value,) in found[-1][relation].items()
        }

    look(walk)
    for move in moves:
        walk = rng.choice(walks)
        if rng.random() < 0.1:
            walk.restart(rng.choice(states))
        elif rng.random() < 0.1 and len(walks) < 3:
            walks.append(walk.copy())
        if move is not None:
            walk.apply(move)
        elif walk.steps:
            walk.undo()
        if rng.random() < 0.7:  # otherwise several changes are seen at once
            look(walk)
    for walk in walks:
        look(walk)
        assert same(values_of(walk, structure), found[-1])
        assert walk.core.computed == 0
    expected = expected_values(policy, network, task, states)
    for state, ours, theirs in zip(states, found, expected, strict=True):
        assert_close(ours, theirs)
        if shape.aggregation is Aggregation.MAX:
            fresh = with_network(policy, of_core, task, state)
            assert same(ours, values_of(fresh, structure))


@examples(150)
@given(programs(values=True), worlds, shapes, seeds)
def test_values_follow_walks(text: str, world: World, shape: NetworkSettings, seed: int) -> None:
    check_walks(text, world, shape, seed, world.moves(20))


def edge_moves(seed: int, count: int) -> Iterator[Action | None]:
    """Changes of what recursion goes along."""
    rng = random.Random(seed)
    for _ in range(count):
        x, y = rng.choices("abcd", k=2)
        verb = rng.choice(["add-", "del-"])
        yield rng.choice(
            [
                Action(f"{verb}edge", (x, y)),
                Action(f"{verb}edge", (x, y)),
                Action(f"{verb}likes", (x, y)),
                Action(f"{verb}red", (x,)),
                Action(f"{verb}flag", ()),
                None,
            ]
        )


@examples(100)
@given(st.sampled_from(RECURSIVE), worlds, shapes, seeds)
def test_values_follow_walks_through_circles(
    text: str, world: World, shape: NetworkSettings, seed: int
) -> None:
    check_walks(text, world, shape, seed, edge_moves(seed, 20))


def test_a_circle_that_opens_changes_values_elsewhere() -> None:
    """Of a, b, c in a circle, the edge b-c does not count; it does when c-a is taken away."""
    policy = Policy.parse(RECURSIVE[0], DOMAIN)
    edges = [("edge", *pair) for pair in ("ab", "ac", "bc", "ca")]
    task = make_task([("red", "a"), *edges], [])
    shape = NetworkSettings(1, Activation.IDENTITY, Activation.IDENTITY, Aggregation.SUM)
    network = network_of(policy, shape, 0)
    for name in network.names:
        network.set_weight(name, np.ones(network.weight(name).shape))
    walk = attached(policy, network, task)
    reach = policy.core.rule(policy.rule_numbers[0])[0]

    def values() -> dict[str, float]:
        found = values_of(walk, network.structure)[reach]
        return {task.object_names[atom[0]]: float(value[0]) for atom, value in found.items()}

    assert values() == {"a": 1, "b": 2, "c": 2}
    walk.apply(Action("del-edge", ("c", "a")))
    assert values() == {"a": 1, "b": 2, "c": 5}
    walk.undo()
    assert values() == {"a": 1, "b": 2, "c": 2}


def test_gates_have_values_too() -> None:
    """An atom without arguments stays true, but is derived otherwise: what reads it changes."""
    policy = Policy.parse("seen.\nseen :- flag.\nadd-blue(X) :- seen, red(X).", DOMAIN)
    task = make_task([("red", "a"), ("red", "b")], [])
    shape = NetworkSettings(1, Activation.IDENTITY, Activation.IDENTITY, Aggregation.MAX)
    network = network_of(policy, shape, 0)
    for name in network.names:
        network.set_weight(name, np.ones(network.weight(name).shape))
    walk = attached(policy, network, task)

    def scores() -> list[float]:
        return [score for _, score in walk.core.scores()]

    before = scores()
    walk.apply(Action("add-flag", ()))
    assert scores() == [score + 1 for score in before]
    walk.undo()
    assert scores() == before


# --- How much is computed --------------------------------------------------------------------


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_nothing_is_computed_if_nothing_changes(aggregation: Aggregation) -> None:
    policy = Policy.parse(
        """near(X) :- edge(X, Y), red(Y), not blue(Y).
        likes-red(X) :- likes(X, Y), red(Y).
        add-blue(X) :- near(X).
        del-blue(X) :- likes-red(X), blue(X).""",
        DOMAIN,
    )
    atoms = [("edge", *pair) for pair in ("ab", "bc", "cd")] + [("red", "b"), ("likes", "a", "b")]
    task = make_task(atoms, [])
    network = network_of(policy, NetworkSettings(aggregation=aggregation), 0)
    walk = attached(policy, network, task)
    walk.core.scores()
    assert walk.core.computed == 2  # near(a), add-blue(a); no action needs likes-red(a)
    walk.core.scores()
    assert walk.core.computed == 0
    walk.apply(Action("add-line", ("a", "b", "c")))  # no rule reads it
    walk.core.scores()
    assert walk.core.computed == 0
    walk.apply(Action("add-red", ("a",)))  # nothing leads to a
    walk.core.scores()
    assert walk.core.computed == 0
    walk.apply(Action("add-red", ("d",)))  # near(c), add-blue(c)
    walk.core.scores()
    assert walk.core.computed == 2
    walk.apply(Action("add-edge", ("a", "d")))  # near(a), and add-blue(a) if near(a) changes
    walk.core.scores()
    assert walk.core.computed == (2 if aggregation is Aggregation.SUM else 1)
    walk.apply(Action("del-red", ("b",)))
    walk.undo()
    walk.core.scores()
    assert walk.core.computed <= 3


def shipped(name: str, layers: int = 1) -> Policy:
    domain = Domain.read(domains.path(name) / "domain.pddl")
    rules = Policy.read(domains.policy_path(name), domain)
    return build_template(rules, TemplateSettings(layers)).policy


def shipped_task(policy: Policy, name: str, sizes: Mapping[str, int], seed: int = 1) -> Task:
    ((_, text),) = domains.generate(name, seed=seed, sizes=sizes)
    return policy.domain.parse_task(text)


SIZES = {
    "blocksworld": {"blocks": 12},
    "ferry": {"cars": 8, "locations": 6},
    "rover": {"rovers": 2, "waypoints": 5, "cameras": 3, "objectives": 4},
    "satellite": {"satellites": 3, "instruments": 5, "modes": 3, "directions": 6},
}


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("name", domains.names())
def test_templates_of_shipped_policies(name: str, aggregation: Aggregation) -> None:
    """Along an execution that takes the best action each time."""
    policy = shipped(name, layers=2)
    task = shipped_task(policy, name, SIZES[name])
    scores = action_relations(policy)
    network = Network(
        structure_of(policy, scores), NetworkSettings(8, aggregation=aggregation), scores=scores
    )
    walk = attached(policy, network, task)
    states, found = [], []
    for step in range(40):
        if walk.is_goal or walk.action_count == 0:
            break
        states.append(walk.state)
        values = values_of(walk, network.structure)
        found.append({score: values[score] for score in scores})
        schema, arguments = walk.core.best(None if step % 4 else 1.0, step)
        assert walk.core.apply(schema, list(arguments))
    assert len(states) > 5
    expected = expected_values(policy, network, task, states, scores)
    for ours, theirs in zip(found, expected, strict=True):
        assert_close(ours, theirs)


@pytest.mark.parametrize(
    ("name", "sizes", "share"),
    [
        ("blocksworld", {"blocks": 100}, 0.4),  # the arm is free or not: all blocks learn of it
        ("ferry", {"cars": 100, "locations": 50}, 0.2),
        ("satellite", {"satellites": 20, "instruments": 40, "modes": 4, "directions": 40}, 0.1),
        ("rover", {"rovers": 4, "waypoints": 40, "cameras": 8, "objectives": 20}, 0.2),
    ],
)
def test_local_changes_are_local(name: str, sizes: Mapping[str, int], share: float) -> None:
    policy = shipped(name)
    task = shipped_task(policy, name, sizes)
    scores = action_relations(policy)
    network = Network(structure_of(policy, scores), NetworkSettings(4), scores=scores)
    walk = attached(policy, network, task)
    chosen = walk.core.best(None, 0)
    everything = sum(len(walk.core.values(r)[0]) for r in network.structure.derived)
    shares = []
    for step in range(30):
        if chosen is None:
            break
        walk.core.apply(chosen[0], list(chosen[1]))
        chosen = walk.core.best(1.0, step)
        shares.append(walk.core.computed / everything)
    assert np.mean(shares) < share


# --- Choosing --------------------------------------------------------------------------------


CHOICE = Policy.parse(
    """add-blue(X) :- red(X), edge(X, Y).
    add-likes(X, Y) :- edge(X, Y), red(Y).
    del-red(X) :- red(X).""",
    DOMAIN,
)


def choice_task(objects: Sequence[str]) -> Task:
    """The same task with its objects in another order."""
    edges = ["b1 b10", "b10 b9", "c d", "d c", "aa b1", "b9 d"]
    atoms = [
        *(f"(edge {pair})" for pair in edges),
        *(f"(red {x})" for x in ("b1", "b10", "d", "aa")),
    ]
    return DOMAIN.parse_task(
        f"(define (problem p) (:domain changes) (:objects {' '.join(objects)} - thing)"
        f"(:init {' '.join(atoms)}) (:goal (flag)))"
    )


NAMES = ["b1", "b10", "b9", "c", "d", "aa"]


def described(walk: Walk, action: tuple[int, tuple[int, ...]] | None) -> Action:
    assert action is not None
    return walk.task.decode(*action)


@given(st.permutations(NAMES), seeds, shapes)
def test_best_is_the_highest_and_then_the_first_by_name(
    order: list[str], seed: int, shape: NetworkSettings
) -> None:
    network = network_of(CHOICE, shape, seed)
    walk = attached(CHOICE, network, choice_task(order))
    scores = {described(walk, action): score for action, score in walk.core.scores()}
    expected = min(scores, key=lambda action: (-scores[action], action))
    assert described(walk, walk.core.best(None, 0)) == expected
    for name in network.names:
        network.set_weight(name, np.zeros(network.weight(name).shape))
    walk = attached(CHOICE, network, choice_task(order))
    assert described(walk, walk.core.best(None, 0)) == min(scores)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 4.0])
def test_frequencies_follow_the_softmax(temperature: float) -> None:
    network = network_of(CHOICE, NetworkSettings(3, aggregation=Aggregation.SUM), 3)
    walk = attached(CHOICE, network, choice_task(NAMES))
    scores = dict(walk.core.scores())
    weights = {action: np.exp(score / temperature) for action, score in scores.items()}
    draws = 20_000
    counts = Counter(walk.core.best(temperature, key) for key in range(draws))
    assert counts.keys() <= scores.keys()
    statistic = 0.0
    for action, weight in weights.items():
        expected = draws * weight / sum(weights.values())
        statistic += (counts[action] - expected) ** 2 / expected
    # Chi-square with as many degrees of freedom: mean n, standard deviation sqrt(2 n).
    freedom = len(scores) - 1
    assert statistic < freedom + 5 * np.sqrt(2 * freedom)
    assert len({round(score, 3) for score in scores.values()}) > 2


@given(seeds, st.integers(0, 2**64 - 1))
def test_choices_do_not_depend_on_the_way(seed: int, key: int) -> None:
    """The same state, reached on other ways, gives the same choice for the same key."""
    network = network_of(CHOICE, NetworkSettings(3), seed)
    task = choice_task(NAMES)
    direct, around = attached(CHOICE, network, task), attached(CHOICE, network, task)
    rng = random.Random(seed)
    moves = [Action("del-red", (x,)) for x in rng.sample(["b1", "b10", "d", "aa"], 4)]
    for move in [*moves, *(Action("add-red", m.arguments) for m in rng.sample(moves, 4))]:
        around.apply(move)
        if rng.random() < 0.5:
            around.core.best(1.0, key)
    assert around.state == direct.state
    assert dict(around.core.scores()) == dict(direct.core.scores())
    for temperature in (None, 0.3, 2.0):
        assert around.core.best(temperature, key) == direct.core.best(temperature, key)


def test_no_action_no_choice() -> None:
    walk = attached(CHOICE, network_of(CHOICE, NetworkSettings(), 0), make_task([], []))
    assert walk.core.best(None, 0) is None
    assert walk.core.best(1.0, 0) is None
    assert walk.core.scores() == []


# --- Mistakes --------------------------------------------------------------------------------

Change = Callable[[list[Any]], None]


def with_rules(change: Callable[[list[Any]], Any]) -> Change:
    def apply(arguments: list[Any]) -> None:
        arguments[2] = change(arguments[2])

    return apply


def resized(rule: int, shapes: Sequence[tuple[int, int]]) -> Change:
    """A rule whose matrices H, B0, B1, ... have other shapes."""

    def change(rules: list[Any]) -> list[Any]:
        head, *body = (np.zeros(shape, dtype=np.float32) for shape in shapes)
        return [*rules[:rule], (rules[rule][0], head, body), *rules[rule + 1 :]]

    return with_rules(change)


def replaced(index: int, value: Any) -> Change:
    def apply(arguments: list[Any]) -> None:
        arguments[index] = value

    return apply


def changed(index: int, at: int, value: Any) -> Change:
    def apply(arguments: list[Any]) -> None:
        arguments[index] = [*arguments[index]]
        arguments[index][at] = value

    return apply


PAIR = Policy.parse(
    "near(X) :- edge(X, Y), red(Y).\nnear(X) :- blue(X).\nadd-red(X) :- near(X).", DOMAIN
)
PAIR_NETWORK = network_of(PAIR, NetworkSettings(3), 0)
EDGE = [name for name, _ in PAIR_NETWORK.structure.relations].index("edge")
(ADD_RED,) = action_relations(PAIR)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(change, id=name)
        for name, change in {
            "too few dimensions": replaced(1, [1]),
            "too many dimensions": lambda a: a[1].append(1),
            "no activations": replaced(4, []),
            "head of another shape": resized(0, [(2, 3), (3, 1), (3, 1)]),
            "body of another shape": resized(0, [(3, 3), (3, 1), (3, 2)]),
            "message of another shape": resized(0, [(3, 4), (3, 1), (3, 1)]),
            "a literal too few": resized(0, [(3, 3), (3, 1)]),
            "a literal too many": resized(0, [(3, 3), (3, 1), (3, 1), (3, 1)]),
            "no such rule": with_rules(lambda rules: [*rules, (10**6, *rules[0][1:])]),
            "one of two rules of a relation": with_rules(lambda rules: rules[1:]),
            "a rule twice": with_rules(lambda rules: [*rules, rules[0]]),
        }.items()
    ],
)
def test_networks_that_do_not_fit_are_refused(change: Change) -> None:
    arguments = core_arguments(PAIR, PAIR_NETWORK)
    _core.Network(*arguments)
    change(arguments)
    with pytest.raises(ValueError, match=r"\w"):
        _core.Network(*arguments)


def test_networks_have_all_rules_of_a_component() -> None:
    """Two relations that depend on each other are both derived, or both inputs."""
    policy = Policy.parse("even(X) :- odd(X).\nodd(X) :- even(X).\nodd(X) :- red(X).", DOMAIN)
    arguments = core_arguments(policy, network_of(policy, NetworkSettings(1), 0))
    for chosen in ([0], [1, 2], [1]):
        with pytest.raises(ValueError, match="rules"):
            _core.Network(*arguments[:2], [arguments[2][i] for i in chosen], *arguments[3:])


def test_dimensions_are_positive() -> None:
    arguments = core_arguments(PAIR, PAIR_NETWORK)
    near = [name for name, _ in PAIR_NETWORK.structure.relations].index("near")
    arguments[1][near] = 0
    *deriving, (using, head, body) = arguments[2]
    arguments[2] = [(rule, head_of_rule[:0], rest) for rule, head_of_rule, rest in deriving]
    arguments[2].append((using, head, [matrix[:, :0].copy() for matrix in body]))
    with pytest.raises(ValueError, match="dimension"):
        _core.Network(*arguments)


def test_inputs_have_dimension_one() -> None:
    """The core knows no features."""
    network = Network(structure_of(PAIR), scores=[ADD_RED], dimensions={EDGE: 2})
    with pytest.raises(ValueError, match="dimension"):
        core_network(PAIR, network)


def test_scores_have_dimension_one() -> None:
    network = Network(structure_of(PAIR), dimensions={ADD_RED: 2})
    with pytest.raises(ValueError, match="dimension"):
        attached(PAIR, network, make_task([("blue", "a")], []))


def test_networks_need_rules_for_actions() -> None:
    arguments = core_arguments(PAIR, PAIR_NETWORK)
    arguments[2] = []
    task = make_task([("blue", "a")], [])
    with pytest.raises(ValueError, match=r"\w"):
        with_network(PAIR, _core.Network(*arguments), task)


def test_walks_without_or_with_another_network() -> None:
    task = make_task([("edge", "a", "b"), ("red", "b")], [])
    walk = PAIR.start(task)
    for ask in (walk.core.scores, lambda: walk.core.best(None, 0), lambda: walk.core.values(0)):
        with pytest.raises(ValueError, match="no network"):
            ask()
    assert walk.core.computed == 0
    other = Policy.parse("add-red(X) :- blue(X).", DOMAIN)
    with pytest.raises(ValueError, match="another program"):
        with_network(PAIR, core_network(other, network_of(other, NetworkSettings(), 0)), task)
    same_rules = Policy.parse("\n".join(rule.text for rule in PAIR.program.rules), DOMAIN)
    with pytest.raises(ValueError, match="another program"):
        network = core_network(same_rules, network_of(same_rules, NetworkSettings(), 0))
        with_network(PAIR, network, task)
    assert len(attached(PAIR, PAIR_NETWORK, task).core.scores()) == 1


def test_values_of_inputs_and_of_no_relation() -> None:
    task = make_task([("edge", "a", "b"), ("red", "b")], [])
    walk = attached(PAIR, PAIR_NETWORK, task)
    atoms, values = walk.core.values(EDGE)
    assert atoms.tolist() == [[task.object_id("a"), task.object_id("b")]]
    assert values.tolist() == [[1.0]]
    for relation in (len(PAIR_NETWORK.structure.relations), 10**6):
        with pytest.raises(ValueError, match="relation"):
            walk.core.values(relation)


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan")])
def test_temperatures_are_positive(temperature: float) -> None:
    walk = attached(PAIR, PAIR_NETWORK, make_task([("blue", "a")], []))
    with pytest.raises(ValueError, match="temperature"):
        walk.core.best(temperature, 0)
