"""Baselines: external planners, and exact methods for some domains."""
