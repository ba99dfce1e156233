"""Policies: the set of actions that Datalog rules derive in each state of each task of a domain."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Protocol
from weakref import WeakSet

import numpy as np

from planlog import _core
from planlog.datalog import Program, parse_program, read_program
from planlog.datalog.compile import CompiledProgram, compile_applicable, compile_program
from planlog.datalog.diagnostics import Diagnostics
from planlog.datalog.fresh_names import Names
from planlog.datalog.lexer import Kind, Token, tokenize
from planlog.datalog.syntax import DEAD, Constant, Relation, Rule, quoted
from planlog.errors import Diagnostic, RuleError
from planlog.pddl.task import Action, Domain, Immutable, State, Task, counted
from planlog.policy.derivations import Derivations
from planlog.policy.walk import Walk
from planlog.ragged import Segments


class Scorer(Protocol):
    """A ranking of derived actions, such as `planlog.network.scorer.NetworkScorer`."""

    temperature: float | None  # of the softmax that samples actions; None: the best action
    network: _core.Network

    @property
    def program(self) -> _core.Program:
        """The program that the network reads; it derives the same actions as the rules."""

    @property
    def rule_numbers(self) -> tuple[int, ...]:
        """Numbers of the policy's rules in that program."""


class Policy(Immutable):
    """A policy of a domain: it maps each state of each task to a set of derived actions.

    `Policy.read`, `Policy.parse` and `Policy.applicable` make policies. Without a `scorer` an
    execution samples one of the derived actions; with one it takes the best.

    >>> policy = Policy.parse("go(X, Y) :- not seen(Y).", domain)
    >>> policy
    Policy('graph', 1 rule)
    >>> policy.actions(task, task.initial)
    [Action(name='go', arguments=('a', 'b'))]
    """

    def __init__(
        self,
        domain: Domain,
        program: Program | None,
        network_rules: tuple[Rule, ...] | None = None,
    ) -> None:
        """Make a policy of a program, which is split unless its network rules are given."""
        if program is not None and network_rules is None:
            program, network_rules = program.without_network_rules()
        self.domain = domain
        self.scorer: Scorer | None = None
        self.program = program  # None: all applicable actions
        self.network_rules = network_rules or ()  # rules that only networks read
        self._rules: Policy | None = None  # the same policy without its scorer
        self._compiled: CompiledProgram | None = None
        self._kept_walk: Walk | None = None
        self._lock = RLock()
        _policies.add(self)

    @classmethod
    def read(cls, path: str | Path, domain: Domain) -> Policy:
        """Read a rule file.

        Returns the policy, with `warnings` about doubtful rules. Raises RuleError with all mistakes
        and their places, and OSError if the file cannot be read.

        >>> Policy.read("graph/policy.dl", domain)
        Policy('graph', 1 rule)
        """
        return cls(domain, read_program(path, domain))

    @classmethod
    def parse(cls, text: str, domain: Domain, file: str = "<rules>") -> Policy:
        """Parse the text of a rule file; messages call it `file`. Raises RuleError as `read` does.

        >>> Policy.parse("go(X, Y) :- not seen(Y).", domain).text
        'go(X, Y) :- not seen(Y).'
        """
        return cls(domain, parse_program(text, domain, file))

    @classmethod
    def applicable(cls, domain: Domain) -> Policy:
        """Return the policy that derives every applicable action.

        >>> Policy.applicable(domain)
        Policy('graph', all applicable actions)
        """
        return cls(domain, None)

    def with_scorer(self, scorer: Scorer) -> Policy:
        """Return the policy with the same rules whose executions follow the scores."""
        learned = Policy(self.domain, self.program, self.network_rules)
        learned.scorer = scorer
        learned._rules = self.rules
        return learned

    @property
    def rules(self) -> Policy:
        """The policy without its scorer."""
        return self._rules or self

    @property
    def text(self) -> str:
        """The text that the rules were read from, or the rules as text."""
        given = self.program.text if self.program else ""
        return given or "".join(f"{rule}\n" for rule in self.all_rules)

    @property
    def all_rules(self) -> tuple[Rule, ...]:
        """The rules, those that only networks read included."""
        return (*(self.program.rules if self.program else ()), *self.network_rules)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """Warnings about the rules."""
        return self.program.warnings if self.program else ()

    def actions(self, task: Task, state: State) -> list[Action]:
        """Return the derived actions of a state, ordered by schema and objects.

        Evaluates the rules from scratch; use a walk (`start`) to follow a sequence of actions.
        Raises RuleError if the rules name an object that the task lacks.
        """
        with self._walk(task) as walk:
            walk.restart(state)
            return walk.actions()

    def query(self, task: Task, state: State, body: str) -> list[dict[str, str | int]]:
        """Return the substitutions under which the body of a rule holds in a state.

        Each answer maps variable names to object names or integers; answers are ordered by objects,
        as the task lists them. The body may use the rules' derived predicates. Raises RuleError if
        it is not correct.

        >>> policy.query(task, task.initial, "at(X), edge(X, Y), not seen(Y)")
        [{'X': 'a', 'Y': 'b'}]
        """
        # The query becomes a rule before the others, whose head has all variables of the body.
        tokens = tokenize(body, Diagnostics("<query>", body))
        variables = list(dict.fromkeys(_outer_variables(tokens)))
        head = Names(self.domain, self.all_rules).new("query", len(variables))
        arguments = f"({', '.join(variables)})" if variables else ""
        query = f"{head.name}{arguments} :- {body.strip().removesuffix('.')}."
        asked = Policy.parse(f"{query}\n{self.text}", self.domain, "<query>")
        assert asked.program is not None
        heads = (rule.head.relation for rule in asked.program.rules)
        (numeric,) = (relation.numbers for relation in heads if relation == head)
        found = asked.derivations(task, [state])
        rows = found.relations[asked.relation(head)].of(0).astype(np.int64)
        for column in numeric:
            rows[:, column] = found.numbers[rows[:, column]]
        names = task.object_names
        return [
            {
                variable: value if i in numeric else names[value]
                for i, (variable, value) in enumerate(zip(variables, row, strict=True))
            }
            for row in sorted(rows.tolist())
        ]

    def derivations(self, task: Task, states: Iterable[State]) -> Derivations:
        """Return the canonical models of states, with all satisfied substitutions."""
        ids = [task.ids(state) for state in states]
        atoms = np.concatenate([np.zeros(0, dtype=np.uint32), *ids])
        offsets = Segments.of_lengths([len(state) for state in ids]).offsets
        with self._walk(task) as walk:
            arrays = walk.core.derive(atoms, offsets)
            return Derivations.of_arrays(self.core, arrays, walk.core.numbers())

    def start(
        self, task: Task, state: State | None = None, *, deadline: float | None = None
    ) -> Walk:
        """Return a walk from a state, by default the initial state.

        Evaluation past the deadline (a time of `time.monotonic`) raises TimeoutError, that of the
        state to start from included. Raises RuleError if the rules name an object that the task
        lacks.

        >>> walk = policy.start(task)
        >>> walk.apply("(go a b)")
        >>> walk
        Walk('p', 1 step, 1 goal left, 1 action derived)
        """
        self.check_task(task)
        walk = Walk(self, task)
        if deadline is not None:
            walk.core.set_deadline(deadline - time.monotonic())
        walk.restart(task.initial if state is None else state)
        return walk

    def check_task(self, task: Task) -> None:
        """Raise RuleError if the rules name an object that the task lacks."""
        constants = (t for rule in self.all_rules for t in rule.terms if isinstance(t, Constant))
        missing = [constant for constant in constants if constant.name not in task.object_ids]
        if missing:
            raise RuleError(self._missing_object(constant, task) for constant in missing)

    def _missing_object(self, constant: Constant, task: Task) -> Diagnostic:
        assert self.program is not None
        message = f"task '{task.name}' has no object {quoted(constant.name)}"
        hint = "variables start with a capital letter"
        return self.program.diagnostic(constant.place, message, hint)

    # --- The compiled rules ------------------------------------------------------------------

    @property
    def compiled(self) -> CompiledProgram:
        """The compiled rules, compiled when they are first needed."""
        rules = self.rules
        with rules._lock:
            if rules._compiled is None:
                rules._compiled = (
                    compile_program(rules.domain, rules.program)
                    if rules.program
                    else compile_applicable(rules.domain)
                )
            return rules._compiled

    @property
    def core(self) -> _core.Program:
        """The core's program of the rules."""
        return self.compiled.core

    @property
    def chooser(self) -> tuple[_core.Program, _core.Network | None]:
        """The core's program and network that choose actions."""
        return (self.scorer.program, self.scorer.network) if self.scorer else (self.core, None)

    @property
    def rule_numbers(self) -> tuple[int, ...]:
        """The core's numbers of the rules."""
        return self.compiled.rule_numbers

    def relation(self, relation: Relation) -> int:
        """Return the core's number of a relation of the rules."""
        return self.compiled.relations[relation]

    @cached_property
    def loose(self) -> Policy | None:
        """The rules of the policy, those behind `prefer` always; None if there is no `prefer`."""
        loose = self.program.loose if self.program else None
        return None if loose is None else Policy(self.domain, loose)

    def dead_relation(self, program: _core.Program) -> int | None:
        """Return the number of the predicate `dead` in one of the policy's programs."""
        heads = (rule.head.relation for rule in self.program.rules) if self.program else ()
        if DEAD not in heads:
            return None
        relations = enumerate(program.relations)
        return next((i for i, (_, *named) in relations if named == [DEAD.name, 0]), None)

    def rule_texts(self) -> dict[int, str]:
        """Return the texts of the rules by their numbers in the program of a walk."""
        numbers = self.scorer.rule_numbers if self.scorer else self.rule_numbers
        rules = self.program.rules if self.program else ()
        return {number: rule.text for number, rule in zip(numbers, rules, strict=True)}

    @contextmanager
    def _walk(self, task: Task) -> Iterator[Walk]:
        """Lend a walk of the rules; it is kept, so that static relations are loaded once."""
        rules = self.rules
        with rules._lock:
            if rules._kept_walk is None or rules._kept_walk.task is not task:
                rules._kept_walk = rules.start(task)
            yield rules._kept_walk

    # --- Copies and text ---------------------------------------------------------------------

    def __repr__(self) -> str:
        rules = "all applicable actions"
        if self.program is not None:
            rules = counted(len(self.all_rules), "rule")
        return f"Policy({self.domain.name!r}, {rules}{', scorer' if self.scorer else ''})"

    def __reduce__(self) -> tuple[object, ...]:
        if self.scorer is not None:
            return Policy.with_scorer, (self.rules, self.scorer)
        return Policy, (self.domain, self.program, self.network_rules)


def _outer_variables(tokens: Iterable[Token]) -> Iterator[str]:
    """Yield the names of the variables outside of aggregates, without anonymous ones."""
    depth = 0
    for token in tokens:
        depth += (token.kind is Kind.OPEN_SET) - (token.kind is Kind.CLOSE_SET)
        if token.kind is Kind.VARIABLE and depth == 0 and not token.text.startswith("_"):
            yield token.text


# --- Forks -----------------------------------------------------------------------------------
# A lock that another thread holds at a fork is never released in the child.

_policies: WeakSet[Policy] = WeakSet()


def _renew_locks() -> None:
    for policy in _policies:
        policy._lock = RLock()
        policy._kept_walk = None


os.register_at_fork(after_in_child=_renew_locks)
