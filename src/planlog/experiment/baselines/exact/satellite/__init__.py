"""Satellite: which instruments take which images, by an integer program; then a plan."""

from planlog.experiment.baselines.exact.satellite.plan import solve

__all__ = ["solve"]
