"""The computations of a network over many states, each distinct one once.

The value of an atom depends only on how it is derived. Two atoms, be it of different tasks, that
are derived by the same rules from atoms of equal values have equal values whatever the weights
are: they are one *node*. The nodes and the messages between them form a circuit, which is all that
a network needs to know of the states.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from planlog import _core
from planlog.network.structure import Structure, structure_of
from planlog.pddl.task import State, Task
from planlog.policy.policy import Policy
from planlog.statespace.space import OnProgress, StateSpace

Ids = npt.NDArray[np.uint32]

# How many states are added before progress is told.
_CHUNK = 500


class Sharing(Enum):
    """Which atoms are the same node."""

    NONE = 0  # every atom is a node of its own
    SETS = 1  # equal sets of messages from each rule: enough where the maximum is taken
    MULTISETS = 2  # equal messages, each the same number of times: needed for mean and sum


@dataclass(frozen=True)
class RuleMessages:
    """The messages of one rule to the nodes of a layer.

    Message i combines the nodes `children[i]`, numbers within the relations of the rule's body. Of
    the layer's nodes, `first + nodes[i]` takes `messages[offsets[i] : offsets[i + 1]]`.
    """

    rule: int
    children: Ids  # (messages, body literals)
    nodes: Ids  # (k,)
    offsets: Ids  # (k + 1,)
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
    """How much there was, and how much of it is left after sharing."""

    states: int
    atoms: int
    nodes: int
    ground_messages: int  # satisfied substitutions
    messages: int


@dataclass(frozen=True)
class Circuit:
    """All nodes in an order in which they can be computed.

    `inputs[r]` (nodes of r,) has for each node of an input relation the number of its feature
    vector; without features all atoms of the relation are node 0 with vector 0.
    """

    structure: Structure
    inputs: Mapping[int, Ids]
    layers: tuple[Layer, ...]
    counts: Counts


@dataclass(frozen=True)
class StateNodes:
    """The atoms of a state that were asked for: for each relation object ids (atoms, arity) and
    nodes (atoms,)."""

    atoms: Mapping[int, tuple[Ids, Ids]]


@dataclass(frozen=True)
class ActionNodes:
    """The actions that the policy derives in some states of a task: those of the i-th state are the
    entries `offsets[i]` to `offsets[i + 1]`."""

    offsets: Ids  # (states + 1,)
    relations: Ids  # (derived actions,)
    nodes: Ids  # (derived actions,)


@dataclass(frozen=True)
class SpaceNodes(ActionNodes):
    """Those of some states of a space, with the transitions that they are."""

    space: StateSpace
    states: Ids  # (states,)
    transitions: Ids  # (derived actions,)


_Actions = TypeVar("_Actions", bound=ActionNodes)


@dataclass(frozen=True)
class Lifted:
    """A circuit, and where in it the atoms of the states are that were added, in their order."""

    circuit: Circuit
    states: tuple[StateNodes, ...]
    spaces: tuple[SpaceNodes, ...]
    choices: tuple[ActionNodes, ...]


class CircuitBuilder:
    """Builds a circuit from states of any number of tasks."""

    def __init__(
        self, policy: Policy, sharing: Sharing, outputs: Collection[int] | None = None
    ) -> None:
        """`outputs` are the relations whose values are wanted; all by default."""
        self.policy = policy
        self.structure = structure_of(policy, outputs)
        numbers = [rule.number for rule in self.structure.rules]
        self._core = _core.Circuit(policy.core, numbers, sharing.value)
        self._all_derived = structure_of(policy).derived
        self._outputs = sorted(self.structure.derived if outputs is None else outputs)
        self._states: list[dict[int, tuple[Ids, Ids]]] = []
        self._spaces: list[SpaceNodes] = []
        self._choices: list[ActionNodes] = []
        self._vectors = dict.fromkeys(self._inputs(), 1)  # feature vectors of each input relation

    def add(
        self,
        task: Task,
        relations: Sequence[int],
        *,
        state: State | None = None,
        features: Mapping[int, Mapping[tuple[str, ...], int]] | None = None,
    ) -> None:
        """Add a state (the initial one by default); the nodes of these relations are kept.

        `features` gives for atoms of input relations the numbers of their feature vectors; the
        atoms of the other relations have vector 0.
        """
        self.policy.check_task(task)
        for relation in relations:
            if relation in self._all_derived and relation not in self._outputs:
                raise ValueError(f"{self._name(relation)} is not among the outputs")
        feed = _core.CircuitFeed(self._core, task.core)
        numbered = []
        for relation, vectors in (features or {}).items():
            if relation not in self._vectors:
                raise ValueError(f"{self._name(relation)} is not an input of the network")
            rows = [[task.object_id(name) for name in atom] for atom in vectors]
            numbers = np.array(list(vectors.values()), dtype=np.uint32)
            numbered.append((relation, np.array(rows, dtype=np.uint32).reshape(-1), numbers))
            self._vectors[relation] = max([self._vectors[relation], *(numbers + 1).tolist()])
        feed.set_features(numbered)
        feed.add_state(task.ids(task.initial if state is None else state))
        self._states.append({relation: feed.nodes(relation) for relation in relations})

    def add_space(
        self, space: StateSpace, states: Ids, *, on_progress: OnProgress | None = None
    ) -> None:
        """Add expanded states of a space of all applicable actions."""
        self.policy.check_task(space.task)
        feed = _core.CircuitFeed(self._core, space.task.core)
        feed.set_features([])
        counts, transitions, nodes = [np.zeros(1, dtype=np.int64)], [], []
        for begin in range(0, len(states), _CHUNK):
            offsets, found, found_nodes = feed.add_states(
                space.core, np.ascontiguousarray(states[begin : begin + _CHUNK])
            )
            counts.append((offsets[1:] - offsets[:-1]).astype(np.int64))
            transitions.append(found)
            nodes.append(found_nodes)
            if on_progress:
                on_progress(begin + len(offsets) - 1)
        chosen = np.concatenate([np.zeros(0, dtype=np.uint32), *transitions])
        self._spaces.append(
            SpaceNodes(
                space=space,
                states=states,
                offsets=np.cumsum(np.concatenate(counts)).astype(np.uint32),
                transitions=chosen,
                relations=self._action_relations(space)[space.actions[chosen]],
                nodes=np.concatenate([np.zeros(0, dtype=np.uint32), *nodes]),
            )
        )

    def add_choices(self, task: Task, states: Iterable[State]) -> None:
        """Add states of a task; the nodes of all actions that the policy derives there are kept,
        ordered by schema and arguments."""
        self.policy.check_task(task)
        feed = _core.CircuitFeed(self._core, task.core)
        feed.set_features([])
        counts = [0]
        relations, nodes = [np.zeros(0, dtype=np.uint32)], [np.zeros(0, dtype=np.uint32)]
        for state in states:
            feed.add_state(task.ids(state))
            found, found_nodes = feed.actions()
            counts.append(len(found))
            relations.append(found)
            nodes.append(found_nodes)
        self._choices.append(
            ActionNodes(
                offsets=np.cumsum(counts).astype(np.uint32),
                relations=np.concatenate(relations),
                nodes=np.concatenate(nodes),
            )
        )

    def finish(self) -> Lifted:
        """The circuit of all states; nothing can be added after this."""
        layers, renumbered, counts = self._core.finish(self._outputs)
        circuit = Circuit(
            structure=self.structure,
            inputs={r: np.arange(n, dtype=np.uint32) for r, n in self._vectors.items()},
            layers=tuple(
                Layer(relation, first, last, tuple(RuleMessages(*rule) for rule in rules))
                for relation, first, last, rules in layers
            ),
            counts=Counts(*counts),
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

    def _inputs(self) -> list[int]:
        used = {relation for rule in self.structure.rules for relation in rule.body}
        return sorted(used - self.structure.derived)

    def _action_relations(self, space: StateSpace) -> Ids:
        """The relation of each ground action of a space: (ground actions,)."""
        numbers = [
            self.policy.core.action_relation(i) for i in range(len(space.task.domain.actions))
        ]
        relations = np.array([0 if n is None else n for n in numbers], dtype=np.uint32)
        return relations[space.core.action_schemas]
