"""Blocksworld: domain, policies and task generator."""
