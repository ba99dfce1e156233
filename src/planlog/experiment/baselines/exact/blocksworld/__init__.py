"""Blocksworld: a minimum feedback vertex set of the deadlocks, and a plan."""
