"""Satellite: domain, policies and task generator."""

# Predicates of goals that the policy works towards.
GOALS = frozenset({"have_image", "pointing"})
