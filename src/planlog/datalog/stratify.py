"""Stratification (Apt, Blair and Walker 1988): an evaluation order of the derived relations.

A relation depends on those in the bodies of its rules. The strongly connected components of this
graph are the strata; a negated dependency inside a stratum is an error. An action also depends on
its precondition, but preconditions read the state only and close no cycle.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import replace

from planlog.datalog.diagnostics import Diagnostics
from planlog.datalog.syntax import Literal, Program, Relation, Rule

Strata = tuple[tuple[Relation, ...], ...]
Dependencies = dict[Relation, list[tuple[Relation, Literal]]]


def stratify(rules: list[Rule], diagnostics: Diagnostics) -> Strata:
    """Return the strata, each after all that it depends on; report cycles through `not`."""
    dependencies = dependencies_of(rules)
    strata = _components(dependencies)
    for stratum in strata:
        _check_negation(stratum, dependencies, diagnostics)
    return strata


def dependencies_of(rules: Iterable[Rule]) -> Dependencies:
    """Map each relation with rules to its dependencies and the literals that cause them."""
    dependencies: Dependencies = {}
    for rule in rules:
        needed = dependencies.setdefault(rule.head.relation, [])
        for literal in rule.literals:
            if literal.relation.has_rules:
                needed.append((literal.relation, literal))
                dependencies.setdefault(literal.relation, [])
    return dependencies


def needed_for(relations: Iterable[Relation], rules: Iterable[Rule]) -> set[Relation]:
    """Return those of the relations that have rules, and all that they depend on."""
    dependencies = dependencies_of(rules)
    waiting = [relation for relation in relations if relation in dependencies]
    needed = set(waiting)
    while waiting:
        more = {relation for relation, _ in dependencies[waiting.pop()]} - needed
        needed |= more
        waiting.extend(more)
    return needed


def without_network_rules(program: Program) -> tuple[Program, tuple[Rule, ...]]:
    """Split a program into the rules of the policy and those that only networks read."""
    rules = program.rules
    if not any(rule.for_network for rule in rules):
        return program, ()
    read = needed_for((rule.head.relation for rule in rules if rule.for_network), rules)
    # Unused predicates stay, too, with all that they need.
    others = (r.head.relation for r in rules if r.is_policy_rule or r.head.relation not in read)
    aside = read - needed_for(others, rules)
    strata = (tuple(r for r in stratum if r not in aside) for stratum in program.strata)
    return (
        replace(
            program,
            rules=tuple(rule for rule in rules if rule.head.relation not in aside),
            strata=tuple(stratum for stratum in strata if stratum),
        ),
        tuple(rule for rule in rules if rule.head.relation in aside),
    )


def in_dependency_order(rules: list[Rule], strata: Strata) -> list[Rule]:
    """Return the rules sorted by the stratum of their heads."""
    level = {relation: i for i, stratum in enumerate(strata) for relation in stratum}
    return sorted(rules, key=lambda rule: level[rule.head.relation])


def _components(dependencies: Dependencies) -> Strata:
    """Return the strongly connected components in dependency order (Tarjan 1972).

    There is no recursion, since a chain of rules may be longer than Python's stack.
    """
    order = {relation: position for position, relation in enumerate(dependencies)}
    number: dict[Relation, int] = {}
    lowest: dict[Relation, int] = {}
    open_relations: list[Relation] = []
    finished: set[Relation] = set()
    components: list[tuple[Relation, ...]] = []
    for root in dependencies:
        if root in number:
            continue
        number[root] = lowest[root] = len(number)
        open_relations.append(root)
        path = [(root, iter(dependencies[root]))]
        while path:
            relation, remaining = path[-1]
            for needed, _ in remaining:
                if needed not in number:
                    number[needed] = lowest[needed] = len(number)
                    open_relations.append(needed)
                    path.append((needed, iter(dependencies[needed])))
                    break
                if needed not in finished:
                    lowest[relation] = min(lowest[relation], number[needed])
            else:
                path.pop()
                if path:
                    parent = path[-1][0]
                    lowest[parent] = min(lowest[parent], lowest[relation])
                if lowest[relation] == number[relation]:
                    component = [open_relations.pop()]
                    while component[-1] != relation:
                        component.append(open_relations.pop())
                    finished.update(component)
                    components.append(tuple(sorted(component, key=order.__getitem__)))
    return tuple(components)


def _check_negation(
    stratum: tuple[Relation, ...], dependencies: Dependencies, diagnostics: Diagnostics
) -> None:
    members = set(stratum)
    reported: set[Literal] = set()
    for relation in stratum:
        for needed, literal in dependencies[relation]:
            if literal.negated and needed in members and literal not in reported:
                path = _shortest_path(needed, relation, members, dependencies)
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
        for needed, literal in dependencies[relation]:
            if needed in members and needed not in came_by and needed != start:
                came_by[needed] = (relation, literal)
                queue.append(needed)
    path: list[Literal] = []
    while end != start:
        end, literal = came_by[end]
        path.append(literal)
    return path[::-1]


def _report_cycle(relation: Relation, path: list[Literal], diagnostics: Diagnostics) -> None:
    """Report a cycle such as `a -> not b -> a`, with the line of each dependency."""
    cycle, steps = [str(relation)], []
    for literal in path:
        step = f"not {literal.relation}" if literal.negated else str(literal.relation)
        steps.append(f"{cycle[-1].removeprefix('not ')} needs {step} (line {literal.line})")
        cycle.append(step)
    diagnostics.error(
        path[0],
        f"{relation} depends on its own negation: {' -> '.join(cycle)}",
        f"break the cycle: {', '.join(steps)}",
    )
