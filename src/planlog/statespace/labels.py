"""Training labels: optimal actions of the states of a space, and those that a policy derives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from planlog.pddl.task import Task
from planlog.policy.policy import Policy
from planlog.ragged import Ids, Mask, Segments
from planlog.statespace.space import DEFAULT_LIMIT, OnProgress, StateSpace, derive, expand_all

# Limits of the training data in the paper: tasks, and labelled states of each domain.
PAPER_TASKS = 25
PAPER_STATES = {"blocksworld": 26_000, "ferry": 11_000, "rover": 15_000, "satellite": 19_000}


@dataclass(frozen=True)
class Labels:
    """Labels of the non-goal states of a space from which a goal is reachable.

    The applicable actions of `states[i]` are segment i.
    """

    space: StateSpace
    states: Ids  # (labelled states,): their numbers in the space
    segments: Segments
    actions: Ids  # (labels,): for `space.action`
    optimal: Mask  # (labels,): whether the action is optimal, as in `StateSpace.optimal`
    derived: Mask  # (labels,): whether the policy derives the action

    def __len__(self) -> int:
        return len(self.states)


def label(space: StateSpace, policy: Policy) -> Labels:
    """Label a state space of all applicable actions.

    In an incomplete space, only states with a known goal distance are labelled.
    """
    labelled = space.solvable[: space.expanded]
    states = np.flatnonzero(labelled).astype(np.uint32)
    segments, chosen = space.segments.select(labelled)
    optimal, derived = space.optimal[chosen], derive(space, policy).mask[chosen]
    return Labels(space, states, segments, space.actions[chosen], optimal, derived)


def select_training(
    tasks: Iterable[Task],
    *,
    limit: int = DEFAULT_LIMIT,
    max_tasks: int | None = PAPER_TASKS,
    max_states: int | None = None,
    workers: int | None = None,
    on_progress: OnProgress | None = None,
) -> list[StateSpace]:
    """Expand tasks and return the state spaces to learn from, selected as in the paper.

    Takes tasks with fewer than `limit` states in their order, up to `max_tasks`. Skips a task that
    would raise the number of labelled states above `max_states` (in the paper: PAPER_STATES).
    """
    chosen: list[StateSpace] = []
    total = 0
    spaces = expand_all(tasks, limit=limit - 1, workers=workers, on_progress=on_progress)
    while (max_tasks is None or len(chosen) < max_tasks) and (space := next(spaces, None)):
        labelled = int(np.count_nonzero(space.solvable))
        if space.complete and (max_states is None or total + labelled <= max_states):
            chosen.append(space)
            total += labelled
    spaces.close()
    return chosen
