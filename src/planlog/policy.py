"""A program as a policy: the actions that rules derive in a state, from scratch or on a walk."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import numpy as np
import numpy.typing as npt

from planlog import _core
from planlog.errors import (
    Diagnostic,
    InapplicableError,
    MissingValueError,
    RuleError,
    UnknownNameError,
)
from planlog.lowering import Lowering
from planlog.rules import Constant, Literal, Program, Relation, Rule, parse_program, read_program
from planlog.rules.stratify import without_network_rules
from planlog.task import Action, Domain, State, Task

Ids = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class AtomRows:
    """The true atoms of a relation: `values` (rows, arity), object ids; those of state s are the
    rows `offsets[s]` to `offsets[s + 1]`. A static relation is the same in all states and is
    stored once."""

    values: Ids
    offsets: Ids
    static: bool

    def of(self, state: int) -> Ids:
        """The rows of one state: (rows, arity)."""
        s = 0 if self.static else state
        return self.values[self.offsets[s] : self.offsets[s + 1]]


@dataclass(frozen=True)
class RuleDerivations:
    """All satisfied substitutions of a rule: `heads` (n,) and `bodies` (n, positive literals) are
    row numbers into the atoms of the relations concerned; those of state s are the entries
    `offsets[s]` to `offsets[s + 1]`."""

    head: int  # the head's relation, as are those of the positive body literals
    body: tuple[int, ...]
    heads: Ids
    bodies: Ids
    offsets: Ids
    static: bool


@dataclass(frozen=True)
class Derivations:
    """The canonical models of some states, as arrays. Relations and rules go by the core's numbers
    (`Policy.relation`, `Policy.rule_numbers`); a policy rule's body has the literals of its
    precondition after its own."""

    relations: tuple[AtomRows, ...]
    rules: tuple[RuleDerivations, ...]


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
        self.rule_numbers: tuple[int, ...] = ()
        if self.program is None:
            lowering.add_applicable_actions()
        else:
            self.rule_numbers = tuple(lowering.add(rule) for rule in self.program.rules)
        self.core = lowering.core
        self.core.check()
        self._relations = lowering.relations
        self._kept: Walk | None = None  # for evaluations from scratch
        self._lock = Lock()

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
        ids = [state.atoms for state in states]
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


_Rule = tuple[Ids, Ids, Ids, bool]


class Walk:
    """A walk through the states of a task: the policy's answer is updated with every action."""

    def __init__(self, policy: Policy, task: Task, core: _core.Walk | None = None) -> None:
        self.policy = policy
        self.task = task
        self.core = core or _core.Walk(task.core, policy.core)
        self._schemas = {
            (schema.name, schema.arity): i for i, schema in enumerate(task.domain.actions)
        }

    def restart(self, state: State) -> None:
        """Begin again at a state, evaluated from scratch."""
        self.core.start(state.atoms)

    def set_deadline(self, deadline: float | None) -> None:
        """When (by `time.monotonic`) evaluation is to stop with TimeoutError."""
        self.core.set_deadline(None if deadline is None else deadline - time.monotonic())

    def apply(self, action: Action) -> None:
        """Go on to the action's successor; InapplicableError (and no change) if it has none."""
        name, arguments = action
        schema = self._schemas.get((name, len(arguments)))
        if schema is None:
            raise UnknownNameError(f"the domain has no action of the form {action}")
        ids = self.task.object_ids
        try:
            applied = self.core.apply(schema, [ids[argument] for argument in arguments])
        except _core.MissingValue as error:
            raise MissingValueError(f"{action} has no cost: {error}") from None
        except KeyError as error:
            raise UnknownNameError(f"the task has no object {error}") from None
        if not applied:
            raise InapplicableError(f"{action} is not applicable here")

    def undo(self) -> None:
        """Take the last action back."""
        self.core.undo()

    def copy(self) -> Walk:
        """An independent walk at the same place, with the same way to undo."""
        return Walk(self.policy, self.task, self.core.copy())

    def actions(self) -> list[Action]:
        """The derived actions, by schema and then by object."""
        return [self._action(*described) for described in self.core.actions()]

    def sample(self, rng: np.random.Generator) -> Action | None:
        """One of the derived actions, each as likely as any other; None if there are none."""
        described = self.core.sample(rng.bit_generator.random_raw())
        return None if described is None else self._action(*described)

    def choose(self, rng: np.random.Generator) -> Action | None:
        """The action that an execution takes here; None if there is none."""
        return self.sample(rng)

    def ranked(self, rng: np.random.Generator) -> list[Action]:
        """All derived actions, in the order in which a search should try them."""
        actions = self.actions()
        return [actions[i] for i in rng.permutation(len(actions))]

    def scores(self) -> dict[Action, float]:
        """Of derived actions, if the policy has any."""
        return {}

    @property
    def has_choice(self) -> bool:
        """Whether another action could be chosen here another time."""
        return self.action_count > 1

    def explain(self) -> list[tuple[str, Action]]:
        """Each derived action with each rule that derives it, as text."""
        names = self.policy.rule_texts()
        return [
            (names.get(rule, "applicable"), self._action(schema, arguments))
            for schema, arguments in self.core.actions()
            for rule in self.core.rules_of(schema, list(arguments))
        ]

    def derivations(self) -> Derivations:
        """The model of the present state as arrays."""
        return self.policy.as_derivations(self.core.snapshot())

    @property
    def action_count(self) -> int:
        return self.core.action_count

    @property
    def steps(self) -> int:
        return self.core.steps

    @property
    def cost(self) -> float:
        """Of the steps; their number if the task does not minimise total-cost."""
        return self.core.cost

    @property
    def goals_left(self) -> int:
        """How many literals of the goal do not hold."""
        return self.core.goals_left

    @property
    def goals_hold(self) -> tuple[bool, ...]:
        """Whether each of the task's `goals` holds."""
        return tuple(self.core.goals_hold)

    @property
    def is_goal(self) -> bool:
        return self.core.goals_left == 0

    @property
    def state(self) -> State:
        return State(self.core.state())

    @property
    def fingerprint(self) -> int:
        """128 bits that equal states share and different ones, for all practical purposes, not."""
        return self.core.fingerprint

    def _action(self, schema: int, arguments: tuple[int, ...]) -> Action:
        names = self.task.object_names
        return Action(
            self.task.domain.actions[schema].name, tuple(names[argument] for argument in arguments)
        )
