"""Learn to classify graphs, with a graph neural network that consists of four rules.

Graphs have nodes of three colours. Does a graph have a red node with a green and a blue neighbour?
The network learns the answer from random graphs:

    python examples/graph_classification.py
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

# Nodes and edges; two rounds of messages between neighbours, and one output.
DOMAIN = Domain.of_predicates("graphs", {"node": 1, "edge": 2})
PROGRAM = Policy.parse(
    """
    near(X) :- node(X), edge(X, Y), node(Y).
    far(X)  :- near(X), edge(X, Y), near(Y).
    answer  :- near(X).
    answer  :- far(X).
    """,
    DOMAIN,
)
RED, GREEN, BLUE = range(3)


@dataclass(frozen=True)
class Graph:
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
        nodes = [f"n{i}" for i in range(len(self.colours))]
        edges = [(nodes[x], nodes[y]) for x, y in self.edges]
        return DOMAIN.task_of(
            [Atom("node", (node,)) for node in nodes]
            + [Atom("edge", pair) for x, y in edges for pair in ((x, y), (y, x))]
        )


class Examples:
    """Graphs as one circuit, in which `nodes[i]` is the answer for graph i."""

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
    parser.add_argument("--graphs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # threads do not pay for matrices as small as these
    rng = np.random.default_rng(arguments.seed)
    seen, unseen = (
        Examples([Graph.random(rng) for _ in range(arguments.graphs)]) for _ in range(2)
    )
    network = train(seen, seed=arguments.seed)
    print(f"the answer is yes for {float(seen.labels.mean()):.0%} of the graphs")
    print(f"accuracy on these graphs: {seen.accuracy(network):.1%}")
    print(f"accuracy on other graphs: {unseen.accuracy(network):.1%}")


if __name__ == "__main__":
    main()
