"""Domains, tasks and states as Python sees them; the core holds the data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from planlog import _core
from planlog.errors import (
    Diagnostic,
    PddlError,
    Severity,
    UnknownNameError,
    UnsupportedError,
)

AtomIds = npt.NDArray[np.uint32]

_SEVERITIES = (Severity.ERROR, Severity.UNSUPPORTED, Severity.WARNING)  # in the core's order


@dataclass(frozen=True)
class Type:
    """A type and its direct super-type (None for `object`)."""

    name: str
    parent: str | None


@dataclass(frozen=True)
class Parameter:
    """A typed variable; several types mean `either`."""

    name: str
    types: tuple[str, ...]


@dataclass(frozen=True)
class Predicate:
    """A declared predicate: derived by axioms, or else changed by actions (fluent) or by none."""

    name: str
    parameters: tuple[Parameter, ...]
    derived: bool
    fluent: bool

    @property
    def arity(self) -> int:
        return len(self.parameters)


@dataclass(frozen=True)
class ActionSchema:
    """An action with parameters."""

    name: str
    parameters: tuple[Parameter, ...]

    @property
    def arity(self) -> int:
        return len(self.parameters)


class Action(NamedTuple):
    """A ground action."""

    name: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"({' '.join((self.name, *self.arguments))})"


class State:
    """A set of true atoms that actions can change, as sorted ids of its task; immutable."""

    __slots__ = ("_bytes", "atoms")

    def __init__(self, atoms: AtomIds) -> None:
        self.atoms = atoms
        self.atoms.flags.writeable = False
        self._bytes = atoms.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self._bytes == other._bytes

    def __hash__(self) -> int:
        return hash(self._bytes)

    def __len__(self) -> int:
        return len(self.atoms)

    def __repr__(self) -> str:
        return f"State({self.atoms.tolist()})"


class Domain:
    """A PDDL domain."""

    def __init__(self, core: _core.Domain, warnings: tuple[Diagnostic, ...] = ()) -> None:
        self.core = core
        self.warnings = warnings
        self.name: str = core.name
        type_names = [name for name, _ in core.types]

        def parameters(described: list[tuple[str, list[int]]]) -> tuple[Parameter, ...]:
            return tuple(
                Parameter(name, tuple(type_names[t] for t in types)) for name, types in described
            )

        self.types = tuple(
            Type(name, None if i == 0 else type_names[parent])
            for i, (name, parent) in enumerate(core.types)
        )
        # Auxiliary predicates of compiled conditions stay inside the core.
        self.predicates = tuple(
            Predicate(name, parameters(described), kind == 1, fluent)
            for name, described, kind, fluent in core.predicates
            if kind != 2
        )
        self.actions = tuple(
            ActionSchema(name, parameters(described)) for name, described in core.actions
        )
        self.constants = {name: type_names[type_] for name, type_ in core.constants}
        self.type_ids = {name: i for i, name in enumerate(type_names)}
        self.predicate_ids = {
            name: i for i, (name, _, kind, _) in enumerate(core.predicates) if kind != 2
        }
        self.action_ids = {action.name: i for i, action in enumerate(self.actions)}
        self._parents = {t.name: t.parent for t in self.types}

    @classmethod
    def read(cls, path: str | Path) -> Domain:
        return cls.parse(Path(path).read_bytes(), file=str(path))

    @classmethod
    def parse(cls, text: str | bytes, file: str = "<domain>") -> Domain:
        content = _as_bytes(text)
        core, found = _core.read_domain(content)
        warnings = _warnings_or_error(content, file, found, core is None)
        assert core is not None
        return cls(core, warnings)

    def read_task(self, path: str | Path) -> Task:
        return self.parse_task(Path(path).read_bytes(), file=str(path))

    def parse_task(self, text: str | bytes, file: str = "<problem>") -> Task:
        content = _as_bytes(text)
        core, found = _core.read_task(self.core, content)
        warnings = _warnings_or_error(content, file, found, core is None)
        assert core is not None
        return Task(self, core, warnings)

    def is_subtype(self, name: str, super_type: str) -> bool:
        """Whether every object of the first type is one of the second."""
        current: str | None = name
        while current is not None and current != super_type:
            current = self._parents[current]
        return current is not None

    def __repr__(self) -> str:
        return f"Domain({self.name!r})"


class Task:
    """A PDDL problem of a domain."""

    def __init__(
        self, domain: Domain, core: _core.Task, warnings: tuple[Diagnostic, ...] = ()
    ) -> None:
        self.domain = domain
        self.core = core
        self.warnings = warnings
        self.name: str = core.name
        described = core.objects
        self.objects = {name: domain.types[type_].name for name, type_ in described}
        self.object_names = tuple(name for name, _ in described)
        self.object_ids = {name: i for i, name in enumerate(self.object_names)}
        self.initial = State(core.initial())
        # Literals as text, and parts of the goal that are none as they were written.
        self.goals: tuple[str, ...] = tuple(map(_one_line, core.goals))
        self.minimises_cost: bool = core.minimises_cost

    def atoms(self, state: State, *, static: bool = False) -> list[str]:
        """The true atoms of a state as text; with `static`, also those no action changes."""
        texts = [self.core.atom_text(atom) for atom in state.atoms.tolist()]
        return texts + self.core.static_atoms if static else texts

    def state(self, atoms: Iterable[tuple[str, ...]]) -> State:
        """The state in which exactly these fluent atoms, such as ("on", "a", "b"), are true."""
        fluents = {p.name: p for p in self.domain.predicates if p.fluent}
        ids = set()
        for name, *arguments in atoms:
            if name not in fluents or fluents[name].arity != len(arguments):
                raise UnknownNameError(
                    f"no action changes an atom of the form "
                    f"({' '.join((name, *('?' for _ in arguments)))})"
                )
            row = [self.object_id(argument) for argument in arguments]
            ids.add(self.core.intern(self.domain.predicate_ids[name], row))
        return State(np.array(sorted(ids), dtype=np.uint32))

    def numbered(self, actions: Iterable[Action]) -> list[tuple[int, list[int]]]:
        """Actions as the core's numbers of schemas and objects."""
        schemas = {(schema.name, schema.arity): i for i, schema in enumerate(self.domain.actions)}
        return [
            (schemas[name, len(arguments)], [self.object_ids[argument] for argument in arguments])
            for name, arguments in actions
        ]

    def object_id(self, name: str) -> int:
        try:
            return self.object_ids[name]
        except KeyError:
            raise UnknownNameError(f"task '{self.name}' has no object '{name}'") from None

    def __repr__(self) -> str:
        return f"Task({self.name!r}, {len(self.objects)} objects)"


def _one_line(formula: str) -> str:
    """A formula without its comments and line breaks."""
    lines = (line.partition(";")[0] for line in formula.splitlines())
    return " ".join(" ".join(lines).split())


def _as_bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def _warnings_or_error(
    content: bytes,
    file: str,
    found: list[tuple[int, int, int, int, str, str]],
    failed: bool,
) -> tuple[Diagnostic, ...]:
    """The warnings, if the core could read the text; else raises its errors."""
    if not found and not failed:
        return ()
    lines = content.split(b"\n")
    diagnostics = []
    for severity, line, column, length, message, hint in found:
        source = lines[line - 1] if line <= len(lines) else b""
        # The core counts bytes, people count characters.
        before = source[: column - 1].decode(errors="replace")
        shown = source[column - 1 : column - 1 + length].decode(errors="replace")
        diagnostics.append(
            Diagnostic(
                file=file,
                line=line,
                column=len(before) + 1,
                message=message,
                hint=hint,
                source=source.decode(errors="replace").rstrip("\r"),
                length=len(shown),
                severity=_SEVERITIES[severity],
            )
        )
    if failed:
        # A file is unsupported only if nothing else is wrong with it.
        unsupported = all(d.severity is not Severity.ERROR for d in diagnostics)
        raise (UnsupportedError if unsupported else PddlError)(diagnostics)
    return tuple(diagnostics)
