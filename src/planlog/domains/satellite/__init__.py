"""Satellite: domain, policies and task generator."""
