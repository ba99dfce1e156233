"""Ferry: an Eulerian walk over the trips of the cars is an optimal plan."""

from planlog.experiment.baselines.exact.ferry.plan import solve

__all__ = ["solve"]
