"""Rover: domain, policies and task generator."""

# Predicates of goals that the policy achieves.
GOALS = frozenset({f"communicated_{kind}_data" for kind in ("soil", "rock", "image")})
