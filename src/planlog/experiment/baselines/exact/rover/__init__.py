"""Rover: which rover drives where, by an integer program; then in which order."""

from planlog.experiment.baselines.exact.rover.plan import solve

__all__ = ["solve"]
