"""Ferry: domain, policies and task generator."""
