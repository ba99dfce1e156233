"""Rover: an integer program for the arrivals of rovers, and a search for their order."""

from planlog.experiment.baselines.exact.rover.plan import solve

__all__ = ["solve"]
