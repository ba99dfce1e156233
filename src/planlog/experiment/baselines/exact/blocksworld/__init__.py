"""Blocksworld: a minimum feedback vertex set of the deadlocks, and a plan."""

from planlog.experiment.baselines.exact.blocksworld.plan import solve

__all__ = ["solve"]
