"""Training data: the choice sets of labelled states, over the nodes of one circuit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from planlog.learning.search_labels import SearchLabels
from planlog.network.circuit import (
    ActionNodes,
    Circuit,
    CircuitBuilder,
    Layer,
    RuleMessages,
    Sharing,
)
from planlog.network.settings import Aggregation, TrainingSettings
from planlog.network.template import Template
from planlog.ragged import Ids, Mask, Segments
from planlog.statespace.labels import Labels
from planlog.statespace.space import OnProgress, StateSpace


@dataclass(frozen=True)
class ChoiceSets:
    """Distinct choice sets, one segment each, with sorted entries.

    An entry stands for all actions of a state with the same node and the same label.
    """

    states: npt.NDArray[np.int64]  # (choice_sets,): number of labelled states with this set
    segments: Segments
    relations: Ids  # (entries,)
    nodes: Ids  # (entries,)
    optimal: Mask  # (entries,)
    actions: npt.NDArray[np.int64]  # (entries,): number of actions of a state

    def __len__(self) -> int:
        return len(self.states)

    def select(self, chosen: npt.NDArray[np.int64]) -> ChoiceSets:
        """Return some of the choice sets, in the given order."""
        segments, entries = self.segments.select(chosen)
        return ChoiceSets(
            self.states[chosen],
            segments,
            self.relations[entries],
            self.nodes[entries],
            self.optimal[entries],
            self.actions[entries],
        )


@dataclass(frozen=True)
class Dataset:
    """Choice sets, and the circuit that computes the scores of their actions."""

    circuit: Circuit
    choice_sets: ChoiceSets
    labelled: int  # number of labelled states, with those left out

    def batch(self, chosen: npt.NDArray[np.int64]) -> Dataset:
        """Return some of the choice sets with the part of the circuit that they need."""
        choice_sets = self.choice_sets.select(chosen)
        wanted = {
            relation: choice_sets.nodes[choice_sets.relations == relation]
            for relation in np.unique(choice_sets.relations).tolist()
        }
        circuit, renumbered = restricted(self.circuit, wanted)
        nodes = choice_sets.nodes.copy()
        for relation, numbers in wanted.items():
            nodes[choice_sets.relations == relation] = renumbered[relation][numbers]
        return replace(self, circuit=circuit, choice_sets=replace(choice_sets, nodes=nodes))


def build_dataset(
    template: Template,
    labels: Iterable[Labels],
    aggregation: Aggregation,
    settings: TrainingSettings,
    *,
    sample: int | None = None,
    search_labels: Iterable[SearchLabels] = (),
    on_progress: OnProgress | None = None,
) -> Dataset:
    """Build the training data of a template's network from exact labels and search labels.

    Of the exact labels at most `sample` states are used, drawn uniformly. `on_progress` receives
    the number of states added so far.
    """
    sharing = Sharing.SETS if aggregation is Aggregation.MAX else Sharing.MULTISETS
    builder = CircuitBuilder(template.policy, sharing, template.scores)
    labelled = added = 0
    chosen: list[tuple[StateSpace, Ids]] = []
    for exact in labels:
        wanted = informative(exact) if settings.only_informative else np.ones(len(exact), bool)
        chosen.append((exact.space, exact.states[wanted]))
        labelled += len(exact)

    def report(states: int) -> None:
        if on_progress:
            on_progress(added + states)

    for space, states in _sample(chosen, sample):
        builder.add_space(space, states, on_progress=report)
        added += len(states)
    optimal = []
    for found in search_labels:
        builder.add_choices(found.task, found.states)
        optimal.append(np.concatenate([np.zeros(0, np.bool_), *found.optimal]))
        labelled += len(found)
        added += len(found)
        report(0)
    lifted = builder.finish()
    choice_sets = choice_sets_of(
        [
            *((space, space.space.optimal[space.transitions]) for space in lifted.spaces),
            *zip(lifted.choices, optimal, strict=True),
        ]
    )
    return Dataset(lifted.circuit, choice_sets, labelled)


def _sample(chosen: list[tuple[StateSpace, Ids]], size: int | None) -> list[tuple[StateSpace, Ids]]:
    """Return at most `size` of the states, drawn uniformly."""
    total = sum(len(states) for _, states in chosen)
    if size is None or total <= size:
        return chosen
    drawn = np.zeros(total, dtype=np.bool_)
    drawn[np.random.default_rng(0).permutation(total)[:size]] = True
    parts = Segments.of_lengths([len(states) for _, states in chosen])
    return [
        (space, states[drawn[part]]) for (space, states), part in zip(chosen, parts, strict=True)
    ]


def informative(labels: Labels) -> Mask:
    """Return whether the policy derives optimal and other actions: (labelled states,)."""
    derived = labels.segments.filter(labels.derived).lengths
    optimal = labels.segments.filter(labels.derived & labels.optimal).lengths
    found: Mask = (optimal > 0) & (optimal < derived)
    return found


def choice_sets_of(labelled: Iterable[tuple[ActionNodes, Mask]]) -> ChoiceSets:
    """Return the distinct choice sets of states with labelled actions.

    States without derived actions have none.
    """
    rows: dict[bytes, int] = {}  # the entries of a choice set as bytes -> its frequency
    for actions, optimal in labelled:
        columns = actions.relations, actions.nodes, optimal
        order = np.lexsort((*columns[::-1], actions.segments.owners))
        entries = np.stack(columns, axis=1, dtype=np.int64)[order]
        for segment in actions.segments:
            if key := entries[segment].tobytes():
                rows[key] = rows.get(key, 0) + 1
    found = [np.frombuffer(key, dtype=np.int64).reshape(-1, 3) for key in rows]
    distinct = [np.unique(entries, axis=0, return_counts=True) for entries in found]
    entries = np.concatenate([np.zeros((0, 3), np.int64), *(values for values, _ in distinct)])
    return ChoiceSets(
        states=np.array(list(rows.values()), dtype=np.int64),
        segments=Segments.of_lengths([len(values) for values, _ in distinct]),
        relations=entries[:, 0].astype(np.uint32),
        nodes=entries[:, 1].astype(np.uint32),
        optimal=entries[:, 2].astype(np.bool_),
        actions=np.concatenate([np.zeros(0, np.int64), *(counts for _, counts in distinct)]),
    )


def restricted(
    circuit: Circuit, wanted: Mapping[int, Ids]
) -> tuple[Circuit, dict[int, npt.NDArray[np.int64]]]:
    """Return the part of a circuit that some nodes depend on, and the new numbers of its nodes.

    The nodes of each derived relation keep their order.
    """
    sizes = {layer.relation: layer.last for layer in circuit.layers}
    needed = {relation: np.zeros(size, dtype=np.bool_) for relation, size in sizes.items()}
    for relation, outputs in wanted.items():
        needed[relation][outputs] = True
    bodies = [rule.body for rule in circuit.structure.rules]
    kept: list[list[RuleMessages]] = []
    for layer in reversed(circuit.layers):
        kept.append([])
        for part in layer.rules:
            chosen = needed[layer.relation][layer.first + part.nodes]
            segments, uses = part.segments.select(chosen)
            if len(segments) == 0:
                continue
            messages = np.zeros(len(part.children), dtype=np.bool_)
            messages[part.messages[uses]] = True
            children = part.children[messages]
            for column, relation in enumerate(bodies[part.rule]):
                if relation in needed:
                    needed[relation][children[:, column]] = True
            renumbered = (np.cumsum(messages) - 1)[part.messages[uses]].astype(np.uint32)
            kept[-1].append(
                RuleMessages(part.rule, children, part.nodes[chosen], segments, renumbered)
            )
    numbers = {relation: np.cumsum(mask) - 1 for relation, mask in needed.items()}

    layers = []
    for layer, parts in zip(circuit.layers, reversed(kept), strict=True):
        mask = needed[layer.relation]
        first, last = int(mask[: layer.first].sum()), int(mask[: layer.last].sum())
        rules = []
        for part in parts:
            for column, relation in enumerate(bodies[part.rule]):
                if relation in numbers:
                    part.children[:, column] = numbers[relation][part.children[:, column]]
            nodes = numbers[layer.relation][layer.first + part.nodes] - first
            rules.append(replace(part, nodes=nodes.astype(np.uint32)))
        if first < last:
            layers.append(Layer(layer.relation, first, last, tuple(rules)))
    return replace(circuit, layers=tuple(layers)), numbers
