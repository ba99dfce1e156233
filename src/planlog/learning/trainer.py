"""Training: weights with which a network scores the optimal actions above the others.

Everything is computed in a fixed order, so that the same data and seed give the same weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from planlog.errors import ModelError
from planlog.learning.dataset import Dataset
from planlog.learning.network import Network
from planlog.learning.segment_ops import PreparedCircuit, RowSegments
from planlog.network.settings import Loss, Schedule, SelectBy, TrainingSettings
from planlog.ragged import Segments

Arrays = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Progress:
    """Quality of the weights after some epochs, over all choice sets."""

    epoch: int  # number of finished epochs
    epochs: int  # total number of epochs
    loss: float
    accuracy: float  # fraction of the states in which the action of highest score is optimal
    f1: float  # F1 score of classifying actions as optimal if their score is above 0


OnProgress = Callable[[Progress], None]


@dataclass(frozen=True)
class TrainingResult:
    """The best weights, and the quality of the weights after each epoch."""

    weights: dict[str, npt.NDArray[np.float32]]
    best: Progress
    history: tuple[Progress, ...]
    interrupted: bool
    checkpoint: Arrays  # for `resume`


def train(
    data: Dataset,
    network: Network,
    settings: TrainingSettings,
    *,
    seed: int = 0,
    resume: Arrays | None = None,
    on_progress: OnProgress | None = None,
    on_checkpoint: Callable[[Arrays], None] | None = None,
) -> TrainingResult:
    """Train the network in place, and leave it with the best weights.

    A KeyboardInterrupt ends the training early. After each epoch, `on_checkpoint` receives arrays
    for `resume`. A resumed training ends with the same weights as an uninterrupted one.
    """
    if not data.choice_sets.optimal.any():
        raise ValueError("there is nothing to learn: the policy derives no optimal action")
    interrupted = False
    with _one_thread():
        training = _Training(data, network, settings, seed)
        if resume:
            training.load(resume)
        try:
            while not training.is_done:
                progress = training.epoch()
                if on_progress:
                    on_progress(progress)
                if on_checkpoint:
                    on_checkpoint(training.checkpoint)
        except KeyboardInterrupt:
            interrupted = True
            if not training.found.history:
                raise
    history, weights = training.found.history, training.found.weights
    training.set_weights(weights)
    best = training.best_of(history)
    return TrainingResult(network.weights(), best, history, interrupted, training.checkpoint)


@dataclass(frozen=True)
class _Found:
    """The result so far; replaced as a whole, so that an interrupt finds it complete."""

    history: tuple[Progress, ...]
    weights: npt.NDArray[Any]  # the best


class _Training:
    """The state of a training between epochs."""

    def __init__(
        self, data: Dataset, network: Network, settings: TrainingSettings, seed: int
    ) -> None:
        self.checkpoint: Arrays = {}
        self._network = network
        self._settings = settings
        self._seed = seed
        self._whole = _Objective(data, settings.loss)
        self._batches = self._make_batches(data)
        self._weights = _flattened(network)
        self._adam = _Adam(self._weights)
        self.found = _Found((), self._present())

    @property
    def is_done(self) -> bool:
        return len(self.found.history) > self._settings.epochs

    def epoch(self) -> Progress:
        """Evaluate the weights; then update them, unless all epochs are done."""
        done, total = len(self.found.history), self._settings.epochs
        is_last = done == total
        with torch.set_grad_enabled(not self._batches and not is_last):
            scores = self._whole.scores(self._network)
            loss = self._whole.loss(scores)
        accuracy, f1 = self._whole.quality(scores.detach())
        progress = Progress(done, total, float(loss.detach()), accuracy, f1)
        history = (*self.found.history, progress)
        is_best = self.best_of(history) is progress
        self.found = _Found(history, self._present() if is_best else self.found.weights)
        if not is_last:
            if self._batches:
                order = np.random.default_rng((self._seed, done))
                for i in order.permutation(len(self._batches)).tolist():
                    batch = self._batches[i]
                    self._update(batch.loss(batch.scores(self._network)))
            else:
                self._update(loss)
        self.checkpoint = {
            "updates": np.array(self._adam.updates),
            "weights": self._present(),
            "means": self._adam.means.numpy().copy(),
            "squares": self._adam.squares.numpy().copy(),
            "best": self.found.weights,
            "history": np.array([(p.loss, p.accuracy, p.f1) for p in history]),
        }
        return progress

    def load(self, arrays: Arrays) -> None:
        """Continue from a checkpoint. Raises ModelError if it does not fit the training."""
        self._check(arrays)
        self.set_weights(arrays["weights"])
        self._adam.updates = int(arrays["updates"])
        self._adam.means = torch.tensor(arrays["means"])
        self._adam.squares = torch.tensor(arrays["squares"])
        history = tuple(
            Progress(epoch, self._settings.epochs, *numbers)
            for epoch, numbers in enumerate(arrays["history"].tolist())
        )
        self.found = _Found(history, arrays["best"])
        self.checkpoint = dict(arrays)

    def _check(self, arrays: Arrays) -> None:
        shape = tuple(self._weights.shape)
        vectors = ("weights", "means", "squares", "best")
        shapes = {**dict.fromkeys(vectors, shape), "updates": ()}
        if arrays.keys() != {*shapes, "history"}:
            raise ModelError("the checkpoint has other arrays than those of a training")
        history = arrays["history"]
        types = {name: array.dtype for name, array in arrays.items()}
        expected = {**dict.fromkeys(vectors, np.dtype("f4")), "updates": np.dtype("i8")}
        if (
            any(arrays[name].shape != wanted for name, wanted in shapes.items())
            or types != {**expected, "history": np.dtype("f8")}
            or history.shape[1:] != (3,)
            or not 0 < len(history) <= self._settings.epochs + 1
        ):
            raise ModelError("the checkpoint is of another network or training")
        if int(arrays["updates"]) < 0:
            raise ModelError("the checkpoint has a negative number of updates")
        if not np.isfinite(arrays["best"]).all():  # it would end in no model
            raise ModelError("the checkpoint has weights that are not finite")

    def set_weights(self, weights: npt.NDArray[Any]) -> None:
        """Set the weights of the network."""
        with torch.no_grad():
            self._weights.copy_(torch.tensor(weights))

    def best_of(self, history: tuple[Progress, ...]) -> Progress:
        """Return the first of the best epochs."""
        if self._settings.select_by is SelectBy.F1:
            return max(history, key=lambda progress: progress.f1)
        return min(history, key=lambda progress: progress.loss)

    def _present(self) -> npt.NDArray[Any]:
        weights: npt.NDArray[Any] = self._weights.detach().numpy().copy()
        return weights

    def _update(self, loss: Tensor) -> None:
        assert self._weights.grad is not None
        self._weights.grad.zero_()
        loss.backward()  # type: ignore[no-untyped-call]
        self._adam.update(self._learning_rate(), self._settings.weight_decay)

    def _learning_rate(self) -> float:
        rate = self._settings.learning_rate
        if self._settings.schedule is Schedule.CONSTANT:
            return rate
        total = self._settings.epochs * max(1, len(self._batches))
        return rate * (1 + math.cos(math.pi * self._adam.updates / total)) / 2

    def _make_batches(self, data: Dataset) -> list[_Objective]:
        """Divide the choice sets into fixed random batches; none if one would be enough."""
        size, choice_sets = self._settings.batch, len(data.choice_sets)
        if size is None or size >= choice_sets:
            return []
        order = np.random.default_rng(self._seed).permutation(choice_sets)
        count = math.ceil(choice_sets / size)
        return [
            _Objective(data.batch(np.sort(part)), self._settings.loss, self._whole.total / count)
            for part in np.array_split(order, count)
        ]


class _Objective:
    """Scores, loss and quality for the choice sets of some data.

    Losses are means over all labelled states (listwise) or their actions (binary). The losses of
    batches are divided by `total` instead, so that they add up to the mean of the whole.
    """

    def __init__(self, data: Dataset, loss: Loss, total: float | None = None) -> None:
        choice_sets = data.choice_sets
        self._loss = loss
        self._circuit = PreparedCircuit(data.circuit)
        sizes = {layer.relation: layer.last for layer in data.circuit.layers}
        self._relations = np.unique(choice_sets.relations).tolist()
        firsts = np.zeros(max(self._relations, default=0) + 1, dtype=np.int64)
        rows = Segments.of_lengths([sizes[relation] for relation in self._relations]).offsets
        firsts[self._relations] = rows[:-1]
        nodes = firsts[choice_sets.relations] + choice_sets.nodes
        entries, owners = len(nodes), choice_sets.segments.owners
        self._entries = RowSegments(nodes, int(rows[-1]))
        self._groups = _Groups(np.arange(entries), owners, len(choice_sets), entries)
        solvable = np.zeros(len(choice_sets), dtype=np.bool_)  # with an optimal action
        solvable[owners[choice_sets.optimal]] = True
        numbers = np.cumsum(solvable) - 1
        in_solvable = np.flatnonzero(solvable[owners])
        optimal = np.flatnonzero(choice_sets.optimal)
        count = int(solvable.sum())
        self._any = _Groups(in_solvable, numbers[owners[in_solvable]], count, entries)
        self._best = _Groups(optimal, numbers[owners[optimal]], count, entries)

        self._optimal = _column(choice_sets.optimal)
        self._actions = _column(choice_sets.actions)
        self._states = _column(choice_sets.states)
        self._solvable_states = _column(choice_sets.states[solvable])
        self._entry_states = _column(choice_sets.states[owners] * choice_sets.actions)
        weights = self._solvable_states if loss is Loss.LISTWISE else self._entry_states
        self.total = float(weights.sum()) if total is None else total

    def scores(self, network: Network) -> Tensor:
        """Return the scores of all entries: (entries, 1)."""
        values = network(self._circuit)
        return self._entries.sums(torch.cat([values[relation] for relation in self._relations]))

    def loss(self, scores: Tensor) -> Tensor:
        if self._loss is Loss.BINARY:
            losses = torch.nn.functional.binary_cross_entropy_with_logits(
                scores, self._optimal, reduction="none"
            )
            return (losses * self._entry_states).sum() / self.total
        weighted = scores + torch.log(self._actions)  # an entry counts once for each action
        losses = self._any.logsumexp(weighted) - self._best.logsumexp(weighted)
        return (losses * self._solvable_states).sum() / self.total

    def quality(self, scores: Tensor) -> tuple[float, float]:
        """Return accuracy and F1 score; actions of equal scores are chosen equally often."""
        highest = self._groups.spread(self._groups.maxima(scores))
        taken = (scores == highest) * self._actions
        right = self._groups.sums(taken * self._optimal) / self._groups.sums(taken)
        accuracy = float((right * self._states).sum() / self._states.sum())
        positive = (scores > 0).float()
        both = float((positive * self._optimal * self._entry_states).sum())
        either = float(((positive + self._optimal) * self._entry_states).sum())
        return accuracy, 2 * both / either if either else 0.0


class _Groups:
    """Some of all entries, grouped: `entries[k]` belongs to group `owners[k]`."""

    def __init__(
        self,
        entries: npt.NDArray[np.int64],
        owners: npt.NDArray[Any],
        groups: int,
        total: int,
    ) -> None:
        segments, order = Segments.grouped(owners, groups)
        self._pick = RowSegments(entries, total)
        self._members = RowSegments(order, len(entries), segments)
        self._owners = RowSegments(owners, groups)
        self.sums = self._members.sums
        self.maxima = self._members.maxima
        self.spread = self._owners.sums

    def logsumexp(self, values: Tensor) -> Tensor:
        """Return the logarithm of the sum of exponentials in each group: (groups, 1)."""
        picked = self._pick.sums(values)
        highest = self.maxima(picked.detach())
        return highest + torch.log(self.sums(torch.exp(picked - self.spread(highest))))


class _Adam:
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019) and the usual constants.

    Importing torch's own optimisers takes more than a second.
    """

    def __init__(self, weights: Tensor) -> None:
        self.updates = 0
        self.means = torch.zeros_like(weights, requires_grad=False)
        self.squares = torch.zeros_like(weights, requires_grad=False)
        self._weights = weights

    @torch.no_grad()
    def update(self, rate: float, decay: float) -> None:
        gradient = self._weights.grad
        assert gradient is not None
        self.updates += 1
        self.means.lerp_(gradient, 0.1)
        self.squares.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
        mean = self.means / (1 - 0.9**self.updates)
        deviation = torch.sqrt(self.squares / (1 - 0.999**self.updates)) + 1e-8
        self._weights.mul_(1 - rate * decay).addcdiv_(mean, deviation, value=-rate)


def _flattened(network: Network) -> torch.nn.Parameter:
    """Return all trained weights as one vector with one gradient; the network keeps views of it.

    Networks have hundreds of small weights. Updating each would take longer than everything else.
    """
    trained = [weight for weight in network.parameters() if weight.requires_grad]
    vector = torch.nn.Parameter(torch.cat([weight.detach().reshape(-1) for weight in trained]))
    vector.grad = torch.zeros_like(vector)
    begin = 0
    for weight in trained:
        end = begin + weight.numel()
        weight.data = vector.detach()[begin:end].view(weight.shape)
        weight.grad = vector.grad[begin:end].view(weight.shape)
        begin = end
    return vector


def _column(values: npt.NDArray[Any]) -> Tensor:
    return torch.tensor(values, dtype=torch.float32)[:, None]


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let torch use one thread: on tensors this small, more of them only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
