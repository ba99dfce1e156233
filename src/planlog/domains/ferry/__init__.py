"""Ferry: domain, policies and task generator."""

# Predicates of goals that the policy works towards, or keeps.
GOALS = frozenset({"at", "at-ferry", "empty-ferry"})
