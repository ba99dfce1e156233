"""Three-valued verdicts from explored states.

What was not explored may be anything. So a counterexample refutes wherever it is found, but its
absence proves a property only where nothing that matters is left open. The spaces given here are
expanded up to a limit; what is to be said of a counterexample beyond them, a probe finds out.
"""

from __future__ import annotations

import numpy as np

from planlog.checking.counterexample import Probe, counterexample, outlook
from planlog.checking.optimality import Optimality
from planlog.checking.paths import cycle, way
from planlog.checking.reachability import Mask, Reached
from planlog.checking.report import (
    Counterexample,
    Finding,
    Property,
    Reason,
    Scope,
    Share,
    Verdict,
)
from planlog.policy.policy import Policy


def goal_achieving(policy: Policy, reached: Reached, probe: Probe) -> Finding:
    """Refuted by the nearest state from which the policy leads to no goal."""
    state = reached.nearest(reached.failing)
    found = None
    if state is not None:
        found = counterexample(
            policy,
            reached.space.task,
            Reason.NO_ACTION if reached.stuck[state] else Reason.TRAP,
            reached.trace(state),
            probe=probe,
            ending=reached.ending(state),
        )
    return _finding(Property.GOAL_ACHIEVING, reached, reached.failing, found)


def cycle_free(policy: Policy, reached: Reached, probe: Probe) -> Finding:
    """Refuted by the nearest state on a cycle, with the shortest cycle through it."""
    state = reached.nearest(reached.cyclic)
    found = None
    if state is not None:
        found = counterexample(
            policy,
            reached.space.task,
            Reason.CYCLE,
            reached.trace(state),
            probe=probe,
            cycle=cycle(reached.space, reached.graph, state),
        )
    return _finding(Property.CYCLE_FREE, reached, reached.cyclic, found)


def optimality_preserving(policy: Policy, optimality: Optimality, probe: Probe) -> Finding:
    """Refuted by a solvable state in which no derived action is optimal."""
    space = optimality.space
    reached = Reached(space, optimality.graph)
    found = _lost_optimum(policy, optimality, reached, probe) if optimality.failing.any() else None
    met = Share.among(optimality.failing, optimality.states & reached.states)
    return Finding(
        Property.OPTIMALITY_PRESERVING,
        _verdict(found, space.complete),
        Scope.WHOLE if space.complete else Scope.PART_OF_WHOLE,
        len(space),
        Share.among(optimality.failing, optimality.states),
        met if space.complete else None,
        found,
    )


def _lost_optimum(
    policy: Policy, optimality: Optimality, reached: Reached, probe: Probe
) -> Counterexample:
    """A failing state that executions can meet first; if they meet none, one that any actions
    lead to first."""
    space = optimality.space
    state = reached.nearest(optimality.failing)
    under_policy = state is not None
    if state is None:
        state = int(np.flatnonzero(optimality.failing)[0])  # states are numbered breadth-first
        trace = way(space, space.graph, 0, state)
        shortest = True
    else:
        trace = reached.trace(state)
        # A way that leaves the explored part has to go through all its layers first.
        shortest = space.complete or len(trace) <= space.depths[space.expanded]
    return counterexample(
        policy,
        space.task,
        Reason.LOST_OPTIMUM,
        trace,
        seen=outlook(space, state),
        probe=probe,
        under_policy=under_policy,
        shortest=bool(shortest),
    )


def _finding(
    property: Property, reached: Reached, failing: Mask, found: Counterexample | None
) -> Finding:
    return Finding(
        property,
        _verdict(found, reached.complete),
        Scope.REACHED if reached.complete else Scope.PART_OF_REACHED,
        int(reached.states.sum()),
        Share.among(failing, reached.states),
        None,
        found,
    )


def _verdict(found: Counterexample | None, complete: bool) -> Verdict:
    if found is not None:
        return Verdict.REFUTED
    return Verdict.PROVED if complete else Verdict.UNDECIDED
