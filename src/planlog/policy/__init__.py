"""Policies, walks through states, and executions."""
