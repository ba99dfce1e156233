"""Policies: the set of actions that Datalog rules derive in each state of each task of a domain."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from weakref import WeakSet

import numpy as np

from planlog.datalog import Constant, Literal, Program, Relation, Rule, parse_program, read_program
from planlog.datalog.compile import Lowering
from planlog.datalog.preconditions import applicability_rules, expand_preconditions
from planlog.datalog.stratify import without_network_rules
from planlog.errors import Diagnostic, RuleError
from planlog.pddl.task import Action, Domain, State, Task
from planlog.policy.derivations import AtomRows, Derivations, Ids, RuleDerivations
from planlog.policy.walk import Walk

_Rule = tuple[Ids, Ids, Ids, bool]


_policies: WeakSet[Policy] = WeakSet()


def _renew_locks() -> None:
    """Give all policies new locks: after a fork nobody is left to release the old ones."""
    for policy in _policies:
        policy._lock = Lock()
        policy._kept = None


os.register_at_fork(after_in_child=_renew_locks)


class Policy:
    """A nondeterministic policy of a domain: maps each state of each task to a set of actions."""

    def __init__(self, domain: Domain, program: Program | None) -> None:
        """Without a program the policy derives all applicable actions."""
        self.domain = domain
        self.program = program
        self.network_rules: tuple[Rule, ...] = ()  # that are only read by networks: no part of it
        if program is not None:
            self.program, self.network_rules = without_network_rules(program)
        lowering = Lowering(domain)
        rules = applicability_rules(domain) if self.program is None else self.program.rules
        if self.program is None or not self.program.expanded:
            rules = [expand_preconditions(rule, domain) for rule in rules]
        numbers = tuple(map(lowering.add, rules))
        self.rule_numbers: tuple[int, ...] = () if self.program is None else numbers
        self.core = lowering.core
        self.core.check()
        self._relations = lowering.relations
        self._kept: Walk | None = None  # for evaluations from scratch
        self._lock = Lock()
        _policies.add(self)

    @classmethod
    def read(cls, path: str | Path, domain: Domain) -> Policy:
        return cls(domain, read_program(path, domain))

    @classmethod
    def parse(cls, text: str, domain: Domain, file: str = "<rules>") -> Policy:
        return cls(domain, parse_program(text, domain, file))

    @classmethod
    def applicable(cls, domain: Domain) -> Policy:
        """The policy that derives every applicable action."""
        return cls(domain, None)

    @property
    def text(self) -> str:
        """All rules, as they were written if they come from a text."""
        if self.program is None:
            return ""
        return self.program.text or "".join(
            f"{rule}\n" for rule in (*self.program.rules, *self.network_rules)
        )

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return self.program.warnings if self.program else ()

    def actions(self, task: Task, state: State) -> list[Action]:
        """The derived actions, by schema and then by object, evaluated from scratch."""
        with self._lock:
            walk = self._walk(task)
            walk.restart(state)
            return walk.actions()

    def derivations(self, task: Task, states: Iterable[State]) -> Derivations:
        """The models of many states in one call, with all satisfied substitutions."""
        ids = [task.ids(state) for state in states]
        offsets = np.cumsum([0, *map(len, ids)], dtype=np.uint32)
        atoms = np.concatenate(ids) if ids else np.zeros(0, dtype=np.uint32)
        with self._lock:
            return self.as_derivations(self._walk(task).core.derive(atoms, offsets))

    def start(
        self, task: Task, state: State | None = None, *, deadline: float | None = None
    ) -> Walk:
        """A walk from a state (the initial one by default).

        Evaluation that passes the deadline (of `time.monotonic`) raises TimeoutError.
        """
        self.check_task(task)
        walk = self._new_walk(task)
        walk.set_deadline(deadline)
        walk.restart(task.initial if state is None else state)
        return walk

    def rule_texts(self) -> dict[int, str]:
        """The rules as they were written, by the core's numbers."""
        rules = self.program.rules if self.program else ()
        return {number: rule.text for number, rule in zip(self.rule_numbers, rules, strict=True)}

    def relation(self, relation: Relation) -> int:
        """The core's number of a relation of the rule file."""
        return self._relations[relation]

    def check_task(self, task: Task) -> None:
        """RuleError if the rules name an object that the task does not have."""
        missing = []
        for rule in (*(self.program.rules if self.program else ()), *self.network_rules):
            for part in (rule.head, *rule.body):
                terms = part.terms if isinstance(part, Literal) else (part.left, part.right)
                for term in terms:
                    if isinstance(term, Constant) and term.name not in task.object_ids:
                        missing.append(self._missing_object(term, task))
        if missing:
            raise RuleError(missing)

    def _missing_object(self, constant: Constant, task: Task) -> Diagnostic:
        assert self.program is not None
        lines = self.program.text.splitlines()
        return Diagnostic(
            file=self.program.file,
            line=constant.line,
            column=constant.column,
            message=f"task '{task.name}' has no object '{constant.name}'",
            hint="variables start with a capital letter",
            source=lines[constant.line - 1] if 0 < constant.line <= len(lines) else "",
            length=len(constant.name),
        )

    def as_derivations(
        self, arrays: tuple[list[tuple[Ids, Ids, bool]], list[_Rule]]
    ) -> Derivations:
        relations, rules = arrays
        return Derivations(
            tuple(AtomRows(*relation) for relation in relations),
            tuple(
                RuleDerivations(self.core.rule_head(i), self._positive_body(i), *rule)
                for i, rule in enumerate(rules[: self.core.rule_count])
            ),
        )

    def _positive_body(self, rule: int) -> tuple[int, ...]:
        return tuple(rel for rel, negated, _ in self.core.rule_body(rule) if not negated)

    def _new_walk(self, task: Task) -> Walk:
        return Walk(self, task)

    def _walk(self, task: Task) -> Walk:
        """A walk for evaluations from scratch, kept so that static relations are loaded once."""
        if self._kept is None or self._kept.task is not task:
            self._kept = self.start(task)
        return self._kept
