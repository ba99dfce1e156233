"""Classify graphs with a graph neural network that consists of four rules.

Graphs have nodes of three colours. Does a graph have a red node with a green and a blue neighbour?
The network learns the answer from random graphs:

    python examples/graph_classification.py

Every atom that a rule derives has a vector. It is computed from the vectors of the atoms in the
body, by matrices that belong to the rule and are trained. The colour of a node is its input vector.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch

from planlog import Atom, Domain, Policy, Task
from planlog.learning.network import Network
from planlog.learning.segment_ops import PreparedCircuit
from planlog.network.circuit import CircuitBuilder, Sharing
from planlog.network.structure import structure_of

DOMAIN = Domain.of_predicates("graphs", {"node": 1, "edge": 2})
PROGRAM = Policy.parse(
    """
    % Two rounds of messages between neighbours.
    near(X) :- node(X), edge(X, Y), node(Y).
    far(X)  :- near(X), edge(X, Y), near(Y).
    % One output for the whole graph.
    answer  :- near(X).
    answer  :- far(X).
    """,
    DOMAIN,
)
RED, GREEN, BLUE = range(3)


@dataclass(frozen=True)
class Graph:
    """A graph whose nodes are numbered: the colour of each node, and undirected edges."""

    colours: list[int]
    edges: list[tuple[int, int]]

    @classmethod
    def random(cls, rng: np.random.Generator, nodes: int = 8, edges: int = 7) -> Graph:
        pairs = list(combinations(range(nodes), 2))
        chosen = rng.choice(len(pairs), edges, replace=False)
        return cls(rng.integers(3, size=nodes).tolist(), [pairs[i] for i in chosen])

    @property
    def answer(self) -> bool:
        """Whether a red node has a green and a blue neighbour."""
        neighbours = [set[int]() for _ in self.colours]
        for x, y in self.edges:
            neighbours[x].add(self.colours[y])
            neighbours[y].add(self.colours[x])
        return any(
            colour == RED and {GREEN, BLUE} <= around
            for colour, around in zip(self.colours, neighbours, strict=True)
        )

    def facts(self) -> Task:
        nodes = [Atom("node", (f"n{i}",)) for i in range(len(self.colours))]
        edges = [
            Atom("edge", (f"n{x}", f"n{y}")) for pair in self.edges for x, y in (pair, pair[::-1])
        ]
        return DOMAIN.task_of(nodes + edges)


class Examples:
    """Graphs as one circuit, which shares equal computations; node `nodes[i]` answers graph i."""

    def __init__(self, graphs: list[Graph]) -> None:
        names = [name for name, _ in structure_of(PROGRAM).relations]
        self.answer, self.node = names.index("answer"), names.index("node")
        builder = CircuitBuilder(PROGRAM, Sharing.SETS)
        for graph in graphs:
            colours = {(f"n{i}",): colour for i, colour in enumerate(graph.colours)}
            builder.add(graph.facts(), [self.answer], features={self.node: colours})
        lifted = builder.finish()
        self.circuit = PreparedCircuit(lifted.circuit)
        self.nodes = np.array([int(state.atoms[self.answer][1][0]) for state in lifted.states])
        self.labels = torch.tensor([float(graph.answer) for graph in graphs])

    def outputs(self, network: Network) -> torch.Tensor:
        """Return the outputs (graphs,), which are positive for yes."""
        colours = torch.eye(3)  # feature vectors of red, green and blue nodes
        return network(self.circuit, {self.node: colours})[self.answer][self.nodes, 0]

    def accuracy(self, network: Network) -> float:
        with torch.no_grad():
            return float(((self.outputs(network) > 0) == (self.labels > 0.5)).float().mean())


def train(examples: Examples, *, steps: int = 150, seed: int = 0) -> Network:
    """Train a network on the examples, as any module of torch is trained."""
    network = Network(structure_of(PROGRAM), scores=["answer"], dimensions={"node": 3}, seed=seed)
    optimiser = torch.optim.Adam(network.parameters(), lr=0.02)
    for _ in range(steps):
        optimiser.zero_grad()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            examples.outputs(network), examples.labels
        )
        loss.backward()
        optimiser.step()
    return network


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a network of four rules on graphs.")
    parser.add_argument("--graphs", type=int, default=400, help="Number of graphs to train on.")
    parser.add_argument("--seed", type=int, default=0, help="Random seed.")
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # the matrices are too small for more
    rng = np.random.default_rng(arguments.seed)
    seen, unseen = (
        Examples([Graph.random(rng) for _ in range(arguments.graphs)]) for _ in range(2)
    )
    network = train(seen, seed=arguments.seed)
    print(f"the answer is yes for {float(seen.labels.mean()):.0%} of the graphs")
    print(f"accuracy on training graphs: {seen.accuracy(network):.1%}")
    print(f"accuracy on unseen graphs: {unseen.accuracy(network):.1%}")


if __name__ == "__main__":
    main()
