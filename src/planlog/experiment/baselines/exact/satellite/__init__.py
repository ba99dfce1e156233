"""Satellite: an integer program that assigns images to instruments, and a plan."""

from planlog.experiment.baselines.exact.satellite.plan import solve

__all__ = ["solve"]
