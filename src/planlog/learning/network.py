"""Lifted relational neural networks (Sourek et al. 2018): vectors of atoms from their derivations.

Any program can be such a network, and any circuit (`planlog.network.circuit`) can be its input.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from planlog.learning.segment_ops import PreparedCircuit, PreparedMessages, SharedRows
from planlog.network.circuit import Circuit
from planlog.network.settings import Activation, Aggregation, NetworkSettings
from planlog.network.structure import Structure

_ACTIVATIONS: dict[Activation, Callable[[Tensor], Tensor]] = {
    Activation.TANH: torch.tanh,
    Activation.SIGMOID: torch.sigmoid,
    Activation.RELU: torch.relu,
    Activation.LEAKY_RELU: torch.nn.functional.leaky_relu,  # 0.01 x for negative x
    Activation.IDENTITY: lambda values: values,
}


class Network(torch.nn.Module):
    """The network of a structure.

    The value of an atom f of a derived relation, a vector of the relation's dimension, is

        f^ = phi2( sum over r of  H^r · agg over v of  phi1( sum over l of  B^r_l · v(l)^ ) )

    over the rules r that derive f, the substitutions v by which r derives it, and the positive
    literals l of r's body. phi1 and phi2 are the activations of messages and atoms, agg is the
    aggregation. If derivations are cyclic, the circuit determines which of them count.

    The weights of rule number i are `ri.H` (head's dimension, message dimension) and, for its j-th
    positive literal, `ri.Bj` (message dimension, dimension of the literal's relation). The message
    dimension is that of the head.

    The atoms of other relations are inputs: the number 1, or feature vectors, which the circuit has
    (for relations whose features are integers) or the caller gives.

    *Scores* are derived relations of dimension 1 with the activation `score_activation` and the
    message dimension `score_width` of the settings.

    `dimensions` overrides the dimensions of other relations, by name (or by number, if relations
    share a name). The default is the settings' `width` for derived relations and 1 for inputs.
    `names` renames weights; weights of the same name are one weight. Weights are drawn uniformly
    from ±a, a = sqrt(6 / (m + n)), where m and n are the dimensions before and after all matrices
    that are added (Glorot and Bengio 2010).
    """

    def __init__(
        self,
        structure: Structure,
        settings: NetworkSettings | None = None,
        *,
        scores: Collection[str | int] = (),
        dimensions: Mapping[str | int, int] | None = None,
        names: Mapping[str, str] | None = None,
        seed: int = 0,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.structure = structure
        self.settings = settings or NetworkSettings()
        self.scores = frozenset(_number(structure, score) for score in scores)
        given = {_number(structure, key): n for key, n in (dimensions or {}).items()}
        self.dimensions = tuple(
            self._dimension(relation, given) for relation in range(len(structure.relations))
        )
        self._dtype = dtype
        self._rules: list[tuple[int, list[int]]] = []  # H and all B, as places in `_weights`
        self._places: dict[str, int] = {}
        self._weights = torch.nn.ParameterList()
        self._add_weights(dict(names or {}), np.random.default_rng(seed))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all weights."""
        return tuple(self._places)

    def weight(self, name: str) -> torch.nn.Parameter:
        """Return the weight of a name."""
        if name not in self._places:
            raise ValueError(f"the network has no weight '{name}'")
        weight = self._weights[self._places[name]]
        assert isinstance(weight, torch.nn.Parameter)
        return weight

    def set_weight(self, name: str, values: npt.ArrayLike) -> None:
        """Set the values of a weight; the shape stays the same."""
        weight, array = self.weight(name), np.asarray(values)
        if array.shape != tuple(weight.shape):
            raise ValueError(f"weight '{name}' has shape {tuple(weight.shape)}, not {array.shape}")
        with torch.no_grad():
            weight.copy_(torch.as_tensor(array))

    def weights(self) -> dict[str, npt.NDArray[Any]]:
        """Return copies of all weights, by name."""
        return {name: self.weight(name).detach().numpy().copy() for name in self._places}

    def forward(
        self, circuit: Circuit | PreparedCircuit, features: Mapping[int, Tensor] | None = None
    ) -> dict[int, Tensor]:
        """Return the values of all nodes: (nodes, dimension) for each relation.

        `features` are further feature vectors (vectors, dimension) of input relations. Prepare a
        circuit that is used often.
        """
        if isinstance(circuit, Circuit):
            circuit = PreparedCircuit(circuit)
        if circuit.structure != self.structure:
            raise ValueError("the circuit was made for another program")
        features = {**circuit.features, **(features or {})}
        values = _Values(self._inputs(circuit, features), frozenset(features))
        weights = tuple(self._weights.parameters())  # faster than looking up each one
        chosen = self.settings
        for layer in circuit.layers:
            terms = (
                rule.place.sums(self._contribution(rule, values, weights)) for rule in layer.rules
            )
            is_score = layer.relation in self.scores
            activation = chosen.score_activation if is_score else chosen.atom_activation
            rows = _ACTIVATIONS[activation](reduce(torch.add, terms))
            values.append(layer.relation, rows, layer.is_last)
        empty = torch.zeros((0, 1), dtype=self._dtype)
        return {
            relation: values.all(relation, empty.expand(0, self.dimensions[relation]))
            for relation in sorted(self.structure.derived | set(circuit.inputs))
        }

    def _contribution(
        self, part: PreparedMessages, values: _Values, weights: Sequence[Tensor]
    ) -> Tensor:
        """Return the term of one rule for each node it derives: (nodes, head's dimension)."""
        matrix, factors = self._rules[part.rule]
        head = weights[matrix]
        terms = []
        for literal, factor in zip(part.literals, factors, strict=True):
            term = weights[factor].T  # (dimension of the relation, message dimension)
            if not values.are_one(literal.relation):
                rows = values.rows(literal.relation, literal.low, literal.high)
                if literal.project_first:
                    term = literal.nodes.sums(rows @ term)
                else:
                    term = literal.nodes.sums(rows) @ term
            terms.append(term)
        if not terms:
            terms.append(torch.zeros((1, head.shape[1]), dtype=self._dtype))
        messages = reduce(torch.add, terms)
        if len(messages) != part.messages:
            messages = messages.expand(part.messages, -1)
        activation = _ACTIVATIONS[self.settings.message_activation]
        if self.settings.aggregation is Aggregation.MAX:
            # The maximum of monotone functions is the function of the maximum.
            aggregated = activation(part.taken.maxima(messages))
        else:
            aggregated = part.taken.sums(activation(messages))
        if self.settings.aggregation is Aggregation.MEAN:
            aggregated = aggregated / part.taken.lengths.to(self._dtype)
        return aggregated @ head.T

    def _inputs(
        self, circuit: PreparedCircuit, features: Mapping[int, Tensor]
    ) -> dict[int, Tensor]:
        for relation in features.keys() - circuit.inputs.keys():
            raise ValueError(f"{self._name(relation)} is not an input of the network")
        values = {}
        for relation, numbers in circuit.inputs.items():
            dimension, name = self.dimensions[relation], self._name(relation)
            if relation in features:
                rows = features[relation].to(self._dtype)
                if rows.ndim != 2 or rows.shape[1] != dimension:
                    raise ValueError(
                        f"the features of {name} have shape {tuple(rows.shape)}, "
                        f"not (vectors, {dimension})"
                    )
                needed = int(numbers.max(initial=-1)) + 1
                if len(rows) < needed:
                    raise ValueError(
                        f"{name} has {len(rows)} feature vectors, "
                        f"and the circuit needs at least {needed}"
                    )
                values[relation] = rows[torch.from_numpy(numbers)]
            elif dimension != 1:
                raise ValueError(f"{name} has dimension {dimension} but no features are given")
            else:
                values[relation] = torch.ones((len(numbers), 1), dtype=self._dtype)
        return values

    def _dimension(self, relation: int, given: Mapping[int, int]) -> int:
        if relation in self.scores:
            if relation not in self.structure.derived:
                raise ValueError(f"{self._name(relation)} has no rules: no score")
            return 1
        is_derived = relation in self.structure.derived
        default = self.settings.width if is_derived else self.structure.features.get(relation, 1)
        dimension = given.get(relation, default)
        if dimension < 1:
            raise ValueError(f"{self._name(relation)} needs a positive dimension")
        return dimension

    def _name(self, relation: int) -> str:
        return self.structure.relations[relation][0]

    def _message_dimension(self, relation: int) -> int:
        if relation not in self.scores:
            return self.dimensions[relation]
        width = self.settings.score_width
        return self.settings.width if width is None else width

    def _add_weights(self, names: dict[str, str], rng: np.random.Generator) -> None:
        for i, rule in enumerate(self.structure.rules):
            message = self._message_dimension(rule.head)
            dimensions = [self.dimensions[relation] for relation in rule.body]
            head = self._add(f"r{i}.H", (self.dimensions[rule.head], message), message, names, rng)
            factors = [
                self._add(f"r{i}.B{j}", (message, dimension), sum(dimensions), names, rng)
                for j, dimension in enumerate(dimensions)
            ]
            self._rules.append((head, factors))
        if names:
            raise ValueError(f"the network has no weights {', '.join(sorted(names))} to name")

    def _add(
        self,
        default: str,
        shape: tuple[int, int],
        inputs: int,
        names: dict[str, str],
        rng: np.random.Generator,
    ) -> int:
        """Return the place of a weight; add the weight unless there is one of its name."""
        name = names.pop(default, default)
        bound = np.sqrt(6 / (inputs + shape[0]))
        # Also drawn if the weight is shared, so that the others stay the same.
        drawn = rng.uniform(-bound, bound, shape)
        if name not in self._places:
            self._places[name] = len(self._weights)
            weight = torch.as_tensor(drawn, dtype=self._dtype)
            self._weights.append(torch.nn.Parameter(weight))
        elif tuple(self.weight(name).shape) != shape:
            raise ValueError(
                f"weight '{name}' cannot be that of {default} too, which needs shape {shape} "
                f"instead of {tuple(self.weight(name).shape)}"
            )
        return self._places[name]


def _number(structure: Structure, key: str | int) -> int:
    if isinstance(key, int):
        return key
    found = [i for i, (name, _) in enumerate(structure.relations) if name == key]
    if len(found) != 1:
        many = f"relations {found} share the name" if found else "no relation has the name"
        raise ValueError(f"{many} '{key}'")
    return found[0]


class _Values:
    """The values computed so far: for each relation, one piece for each layer."""

    def __init__(self, inputs: Mapping[int, Tensor], featured: frozenset[int]) -> None:
        self._pieces = {relation: [SharedRows(rows)] for relation, rows in inputs.items()}
        self._ones = inputs.keys() - featured

    def are_one(self, relation: int) -> bool:
        """Whether all values of the relation are the number 1."""
        return relation in self._ones

    def append(self, relation: int, rows: Tensor, is_last: bool) -> None:
        pieces = self._pieces.setdefault(relation, [])
        if is_last and pieces:
            rows = torch.cat([*(piece.rows for piece in pieces), rows])
            pieces.clear()
        pieces.append(SharedRows(rows))

    def rows(self, relation: int, low: int, high: int) -> Tensor:
        """Return the values of the nodes `low` to `high` (exclusive)."""
        found = []
        first = 0
        for piece in self._pieces[relation]:
            last = first + len(piece.rows)
            if low < last and first < high:
                found.append(piece.slice(max(low - first, 0), min(high - first, len(piece.rows))))
            first = last
        return found[0] if len(found) == 1 else torch.cat(found)

    def all(self, relation: int, default: Tensor) -> Tensor:
        pieces = self._pieces.get(relation)
        return pieces[0].rows if pieces else default
