"""Results of the paper (Chen, Horčík and Šír, 2024), for comparison with those of an experiment."""

from __future__ import annotations

from planlog.experiment.records import Family
from planlog.report.planners import Planner

_DOMAINS = ("blocksworld", "ferry", "rover", "satellite")
_ALIASES = {"blocks": "blocksworld", "rovers": "rover"}

# NPLI in each domain: mean and standard deviation.
_LAMA = ((-674.4, 603.5), (-504.5, 659.8), (-28.4, 147.8), (88.4, 17.2))
_LRNN = {  # by layers and width
    (1, 8): ((46.4, 34.1), (94.0, 20.0), (57.4, 36.7), (16.8, 16.8)),
    (1, 16): ((22.2, 49.5), (100.0, 0.0), (56.3, 40.2), (50.8, 27.8)),
    (2, 8): ((25.8, 45.2), (95.7, 11.7), (53.1, 48.2), (50.5, 30.3)),
    (2, 16): ((53.2, 31.6), (97.1, 9.9), (44.9, 40.2), (28.7, 26.2)),
}
TRAINING_SECONDS = (156, 3522)  # the fastest and the slowest training


def published_npli(planner: Planner, domain: str) -> tuple[float, float] | None:
    """Return mean and standard deviation of the NPLI in the paper; None if it reports none."""
    domain = _ALIASES.get(domain, domain)
    row = None
    if planner.network is not None:
        row = _LRNN.get(planner.network)
    elif planner.family is Family.PLANNER and planner.name == "lama-first":
        row = _LAMA
    if row is None or domain not in _DOMAINS or planner.postprocesses:
        return None
    return row[_DOMAINS.index(domain)]
