"""Satellite: which instruments take which images, by an integer program; then a plan."""

from planlog.baselines.satellite.plan import solve

__all__ = ["solve"]
