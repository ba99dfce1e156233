"""Stratification (Apt, Blair and Walker 1988): an evaluation order of the derived relations.

A relation depends on those in the bodies of its rules. The strongly connected components of this
graph are the strata; a negated dependency inside a stratum is an error. An action also depends on
its precondition, but preconditions read the state only and close no cycle. The strata serve the
checks of a rule file; the core stratifies the compiled program.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from planlog import _core
from planlog.datalog.diagnostics import Diagnostics
from planlog.datalog.syntax import Literal, Relation, Rule
from planlog.ragged import Segments


class Dependencies:
    """The dependency graph of rules: for each relation with rules, the literals that it reads.

    `literals` maps each relation to the literals of its rules' bodies whose relations have rules.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.literals: dict[Relation, list[Literal]] = {}
        for rule in rules:
            read = self.literals.setdefault(rule.head.relation, [])
            for literal in rule.literals:
                if literal.relation.has_rules or literal.relation.inputs:
                    read.append(literal)
                    self.literals.setdefault(literal.relation, [])
                if literal.relation.inputs and not self.literals[literal.relation]:
                    # An aggregate needs all of its elements first, as a negation does.
                    self.literals[literal.relation] = [
                        Literal(needed, (), True, literal.place)
                        for needed in literal.relation.inputs
                    ]
        for read in list(self.literals.values()):
            for literal in read:
                self.literals.setdefault(literal.relation, [])

    def needed_for(self, relations: Iterable[Relation]) -> set[Relation]:
        """Return those of the relations that have rules, and all that they depend on."""
        waiting = [relation for relation in relations if relation in self.literals]
        needed = set(waiting)
        while waiting:
            more = {literal.relation for literal in self.literals[waiting.pop()]} - needed
            needed |= more
            waiting.extend(more)
        return needed

    @cached_property
    def strata(self) -> tuple[tuple[Relation, ...], ...]:
        """The strongly connected components, each after all that it depends on."""
        number = {relation: i for i, relation in enumerate(self.literals)}
        targets = [number[literal.relation] for read in self.literals.values() for literal in read]
        offsets = Segments.of_lengths([len(read) for read in self.literals.values()]).offsets
        components = _core.components(offsets, np.array(targets, dtype=np.uint32), len(number))
        strata: dict[int, list[Relation]] = {i: [] for i in sorted(components.tolist())}
        for relation, component in zip(self.literals, components.tolist(), strict=True):
            strata[component].append(relation)
        return tuple(map(tuple, strata.values()))

    def in_order(self, rules: Iterable[Rule]) -> list[Rule]:
        """Return the rules sorted by the stratum of their heads."""
        level = {relation: i for i, stratum in enumerate(self.strata) for relation in stratum}
        return sorted(rules, key=lambda rule: level[rule.head.relation])


def check_stratified(dependencies: Dependencies, diagnostics: Diagnostics) -> None:
    """Report cycles through `not`: at most one for each relation."""
    for stratum in dependencies.strata:
        members = set(stratum)
        reported: set[Literal] = set()
        for relation in stratum:
            for literal in dependencies.literals[relation]:
                if literal.negated and literal.relation in members and literal not in reported:
                    path = _shortest_path(literal.relation, relation, members, dependencies)
                    reported.update(path)
                    _report_cycle(relation, [literal, *path], diagnostics)
                    break


def _shortest_path(
    start: Relation, end: Relation, members: set[Relation], dependencies: Dependencies
) -> list[Literal]:
    """Return the body literals on a shortest path between two relations of a stratum."""
    came_by: dict[Relation, tuple[Relation, Literal]] = {}
    queue = deque([start])
    while queue and end not in came_by and start != end:
        relation = queue.popleft()
        for literal in dependencies.literals[relation]:
            needed = literal.relation
            if needed in members and needed not in came_by and needed != start:
                came_by[needed] = (relation, literal)
                queue.append(needed)
    path: list[Literal] = []
    while end != start:
        end, literal = came_by[end]
        path.append(literal)
    return path[::-1]


def _report_cycle(relation: Relation, path: list[Literal], diagnostics: Diagnostics) -> None:
    """Report a cycle such as `a -> not b -> a`, with the line of each dependency.

    The relations of the elements and groups of an aggregate are left out: the file has no names for
    them.
    """
    place = path[0].place
    unnamed = {needed for literal in path for needed in literal.relation.inputs}
    path = [literal for literal in path if literal.relation not in unnamed]
    while path[-1].relation.aggregate:
        path = [*path[1:], path[0]]
    cycle, steps = [_named(path[-1]).removeprefix("not ")], []
    for literal in path:
        step = _named(literal)
        steps.append(f"{cycle[-1].removeprefix('not ')} needs {step} (line {literal.place.line})")
        cycle.append(step)
    own = "an aggregate of itself" if relation.aggregate else "its own negation"
    diagnostics.error(
        place,
        f"{cycle[0]} depends on {own}: {' -> '.join(cycle)}",
        f"break the cycle: {', '.join(steps)}",
    )


def _named(literal: Literal) -> str:
    if aggregate := literal.relation.aggregate:
        return f"{aggregate.kind} {{ ... }}"
    return f"not {literal.relation}" if literal.negated else str(literal.relation)
