"""Search for shorter plans around a policy."""
