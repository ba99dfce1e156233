"""Ferry: an Eulerian walk over the trips of the cars, which is a shortest plan."""

from planlog.experiment.baselines.exact.ferry.plan import solve

__all__ = ["solve"]
