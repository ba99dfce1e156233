"""Ferry: domain, policies and task generator."""

# Predicates of goals that the policy achieves or preserves.
GOALS = frozenset({"at", "at-ferry", "empty-ferry"})
