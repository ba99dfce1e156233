"""Circuits: the computations of a network over many states, each distinct one once.

The value of an atom depends only on its derivations. Two atoms, even of different tasks, that are
derived by the same rules from atoms of equal values have equal values for all weights: they are one
*node*. A circuit consists of the nodes and the messages between them. It is all that a network
needs to know of the states.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from planlog import _core
from planlog.network.structure import Structure, structure_of
from planlog.pddl.task import State, Task
from planlog.policy.policy import Policy
from planlog.ragged import Ids, Segments
from planlog.statespace.space import OnProgress, StateSpace

_CHUNK = 500  # states added between two progress reports
_NONE = np.zeros(0, dtype=np.uint32)
Sharing = _core.Sharing


@dataclass(frozen=True)
class RuleMessages:
    """The messages of one rule to the nodes of a layer.

    Message i combines the nodes `children[i]`, numbered within the relations of the rule's body.
    The layer's node `first + nodes[i]` aggregates the messages of segment i.
    """

    rule: int
    children: Ids  # (messages, body literals)
    nodes: Ids  # (k,)
    segments: Segments
    messages: Ids  # (uses of messages,)


@dataclass(frozen=True)
class Layer:
    """The nodes from `first` up to `last` of a relation, computed from nodes of earlier layers."""

    relation: int
    first: int
    last: int
    rules: tuple[RuleMessages, ...]


@dataclass(frozen=True)
class Counts:
    """Sizes before sharing (atoms, ground messages) and after it (nodes, messages)."""

    states: int
    atoms: int
    nodes: int
    ground_messages: int  # satisfied substitutions
    messages: int


@dataclass(frozen=True)
class Circuit:
    """All nodes in an order in which they can be computed.

    `inputs[r]` (nodes of r,) numbers the feature vectors of the nodes of an input relation. Without
    features, all atoms of the relation are node 0 with vector 0. `features[r]` (vectors, dimension)
    are the vectors of a relation whose features are its integers.
    """

    structure: Structure
    inputs: Mapping[int, Ids]
    layers: tuple[Layer, ...]
    counts: Counts
    features: Mapping[int, npt.NDArray[np.float32]] = field(default_factory=dict)


@dataclass(frozen=True)
class StateNodes:
    """The requested atoms of a state, by relation: object ids (atoms, arity) and nodes (atoms,)."""

    atoms: Mapping[int, tuple[Ids, Ids]]


@dataclass(frozen=True)
class ActionNodes:
    """The actions that the policy derives in states of a task, one segment for each state."""

    segments: Segments
    relations: Ids  # (derived actions,)
    nodes: Ids  # (derived actions,)


@dataclass(frozen=True)
class SpaceNodes(ActionNodes):
    """Derived actions in states of a space, with their transitions."""

    space: StateSpace
    states: Ids  # (states,)
    transitions: Ids  # (derived actions,)


_Actions = TypeVar("_Actions", bound=ActionNodes)


@dataclass(frozen=True)
class Lifted:
    """A circuit, and the nodes of the states' atoms, in the order in which they were added."""

    circuit: Circuit
    states: tuple[StateNodes, ...]
    spaces: tuple[SpaceNodes, ...]
    choices: tuple[ActionNodes, ...]


class CircuitBuilder:
    """Builds a circuit from states of any number of tasks."""

    def __init__(
        self, policy: Policy, sharing: Sharing, outputs: Collection[int] | None = None
    ) -> None:
        """Compute the values of the relations `outputs`, by default of all."""
        self.policy = policy
        self.structure = structure_of(policy, outputs)
        numbers = [rule.number for rule in self.structure.rules]
        with_features = list(self.structure.features)
        self._core = _core.Circuit(policy.core, numbers, sharing, with_features)
        self._all_derived = structure_of(policy).derived
        self._outputs = sorted(self.structure.derived if outputs is None else outputs)
        self._states: list[dict[int, tuple[Ids, Ids]]] = []
        self._spaces: list[SpaceNodes] = []
        self._choices: list[ActionNodes] = []
        inputs = {r for rule in self.structure.rules for r in rule.body} - self.structure.derived
        self._vectors = dict.fromkeys(sorted(inputs), 1)  # feature vectors of each input relation

    def add(
        self,
        task: Task,
        relations: Sequence[int],
        *,
        state: State | None = None,
        features: Mapping[int, Mapping[tuple[str, ...], int]] | None = None,
    ) -> None:
        """Add a state, by default the initial one, and keep the nodes of these relations.

        `features` numbers the feature vectors of atoms of input relations; other atoms have
        vector 0.
        """
        for relation in relations:
            if relation in self._all_derived and relation not in self._outputs:
                raise ValueError(f"{self._name(relation)} is not among the outputs")
        numbered = []
        for relation, vectors in (features or {}).items():
            if relation not in self._vectors:
                raise ValueError(f"{self._name(relation)} is not an input of the network")
            if relation in self.structure.features:
                raise ValueError(f"the features of {self._name(relation)} are its integers")
            rows = [[task.object_id(name) for name in atom] for atom in vectors]
            numbers = np.array(list(vectors.values()), dtype=np.uint32)
            numbered.append((relation, np.array(rows, dtype=np.uint32).reshape(-1), numbers))
            self._vectors[relation] = max([self._vectors[relation], *(numbers + 1).tolist()])
        feed = self._feed(task, numbered)
        feed.add_state(task.ids(task.initial if state is None else state))
        self._states.append({relation: feed.nodes(relation) for relation in relations})

    def add_space(
        self, space: StateSpace, states: Ids, *, on_progress: OnProgress | None = None
    ) -> None:
        """Add expanded states of a space of all applicable actions."""
        feed = self._feed(space.task)
        lengths: list[int] = []
        transitions, relations, nodes = [_NONE], [_NONE], [_NONE]
        for begin in range(0, len(states), _CHUNK):
            offsets, found, found_relations, found_nodes = feed.add_states(
                space.core, np.ascontiguousarray(states[begin : begin + _CHUNK])
            )
            lengths += Segments(offsets).lengths.tolist()
            transitions.append(found)
            relations.append(found_relations)
            nodes.append(found_nodes)
            if on_progress:
                on_progress(len(lengths))
        self._spaces.append(
            SpaceNodes(
                space=space,
                states=states,
                segments=Segments.of_lengths(lengths),
                transitions=np.concatenate(transitions),
                relations=np.concatenate(relations),
                nodes=np.concatenate(nodes),
            )
        )

    def add_choices(self, task: Task, states: Iterable[State]) -> None:
        """Add states of a task with all derived actions, ordered by schema and arguments."""
        feed = self._feed(task)
        relations, nodes = [_NONE], [_NONE]
        for state in states:
            feed.add_state(task.ids(state))
            found, found_nodes = feed.actions()
            relations.append(found)
            nodes.append(found_nodes)
        segments = Segments.of_lengths([len(found) for found in relations[1:]])
        actions = ActionNodes(segments, np.concatenate(relations), np.concatenate(nodes))
        self._choices.append(actions)

    def _feed(self, task: Task, features: Sequence[tuple[int, Ids, Ids]] = ()) -> _core.CircuitFeed:
        self.policy.check_task(task)
        return _core.CircuitFeed(self._core, task.core, features)

    def finish(self) -> Lifted:
        """Return the circuit of all states; nothing can be added after this."""
        layers, renumbered, features, counts = self._core.finish(self._outputs)
        self._vectors |= {relation: len(vectors) for relation, vectors in features}
        circuit = Circuit(
            structure=self.structure,
            inputs={r: np.arange(n, dtype=np.uint32) for r, n in self._vectors.items()},
            layers=tuple(
                Layer(
                    relation,
                    first,
                    last,
                    tuple(
                        RuleMessages(rule, children, nodes, Segments(offsets), messages)
                        for rule, children, nodes, offsets, messages in rules
                    ),
                )
                for relation, first, last, rules in layers
            ),
            counts=Counts(*counts),
            features=dict(features),
        )

        def final(relation: int, nodes: Ids) -> Ids:
            return renumbered[relation][nodes] if relation in self.structure.derived else nodes

        states = tuple(
            StateNodes({r: (atoms, final(r, nodes)) for r, (atoms, nodes) in state.items()})
            for state in self._states
        )

        def finished(actions: _Actions) -> _Actions:
            nodes = actions.nodes.copy()
            for relation in np.unique(actions.relations).tolist():
                chosen = actions.relations == relation
                nodes[chosen] = final(relation, nodes[chosen])
            return replace(actions, nodes=nodes)

        return Lifted(
            circuit,
            states,
            tuple(finished(space) for space in self._spaces),
            tuple(finished(choices) for choices in self._choices),
        )

    def _name(self, relation: int) -> str:
        return self.structure.relations[relation][0]
