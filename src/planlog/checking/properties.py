"""Verdicts on the three properties from state spaces that are expanded up to a limit.

An unexpanded state may be a goal or lead anywhere. So a counterexample refutes a property wherever
it is found, but its absence proves the property only if all states that matter are expanded.
"""

from __future__ import annotations

import numpy as np

from planlog.checking.counterexample import GoalDistance, Probe
from planlog.checking.optimality import Optimality
from planlog.checking.reachability import Reachability
from planlog.checking.report import (
    Counterexample,
    Finding,
    Fraction,
    Property,
    Reason,
    Scope,
    Verdict,
)
from planlog.ragged import Mask


def goal_achieving(reached: Reachability, probe: Probe) -> Finding:
    """Look for the nearest state from which the policy reaches no goal."""
    state, found = reached.nearest(reached.failing), None
    if state is not None:
        reason = Reason.NO_ACTION if reached.stuck[state] else Reason.TRAP
        ending = reached.ending(state)
        found = probe.counterexample(reason, reached.trace(state), ending=ending)
    return _finding(Property.GOAL_ACHIEVING, reached, reached.failing, found)


def cycle_free(reached: Reachability, probe: Probe) -> Finding:
    """Look for the nearest state on a cycle, and a shortest cycle through it."""
    state, found = reached.nearest(reached.cyclic), None
    if state is not None:
        cycle = reached.cycle(state)
        found = probe.counterexample(Reason.CYCLE, reached.trace(state), cycle=cycle)
    return _finding(Property.CYCLE_FREE, reached, reached.cyclic, found)


def optimality_preserving(optimality: Optimality, probe: Probe) -> Finding:
    """Look for a solvable state in which the policy loses the plans of least cost."""
    space = optimality.space
    reached = Reachability(space, optimality.graph)
    found = _lost_optimum(optimality, reached, probe) if optimality.failing.any() else None
    failing_reached = Fraction.of_mask(optimality.failing, optimality.states & reached.states)
    return Finding(
        Property.OPTIMALITY_PRESERVING,
        _verdict(found, space.complete),
        Scope.WHOLE if space.complete else Scope.PART_OF_WHOLE,
        len(space),
        Fraction.of_mask(optimality.failing, optimality.states),
        failing_reached if space.complete else None,
        found,
    )


def _lost_optimum(optimality: Optimality, reached: Reachability, probe: Probe) -> Counterexample:
    """Return the nearest failing state under the policy; if it reaches none, under any actions."""
    space = optimality.space
    state = reached.nearest(optimality.failing)
    under_policy = state is not None
    if state is None:
        state = int(np.flatnonzero(optimality.failing)[0])  # states are numbered breadth-first
        trace = Reachability(space, space.graph).trace(state)
        shortest = True
    else:
        trace = reached.trace(state)
        # A path that leaves the expanded part has to cross all its layers first.
        shortest = space.complete or len(trace) <= space.depths[space.expanded]
    goes_round = bool((optimality.kept.sources == state).any())
    return probe.counterexample(
        Reason.FREE_CYCLE if goes_round else Reason.LOST_OPTIMUM,
        trace,
        cycle=Reachability(space, optimality.kept).cycle(state) if goes_round else (),
        goal_distance=GoalDistance.of(space, state),
        under_policy=under_policy,
        shortest=bool(shortest),
    )


def _finding(
    property: Property, reached: Reachability, failing: Mask, found: Counterexample | None
) -> Finding:
    return Finding(
        property,
        _verdict(found, reached.complete),
        Scope.REACHED if reached.complete else Scope.PART_OF_REACHED,
        int(reached.states.sum()),
        Fraction.of_mask(failing, reached.states),
        None,
        found,
    )


def _verdict(found: Counterexample | None, complete: bool) -> Verdict:
    if found is not None:
        return Verdict.REFUTED
    return Verdict.PROVED if complete else Verdict.UNDECIDED
