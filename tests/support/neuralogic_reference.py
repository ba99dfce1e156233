"""Values of atoms as NeuraLogic computes them, in a process of its own: it starts a Java machine,
which takes over the handling of signals.

Reads a list of cases as JSON from the standard input and writes a list of values for each:
    rules: [head, H, [[literal, B], ...]], literals being [relation, [variables]]
    facts: [[relation, [objects]], vector or null]
    queries: [relation, [objects]]
    aggregation, message_activation, atom_activation: names
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def values(case: dict[str, Any]) -> list[list[float]]:
    from neuralogic.core import Aggregation, Metadata, Model, R, Settings, Transformation, V
    from neuralogic.dataset import Dataset

    aggregations = {"max": Aggregation.MAX, "mean": Aggregation.AVG, "sum": Aggregation.SUM}

    def transformation(name: str) -> Any:
        return getattr(Transformation, name.upper())

    def weight(matrix: list[list[float]]) -> Any:
        """NeuraLogic has numbers, vectors and matrices, and does not mix them."""
        if len(matrix[0]) > 1:
            return matrix
        column = [row[0] for row in matrix]
        return column if len(column) > 1 else column[0]

    def literal(atom: tuple[str, list[str]]) -> Any:
        name, variables = atom
        return R.get(name)(*(V.get(variable) for variable in variables))

    def fact(atom: tuple[str, list[str]]) -> Any:
        name, objects = atom
        return R.get(name)(*objects)

    model = Model()
    of_messages = Metadata(
        transformation=transformation(case["message_activation"]),
        aggregation=aggregations[case["aggregation"]],
    )
    for head, matrix, body in case["rules"]:
        literals = [literal(atom)[weight(factor)] for atom, factor in body]
        model += (literal(head)[weight(matrix)] <= literals) | of_messages
    for name, arity in {(head[0], len(head[1])) for head, _, _ in case["rules"]}:
        model += R.get(name) / arity | Metadata(
            transformation=transformation(case["atom_activation"])
        )
    model.build(Settings(chain_pruning=False, iso_value_compression=False))
    facts = [fact(atom) if vector is None else fact(atom)[vector] for atom, vector in case["facts"]]
    dataset = Dataset()
    for query in case["queries"]:
        dataset.add(fact(query)[0.0], facts)
    found = model.test(model.build_dataset(dataset))
    return [value if isinstance(value, list) else [value] for value in found]


if __name__ == "__main__":
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # Java has things to say as well
    json.dump([values(case) for case in json.load(sys.stdin)], answer)
    answer.flush()
