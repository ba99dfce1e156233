"""Configurations: the policies, planners and exact methods that an experiment runs on tasks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Self

from planlog.experiment.records import Family


@dataclass(frozen=True)
class Configuration(ABC):
    """Something that makes plans. It is `seeded` if it draws random numbers."""

    kind: ClassVar[str]
    seeded: ClassVar[bool] = False

    @property
    @abstractmethod
    def family(self) -> Family: ...

    @property
    def name(self) -> str:
        """The name in results."""
        return self.kind

    @property
    def time_limit(self) -> float | None:
        """Seconds of a run, if the configuration itself limits them."""
        return None

    @property
    def improves(self) -> bool:
        """Whether a run searches for better plans until its time limit, in our own process."""
        return False

    def describe(self) -> dict[str, Any]:
        """Return a description for records that `configuration_of` turns back."""
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True, kw_only=True)
class PolicyConfiguration(Configuration):
    """A policy, and what is done with its plans."""

    eliminate: bool = False  # remove redundant actions
    seconds: float | None = None  # improve plans on one thread until so long after the start

    @property
    def family(self) -> Family:
        return Family.LEARNED

    @property
    def base_name(self) -> str:
        """The name of the policy alone."""
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
        """The same policy with its plans unchanged."""
        return replace(self, eliminate=False, seconds=None)

    def describe(self) -> dict[str, Any]:
        # The ids of runs of a policy alone stay those from before these two fields existed.
        unset = [name for name in ("eliminate", "seconds") if not getattr(self, name)]
        return {key: value for key, value in super().describe().items() if key not in unset}


@dataclass(frozen=True)
class Rules(PolicyConfiguration):
    """The rules alone: an action that they derive, drawn uniformly."""

    kind = "rules"
    seeded = True

    @property
    def family(self) -> Family:
        return Family.SEARCH if self.eliminate or self.improves else Family.RULES


@dataclass(frozen=True)
class Learned(PolicyConfiguration):
    """The rules with a network that is trained for this experiment."""

    kind = "learned"
    seeded = True

    layers: int
    width: int
    settings: str  # for `settings.preset`
    max_states: int | None = None  # labelled states to learn from

    @property
    def base_name(self) -> str:
        return f"lrnn-{self.layers}-{self.width}-{self.settings}"


@dataclass(frozen=True)
class Shipped(PolicyConfiguration):
    """The model that is shipped with the domain."""

    kind = "shipped"


@dataclass(frozen=True)
class ExternalPlanner(Configuration):
    """A planner of somebody else."""

    kind = "planner"

    planner: str  # a name in `baselines.installed.PLANNERS`
    # The limit of an anytime planner belongs to the configuration: its plans depend on it.
    seconds: float | None = None

    @property
    def family(self) -> Family:
        return Family.PLANNER

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

    @property
    def family(self) -> Family:
        return Family.EXACT


_KINDS: dict[str, type[Configuration]] = {
    cls.kind: cls for cls in (Rules, Learned, Shipped, ExternalPlanner, Exact)
}


def configuration_of(description: Mapping[str, Any]) -> Configuration:
    """Return the configuration that describes itself like this."""
    values = dict(description)
    return _KINDS[values.pop("kind")](**values)
