"""Satellite: domain, policies and task generator."""

# Predicates of goals that the policy achieves.
GOALS = frozenset({"have_image", "pointing"})
