"""What can be run on a task: rules, learned policies, planners and exact methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any

from planlog.results import Family


@dataclass(frozen=True)
class Configuration(ABC):
    """Something that makes plans; `seeded` if it draws by chance."""

    @property
    @abstractmethod
    def kind(self) -> str: ...

    @property
    @abstractmethod
    def family(self) -> Family: ...

    @property
    def seeded(self) -> bool:
        return False

    @property
    def name(self) -> str:
        """What the results call it."""
        return self.kind

    def describe(self) -> dict[str, Any]:
        """All that there is to know, for records."""
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True)
class Rules(Configuration):
    """The rules alone: an action that they derive, drawn uniformly."""

    kind = "rules"
    family = Family.RULES
    seeded = True


@dataclass(frozen=True)
class Learned(Configuration):
    """The rules with a network that is trained for this experiment."""

    kind = "learned"
    family = Family.LEARNED
    seeded = True

    layers: int
    width: int
    settings: str  # for `settings.preset`
    max_states: int | None = None  # labelled states to learn from

    @property
    def name(self) -> str:
        return f"lrnn-{self.layers}-{self.width}-{self.settings}"


@dataclass(frozen=True)
class Shipped(Configuration):
    """The model that comes with the domain."""

    kind = "shipped"
    family = Family.LEARNED


Policy = Rules | Learned | Shipped


@dataclass(frozen=True)
class Reworked(Configuration):
    """A policy, and what is made of its plans."""

    policy: Policy

    @property
    def kind(self) -> str:
        return self.policy.kind

    @property
    def family(self) -> Family:
        return Family.SEARCH if self.policy.family is Family.RULES else self.policy.family

    @property
    def seeded(self) -> bool:
        return self.policy.seeded


@dataclass(frozen=True)
class Pruned(Reworked):
    """Plans that lose the actions that serve nothing."""

    @property
    def name(self) -> str:
        return f"{self.policy.name}-pruned"

    def describe(self) -> dict[str, Any]:
        return {**self.policy.describe(), "pruned": True}


@dataclass(frozen=True)
class Improved(Reworked):
    """Plans that are improved, on one thread, until so long after the start of the run."""

    seconds: float

    @property
    def name(self) -> str:
        return f"{self.policy.name}-{self.seconds:g}s"

    def describe(self) -> dict[str, Any]:
        return {**self.policy.describe(), "seconds": self.seconds}


@dataclass(frozen=True)
class Planner(Configuration):
    """Somebody else's planner."""

    kind = "planner"
    family = Family.PLANNER

    planner: str  # a name in `baselines.planners.PLANNERS`
    # Where better plans come with time, the limit belongs to what is run.
    seconds: float | None = None

    @property
    def name(self) -> str:
        return self.planner if self.seconds is None else f"{self.planner}-{self.seconds:g}s"


@dataclass(frozen=True)
class Exact(Configuration):
    """Our exact method for the domain."""

    kind = "exact"
    family = Family.EXACT
