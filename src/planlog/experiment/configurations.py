"""Configurations: the policies, planners and exact methods that an experiment runs on tasks."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Self

from planlog.experiment.records import Family


@dataclass(frozen=True)
class Configuration:
    """A planner with its options; `seeded` if it draws random numbers."""

    kind: ClassVar[str]
    seeded: ClassVar[bool] = False

    @property
    def family(self) -> Family:
        return Family(self.kind)

    @property
    def name(self) -> str:
        """The name in records."""
        return self.kind

    @property
    def time_limit(self) -> float | None:
        """Time limit of a run in seconds, if it belongs to the configuration."""
        return None

    @property
    def improves(self) -> bool:
        """Whether a run improves its plans by local search until its time limit."""
        return False

    def describe(self) -> dict[str, Any]:
        """Return a description for records and run ids."""
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True, kw_only=True)
class PolicyConfiguration(Configuration):
    """A policy, with or without postprocessing of its plans."""

    eliminate: bool = False  # action elimination
    seconds: float | None = None  # time limit of a local search on one thread

    @property
    def base_name(self) -> str:
        """The name without postprocessing."""
        return self.kind

    @property
    def name(self) -> str:
        if self.seconds is not None:
            return f"{self.base_name}-{self.seconds:g}s"
        return f"{self.base_name}-eliminated" if self.eliminate else self.base_name

    @property
    def time_limit(self) -> float | None:
        return self.seconds

    @property
    def improves(self) -> bool:
        return self.seconds is not None

    @property
    def alone(self) -> Self:
        """The same policy without postprocessing."""
        return replace(self, eliminate=False, seconds=None)

    def describe(self) -> dict[str, Any]:
        # Unset fields are left out: run ids of a policy alone date from before these fields.
        unset = [name for name in ("eliminate", "seconds") if not getattr(self, name)]
        return {key: value for key, value in super().describe().items() if key not in unset}


@dataclass(frozen=True)
class Rules(PolicyConfiguration):
    """The rules alone: one of the derived actions, uniformly at random."""

    kind = "rules"
    seeded = True

    @property
    def family(self) -> Family:
        return Family.SEARCH if self.eliminate or self.improves else Family.RULES


@dataclass(frozen=True)
class Learned(PolicyConfiguration):
    """The rules with a network that is trained in this experiment."""

    kind = "learned"
    seeded = True

    layers: int
    width: int
    settings: str  # argument of `network.settings.preset`
    max_states: int | None = None  # maximum number of labelled states

    @property
    def base_name(self) -> str:
        return f"lrnn-{self.layers}-{self.width}-{self.settings}"


@dataclass(frozen=True)
class Shipped(PolicyConfiguration):
    """The model that is shipped with the domain."""

    kind = "shipped"

    @property
    def family(self) -> Family:
        return Family.LEARNED


@dataclass(frozen=True)
class ExternalPlanner(Configuration):
    """An external planner."""

    kind = "planner"

    planner: str  # a name in `baselines.installed.PLANNERS`
    seconds: float | None = None  # time limit of an anytime planner, on which its plans depend

    @property
    def name(self) -> str:
        return self.planner if self.seconds is None else f"{self.planner}-{self.seconds:g}s"

    @property
    def time_limit(self) -> float | None:
        return self.seconds


@dataclass(frozen=True)
class Exact(Configuration):
    """The exact method for the domain."""

    kind = "exact"
