"""Blocksworld: the fewest blocks that move twice break all deadlocks; then a plan."""

from planlog.experiment.baselines.exact.blocksworld.plan import solve

__all__ = ["solve"]
