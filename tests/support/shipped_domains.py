"""The shipped domains with small generated tasks."""

from __future__ import annotations

from planlog import domains
from planlog.pddl.task import Domain, Task
from planlog.policy.policy import Policy

SMALL = {
    "blocksworld": {"blocks": 4},
    "ferry": {"cars": 2, "locations": 3},
    "rover": {"rovers": 1, "waypoints": 2, "cameras": 1, "objectives": 1},
    "satellite": {"satellites": 1, "instruments": 2, "modes": 2, "directions": 2},
}


SHIPPED = {name: Domain.read(domains.path(name) / "domain.pddl") for name in domains.names()}


POLICIES = [(name, variant) for name in domains.names() for variant in domains.variants(name)]


def generated(name: str, seed: int = 0, **sizes: int) -> Task:
    ((_, problem),) = domains.generate(name, seed=seed, sizes=sizes or SMALL[name])
    return SHIPPED[name].parse_task(problem)


def policy_of(name: str, variant: str = "policy") -> Policy:
    return Policy.read(domains.policy_path(name, variant), SHIPPED[name])
