"""Rover: domain, policies and task generator."""
