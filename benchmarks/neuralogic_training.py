"""CPU time of NeuraLogic for grounding and training a template, in a process with its own JVM.

Reads a case as JSON from the standard input, and writes a `Report` as JSON:
    rules: [head, [literals]], literals being [relation, [variables], is negated]
    dimensions: of derived relations; other relations are facts and have the value 1
    states: [facts, [[action, label], ...]], facts and actions being [relation, [objects]]
    epochs, learning_rate
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from statistics import mean
from typing import Any

from neuralogic import set_jvm_options
from neuralogic.core import Aggregation, Metadata, Model, R, Settings, Transformation, V
from neuralogic.dataset import Dataset
from neuralogic.nn.loss import CrossEntropy
from neuralogic.nn.optim import Adam


@dataclass(frozen=True)
class Report:
    """CPU seconds of all threads of the JVM after warming up: the first grounding and the first
    half of the epochs do not count."""

    grounding: float  # all states
    epoch: float  # mean
    losses: list[float]  # mean of each epoch
    derived: list[list[tuple[str, list[str]]]]  # actions in the first states


# Other garbage collectors have threads that wait actively for each other, so that times differ by
# a factor of two from run to run. The serial one also takes the least CPU time.
set_jvm_options(["-Xms1g", "-XX:+UseSerialGC"])


def model_of(case: dict[str, Any]) -> Model:
    """Return the template as a NeuraLogic model: a matrix for each head and positive literal."""
    dimensions: dict[str, int] = case["dimensions"]
    width = max(dimensions.values())

    def atom(name: str, variables: list[str]) -> Any:
        return R.get(name)(*(V.get(variable) for variable in variables))

    def part(name: str, variables: list[str], negated: bool) -> Any:
        if negated:
            return ~atom(name, variables)
        # The values of facts are numbers, so their weights are vectors.
        shape = (width, dimensions[name]) if name in dimensions else (width,)
        return atom(name, variables)[shape]

    model = Model()
    messages = Metadata(transformation=Transformation.TANH, aggregation=Aggregation.MAX)
    for (name, variables, _), body in case["rules"]:
        head = atom(name, variables)[dimensions[name], width]
        model += (head <= [part(*literal) for literal in body]) | messages
    for name, arity in {(head[0], len(head[1])) for head, _ in case["rules"]}:
        is_score = dimensions[name] == 1
        last = Transformation.IDENTITY if is_score else Transformation.TANH
        model += R.get(name) / arity | Metadata(transformation=last)
    loss = CrossEntropy(with_logits=True)
    return model.build(Settings(optimizer=Adam(lr=case["learning_rate"]), error_function=loss))


def atoms(rows: list[tuple[str, list[str]]]) -> list[Any]:
    return [R.get(name)(*row) for name, row in rows]


def derived_actions(case: dict[str, Any], model: Model) -> Iterator[list[tuple[str, list[str]]]]:
    """Yield the derived actions of the first states."""
    actions = {name for name, dimension in case["dimensions"].items() if dimension == 1}
    for facts, _ in case["states"][:5]:
        found = model.clone().derivable_queries(atoms(facts))
        names = ((atom.predicate.name, list(map(str, atom.terms))) for atom in found)
        yield [(name, row) for name, row in names if name in actions]


def measure(case: dict[str, Any]) -> Report:
    model = model_of(case)
    derived = list(derived_actions(case, model))
    for _ in range(2):
        dataset = Dataset()
        for facts, queries in case["states"]:
            labelled = [R.get(name)(*row)[float(label)] for (name, row), label in queries]
            dataset.add(labelled, atoms(facts))
        start = time.process_time()
        built = model.build_dataset(dataset)
        grounding = time.process_time() - start
    epochs, losses = [], []
    for _ in range(case["epochs"]):
        start = time.process_time()
        results = model.train(built, epochs=1)
        epochs.append(time.process_time() - start)
        losses.append(mean(error for _, _, error in results))
    return Report(grounding, mean(epochs[len(epochs) // 2 :]), losses, derived)


if __name__ == "__main__":
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # Java prints to the standard output, too
    json.dump(asdict(measure(json.load(sys.stdin))), answer)
    answer.flush()
