"""Domains, tasks, states, atoms and actions; the core holds the data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Self
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from planlog import _core
from planlog.costs import Cost, exact_cost
from planlog.errors import Diagnostic, PddlError, UnknownNameError
from planlog.files import read_input
from planlog.pddl.diagnostics import as_bytes, with_warnings
from planlog.pddl.schema import ActionSchema, Axiom, Parameter, Predicate, SchemaLiteral, Type

Kind = _core.PredicateKind
AtomIds = npt.NDArray[np.uint32]

# An action as the core knows it: the numbers of its schema and of its objects.
EncodedAction = tuple[int, tuple[int, ...]]

# The text of a file and its name in messages.
_Source = tuple[bytes, str]


class _Ground(NamedTuple):
    """A name applied to objects."""

    name: str
    arguments: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse PDDL text such as `(on a b)`; names are case-insensitive.

        Raises PddlError unless the text is one name and its arguments in parentheses.

        >>> Action.parse("(up f1 f2)")
        Action(name='up', arguments=('f1', 'f2'))
        """
        match = _GROUND.fullmatch(text)
        if match is None:
            kind = cls.__name__.lower()
            message = f"expected a ground {kind} '(name object ...)'"
            source = text.partition("\n")[0]
            raise PddlError([Diagnostic(f"<{kind}>", 1, 1, message, "", source, len(text))])
        name, *arguments = match.group(1).lower().split()
        return cls(name, tuple(arguments))

    @classmethod
    def of(cls, value: Self | str) -> Self:
        """Return a value, or parse its text."""
        return cls.parse(value) if isinstance(value, str) else value

    def __str__(self) -> str:
        return f"({' '.join((self.name, *self.arguments))})"


class Atom(_Ground):
    """A ground atom: a predicate applied to objects. `str()` gives its PDDL text.

    >>> str(Atom("on", ("a", "b")))
    '(on a b)'
    """

    __slots__ = ()


class Action(_Ground):
    """A ground action: an action schema applied to objects. `str()` gives its PDDL text.

    >>> str(Action("stack", ("a", "b")))
    '(stack a b)'
    """

    __slots__ = ()


class GoalFormula(NamedTuple):
    """A part of a goal that is no conjunction of literals."""

    text: str
    predicates: tuple[str, ...]  # of its atoms that did not become goals themselves


class Immutable:
    """A value that never changes: it is its own copy."""

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self


class State(Immutable):
    """A state of a task: the set of fluent atoms that are true in it. Immutable.

    The core knows atoms by ids that the task hands out, so a state holds the sorted `ids` and its
    task. States are equal if the same atoms are true in them.

    >>> task.initial
    State((at a))
    >>> "(at a)" in task.initial
    True
    """

    __slots__ = ("_bytes", "_hash", "task")

    def __init__(self, task: Task, ids: AtomIds) -> None:
        self.task = task
        # A copy that nobody can write to. Comparing bytes is also faster than comparing arrays.
        self._bytes = np.ascontiguousarray(ids, dtype=np.uint32).tobytes()
        self._hash: int | None = None

    @property
    def ids(self) -> AtomIds:
        """Sorted ids of the atoms, a read-only array (atoms,)."""
        return np.frombuffer(self._bytes, dtype=np.uint32)

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The atoms, in the order of their ids; without static atoms, which hold in all states."""
        return tuple(
            self.task.decode_atom(predicate, objects)
            for predicate, objects in self.task.core.atoms(self.ids)
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        if self.task is other.task:
            return self._bytes == other._bytes
        return len(self) == len(other) and frozenset(self.atoms) == frozenset(other.atoms)

    def __hash__(self) -> int:
        # By names, since two tasks may number equal atoms differently.
        if self._hash is None:
            self._hash = hash(frozenset(self.atoms))
        return self._hash

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, atom: Atom | str) -> bool:
        return Atom.of(atom) in self.atoms

    def __repr__(self) -> str:
        shown = [str(atom) for atom in self.atoms[:_MOST_SHOWN]]
        if len(self) > len(shown):
            shown.append(f"... {len(self) - len(shown)} more")
        return f"State({' '.join(shown)})"

    def __reduce__(self) -> tuple[object, ...]:
        # By names: another process may number the atoms differently.
        return Task.state, (self.task, self.atoms)


class _Pddl(Immutable):
    """A value that was read from PDDL, and is pickled as its text."""

    _source: _Source

    @property
    def text(self) -> str:
        """The PDDL text."""
        return self._source[0].decode("utf-8-sig", errors="replace")

    @property
    def file(self) -> str:
        """The name of the file, as messages give it."""
        return self._source[1]


class Domain(_Pddl):
    """A PDDL domain; `Domain.read` and `Domain.parse` make them.

    `types`, `predicates`, `actions` (schemas) and `constants` are its declarations; `warnings` are
    those of the parser. Conditions that are no conjunctions of literals are compiled to auxiliary
    predicates (`condition_ids`), which `axioms` define.
    """

    def __init__(
        self, core: _core.Domain, warnings: tuple[Diagnostic, ...], source: _Source
    ) -> None:
        self.core = core
        self._source = source
        self.warnings = warnings
        self.name: str = core.name
        type_names = [name for name, _ in core.types]

        def parameters(described: list[tuple[str, list[int]]]) -> tuple[Parameter, ...]:
            return tuple(
                Parameter(name, tuple(type_names[t] for t in types)) for name, types in described
            )

        self.types = tuple(
            Type(name, tuple(type_names[parent] for parent in parents))
            for name, parents in core.types
        )
        self.constants = {name: type_names[type_] for name, type_ in core.constants}
        self.type_ids = {name: i for i, name in enumerate(type_names)}
        self._predicates = tuple(
            Predicate(name, parameters(described), kind is Kind.DERIVED, fluent, tuple(trusted))
            for name, described, kind, fluent, trusted in core.predicates
        )
        self.predicate_names = tuple(predicate.name for predicate in self._predicates)
        ids: dict[bool, dict[str, int]] = {False: {}, True: {}}
        for i, (name, _, kind, *_) in enumerate(core.predicates):
            ids[kind is Kind.AUXILIARY][name] = i
        self.predicate_ids = ids[False]
        self.condition_ids = ids[True]
        self.predicates = tuple(self._predicates[i] for i in self.predicate_ids.values())
        self.actions = tuple(
            ActionSchema(name, parameters(described), self._literals(precondition))
            for name, described, precondition in core.actions
        )
        self.action_ids = {action.name: i for i, action in enumerate(self.actions)}
        self.function_ids = {name: i for i, (name, _) in enumerate(core.functions)}
        self.function_arities = dict(core.functions)
        self._parameters = parameters
        self._super_types: dict[str, frozenset[str]] = {}
        for t in self.types:  # super-types precede their types
            above = (self._super_types[parent] for parent in t.parents)
            self._super_types[t.name] = frozenset([t.name]).union(*above)

    @classmethod
    def read(cls, path: str | Path) -> Domain:
        """Read a PDDL domain file.

        Returns the domain. Raises PddlError with all mistakes of the file and where they are,
        UnsupportedError if the file is correct PDDL but needs a feature that Planlog lacks, and
        OSError if the file cannot be read.

        >>> Domain.read("graph/domain.pddl")
        Domain('graph', 3 predicates, 1 action)
        """
        return cls.parse(read_input(path), file=str(path))

    @classmethod
    def parse(cls, text: str | bytes, file: str = "<domain>") -> Domain:
        """Parse the text of a PDDL domain; messages call it `file`.

        Returns the domain. Raises PddlError with all mistakes of the text and where they are, or
        UnsupportedError if it is correct PDDL but needs a feature that Planlog lacks.

        >>> Domain.parse("(define (domain lamp) (:predicates (on)))")
        Domain('lamp', 1 predicate, 0 actions)
        """
        content = as_bytes(text)
        core, warnings = with_warnings(*_core.read_domain(content), content, file)
        return cls(core, warnings, (content, file))

    def read_task(self, path: str | Path) -> Task:
        """Read a PDDL problem file of this domain.

        Returns the task. Raises PddlError, UnsupportedError or OSError as `read` does.

        >>> domain.read_task("graph/problem.pddl")
        Task('p' of domain 'graph', 3 objects, 2 goals)
        """
        return self.parse_task(read_input(path), file=str(path))

    def parse_task(self, text: str | bytes, file: str = "<problem>") -> Task:
        """Parse the text of a PDDL problem of this domain; messages call it `file`.

        Returns the task. Raises PddlError or UnsupportedError as `parse` does.

        >>> lamp = Domain.parse("(define (domain lamp) (:predicates (on)))")
        >>> lamp.parse_task("(define (problem dark) (:domain lamp) (:init) (:goal (on)))").goals
        ('(on)',)
        """
        content = as_bytes(text)
        core, warnings = with_warnings(*_core.read_task(self.core, content), content, file)
        return Task(self, core, warnings, (content, file))

    @classmethod
    def of_predicates(cls, name: str, predicates: Mapping[str, int]) -> Domain:
        """Return a domain without actions from the arity of each predicate, to evaluate rules on.

        Raises PddlError if a name is not one of PDDL.

        >>> Domain.of_predicates("graphs", {"node": 1, "edge": 2})
        Domain('graphs', 2 predicates, 0 actions)
        """
        declared = (
            f"({predicate} {' '.join(f'?x{i}' for i in range(arity))})"
            for predicate, arity in predicates.items()
        )
        return cls.parse(f"(define (domain {name}) (:predicates {' '.join(declared)}))")

    def task_of(
        self,
        atoms: Iterable[Atom | str],
        *,
        goal: Iterable[Atom | str] = (),
        types: Mapping[str, str] | None = None,
        name: str = "task",
    ) -> Task:
        """Return the task with these atoms in its initial state.

        Its objects are those of the atoms and the keys of `types`, which gives the types of objects
        other than `object`. Raises PddlError if an atom does not fit the domain.

        >>> graphs = Domain.of_predicates("graphs", {"edge": 2})
        >>> graphs.task_of(["(edge a b)", Atom("edge", ("b", "c"))]).static_atoms[1]
        Atom(name='edge', arguments=('b', 'c'))
        """
        init, wanted = ([Atom.of(atom) for atom in given] for given in (atoms, goal))
        objects = dict.fromkeys(name for atom in (*init, *wanted) for name in atom.arguments)
        typed = dict.fromkeys(objects, "object") | dict(types or {})
        declared = (f"{o} - {type_}" for o, type_ in typed.items() if o not in self.constants)
        return self.parse_task(
            f"(define (problem {name}) (:domain {self.name}) (:objects {' '.join(declared)})\n"
            f"(:init {' '.join(map(str, init))})\n(:goal (and {' '.join(map(str, wanted))})))"
        )

    def predicate_id(self, name: str) -> int:
        """Return the id of a predicate or of a compiled condition."""
        return (self.predicate_ids if name in self.predicate_ids else self.condition_ids)[name]

    def predicate(self, name: str) -> Predicate:
        """Return the predicate of this name; compiled conditions have names, too."""
        return self._predicates[self.predicate_id(name)]

    def action(self, name: str) -> ActionSchema:
        """Return the action schema of this name."""
        return self.actions[self.action_ids[name]]

    @cached_property
    def axioms(self) -> tuple[Axiom, ...]:
        """Axioms of derived predicates and of compiled conditions."""
        return tuple(
            Axiom(
                self.predicate_names[head],
                self._terms(terms),
                self._parameters(variables),
                self._literals(body),
            )
            for head, terms, variables, body in self.core.axioms
        )

    def _literals(
        self, described: Iterable[tuple[int | None, bool, list[int]]]
    ) -> tuple[SchemaLiteral, ...]:
        return tuple(
            SchemaLiteral(
                "=" if predicate is None else self.predicate_names[predicate],
                self._terms(terms),
                negated,
            )
            for predicate, negated, terms in described
        )

    def _terms(self, codes: Iterable[int]) -> tuple[int | str, ...]:
        names = tuple(self.constants)
        return tuple(code if code >= 0 else names[-1 - code] for code in codes)

    def is_subtype(self, name: str, super_type: str) -> bool:
        """Return whether every object of type `name` is one of type `super_type`."""
        return super_type in self._super_types[name]

    def __repr__(self) -> str:
        predicates = counted(len(self.predicates), "predicate")
        return f"Domain({self.name!r}, {predicates}, {counted(len(self.actions), 'action')})"

    def __reduce__(self) -> tuple[object, ...]:
        _unpickled[None, self._source] = self
        return _unpickle, (None, self._source)


class Task(_Pddl):
    """A PDDL problem of a domain; `Domain.read_task` and `Domain.parse_task` make them.

    `objects` maps the objects (with the domain's constants) to their types, `goals` holds the
    conjuncts of the goal as PDDL text (ground literals, also those under `forall`, and the other
    parts as they are written), `minimises_cost` says whether the metric is `total-cost`,
    `cost_decimals` is the number of decimals of its costs, and `warnings` are those of the parser.
    The core numbers objects in the order of `object_names`; `object_ids` is the inverse.
    """

    def __init__(
        self, domain: Domain, core: _core.Task, warnings: tuple[Diagnostic, ...], source: _Source
    ) -> None:
        self.domain = domain
        self.core = core
        self.warnings = warnings
        self.name: str = core.name
        self.objects = {name: domain.types[type_].name for name, type_ in core.objects}
        self.object_names = tuple(self.objects)
        self.object_ids = {name: i for i, name in enumerate(self.object_names)}
        self.goals: tuple[str, ...] = tuple(map(_one_line, core.goals))
        self.minimises_cost: bool = core.minimises_cost
        self.cost_decimals: int = core.cost_decimals
        self._source = source

    @property
    def initial(self) -> State:
        """The initial state."""
        return State(self, self._initial)

    @cached_property
    def _initial(self) -> AtomIds:
        # Not the state itself, which refers back to the task: without such a cycle, the memory of
        # a large task is freed as soon as nobody refers to the task.
        return self.core.initial()

    @cached_property
    def goal_atoms(self) -> tuple[Atom, ...]:
        """Conjuncts of the goal that are atoms; other formulas are only among `goals`."""
        formulas = {formula.text for formula in self.goal_formulas}
        matches = (goal for goal in self.goals if _GROUND.fullmatch(goal))
        return tuple(Atom.parse(goal) for goal in matches if goal not in formulas)

    @cached_property
    def goal_formulas(self) -> tuple[GoalFormula, ...]:
        """Conjuncts of the goal that are no literals."""
        names = self.domain.predicate_names
        return tuple(
            GoalFormula(_one_line(text), tuple(names[predicate] for predicate in predicates))
            for text, predicates in self.core.goal_formulas
        )

    @cached_property
    def static_atoms(self) -> tuple[Atom, ...]:
        """True atoms that no action changes."""
        return tuple(self.decode_atom(*described) for described in self.core.static_atoms)

    def state(self, atoms: Iterable[Atom | str]) -> State:
        """Return the state in which exactly the given fluent atoms are true.

        Atoms may be given as text. Raises UnknownNameError if no action changes atoms of that
        form, or if the task lacks an object.

        >>> task.state(["(at a)"]) == task.initial
        True
        """
        fluents = {(p.name, p.arity) for p in self.domain.predicates if p.fluent}
        ids = set()
        for atom in atoms:
            name, arguments = Atom.of(atom)
            if (name, len(arguments)) not in fluents:
                form = Atom(name, tuple("?" for _ in arguments))
                raise UnknownNameError(f"no action changes an atom of the form {form}")
            row = [self.object_id(argument) for argument in arguments]
            ids.add(self.core.intern(self.domain.predicate_ids[name], row))
        return State(self, np.array(sorted(ids), dtype=np.uint32))

    def ids(self, state: State) -> AtomIds:
        """Return the ids that this task gives to the atoms of a state, sorted.

        States of another task with the same objects are translated atom by atom.
        """
        return state.ids if state.task is self else self.state(state.atoms).ids

    def encode(self, actions: Iterable[Action | str]) -> list[EncodedAction]:
        """Translate ground actions into the core's schema and object ids.

        Actions may be given as text. Raises UnknownNameError if the domain lacks the action or the
        task lacks an object.

        >>> task.encode(["(go a b)"])
        [(0, (0, 1))]
        """
        codes = []
        for action in actions:
            name, arguments = Action.of(action)
            schema = self.domain.action_ids.get(name)
            if schema is None:
                raise UnknownNameError(f"domain '{self.domain.name}' has no action '{name}'")
            arity = self.domain.actions[schema].arity
            if len(arguments) != arity:
                raise UnknownNameError(
                    f"action '{name}' has {counted(arity, 'parameter')}, "
                    f"but {Action(name, arguments)} has {len(arguments)}"
                )
            codes.append((schema, tuple([self.object_id(argument) for argument in arguments])))
        return codes

    def decode(self, schema: int, objects: Sequence[int]) -> Action:
        """Return the ground action with the core's schema and object ids.

        >>> task.decode(0, (0, 1))
        Action(name='go', arguments=('a', 'b'))
        """
        names = self.object_names
        return Action(self.domain.actions[schema].name, tuple([names[i] for i in objects]))

    def decode_atom(self, predicate: int, objects: Sequence[int]) -> Atom:
        """Return the ground atom with the core's predicate and object ids."""
        names = self.object_names
        return Atom(self.domain.predicate_names[predicate], tuple([names[i] for i in objects]))

    def decode_cost(self, units: int) -> Cost:
        """Return a cost that the core gives in units of the task."""
        return exact_cost(units, self.cost_decimals)

    def object_id(self, name: str) -> int:
        """Return the id of an object. Raises UnknownNameError if there is none of this name."""
        try:
            return self.object_ids[name]
        except KeyError:
            raise UnknownNameError(f"task '{self.name}' has no object '{name}'") from None

    def __repr__(self) -> str:
        sizes = f"{counted(len(self.objects), 'object')}, {counted(len(self.goals), 'goal')}"
        return f"Task({self.name!r} of domain {self.domain.name!r}, {sizes})"

    def __reduce__(self) -> tuple[object, ...]:
        _unpickled[self.domain, self._source] = self
        return _unpickle, (self.domain, self._source)


_GROUND = re.compile(r"\s*\(\s*([^\s();]+(?:\s+[^\s();]+)*)\s*\)\s*")
_MOST_SHOWN = 10  # atoms in the repr of a state


# --- Pickling ------------------------------------------------------------------------------
# Domains and tasks are pickled as the PDDL text that they were read from. Policies and tasks have
# to agree in their domain, states in their task, so each text becomes one object, however often it
# is unpickled.

_unpickled: WeakValueDictionary[tuple[Domain | None, _Source], Domain | Task]
_unpickled = WeakValueDictionary()


def _unpickle(domain: Domain | None, source: _Source) -> Domain | Task:
    """Return the task of a domain, or the domain itself, that was read from a text."""
    value = _unpickled.get((domain, source))
    if value is None:
        read = Domain.parse if domain is None else domain.parse_task
        value = _unpickled.setdefault((domain, source), read(*source))
    return value


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, as in "1 goal" and "2 goals"."""
    return f"{number} {noun}{'s' * (number != 1)}"


def _one_line(formula: str) -> str:
    """Return a formula without comments and line breaks."""
    lines = (line.partition(";")[0] for line in formula.splitlines())
    return " ".join(" ".join(lines).split())
